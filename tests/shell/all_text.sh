#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cluster --keep-all-text: the pages that are kept have every passage of the pages that are removed.
. "$(dirname "$0")/../tap.sh"

# Pages of 30 passages, drawn from 40 versions of a story: most differ in a few passages.
python3 - >pages.jsonl <<'PY'
import json, random
r = random.Random(5)
letters = 'abcdefghijklmnoprstuvw'
def word(): return ''.join(r.choice(letters) for i in range(7))
for story in range(12):
    passages = [' '.join(word() for i in range(20)) for i in range(30)]
    others = [' '.join(word() for i in range(20)) for i in range(6)]
    for page in range(12):
        text = list(passages)
        for i in r.sample(range(30), r.randrange(4)):
            text[i] = others[i % 6]
        if r.random() < .3:
            words = text[3].split(); words[r.randrange(20)] = word(); text[3] = ' '.join(words)
        if r.random() < .3:
            text = text[:25 + r.randrange(5)]
        print(json.dumps({'id': '%d-%d' % (story, page), 'url': 'http://h%d.example/%d' % (page, story), 'text': ' '.join(text)}))
PY
"$P" fp -q --shingles=s pages.jsonl >rows && "$P" match -q rows >pairs || exit 2

# Runs of five words; the clusters are given.
cat >brute.py <<'PY'
import json, sys
texts, clusters, removed, lost_words = {}, {}, set(), int(sys.argv[4])
by_id = {}
for line in open('pages.jsonl'):
    p = json.loads(line)
    by_id[p['url']] = p['text'].split()
def rows(path): return [l.rstrip('\n').split('\t') for l in open(path) if not l.startswith('#')]
def runs(words): return [tuple(words[i:i + 5]) for i in range(len(words) - 4)]
def lost(words, have):
    kept = [False] * len(words)
    for i, run in enumerate(runs(words)):
        if run in have: kept[i:i + 5] = [True] * 5
    return kept.count(False)
url = {r[1]: r[2] for r in rows(sys.argv[1])}
for r in rows(sys.argv[1]):
    if r[0] != '-': clusters.setdefault(r[4] if r[3] == '1' else r[1], []).append(r[1])
expected = set()
for keep, members in clusters.items():
    number = lambda i: int(i.rsplit(':', 1)[1])
    order = sorted((m for m in members if m != keep), key=lambda m: (-len(by_id[url[m]]) if sys.argv[3] == 'least-loss' else 0, number(m)))
    have, gone = [set(runs(by_id[url[keep]]))], []
    stay = []
    for m in order:
        words = by_id[url[m]]
        if lost(words, set().union(*have)) <= lost_words: gone.append(m)
        else: stay.append(m); have.append(set(runs(words)))
    for m in list(stay):
        rest = [set(runs(by_id[url[o]])) for o in [keep] + stay if o != m]
        if set(runs(by_id[url[m]])) <= set().union(*rest): stay.remove(m); gone.append(m)
    expected |= set(gone)
actual = {r[1] for r in rows(sys.argv[2]) if r[3] == '1'}
print(len(expected), 'as expected' if actual == expected else 'different: %s' % sorted(actual ^ expected)[:4])
have = set().union(*(runs(words) for u, words in by_id.items() if u not in {url.get(i) for i in actual}))
print(max((lost(by_id[url[i]], have) for i in actual), default=0) <= lost_words)
PY
for keep in least-loss first; do
	"$P" cluster -q --keep=$keep --max-loss=1 --shingles=s pairs >all.tsv
	n_all=$(rows all.tsv | awk -F '\t' '$4 == 1' | wc -l)
	for n in 0 2 20; do
		run "$P" cluster --keep=$keep --keep-all-text --lost-words=$n --max-loss=1 --shingles=s pairs
		exits "--keep=$keep --lost-words=$n" 0
		cp "$tmp/out" v.tsv
		is "--keep=$keep --lost-words=$n: the pages of the rule, read slowly, and no more text is lost" \
			"$(python3 brute.py all.tsv v.tsv $keep $n | tr '\n' ' ')" "$(rows v.tsv | awk -F '\t' '$4 == 1' | wc -l) as expected True "
		n_removed=$(rows v.tsv | awk -F '\t' '$4 == 1' | wc -l)
		is "--keep=$keep --lost-words=$n: some pages are removed, others kept" $((n_removed > 5 && n_removed < n_all)) 1
	done
	has "the summary line counts them" "$tmp/err" 'kept [0-9]* near-duplicates with text that no other page has'
	has "a verdict gives the share" "$tmp/out" '	distance.*% of its text in pages kept	'
	has "the header names the rule" "$tmp/out" '^# pagededup verdicts .* lost_words=20 '
done
{ head -2 pairs; rows pairs | shuf --random-source=<(yes 3); grep '^# total' pairs; } >shuffled
"$P" cluster -q --keep-all-text --shingles=s pairs >one.tsv
run "$P" cluster -q --keep-all-text --shingles=s shuffled
same "the order of pairs changes nothing" "$tmp/out" one.tsv

# --- pages with unknown texts are kept ---
head -40 pages.jsonl >some.jsonl
"$P" fp -q --name=pages.jsonl --shingles=some <some.jsonl >/dev/null
run "$P" cluster -q --keep-all-text --shingles=some pairs
is "no page without its text is removed" "$(rows "$tmp/out" | awk -F '\t' '$4 == 1 { split($3, u, "/"); if (u[4] > 3) print }' | wc -l)" 0

# --- dedup, and its requirements ---
run "$P" dedup -q --keep-all-text pages.jsonl -o out
exits "dedup --keep-all-text" 0
kept=$(wc -l <out/pages.jsonl)
is "removes pages" $((kept < 144 && kept > 12)) 1
run "$P" cluster --keep-all-text pairs
exits "without texts" 2
has "says how to get them" "$tmp/err" "^pagededup cluster: --keep-all-text needs the texts: --shingles=FILE, which 'fp --shingles=FILE' writes"
run "$P" cluster --lost-words=3 --shingles=s pairs
exits "--lost-words alone" 2
run "$P" dedup --keep-all-text --against=rows pages.jsonl -o against
exits "with --against" 2
has "gives the reason" "$tmp/err" 'the texts of old pages are not known'
tap_done
