#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install, then build a C program and a C++ program with the installed files, shared and static.
. "$(dirname "$0")/../tap.sh"
root=$tmp/root
version=$(cat "$TOP/VERSION")
# Install the existing build, because other tests use it.
run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$TOP" -o all install B="$B" DESTDIR="$root" PREFIX=/usr
exits "make install DESTDIR= PREFIX=/usr" 0
[ $code = 0 ] || diag "$(tail -3 "$tmp/err")"
for f in bin/pagededup lib/libpagededup.a lib/libpagededup.so include/pagededup.h lib/pkgconfig/pagededup.pc share/man/man1/pagededup.1 \
	share/man/man1/pagededup-match.1 share/man/man5/pagededup-formats.5 share/doc/pagededup/README.md \
	share/bash-completion/completions/pagededup share/zsh/site-functions/_pagededup share/fish/vendor_completions.d/pagededup.fish; do
	is "$f is installed" "$([ -s "$root/usr/$f" ] && echo yes)" yes
done
for f in ship options hadoop/pagededup-hadoop slurm/pagededup-slurm; do
	is "engines/$f is installed" "$([ -s "$root/usr/share/pagededup/engines/$f" ] && echo yes)" yes
done
is "pagededup-hadoop is a command" "$("$root/usr/bin/pagededup-hadoop" --help | head -1)" 'usage: pagededup-hadoop dedup [OPTION]... DUMPS OUT'
is "pagededup-slurm is a command" "$("$root/usr/bin/pagededup-slurm" --help | head -1)" 'usage: pagededup-slurm [OPTION]... -o OUT DUMP...'
run "$root/usr/share/pagededup/engines/ship" "$root/usr/bin/pagededup" packed.tar.gz
exits "it finds the packing script" 0
same "the completions agree with the program" "$root/usr/share/bash-completion/completions/pagededup" <("$P" completion bash)
is "nothing is installed outside of PREFIX" "$(ls "$root")" usr
is "the installed program runs" "$("$root/usr/bin/pagededup" --version | head -1)" "pagededup $version"
is "it loads no other file" "$(cd / && env -i "$root/usr/bin/pagededup" fp -q "$demo" 2>&1 | grep -c '^[0-9a-f]')" "$("$P" fp -q "$demo" | grep -c '^[0-9a-f]')"
hasnt "pagededup.pc has all its values" "$root/usr/lib/pkgconfig/pagededup.pc" '@'

export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
is "pkg-config --modversion" "$(pkg-config --modversion pagededup 2>&1)" "$version"
has "prefix in pagededup.pc" "$PKG_CONFIG_PATH/pagededup.pc" "^prefix=/usr\$"
if nm "$B/libpagededup.a" 2>/dev/null | grep -qE ' U __(asan|ubsan|tsan|gcov)'; then
	skip "programs against the library" "it is built for a sanitizer or for coverage"
	tap_done
fi
cat >use.c <<'END'
#include <pagededup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	static char body[1 << 16];
	pagededup_error error;
	pagededup_model *m = NULL;
	pagededup_worker *w = NULL;
	pagededup_model_options options;
	pagededup_input input;
	pagededup_page page;
	uint64_t other[4];
	memset(&error, 0, sizeof error);
	memset(&options, 0, sizeof options);
	memset(&input, 0, sizeof input);
	memset(&page, 0, sizeof page);
	error.size = sizeof error;
	options.size = sizeof options;
	options.settings = argc > 2 ? argv[2] : NULL;
	page.size = sizeof page;
	FILE *f = fopen(argv[1], "rb");
	size_t n = f ? fread(body, 1, sizeof body, f) : 0;
	if (pagededup_model_open(&m, &options, &error) != 0 || pagededup_worker_new(&w, m, &error) != 0) {
		printf("cannot open: %s\n", error.text);
		return 1;
	}
	input.size = sizeof input;
	input.body = body;
	input.bytes = n;
	int status = pagededup_sign(w, &input, &page, &error);
	if (status != 0)
		printf("cannot sign: %s\n", pagededup_strerror(status));
	for (int i = 0; i < page.bits / 64; i++)
		printf("%016llx", (unsigned long long)page.fingerprint[i]);
	memcpy(other, page.fingerprint, sizeof other);
	other[0] ^= 5;
	printf(" %s %s %d %s\n", page.text_digest, pagededup_model_params(m), page.bits ? pagededup_distance(page.fingerprint, other, page.bits) : -1,
	       pagededup_version());
	pagededup_worker_free(w);
	pagededup_model_free(m);
	if (f)
		fclose(f);
	return 0;
}
END
cp use.c use.cc
page=$TOP/tests/golden/en-article-html5/page.html
expected() { "$P" fp -q "$@" "$page" | grep -v '^#' | awk -F '\t' -v v="$version" '{ print $1, $6, $16, 2, v }'; }
cc=${CC:-cc} cxx=${CXX:-c++}
# pkg-config also prepends the folder of the sysroot to library paths of the system; remove it there.
flags() { pkg-config "$@" pagededup | tr ' ' '\n' | grep -v "^-[IL]$root/usr/include/[a-z]" | tr '\n' ' '; }

