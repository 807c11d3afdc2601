#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Inputs: one file under several names, folders and mirrors, skipped files with the reason, inputs without pages.
. "$(dirname "$0")/../tap.sh"

page() { # NUMBER: another text for each
	echo "<html><title>Page $1</title><body><div><a href=/>Home</a> <a href=/d>Docs</a></div><p>The page numbered $1 says something of its own: $(seq "$1" 7 200 | tr '\n' ' ')</p>"
}
ids() { grep -v '^#' "$tmp/out" | cut -f2; }

# --- one file, several names ---
mkdir d
page 1 >q
page 2 >d/b.html
ln q hard
ln -s q soft
ln -s b.html d/a.html
run "$P" fp q hard soft ./q "$PWD/q" d/../q
exits "one file under six names" 0
is "one file under six names is one page" "$(ids)" "q"
has "the other names are counted" "$tmp/err" '1 page, 5 other names of files read already'
has "the message says so" "$tmp/err" '^pagededup fp: \./q: another name of a file that was read already; left out'
run "$P" fp soft q
is "the first name is used" "$(ids)" "soft"
run "$P" fp d
is "a link and its file in one folder" "$(ids)" "d/a.html"
run "$P" fp d/b.html d ./d
is "a file in a given folder" "$(ids)" "d/b.html"
printf '%s\n' q hard d >list
run "$P" fp q -T list
is "names in a list" "$(ids | tr '\n' ' ')" "q d/a.html "
run_in q "$P" fp q -
is "standard input that is the same file" "$(ids)" "q"
cp q copy
run "$P" fp q copy
is "a copy is another file" "$(ids | tr '\n' ' ')" "q copy "
for j in 1 3; do
	run "$P" fp -j$j --learn-boilerplate q hard d
	is "the same where sites are learned first, -j$j" "$(ids | tr '\n' ' ')" "q d/a.html "
done
cp "$demo" crawl.warc.gz
ln -s crawl.warc.gz again.warc.gz
"$P" fp -q crawl.warc.gz >one.fp
run "$P" fp -q crawl.warc.gz again.warc.gz
same "a dump under two names is one dump" <(grep -v '^# ' "$tmp/out") <(grep -v '^# ' one.fp)
run "$P" dedup -q crawl.warc.gz again.warc.gz -o two
exits "dedup of a dump under two names" 0
"$P" dedup -q crawl.warc.gz -o one
same "has the verdicts of one" two/verdicts.tsv one/verdicts.tsv

# --- folders: HTML alone ---
mkdir -p f/_static f/_sources
page 3 >f/p.html
page 4 >f/no-suffix
echo 'User-agent: *' >f/robots.txt
printf 'Title <b>bold</b>\n=====\n\nText of the source.\n' >f/_sources/p.rst.txt
echo "var x = '<div>no page</div>';" >f/_static/x.js
echo 'body { color: red }' >f/_static/x.css
run "$P" fp --left-out=left.tsv f
exits "a folder" 0
is "HTML is a page" "$(ids | tr '\n' ' ')" "f/no-suffix f/p.html "
is "other files are not, and are listed" "$(cut -f1,4 left.tsv)" "$(printf '%s\n' '#id	reason' \
	'f/_sources/p.rst.txt	other type: text in a folder is read only with --all-text' \
	'f/_static/x.css	other type: text in a folder is read only with --all-text' \
	'f/_static/x.js	other type: text in a folder is read only with --all-text' \
	'f/robots.txt	other type: text in a folder is read only with --all-text')"
run "$P" fp --all-text f
is "--all-text also reads text" "$(ids | wc -l)" 6
run "$P" fp f/robots.txt
is "a named file is a page" "$(ids)" "f/robots.txt"
tar cf f.tar f
run "$P" fp f.tar
is "the same in tar" "$(ids | sort | tr '\n' ' ')" "f.tar!f/no-suffix f.tar!f/p.html "
run "$P" dedup f -o fd
exits "dedup of a folder" 0
hasnt "a non-page in a folder is not an input without pages" "$tmp/err" 'has no pages'
is "its style sheets are kept" "$(cd fd && find f -type f | sort | tr '\n' ' ')" \
	"f/_sources/p.rst.txt f/_static/x.css f/_static/x.js f/no-suffix f/p.html f/robots.txt "

