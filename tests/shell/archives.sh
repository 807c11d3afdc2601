#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Dumps packed by other programs: xz, bzip2, zip, and the WACZ of py-wacz if it is installed or can be installed.
. "$(dirname "$0")/../tap.sh"
cp "$demo" d.warc.gz
gzip -dc d.warc.gz >d.warc
cp "$TOP/tests/golden/en-article-html5/page.html" a.html
cp "$TOP/tests/golden/de-article/page.html" b.html 2>/dev/null || sed 's/the/der/g' a.html >b.html
rows() { grep -v '^#' "$@"; }
no_ids() { rows "$@" | cut -f1,3-; }
"$P" fp -q d.warc >plain.fp
pages=$(rows plain.fp | wc -l)

# --- xz and bzip2: one stream, or several that end anywhere ---
halves() { head -c 100000 d.warc | "$1" -c && tail -c +100001 d.warc | "$1" -c; }
for tool in xz bzip2; do
	if ! command -v $tool >/dev/null; then skip "$tool" "it is not installed"; continue; fi
	$tool -c d.warc >d.warc.$tool
	run "$P" fp -q d.warc.$tool
	exits "$tool: a dump" 0
	cp "$tmp/out" $tool.fp
	same "$tool: the rows of the dump itself" <(no_ids $tool.fp) <(no_ids plain.fp)
	same "$tool: ids are places in what it unpacks to" <(rows $tool.fp | cut -f2 | cut -d+ -f2) <(rows plain.fp | cut -f2 | cut -d: -f2)
	same "$tool: from a pipe" <(no_ids <("$P" fp -q - <d.warc.$tool)) <(no_ids plain.fp)
	halves $tool >two.warc.$tool
	same "$tool: two streams" <(no_ids <("$P" fp -q two.warc.$tool)) <(no_ids plain.fp)
	run "$P" show "$(rows $tool.fp | sed -n 3p | cut -f2)"
	exits "$tool: a page by its id" 0
	tar cf - a.html b.html | $tool -c >pages.tar.$tool
	is "$tool: a tar archive" "$(rows <("$P" fp -q pages.tar.$tool) | wc -l)" 2
	size=$(stat -c %s d.warc.$tool)
	head -c $((size / 2)) d.warc.$tool >cut.warc.$tool
	run "$P" fp cut.warc.$tool
	exits "$tool: cut" 1
	has "$tool: the message says so" "$tmp/err" "cut\.warc\.$tool:[+0-9]+: $tool stream cut by the end of the file; left out"
	run "$P" dedup -q d.warc.$tool -o clean.$tool
	exits "$tool: dedup" 0
	run $tool -t clean.$tool/d.warc.$tool
	exits "$tool: what it writes is read by $tool" 0
	"$P" dedup -q d.warc -o clean.plain.$tool
	same "$tool: and holds what the clean dump holds" <($tool -dc clean.$tool/d.warc.$tool) clean.plain.$tool/d.warc
done

# --- zip ---
mkdir -p pages archive
cp a.html b.html pages
echo text >pages/notes.txt
cp d.warc.gz archive/data.warc.gz
cp d.warc archive/plain.warc
printf '%s\n' '{"format": "json-pages-1.0", "id": "pages", "title": "All pages", "hasText": true}' '{"url": "http://h/", "text": "of no page"}' >pages/pages.jsonl
python3 - <<'PY'
import zipfile
def write(name, how, *files):
    with zipfile.ZipFile(name, "w", how) as z:
        for f in files:
            z.write(f)
every = ["archive/data.warc.gz", "pages/a.html", "pages/b.html", "pages/notes.txt", "pages/pages.jsonl"]
write("packed.zip", zipfile.ZIP_DEFLATED, *every)
write("stored.zip", zipfile.ZIP_STORED, *every)
write("lzma.zip", zipfile.ZIP_LZMA, *every)
write("empty.zip", zipfile.ZIP_STORED)
write("plain.zip", zipfile.ZIP_DEFLATED, "archive/plain.warc")
import warnings
warnings.simplefilter("ignore")
with zipfile.ZipFile("twice.zip", "w") as z:
    z.write("a.html")
    z.write("b.html", "a.html")