run $cc -std=c99 -Wall -Wextra -Wpedantic -Werror -o shared use.c $(flags --cflags --libs)
exits "C, shared: builds as C99 without a warning" 0
if [ -x shared ]; then
	has "C, shared: uses the shared library" <(LD_LIBRARY_PATH=$root/usr/lib ldd ./shared) "libpagededup\\.so\\.[0-9.]+ => $root"
	is "C, shared: the fingerprint is fp's" "$(LD_LIBRARY_PATH=$root/usr/lib ./shared "$page")" "$(expected)"
	is "C, shared: settings as on the command line" "$(LD_LIBRARY_PATH=$root/usr/lib ./shared "$page" 'preset=paper bits=128')" "$(expected --preset=paper --bits=128)"
	is "C, shared: an unknown setting is reported" "$(LD_LIBRARY_PATH=$root/usr/lib ./shared "$page" 'colour=blue' | cut -d: -f1; echo "${PIPESTATUS[0]}")" $'cannot open\n1'
fi
run $cc -o static use.c $(flags --cflags) "$root/usr/lib/libpagededup.a" $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --static --libs pagededup | tr ' ' '\n' | grep -v 'lpagededup$')
exits "C, static: builds with the output of pkg-config --static" 0
if [ -x static ]; then
	hasnt "C, static: needs no libpagededup.so" <(ldd ./static) libpagededup
	is "C, static: the fingerprint is fp's" "$(./static "$page")" "$(expected)"
fi
# Put everything into one file, including the threads of the libraries, which refer to them by weak symbols.
run $cc -static -o alone use.c $(flags --cflags) "$root/usr/lib/libpagededup.a" $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --static --libs pagededup | tr ' ' '\n' | grep -v 'lpagededup$')
if [ $code != 0 ] && grep -q 'cannot find -l' "$tmp/err"; then
	skip "C, one file" "a library has no static form here: $(grep -o 'cannot find -l.*' "$tmp/err" | head -1)"
else
	exits "C, one file: builds with the output of pkg-config --static" 0
	is "C, one file: the fingerprint is fp's" "$(./alone "$page" 2>&1)" "$(expected)"
fi
if command -v "$cxx" >/dev/null; then
	run "$cxx" -Wall -Wextra -Werror -o plusplus use.cc $(flags --cflags --libs)
	exits "C++: builds without a warning" 0
	[ ! -x plusplus ] || is "C++: the fingerprint is fp's" "$(LD_LIBRARY_PATH=$root/usr/lib ./plusplus "$page")" "$(expected)"
else
	skip "C++" "no C++ compiler"
fi

# Remove only the installed files; each folder may be given separately.
own=$tmp/own
echo mine >"$root/usr/bin/other"
run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$TOP" uninstall B="$B" DESTDIR="$root" PREFIX=/usr
exits "make uninstall" 0
is "it does not remove files of others" "$(cd "$root" && find . -type f -o -type l)" ./usr/bin/other
run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$TOP" -o all install B="$B" DESTDIR="$own" PREFIX=/usr LIBDIR=/usr/lib/here MANDIR=/usr/man
exits "make install LIBDIR= MANDIR=" 0
is "LIBDIR is used" "$(cd "$own" && find . -name 'libpagededup*' -o -name '*.pc' | sort | tr '\n' ' ')" \
	"./usr/lib/here/libpagededup.a ./usr/lib/here/libpagededup.so ./usr/lib/here/libpagededup.so.0.2 ./usr/lib/here/pkgconfig/pagededup.pc "
is "pkg-config knows it" "$(PKG_CONFIG_PATH=$own/usr/lib/here/pkgconfig PKG_CONFIG_SYSROOT_DIR='' pkg-config --variable=libdir pagededup)" /usr/lib/here
is "MANDIR is used" "$([ -s "$own/usr/man/man1/pagededup.1" ] && echo yes)" yes
same "the notices are installed" "$own/usr/share/doc/pagededup/THIRD-PARTY" "$TOP/THIRD-PARTY"
run "$P" version --licenses
cat "$TOP/LICENSE" <(echo) "$TOP/THIRD-PARTY" >licenses
same "version --licenses prints them" "$tmp/out" licenses

