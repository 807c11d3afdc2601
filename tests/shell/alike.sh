#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Required similarity of two pages: titles without a text, empty pages, short texts, and --similar in match, dedup and
# store.
. "$(dirname "$0")/../tap.sh"
cat >pages.py <<'END'
import json, random, sys
words = ("harbour river meadow lantern copper village morning winter orchard stone bridge market window garden letter "
         "silver mountain paper captain evening island forest summer engine barrel mirror basket candle feather wheel").split()
def prose(seed, n):
    r = random.Random(seed)
    return [r.choice(words) for _ in range(n)]
def page(name, host, title, body, heading=True):
    head = '<title>%s</title>' % title if title else ''
    h1 = '<h1>%s</h1>' % title if title and heading else ''
    text = '<p>%s</p>' % ' '.join(body) if body else ''
    print(json.dumps({'url': 'http://%s.example/%s' % (host, name), 'html': '<!DOCTYPE html><html lang=en><head>%s</head><body>%s%s</body></html>' % (head, h1, text)}))
def pair(name, n, changed, hosts, titles):
    """A text of n words, and the same with its last words changed."""
    text = prose(name, n)
    page(name + '1', hosts[0], titles[0], text)
    page(name + '2', hosts[1], titles[1], text[:n - changed] + prose(name + 'other', changed))
kind = sys.argv[1]
if kind == 'nothing':
    for host in 'aab':
        page('title-%s%d' % (host, random.randrange(10**6)), host, 'The tides', [], heading=False)
    for host in 'ccdd':
        page('empty-%s%d' % (host, random.randrange(10**6)), host, '', [])
if kind == 'titles':
    bodies = ['<h1>The tides</h1>', '<h1>THE TIDES!</h1><p>The tides</p>', '<h2>1. The tides</h2>', '<p>The tides</p>', '<h1>The tides</h1><p>Come and go</p>']
    for i, (host, body) in enumerate((host, body) for host in 'aab' for body in bodies):
        print(json.dumps({'url': 'http://%s.example/%s%d' % (host, 'line' if 'Come' in body else 'title', i),
                          'html': '<html><head><title>The tides - Gazette</title></head><body>%s</body></html>' % body}))
if kind == 'short':
    pair('some', 80, 12, 'ab', ['', ''])                      # similar by less than .8
    pair('some-more', 80, 2, 'cd', ['', ''])
    pair('few', 40, 5, 'ef', ['', ''])                        # by less than .9
    pair('subject', 80, 12, 'gg', ['Spring tides of the river', 'Spring tides of the river'])
    pair('long', 400, 60, 'hi', ['', ''])
if kind == 'versions':
    pair('v', 400, 50, 'aa', ['Spring tides', 'Spring tides'])
    pair('w', 400, 50, 'bc', ['Neap tides', 'Neap tides'])
    pair('x', 400, 5, 'de', ['High tides', 'High tides'])
END
for kind in nothing titles short versions; do python3 pages.py $kind >$kind.jsonl; done
pairs() { "$P" match -q --all-pairs "$@" | rows | cut -f 6,7 | sed 's|http://\([a-z]\).example/\([a-z-]*\)[^	]*|\2 \1|g' | sort | tr '\t\n' ' ;'; }

# --- pages without a text ---
"$P" fp -q nothing.jsonl >skipped.fp
is "a page without text matches no page" "$(pairs skipped.fp)" ""
"$P" fp -q --stubs=match nothing.jsonl >matched.fp
is "also if stubs are matched: an empty text is not equal to another" "$(pairs matched.fp)" ""
"$P" fp -q titles.jsonl >titles.fp
is "pages with only a title are not the same text; pages with one more line are" "$(pairs titles.fp)" \
	"line a line a;line a line b;line a line b;"
is "they are flagged" "$(column flags titles.fp | grep -c no-text)" 12
is "and counted by dedup" "$("$P" dedup titles.jsonl -o titles 2>&1 | grep -c '12 without text')" 1

# --- short texts ---
"$P" fp -q short.jsonl >short.fp
is "short texts need more, except with one subject on one host" "$(pairs short.fp)" "long h long i;some-more c some-more d;subject g subject g;"
is "pages that match only by length are listed" "$("$P" match -q --all-pairs short.fp | grep '^# suspect' | cut -f 1,7,8 | sed 's|http://[a-z].example/||g' | tr '\t\n' ' ;')" \
	"# suspect few-terms some1 some2;# suspect few-terms few1 few2;"

# --- --similar, the same everywhere ---
"$P" fp -q versions.jsonl >versions.fp
is "half of the text, more on one host" "$(pairs versions.fp)" "v a v a;w b w c;x d x e;"
is "--similar=90%: on all hosts" "$(pairs --similar=90% versions.fp)" "x d x e;"
is "--similar=75%" "$(pairs --similar=75% versions.fp)" "v a v a;w b w c;x d x e;"
removed() { rows "$1/verdicts.tsv" | awk -F '\t' '$4 == 1 { print $3 }' | sed 's|.*/||' | sort | tr '\n' ' '; }
run "$P" dedup -q --max-loss=1 versions.jsonl -o all
is "dedup" "$(removed all | tr -d 12)" "v w x "
run "$P" dedup -q --max-loss=1 --similar=90% versions.jsonl -o few
is "dedup --similar=90%" "$(removed few)" "x2 "
has "which have verdicts" few/verdicts.tsv '^# pagededup verdicts .* similarity=0\.9 similarity_same_host=0\.9 '
for similar in "" 90%; do
	"$P" store -q init --no-key "store$similar" ${similar:+--similar=$similar} 2>/dev/null || "$P" store -q init --no-key "store$similar"
	"$P" store -q add ${similar:+--similar=$similar} "store$similar" versions.fp >"added$similar"
done
is "store" "$(rows added | awk -F '\t' '$4 == 1' | wc -l)" 3
is "store --similar=90%" "$(rows added90% | awk -F '\t' '$4 == 1' | wc -l)" 1
tap_done