data = bytearray(open("stored.zip", "rb").read())
at = data.find(open("a.html", "rb").read()) + 20
data[at] ^= 1
open("flip.zip", "wb").write(data)
data = open("packed.zip", "rb").read()
open("cut.zip", "wb").write(data[:len(data) // 2])
PY
for f in packed stored lzma; do
	run "$P" fp $f.zip
	exits "$f.zip" 0
	cp "$tmp/out" $f.fp
	is "$f.zip: pages of the dump, and two" "$(rows $f.fp | wc -l)" $((pages + 2))
	is "$f.zip: ids" "$(rows $f.fp | cut -f2 | sed 's/:[0-9]*$//' | uniq -c | awk '{ print $2 }' | tr '\n' ' ')" \
		"$f.zip!archive/data.warc.gz $f.zip!pages/a.html $f.zip!pages/b.html "
	same "$f.zip: the dump's rows are those of the dump itself" <(no_ids $f.fp | head -n "$pages") <(no_ids <("$P" fp -q d.warc.gz))
	[ $f = lzma ] || same "$f.zip: the same from a pipe" <(rows $f.fp | sed "s/	$f\.zip!/	-!/") <("$P" fp -q - <$f.zip | rows)
done
for n in 3 $((pages + 1)); do
	id=$(rows packed.fp | sed -n ${n}p | cut -f2)
	run "$P" show "$id"
	exits "a page by its id: $id" 0
	is "is that page: $id" "$("$P" text -q "$id" 2>/dev/null | head -c 200 | cksum)" "$("$P" text -q "$(rows stored.fp | sed -n ${n}p | cut -f2)" 2>/dev/null | head -c 200 | cksum)"
done
run "$P" show packed.zip!pages/none.html
exits "a missing file" 2
run "$P" show packed.zip
has "the archive is not a page" "$tmp/err" 'packed\.zip is an archive: the id of one of its pages is packed\.zip!PATH'
same "a dump in it that is not compressed" <(no_ids <("$P" fp -q plain.zip)) <(no_ids plain.fp)
is "a name that occurs twice has two ids" "$(rows <("$P" fp -q twice.zip) | cut -f2 | tr '\n' ' ')" 'twice.zip!a.html twice.zip!a.html!2 '
run "$P" show 'twice.zip!a.html!2'
exits "and both are found" 0
run "$P" fp empty.zip
exits "an archive without files" 0

run "$P" fp flip.zip
exits "a damaged file in it" 1
has "is named, with the reason" "$tmp/err" '^pagededup fp: flip\.zip!pages/a\.html: cannot be unpacked whole from the zip archive: ZIP bad CRC'
is "all others are read" "$(rows "$tmp/out" | wc -l)" $((pages + 1))
for from in cut.zip -; do
	run_in cut.zip "$P" fp $from
	exits "a cut archive ($from)" 1
	has "is named ($from)" "$tmp/err" "^pagededup fp: $from: zip archive cut or damaged; the rest of it is lost: "
	has "so is the file that the cut is in ($from)" "$tmp/err" "^pagededup fp: $from!archive/data\.warc\.gz: cannot be unpacked whole"
	yes "what comes before is read ($from)" [ "$(rows "$tmp/out" | wc -l)" -gt 10 ]
done
if command -v zip >/dev/null; then
	zip -q -P secret secret.zip a.html
	run "$P" fp secret.zip
	exits "an encrypted archive" 1
	has "the message says so" "$tmp/err" 'secret\.zip!a\.html: cannot be unpacked whole from the zip archive: Passphrase required'
	(cat d.warc | zip -q - -) >piped.zip
	same "zip's own output to a pipe, without lengths before the bytes" <(no_ids <("$P" fp -q piped.zip)) <(no_ids plain.fp)
	same "read from a pipe, too" <(no_ids <("$P" fp -q - <piped.zip)) <(no_ids plain.fp)
fi

# In a folder a zip is read for dumps: books and programs are archives of pages, too.
mkdir folder
cp packed.zip folder/x.zip
cp twice.zip folder/book.epub
is "a folder" "$(rows <("$P" fp -q folder) | cut -f2 | sed 's/:[0-9]*$//' | uniq)" 'folder/x.zip!archive/data.warc.gz'

# The program writes no zip archive except WACZ, and reports this first.  wacz.sh writes WACZ.
mkdir other
python3 -c 'import zipfile; z = zipfile.ZipFile("other.zip", "w"); z.write("d.warc.gz")'
run "$P" dedup other.zip -o never
exits "dedup of a zip" 2
has "the error gives the remedy" "$tmp/err" 'other\.zip: zip is read but not written, except WACZ; unpack it and give the folder$'
run "$P" dedup --dry-run other.zip -o dry
exits "without an output, only the bytes are unknown" 1
has "the message says so" "$tmp/err" 'other\.zip: .*; the bytes of the dumps are omitted$'
at_least "and the verdicts are there" "$(rows dry/verdicts.tsv | wc -l)" 70
cp other.zip other
run "$P" dedup -q other -o never2
exits "dedup of a folder with one" 2
has "that loses pages" "$tmp/err" 'other/other\.zip: .* is read but not written'
run "$P" dedup -q packed.zip -o packed
exits "dedup of a zip that begins like a WACZ" 0
same "the kept pages" <(no_ids <("$P" fp -q packed/packed.zip)) <(rows packed.fp | grep -vFf <(rows packed/verdicts.tsv | awk -F '\t' '$4 == 1 { print $2 "\t" }') | cut -f1,3-)

# --- WACZ as py-wacz makes it ---
lib=$(cd "$B" && pwd)
wacz=$(command -v wacz || echo "$lib/wacz/bin/wacz")
if [ ! -x "$wacz" ] && python3 -m venv "$lib/wacz" >"$tmp/venv" 2>&1; then timeout 300 "$lib/wacz/bin/pip" install -q wacz >"$tmp/pip" 2>&1; fi
if [ -x "$wacz" ]; then
	"$wacz" create -f d.warc.gz -o real.wacz >"$tmp/wacz" 2>&1
	run "$P" fp real.wacz
	exits "WACZ of py-wacz" 0
	same "its pages" <(no_ids "$tmp/out") <(no_ids plain.fp)
	is "their ids" "$(rows "$tmp/out" | cut -f2 | sed 's/:[0-9]*$//' | uniq)" 'real.wacz!archive/d.warc.gz'
else
	skip "WACZ of py-wacz" "it could not be installed"
fi
tap_done