# --- mirrors ---
mkdir -p m/docs.example.org/3 m/example.net
for i in 5 6 7 8 9; do page $i >m/docs.example.org/3/$i.html; done
page 10 >m/example.net/index.html
run "$P" fp m
is "hosts come from the paths of a mirror" "$(grep -v '^#' "$tmp/out" | cut -f3 | tr '\n' ' ')" \
	"http://docs.example.org/3/5.html http://docs.example.org/3/6.html http://docs.example.org/3/7.html http://docs.example.org/3/8.html http://docs.example.org/3/9.html http://example.net/index.html "
has "the message says so" "$tmp/err" 'URLs of 6 records were made from paths'
run "$P" fp --learn-boilerplate m
has "so that sites are known" "$tmp/err" '^pagededup fp: learned boilerplate on [0-9]+ of 2 hosts'
run "$P" fp --learn-boilerplate f
has "no hosts: the message says so" "$tmp/err" 'no page has a URL: boilerplate of sites is not learned'
id=$("$P" fp -q m | grep -v '^#' | head -1 | cut -f2)
run "$P" show --url=http://docs.example.org/3/7.html m
exits "a page of a mirror by its URL" 0
run "$P" show "$id"
exits "and by its id" 0

# --- inputs without a page ---
without_pages() { # NAME REGEX ARGUMENTS…
	local name=$1 want=$2
	shift 2
	run "$P" fp "$@"
	exits "$name: exit code" 1
	has "$name: why" "$tmp/err" "^pagededup fp: $want"
	run "$P" fp --ignore-damaged "$@"
	exits "$name: --ignore-damaged" 0
}
if command -v lzip >/dev/null; then
	lzip -k crawl.warc.gz -c >crawl.warc.lz
	without_pages "lzip" 'crawl\.warc\.lz: lzip is not supported; try: lzip -dc crawl\.warc\.lz \| pagededup fp$' crawl.warc.lz
	mkdir dumps && cp crawl.warc.gz crawl.warc.lz dumps
	mv dumps/crawl.warc.lz dumps/crawl.wacz
	run "$P" fp dumps
	exits "a dump in lzip in a folder is not passed over" 1
	has "the message names it" "$tmp/err" 'dumps/crawl\.wacz: lzip is not supported'
fi
printf '{"link":"http://h/a","content":"words %s"}\n' 1 2 3 >j.jsonl
without_pages "JSONL with other fields" 'j\.jsonl: no field "text" or "html" \(found: link, content\); use --field-text=content$' j.jsonl
run "$P" fp --field-text=content j.jsonl
exits "as the message proposes" 0
is "three pages" "$(ids | wc -l)" 3
printf '{"u":"http://h/a","page":"  <p>words %s</p>"}\n' 1 2 3 >h.jsonl
without_pages "JSONL with HTML in another field" '.*; use --field-html=page$' h.jsonl
: >empty.html
mkdir nothing
for input in empty.html nothing -; do
	run "$P" fp q $input
	exits "an empty input is no failure: $input" 0
	has "it is said: $input" "$tmp/err" "^pagededup fp: $input is empty: no records and no pages\$"
done
without_pages "a folder of text" 'f/_static has no pages; skipped 2 records that are not pages \(2 of another type\); text in a folder' q f/_static
printf 'WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 1\r\n\r\nx\r\n\r\n' >info.warc
without_pages "a dump without pages, among others" 'info\.warc has no pages; skipped 1 record that is not a page \(1 requests or metadata\)$' -j2 q info.warc copy
has "the totals count it" "$tmp/out" '^# total pages=2 .* inputs_without_pages=1$'
run "$P" dedup q info.warc copy -o without_pages
exits "dedup with an input without pages" 1
has "the message names it" "$tmp/err" '^pagededup dedup: info\.warc has no pages'
for input in empty.html nothing info.warc; do
	run "$P" dedup --ignore-damaged $input -o "barren-$input"
	exits "dedup without a page: $input" 1
	has "the error gives the reason" "$tmp/err" '^pagededup dedup: no page was read, so nothing was compared(; the messages above give|: the inputs are empty files)'