# The same bytes from any folder: a unit that has asserts, names of files and debug information.
for folder in one another/below; do
	mkdir -p "$tmp/$folder"
	cp -r "$TOP/src" "$TOP/include" "$TOP/Makefile" "$TOP/tools" "$TOP/dict" "$tmp/$folder/"
	run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -s -C "$tmp/$folder" B=out out/obj/src/row/tsv.o
	exits "a unit is built in $folder" 0
done
same "it has the same bytes" "$tmp/one/out/obj/src/row/tsv.o" "$tmp/another/below/out/obj/src/row/tsv.o"

# Errors of building tell the truth.
run env -u MAKEFLAGS -u MAKELEVEL PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR="$tmp/none" make --no-print-directory -s -C "$tmp/one" B=out2 all
exits "no library is installed" 2
has "the missing package is named" "$tmp/err" "lmdb"
has "the message gives the remedy" "$tmp/out" "^install what is missing"
# A compiler for a machine of the other kind, as one of this kind pretends to be.
run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -s -C "$tmp/one" B=out3 CC="${CC:-cc} -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__" all
exits "a big-endian machine" 2
has "the error gives the reason" "$tmp/err" '^pagededup runs on little-endian machines only'
empty "before anything is compiled" "$tmp/out"

mkdir words
for missing in "$PWD/none" "$PWD/words"; do
	run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -s -C "$TOP" B="$tmp/no-words" -o "$tmp/no-words/tools/mkdict" DICT_SOURCE="$missing" "$tmp/no-words/gen/dict.bin"
	exits "no dictionary at $(basename "$missing")" 2
	has "the message names the package to install" "$tmp/err" "^no dictionary at $missing(/dict\.txt)?: install python3-jieba, or name one with DICT_SOURCE=\$"
done

# Folders that the system's loader searches, and folders that it does not search.
mkdir loader
for known in none prefix; do
	printf '#!/bin/sh\n[ "$1" != -p ] || echo "	libpagededup.so.0.2 (libc6,x86-64) => %s/lib/libpagededup.so.0.2"\n' "$tmp/$known" >loader/ldconfig
	chmod +x loader/ldconfig
	run env -u MAKEFLAGS -u MAKELEVEL PATH="$PWD/loader:$PATH" make --no-print-directory -s -C "$TOP" -o all install B="$B" PREFIX="$tmp/prefix"
	exits "make install PREFIX=, the loader knows $known" 0
	is "the message gives the remedy if there is one" "$(grep -cE "^programs find $tmp/prefix/lib/libpagededup\.so\.[0-9.]+ with LD_LIBRARY_PATH=$tmp/prefix/lib, or once " "$tmp/out")" "$([ $known = none ] && echo 1 || echo 0)"
done

for flags in -DONE -DOTHER; do
	run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -s -C "$TOP" B="$tmp/flagged" CPPFLAGS=$flags "$tmp/flagged/flags"
	has "what is built depends on its flags: $flags" "$tmp/flagged/flags" " $flags"
done

if git -C "$TOP" rev-parse -q --verify HEAD >/dev/null 2>&1; then
	for n in 1 2; do
		run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -s -C "$TOP" dist B="$tmp/dist$n"
		exits "make dist" 0
	done
	version=$(cat "$TOP/VERSION")
	for made in tar.gz spdx.json; do
		same "twice the same bytes: .$made" "$tmp/dist1/pagededup-$version.$made" "$tmp/dist2/pagededup-$version.$made"
	done
	is "the list of parts has every library" "$(python3 -c "
import json, sys
parts = {p['name'] for p in json.load(open(sys.argv[1], encoding='utf-8'))['packages']}
print([r.split('\t')[0] for r in open(sys.argv[2], encoding='utf-8') if not r.startswith('#') and r.split('\t')[0] not in parts])" \
		"$tmp/dist1/pagededup-$version.spdx.json" "$TOP/tools/libraries")" "[]"
	has "under a folder of its name" <(tar tzf "$tmp/dist1/pagededup-$version.tar.gz") "^pagededup-$version/Makefile$"
else
	skip "make dist" "no git here"
fi
if command -v mandoc >/dev/null; then
	is "mandoc has no complaints about the man pages" "$(cd "$TOP" && for f in docs/man/*; do mandoc -T lint -W warning "$f"; done 2>&1 | head -5)" ""
else
	skip "mandoc" "it is not installed"
fi
tap_done
