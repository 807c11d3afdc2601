#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make static: one file that works in a root without any other file.
. "$(dirname "$0")/../tap.sh"
case ${B:-build} in
*san-* | *cover*) skip "make static" "sanitizers and coverage need shared libraries"; tap_done; exit ;;
esac
run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -s -C "$TOP" static B="$B"
if [ $code != 0 ] && grep -q 'not found: \|cannot find -l' "$tmp/err"; then
	skip "make static" "a library has no static form here: $(grep -o 'not found: .*\|cannot find -l.*' "$tmp/err" | head -1)"
	tap_done
	exit
fi
exits "make static" 0
static=$(cd "$TOP" && realpath "$B/pagededup-static")
hasnt "it needs no loader" <(readelf -lW "$static") INTERP
has "it runs at random addresses" <(readelf -hW "$static") "DYN "
has "its table of addresses is read-only" <(readelf -lW "$static") GNU_RELRO
if ! mkdir root root/tmp || ! cp "$static" root/pagededup || ! chroot root /pagededup --version >/dev/null 2>&1; then
	skip "in an empty root" "chroot is not allowed here"
	tap_done
	exit
fi
cp "$demo" root/demo.warc.gz
cp "$demo" demo.warc.gz
run chroot root /pagededup selftest --long
exits "selftest --long" 0
for j in 1 4; do
	run chroot root /pagededup fp -q -j$j demo.warc.gz
	exits "fp, $j threads" 0
	cp "$tmp/out" static.fp
	"$P" fp -q demo.warc.gz >shared.fp
	same "its rows are those of the other, $j threads" static.fp shared.fp
done
run chroot root /pagededup dedup -q -o out demo.warc.gz
exits "dedup" 0
"$P" dedup -q -o out demo.warc.gz
same "it removes the same" root/out/verdicts.tsv out/verdicts.tsv
same "it writes the same dump" root/out/demo.warc.gz out/demo.warc.gz
# Threads that open parsers all at once: libxml2 must have its locks.
for i in $(seq 300); do head -c 3000 "$TOP/tests/golden/en-article-html5/page.html" >"root/p$i.html"; done
run chroot root /pagededup fp -q -j8 $(cd root && ls p*.html)
exits "many small pages on eight threads" 0
is "they are equal" "$(grep -v '^#' "$tmp/out" | cut -f 1 | sort -u | wc -l)" 1
tap_done
