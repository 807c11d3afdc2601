#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A copy with added text and the original: the page kept by --keep=least-loss, oldest and clean; clean compared with its rule,
# computed from the texts in Python.
. "$(dirname "$0")/../tap.sh"
cat >pages.py <<'END'
"""usage: pages.py copies SHARE                the original, then a copy with SHARE (%) more text, as JSON Lines
          pages.py random SEED PAGES           groups of edited copies
          pages.py check PAGES VERDICTS MAX    compares verdicts of --keep=clean with the texts"""
import json, random, sys

def words(r, n):
    return ['w%06x' % r.randrange(1 << 24) for _ in range(n)]

def line(url, text, time):
    print(json.dumps({'url': url, 'fetch_time': time, 'html': '<html lang=en><title>Tides</title><body><h1>Tides</h1><p>%s.</p></body></html>' % ' '.join(text)}))

def shingles(text):
    t = ['tides'] + text
    return set(zip(t, t[1:], t[2:], t[3:], t[4:]))

def edited(r, text):
    text = list(text)
    at, n = r.randrange(len(text)), r.randrange(1, len(text) // 9)
    kind = r.randrange(3)
    if kind != 1: text[at:at + n] = []
    if kind != 0: text[at:at] = words(r, n)
    return text

def check(path, verdicts, share):
    sets, pairs, kept = {}, 0, {}
    for l in open(path):
        d = json.loads(l)
        sets[d['url']] = shingles(d['html'].split('<p>')[1].split('.<')[0].split())
    urls = list(sets)
    rows = [l.rstrip('\n').split('\t') for l in open(verdicts) if not l.startswith('#')]
    url = {r[1]: r[2] for r in rows}
    for r in rows:
        if r[3] == '1':
            kept.setdefault(url[r[4]], []).append(r[2])
    lost = lambda a, b: len(sets[a] - sets[b]) / len(sets[a])
    for k, pages in kept.items():
        for p in pages:
            if lost(p, k) > share or lost(k, p) > share:
                print('too different', p, k, lost(p, k), lost(k, p))
        # If all pages of a group are near each other, the best page by the rule is kept and no text is lost.
        group = [u for u in urls if u.split('/')[3] == k.split('/')[3]]
        if all(lost(a, b) <= share for a in group for b in group):
            pairs += 1
            if sorted(group) != sorted(pages + [k]):
                print('not all of', k)
            best = min(group, key=lambda p: (sum(len(sets[p] - sets[q]) for q in group), urls.index(p)))
            if best != k:
                print('best', best, 'kept', k)
    print('groups', pairs)

if sys.argv[1] == 'copies':
    r = random.Random(7)
    text = words(r, 1000)
    spam = words(r, 10 * int(sys.argv[2]))
    line('http://copy.example/', text[:500] + spam + text[500:], '2024-05-02T00:00:00Z')
    line('http://original.example/', text, '2024-05-01T00:00:00Z')
elif sys.argv[1] == 'random':
    r = random.Random(int(sys.argv[2]))
    for g in range(int(sys.argv[3])):
        text = words(r, r.randrange(300, 900))
        for i in range(r.randrange(2, 7)):
            line('http://h%d.example/%d/%d' % (i, g, r.randrange(1 << 30)), text, '2024-05-01T00:00:00Z')
            text = edited(r, text)
else:
    check(sys.argv[2], sys.argv[3], float(sys.argv[4]))
END
stays() { "$P" cluster -q --shingles=s "${@:2}" pairs 2>"$tmp/err" >v; [ -n "$(rows v | awk -F '\t' -v page="http://$1.example/" '$4 == 1 && $3 == page')" ] && echo no || echo yes; }
for share in 10 30 70; do
	python3 pages.py copies $share >copies.jsonl
	"$P" fp -q --shingles=s copies.jsonl | "$P" match -q >pairs
	is "$share % more text: the pages are a pair" "$(rows pairs | wc -l)" 1
	is "$share %: the copy replaces the original by default" "$(stays original) $(stays copy)" "no yes"
	for keep in clean oldest clean,longest; do
		is "$share %: --keep=$keep keeps the original" "$(stays original --keep=$keep)" yes
	done
	is "$share %: --keep=clean removes the copy if it has little text of its own" "$(stays copy --keep=clean)" $([ $share = 10 ] && echo no || echo yes)
	is "$share %: --keep=clean --max-loss=1 removes it in any case" "$(stays original --keep=clean --max-loss=1) $(stays copy --keep=clean --max-loss=1)" "yes no"
	for keep in least-loss clean; do
		run "$P" dedup -q --keep=$keep copies.jsonl -o "out-$share-$keep"
		is "dedup, $share %, $keep: is the original there?" "$(cat out-$share-$keep/copies.jsonl | grep -c original.example)" $([ $keep = clean ] && echo 1 || echo 0)
	done
done
# Many copies with the same added text have no more weight than one.
python3 - >many.jsonl <<'END'
import json
lines = open('copies.jsonl').read().splitlines()
for i in range(9): print(lines[0].replace('copy.example', 'copy%d.example' % i))
print(lines[1])
END
"$P" fp -q --shingles=s many.jsonl | "$P" match -q >pairs
run "$P" cluster --shingles=s --keep=clean pairs
is "nine equal copies: the original is kept, eight copies are removed" "$(rows "$tmp/out" | awk -F '\t' '$4 == 1 { print $3 }' | grep -c copy) $(rows "$tmp/out" | awk -F '\t' '$4 == 1' | grep -c original)" "8 0"
has "the header names the rule" "$tmp/out" ' keep=clean action=remove '
has "the summary line gives the reason why a page is kept" "$tmp/err" ' kept [0-9]+ near-duplicates? whose .*, or whose text lacks too much of the page kept'

for seed in 1 2 3; do
	python3 pages.py random $seed 60 >r.jsonl
	"$P" fp -q --shingles=s r.jsonl | "$P" match -q >pairs
	for share in 0.15 0.3; do
		run "$P" cluster -q --shingles=s --keep=clean --max-loss=$share pairs
		python3 pages.py check r.jsonl "$tmp/out" $share >checked
		hasnt "pages $seed, $share: as the texts say" checked '^(too|not|best)'
		at_least "groups that were compared" "$(sed -n 's/^groups //p' checked)" 15
		cp "$tmp/out" v
		{ head -2 pairs; rows pairs | shuf --random-source=<(yes $seed); grep '^# total' pairs; } >shuffled
		run "$P" cluster -q --shingles=s --keep=clean --max-loss=$share shuffled
		same "pages $seed, $share: the order of pairs changes nothing" "$tmp/out" v
	done
done

misuse() { run "$P" cluster "${@:3}" pairs; exits "$1" 2; has "$1: the message gives the reason" "$tmp/err" "$2"; }
misuse "clean without texts" "--keep=clean needs the texts" --keep=clean
misuse "clean second" "'clean' must come first, because it decides within each cluster" --keep=newest,clean --shingles=s
echo a.example >hosts
misuse "clean and preferred hosts" "--keep=clean and --prefer cannot be combined, because each has to decide first" --keep=clean --shingles=s --prefer=hosts
tap_done