done
run "$P" fp --ignore-damaged -j2 q info.warc copy
is "the others are read" "$(ids | tr '\n' ' ')" "q copy "
printf 'warc/1.0\r\nwarc-type: resource\r\ncontent-type: text/html\r\nwarc-target-uri: http://h/\r\ncontent-length: 10\r\n\r\n<p>a b c d\r\n\r\n' >lower.warc
run "$P" fp lower.warc
exits "warc/1.0 in lower case" 0
is "is a WARC" "$(ids)" "lower.warc:0"

# --- a link that leads nowhere ---
mkdir dead && page 11 >dead/a.html && ln -s nowhere dead/b.html
for c in "fp" "dedup -o deadout" "apply --verdicts=v.tsv -o deadapplied/"; do
	case $c in apply*) cp deadout/verdicts.tsv v.tsv ;; esac
	run "$P" $c dead
	exits "$c: a link that leads nowhere" 1
	has "$c: the message names it" "$tmp/err" 'dead/b\.html: .*No such file'
done
is "dedup has ended: nothing to resume" "$(tail -1 deadout/.dedup/journal)" "end"

# --- left out, with several threads ---
for j in 1 4; do "$P" fp -q -j$j --status=404 --left-out=left.$j crawl.warc.gz info.warc f >/dev/null 2>&1; done
same "the list is the same for any number of threads" left.1 left.4
at_least "and long" "$(wc -l <left.1)" 10
run "$P" text -q --left-out=left.text f
same "text has the same" left.text left.tsv

# --- files of the kernel, and other things than files ---
# Reading /proc/kmsg waits for the next message of the kernel.
mkdir odd && echo '<p>one page with some words that are here for this test of a folder' >odd/a.html
ln -s /proc/kmsg odd/kmsg.html && ln -s /dev/zero odd/zero.html && ln -s /proc/self/status odd/status.html && mkfifo odd/pipe.html && ln -s pipe.html odd/link.html
run timeout 20 "$P" fp odd
exits "links to files of the kernel, pipes and devices in a folder: fp" 0
is "they are not pages" "$(rows "$tmp/out" | cut -f2)" odd/a.html
mkdir applied && run timeout 20 "$P" dedup -q odd -o applied/odd
exits "dedup" 0
is "they are not copied" "$(cd applied/odd && find . -name '*.html' | sort | tr '\n' ' ')" "./odd/a.html ./report.html "
if [ -r /proc/kmsg ] && [ "$(id -u)" = 0 ]; then
	run timeout 20 "$P" fp odd/kmsg.html
	is "one that is named does not wait" "$((code == 124))" 0
else
	skip "one that is named" "/proc/kmsg cannot be read"
fi
(sleep .2; cat odd/a.html >odd/pipe.html) &
run timeout 20 "$P" fp -q odd/pipe.html
exits "a pipe that is named waits for its writer" 0

# --- files that are named like a dump and are not one ---
printf '<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>\n' >refused.xml
mkdir mixed && cp "$demo" mixed/whole.warc.gz && cp refused.xml mixed/plain.warc.gz && gzip -c refused.xml >mixed/packed.arc.gz
head -c 3000 "$P" >mixed/program.wet
run "$P" fp mixed
exits "named like a dump: counted as damaged" 1
same "named like a dump: no page of it, and all others" <(rows "$tmp/out") <("$P" fp -q mixed/whole.warc.gz | rows)
has "named like a dump: named, with its beginning" "$tmp/err" 'mixed/plain\.warc\.gz: not a WARC file, although it is named like one; it begins with: <\?xml version="1\.0"\?>$'
has "named like a dump: a packed one" "$tmp/err" 'mixed/packed\.arc\.gz: not an ARC file, .*<\?xml'
has "named like a dump: bytes that are not text" "$tmp/err" 'mixed/program\.wet: not a WARC file, although it is named like one$'
run_in refused.xml "$P" fp --name=remote/crawl.warc.gz
exits "named like a dump by --name" 1
has "named like a dump by --name: reported" "$tmp/err" 'remote/crawl\.warc\.gz: not a WARC file'
run "$P" dedup -q mixed -o mixed.out
exits "dedup: counted as damaged" 1
same "dedup copies it unchanged" mixed.out/mixed/plain.warc.gz refused.xml

tap_done
