#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program without its optional libraries: functions that need them are refused with a message, and everything else
# is unchanged.
. "$(dirname "$0")/../tap.sh"
without=$B/without
run env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -s -j"$(nproc)" -C "$TOP" WITHOUT="brotli libarchive liblzma bzip2" B="$without" "$without/pagededup"
exits "it builds" 0
W=$without/pagededup
hasnt "it is not linked with them" <(readelf -d "$W") 'brotli|libarchive|lzma|bz2'
run "$W" selftest --long
exits "selftest --long" 0
cp "$demo" demo.warc.gz
"$P" fp -q demo.warc.gz >with.fp
"$W" fp -q demo.warc.gz >without.fp
same "the same rows" with.fp without.fp
cp "$TOP/tests/golden/en-article-html5/page.html" .
tar cf pages.tar page.html
run "$W" fp pages.tar
exits "a tar archive" 1
has "the error gives the reason" "$tmp/err" 'pages.tar.*built without libarchive; unpack it and give the folder'
for f in xz bzip2; do
	python3 -c 'import bz2, lzma, sys; sys.stdout.buffer.write({"xz": lzma, "bzip2": bz2}[sys.argv[1]].compress(open("demo.warc.gz", "rb").read()))' $f >demo.warc.$f
	run "$W" fp demo.warc.$f
	exits "a dump in $f" 1
	has "the error gives the reason" "$tmp/err" "demo\.warc\.$f: $f is not supported; try: $f -dc demo\.warc\.$f \| pagededup fp\$"
done
python3 - <<'PY'
import zipfile
with zipfile.ZipFile("x.wacz", "w") as z:
    z.write("demo.warc.gz", "archive/data.warc.gz")
with zipfile.ZipFile("y.zip", "w") as z:
    z.write("page.html")
PY
run "$W" fp x.wacz
exits "WACZ" 1
has "the error gives the reason" "$tmp/err" 'x\.wacz: WACZ \(zip\) is not supported; unpack it and give archive/\*\.warc\.gz$'
run "$W" fp y.zip
has "and so is another zip" "$tmp/err" 'y\.zip: zip is not supported; unpack it and give the folder$'
printf 'Content-Type: text/html\nContent-Encoding: br\n' >http
printf '\213\002\200\377\001\002\003\004\005\006' >body
python3 "$TOP/tests/wrap_warc.py" http body >brotli.warc
run "$W" fp brotli.warc
exits "a page sent in brotli" 1
has "the error gives the reason" "$tmp/err" 'built without brotli'
tap_done
