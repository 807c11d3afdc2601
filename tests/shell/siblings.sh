#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Only duplicates are removed: pages of one template with their own subjects are kept, shells without a text are kept,
# pages with a footer larger than their text are kept; of versions of one page one is kept; a page that says more than
# the kept page is kept.
. "$(dirname "$0")/../tap.sh"
cat >pages.py <<'END'
import random, sys
words = ("harbour river meadow lantern copper village morning winter orchard stone bridge market window garden letter "
         "silver mountain paper captain evening island forest summer engine barrel mirror basket candle feather wheel").split()
def prose(seed, n):
    r = random.Random(seed)
    return ' '.join(' '.join(r.choice(words) for _ in range(9)).capitalize() + '.' for _ in range(n))
def page(url, title, body):
    print('{"url": "%s", "html": "<!DOCTYPE html><html lang=en><head><title>%s</title></head><body>%s</body></html>"}' % (url, title, body))
kind = sys.argv[1]
notice = ('Copyright 2026 the authors of this manual. ' + 'Permission is granted to copy, distribute and modify this document under the '
          'terms of the licence, with no invariant sections and no cover texts; all rights not granted here are reserved. ' * 3)
for i in range(40):
    name = 'function %s-%s' % (words[i % 30], words[(i * 7 + 3 + i // 30) % 30])
    if kind == 'template':      # most of the text is the template's
        page('http://manual.example/f/%d' % i, name + ' - Manual', '<h1>%s</h1><p>%s</p><p>It is called %s.</p><p>%s</p>'
             % (name, prose('intro', 12), prose(i, 3), prose('outro', 12)))
    elif kind == 'shell':
        page('http://app%d.example/%d' % (i % 2, i), 'App', '<div id=root></div><noscript>Please enable JavaScript.</noscript>')
    elif kind == 'footer':
        page('http://foot.example/%d' % i, name + ' - Foot', '<h1>%s</h1><p>%s</p><div class=footer><p>%s</p></div>' % (name, prose(i, 3), notice))
    elif kind == 'versions':
        page('http://manual.example/%d.%d/tides' % (i // 10, i % 10), 'Tides - Manual %d.%d' % (i // 10, i % 10),
             '<h1>Tides</h1><p>%s</p><p>Version %d.%d of %s.</p>' % (prose('tides', 40), i // 10, i % 10, words[i % 30]))
if kind == 'nearly':            # a tenth of the second page is its own, and a tenth of the first
    page('http://a.example/1', 'Tides', '<h1>Tides</h1><p>%s</p><p>%s</p>' % (prose('tides', 90), prose('old', 10)))
    page('http://b.example/2', 'Tides', '<h1>Tides</h1><p>%s</p><p>%s</p>' % (prose('tides', 90), prose('new', 10)))
if kind == 'parts':             # two equal excerpts, then the whole page and a copy of it
    for i in range(4):
        page('http://p%d.example/' % i, 'Tides', '<h1>Tides</h1><p>%s</p>' % prose('tides', 30 if i < 2 else 50))
if kind == 'more':              # the second page has the first, and half as much again
    page('http://a.example/short', 'Tides', '<h1>Tides</h1><p>%s</p>' % prose('tides', 40))
    page('http://b.example/long', 'Tides', '<h1>Tides</h1><p>%s</p><p>%s</p>' % (prose('tides', 40), prose('mills', 20)))
if kind == 'excerpt':           # three fifths of the second page, and on another host
    page('http://a.example/start', 'Tides', '<h1>Tides</h1><p>%s</p>' % prose('tides', 60))
    page('http://a.example/whole', 'Tides', '<h1>Tides</h1><p>%s</p><p>%s</p>' % (prose('tides', 60), prose('mills', 40)))
if kind == 'chapter':           # most of the second page, under a title of its own
    page('http://a.example/mills', 'Mills', '<h1>Mills</h1><p>%s</p>' % prose('mills', 80))
    page('http://a.example/tides', 'Tides', '<h1>Tides</h1><p>%s</p><p>%s</p>' % (prose('mills', 80), prose('tides', 20)))
if kind == 'releases':          # the notes of each release repeat those of the release before
    for i in range(4):
        page('http://a.example/log/2_%d.html' % i, 'Release 2.%d' % i, '<h1>Release 2.%d</h1><p>%s</p>' % (i, '</p><p>'.join(prose(j, 30 if j == 0 else 4) for j in range(i + 1))))
if kind == 'titled':            # versions, each with its number in the title, and no heading
    for i in range(4):
        page('http://a.example/%d.2/tides.html' % i, 'Tides (Manual %d.2 API)' % i, '<p>%s</p><p>It is %s.</p>' % (prose('tides', 30), words[i]))
END
# duplicates KIND [FP OPTION]...: how many would go
duplicates() {
	python3 pages.py "$1" >"$1.jsonl"
	"$P" fp -q "${@:2}" "$1.jsonl" 2>"$tmp/err" | "$P" match -q | "$P" cluster -q >"$1.tsv"
	column is_duplicate "$1.tsv" | grep -c 1
}
for learn in --hidden=drop --learn-boilerplate; do
	is "forty pages of one template, $learn" "$(duplicates template $learn)" 0
	is "app shells, $learn" "$(duplicates shell $learn)" 0
	is "a footer larger than the text, $learn" "$(duplicates footer $learn)" 0
	is "versions of one page, $learn: all but one" "$(duplicates versions $learn)" 39
done
is "release notes that repeat the notes before them" "$(duplicates releases)" 2
is "versions whose titles name the version" "$(duplicates titled)" 3
for kind in excerpt chapter; do
	is "$kind: a part is not a duplicate" "$(duplicates $kind)" 0
	is "$kind: but a suspect, and the whole is not" "$(rows $kind.tsv | cut -f 3,14)" "$(grep -o 'http://a.example/[a-z]*' $kind.jsonl | head -1)	part"
	"$P" apply -q -V $kind.tsv --remove-parts $kind.jsonl -o $kind.clean
	is "$kind: apply --remove-parts removes it" "$(grep -o 'http://a.example/[a-z]*' $kind.clean)" "$(grep -o 'http://a.example/[a-z]*' $kind.jsonl | tail -1)"
	run "$P" dedup --remove-parts $kind.jsonl -o "clean-$kind"
	has "$kind: so does dedup" "$tmp/err" ' 0 of them duplicates, 1 suspect kept, except parts, '
	is "$kind: the other page is kept" "$(wc -l <"clean-$kind/$kind.jsonl")" 1
done
for kind in template shell footer; do
	run "$P" dedup -q "$kind.jsonl" -o "clean-$kind"
	is "dedup: $kind: nothing goes" "$(column is_duplicate "clean-$kind/verdicts.tsv" | grep -c 1)" 0
done
run "$P" dedup -q versions.jsonl -o clean-versions
is "dedup: versions: all except one are removed" "$(column is_duplicate clean-versions/verdicts.tsv | grep -c 1)" 39

# --- text that would be lost with a page ---
is "the shorter one is first: the longer is kept" "$(duplicates more)" 0
"$P" fp -q more.jsonl | "$P" match -q >more.pairs
run "$P" cluster more.pairs
has "and is counted" "$tmp/err" ' 0 duplicates, kept 1 near-duplicate whose removal would lose over 15% of their text'
has "the header names the share" "$tmp/out" ' max_loss=0\.15 '
run "$P" cluster -q --keep=longest more.pairs
is "the longer one is kept for both" "$(column is_duplicate "$tmp/out" | grep -c 1)" 1
run "$P" cluster -q --max-loss=.5 more.pairs
is "--max-loss=.5: it is removed" "$(column is_duplicate "$tmp/out" | grep -c 1)" 1
run "$P" cluster -q --max-loss=0 more.pairs
exits "--max-loss=0 is misuse" 2
hasnt "a pair of sketches shows it" more.tsv 'sketches'
has "which the reason tells" <("$P" cluster -q --max-loss=.5 more.pairs) ' and similarity [0-9.]+%, by sketches only	'

# --- the texts themselves ---
texts() { # KIND [OPTION OF CLUSTER]...
	python3 pages.py "$1" >"$1.jsonl"
	"$P" fp -q --shingles="$1.shingles" "$1.jsonl" | "$P" match -q >"$1.pairs"
	run "$P" cluster --shingles="$1.shingles" "${@:2}" "$1.pairs"
}
went() { rows "$tmp/out" | awk -F '\t' '$4 == 1 { print $3 ">" $5 }' | sed 's/>.*:/>/' | tr '\n' ' '; }
texts more
is "the part is removed, although it is the first" "$(rows "$tmp/out" | awk -F '\t' '$4 == 1 { print $3 }')" http://a.example/short
has "and is called so" "$tmp/out" ', a part of the page kept, all of its text in the page kept	-	0\.000	-	'
has "the kept page has the number of its duplicates" "$tmp/out" '	kept: least-loss of 2 pages	2	-	-	'
texts more --keep=first
is "--keep=first: no page is removed" "$(went)" ""
has "and it is counted" "$tmp/err" ' 0 duplicates, kept 1 near-duplicate whose removal would lose over 15% of their text'
texts more --keep=first --max-loss=1
is "--max-loss=1: any loss is accepted" "$(column is_duplicate "$tmp/out" | grep -c 1)" 1
at_least "the loss is printed in thousandths" "$(column loss "$tmp/out" | sed -n 's/^0\.//p')" 280
texts nearly
is "a loss of a tenth: it is removed" "$(column is_duplicate "$tmp/out" | grep -c 1)" 1
at_least "the loss is a tenth" "$(column loss "$tmp/out" | sed -n 's/^0\.//p')" 090
at_least "and no more" 130 "$(column loss "$tmp/out" | sed -n 's/^0\.//p')"
has "the reason names the kept page" "$tmp/out" ', which has (8[789]|9[01])\.[0-9]% of its text	'
texts nearly --max-loss=.08
is "--max-loss=.08: it is kept" "$(column is_duplicate "$tmp/out" | grep -c 1)" 0
for keep in '' least-loss longest; do
	texts parts ${keep:+--keep=$keep}
	is "excerpts go with the copy, ${keep:-default}" "$(rows "$tmp/out" | awk -F '\t' '$4 == 1 { print $3 }' | tr '\n' ' ')" \
		"http://p0.example/ http://p1.example/ http://p3.example/ "
done
texts parts --keep=first
is "--keep=first: the excerpt and the whole page are kept" "$(rows "$tmp/out" | awk -F '\t' '$4 == 0 { print $3 }' | tr '\n' ' ')" "http://p0.example/ http://p2.example/ "
texts parts --linkage=connected
is "connected: the same" "$(rows "$tmp/out" | awk -F '\t' '$4 == 0 { print $3 }' | tr '\n' ' ')" "http://p2.example/ "
for row in $(rows "$tmp/out" | awk -F '\t' '$4 == 1 { print $2 "," $6 }'); do
	is "via leads on: ${row%,*}" "$(rows "$tmp/out" | awk -F '\t' -v id="${row#*,}" '$2 == id' | wc -l)" 1
done
"$P" dedup -q parts.jsonl -o clean-parts --keep-rows
is "dedup: excerpts go" "$(rows clean-parts/verdicts.tsv | awk -F '\t' '$4 == 0 { print $3 }')" http://p2.example/
has "dedup prints the comparison" clean-parts/verdicts.tsv '	0\.000	-	'
texts nearly --shingles=parts.shingles
has "pages with their text in other dumps: counted" "$tmp/err" 'loss of 1 page estimated from sketches: texts not in the files of --shingles'
has "the message says so" "$tmp/out" 'by sketches only'
run "$P" cluster -q --shingles=parts.jsonl parts.pairs
exits "no shingles" 2
has "no shingles: message" "$tmp/err" "parts.jsonl is not a file of shingles; 'pagededup fp --shingles' writes one"
run "$P" cluster -q --keep=least-loss parts.pairs
exits "--keep=least-loss without texts" 2
head -c 200 parts.shingles >cut.shingles
run "$P" cluster -q --shingles=cut.shingles -o never.tsv parts.pairs
exits "a file that is cut" 2
absent "nothing is written then" never.tsv
same "the same for any number of threads" <("$P" fp -q -j3 --shingles=/dev/stdout -o /dev/null parts.jsonl) parts.shingles
tap_done
