#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Versions of libxml2: the oldest and the newest of Debian's releases, compiled and linked with the program, give the same fingerprints.
. "$(dirname "$0")/../tap.sh"
cache=${XDG_CACHE_HOME:-${HOME:-/var/cache}/.cache}/pagededup/libxml2
system=libxml2
give_up() { # REASON
	skip "libxml2" "$1"
	tap_done
	exit
}
for tool in apt-get dpkg-source; do command -v $tool >/dev/null || give_up "$tool is not installed"; done
case $B in *san-* | *cover*) give_up "libxml2 is built without sanitizers" ;; esac
objects=("$B"/obj/src/cmd/*.o "$B/obj/src/main.o")
[ -e "${objects[0]}" ] || give_up "the program's objects are not in $B"
# shellcheck disable=SC2046
libraries="$(pkg-config --libs $(grep -v '^#' "$TOP/tools/libraries" | cut -f 2 | grep -v '^-l\|libxml')) -lbz2 -lstdc++ -lm -pthread"

fetch() { # RELEASE: its source in $cache/RELEASE/source
	local folder=$cache/$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" && cd "$folder" || return 1
	apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -1 |
		sed "s|.*|deb-src $([ ! -e $keyring ] || echo "[signed-by=$keyring] ")& $1 main|" >sources.list
	set -- -q -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$folder/lists" -o Dir::Cache="$folder/cache" -o APT::Sandbox::User=root
	apt-get "$@" update && apt-get "$@" source --download-only --only-source libxml2 && rm -rf source && dpkg-source -q --no-check -x libxml2_*.dsc source
}
build() { # RELEASE: include/ and libxml2.a
	cd "$cache/$1/source" || return 1
	[ -x configure ] || autoreconf -fi
	./configure --prefix="$cache/$1" --disable-shared --without-{python,zlib,lzma,icu,iconv,http,ftp,catalog,modules} CFLAGS='-O1 -w -fPIC' &&
		make -j"$(nproc)" libxml2.la && make install-data && cp .libs/libxml2.a "$cache/$1"
}
cp "$demo" demo.warc.gz
inputs=(demo.warc.gz)
[ -z "${PAGEDEDUP_CORPORA:-}" ] || inputs+=("$PAGEDEDUP_CORPORA"/{neardup/transplant-dev.warc.gz,warc,encodings,extraction,robustness,sites,sites2})
rows() { for input in "${inputs[@]}"; do "$1" fp -q --all-text --method=simhash,links,segments "$input" 2>/dev/null; done; }
rows "$P" >here.rows
at_least "rows to compare" "$(grep -vc '^#' here.rows)" 80
for release in bullseye sid; do
	if [ ! -e "$cache/$release/libxml2.a" ]; then
		(fetch $release && build $release) >"$tmp/$release.log" 2>&1 || { skip "libxml2 of $release" "$(tail -1 "$tmp/$release.log")"; continue; }
	fi
	version=$(sed -n 's/^#define LIBXML_DOTTED_VERSION "\(.*\)"/\1/p' "$cache/$release/include/libxml2/libxml/xmlversion.h")
	# shellcheck disable=SC2086
	run env -C "$TOP" bash -c "cc -std=gnu11 -O2 -ffp-contract=off -pthread -D_GNU_SOURCE -DLIBXML_STATIC -Isrc -Iinclude -I'$cache/$release/include/libxml2' -c -o '$tmp/w/tree.o' src/page/tree.c &&
		cc -o '$tmp/w/there' ${objects[*]} '$tmp/w/tree.o' '$B/libtools.a' '$B/libpagededup.a' '$cache/$release/libxml2.a' $libraries"
	exits "libxml2 $version: the program is linked with it" 0
	[ $code = 0 ] || { diag "$(grep -m3 error "$tmp/err")"; continue; }
	has "libxml2 $version: selftest" <(./there version --selftest --long) '^golden pages +ok'
	rows ./there >there.rows
	same "libxml2 $version: the same rows" there.rows here.rows
done
tap_done
