#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The site of a manual: pages that dedup must and must not remove.
. "$(dirname "$0")/../tap.sh"

notice='Distributed under the Great Library Licence, version 2.0: see the file LICENCE that comes with the sources, or its copy at great-library.example, where you may also ask what it means for your own programs.'
# page PATH TITLE BODY: the site's template around it
page() {
	printf '{"url":"http://manual.example/%s","html":"<html><head><title>%s - Great Library</title></head><body><div class=top><a href=/>Home</a> <a href=/libs>Libraries</a> <a href=/people>People</a></div><div class=toolbar><span>Search the manual</span></div><div class=part>%s</div><div class=legal><p>%s</p><p>Last built on the great machine of the project.</p></div></body></html>"}\n' \
		"$1" "$2" "$3" "$notice"
}
# app PATH: a shell without a text
app() { printf '{"url":"http://ledger.example/%s","html":"<html><head><title>Ledger</title></head><body><div id=root></div><script src=/app.js></script></body></html>"}\n' "$1"; }

subjects='anchor beacon cellar dagger engine feather garment hammer island jacket kettle ladder mirror needle orchard pebble quarry ribbon saddle temple umbrella valley window yoghurt zipper barrel candle desert eagle forest glacier harbour iceberg jungle kitchen lantern meadow napkin oyster pillow'
{
	for s in $subjects; do
		page "ref/$s.html" "Global $s" "<h1>Global $s</h1><p>great::$s</p><h2>Synopsis</h2><pre>static const unit $s;</pre>"
	done
	for v in 1.0 1.1 2.0 latest; do
		page "$v/tour.html" "A tour of the library" "<h1>A tour of the library</h1><p>The library keeps whatever a program wants to find again: it sorts what comes in, throws away what it has seen before, and hands the rest to whoever asked for it first.</p><p>Begin with a shelf, which is the smallest thing that can hold another; put a book on it, ask for it by name, and see what happens when two of them have the same one.</p><p>Since version $v shelves may be shared by several threads, as long as none of them moves the wall that they hang on.</p>"
	done
	for n in 1 2 3 4 5; do app view$n; done
} >manual.jsonl

run "$P" dedup -q --keep-rows manual.jsonl -o out
exits "dedup of a manual" 0
rows out/verdicts.tsv | awk -F '\t' '$4 == 1 { print $3 }' | sort >gone
is "forty pages of one template with different subjects are kept" "$(grep -c /ref/ gone)" 0
is "all except one of four versions of a page are removed" "$(grep -c /tour.html gone)" 3
is "shells of an application are kept" "$(grep -c ledger gone)" 0
is "no other page is removed" "$(wc -l <gone)" 3
"$P" text -q --boilerplate=out/site.bp manual.jsonl >texts
is "a notice longer than a page's own text is not its text" "$(grep -c 'Great Library Licence' texts)" 0
is "as each page by itself" "$(grep -c 'static const unit kettle' texts)" 1

# --- the same as a mirror on disk, two sites in folders of one, with stubs that redirect ---
python3 - manual.jsonl <<'END'
import json, os, sys
from urllib.parse import urlsplit
for line in open(sys.argv[1]):
    page = json.loads(line)
    url = urlsplit(page['url'])
    for host in ([url.netloc] if 'ledger' in url.netloc else [url.netloc, 'copy.manual.example']):
        path = 'mirror/' + host + url.path + ('' if url.path.endswith('.html') else '.html')
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, 'w').write(page['html'].replace('Search the manual', 'Search this copy') if host.startswith('copy') else page['html'])
for i in range(6):
    os.makedirs('mirror/manual.example/old', exist_ok=True)
    open('mirror/manual.example/old/%d.html' % i, 'w').write(
        '<html><head><title>Moved</title><meta http-equiv=refresh content="0; url=../latest/tour.html"></head><body><p>This page has moved to the latest tour.</p></body></html>')
open('mirror/manual.example/robots.txt', 'w').write('User-agent: *')
END
run "$P" dedup -q --left-out=left.tsv mirror -o clean
exits "dedup of a mirror" 0
rows clean/verdicts.tsv | awk -F '\t' '$4 == 1 { print $3, $5 }' >gone
is "of forty pages on two hosts one of each subject is kept" "$(grep -c /ref/ gone)" 40
is "no page is removed for a page of another subject" "$(awk '{ a = $1; b = $2; gsub(".*/", "", a); gsub(".*/", "", b); if (a != b) print }' gone)" ""
is "all except one of eight versions of a page are removed" "$(grep -c /tour.html gone)" 7
is "each redirecting stub is kept" "$(grep -c /old/ gone)" 0
is "shells and other files are kept, too" "$(find clean/mirror -name 'view*' | wc -l) $(find clean/mirror -name robots.txt | wc -l)" "5 1"
is "removed pages are not in the folder" "$(find clean/mirror -name '*.html' | wc -l)" $(($(find mirror -name '*.html' | wc -l) - 47))
tap_done
