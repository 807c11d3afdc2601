#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nothing goes that is no duplicate: pages of one template with subjects of their own stay, shells without a text stay,
# pages under a footer larger than their text stay; of versions of one page all but one go; a page that says more than the
# one kept stays.
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
if kind == 'more':              # the second page has the first, and half as much again
    page('http://a.example/short', 'Tides', '<h1>Tides</h1><p>%s</p>' % prose('tides', 40))
    page('http://b.example/long', 'Tides', '<h1>Tides</h1><p>%s</p><p>%s</p>' % (prose('tides', 40), prose('mills', 20)))
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
for kind in template shell footer; do
	run "$P" dedup -q "$kind.jsonl" -o "clean-$kind"
	is "dedup: $kind: nothing goes" "$(column is_duplicate "clean-$kind/verdicts.tsv" | grep -c 1)" 0
done
run "$P" dedup -q versions.jsonl -o clean-versions
is "dedup: versions: all but one go" "$(column is_duplicate clean-versions/verdicts.tsv | grep -c 1)" 39

# --- what a page would take with it ---
is "the shorter one stands first: the longer stays" "$(duplicates more)" 0
"$P" fp -q more.jsonl | "$P" match -q >more.pairs
run "$P" cluster more.pairs
has "and is counted" "$tmp/err" ' 0 duplicates, 1 kept because they would take over 15% of their text with them'
has "the header names the share" "$tmp/out" ' max_loss=0\.15 '
run "$P" cluster -q --keep=longest more.pairs
is "the longer one is kept for both" "$(column is_duplicate "$tmp/out" | grep -c 1)" 1
run "$P" cluster -q --max-loss=.5 more.pairs
is "--max-loss=.5: it goes" "$(column is_duplicate "$tmp/out" | grep -c 1)" 1
run "$P" cluster -q --max-loss=0 more.pairs
exits "--max-loss=0 is misuse" 2
tap_done
