#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copies in ten languages, edited by 1 to 30 % of their words, with paragraphs added and removed, cut, under other headlines; and
# families of pages that only look alike: the weather of towns, products, company profiles (tools/make-copies).
. "$(dirname "$0")/../tap.sh"
python3 "$TOP/tools/make-copies" --contents 3 --family 5 --seed 7 copies
cat >score.py <<'END'
import sys
sys.path.insert(0, sys.argv[1] + '/bench')
from copies import Copies
(p, r, f1), recall, false = Copies('copies.truth.tsv').score(sys.argv[2])
print('light %.2f %.2f' % (p, r))
print('false', ' '.join('%s=%d' % i for i in sorted(false.items())))
for (what, where), share in sorted(recall.items()):
    print(what, where.replace(' ', '-'), '%.3f' % share)
END
for name in --hidden=drop --learn-boilerplate; do
	"$P" fp -q "$name" copies.jsonl >rows
	"$P" match -q --all-pairs rows >pairs
	python3 score.py "$TOP" pairs >scores
	is "$name: up to 3 % of the words: all found, nothing else" "$(grep '^light [0-9]' scores)" "light 1.00 1.00"
	is "$name: nothing of a family pairs" "$(grep ^false scores)" "false "
	for copies in "words10 two-hosts .95" "words10 one-host .8" "words20 two-hosts .8" "added two-hosts .95" "added one-host .9" \
		"removed two-hosts .95" "removed one-host .85" "excerpt two-hosts .35" "renamed two-hosts .85"; do
		set -- $copies
		at_least "$name: $1, ${2/-/ }" "$(awk -v what="$1" -v where="$2" '$1 == what && $2 == where { print $3 }' scores)" "$3"
	done
done
# the difficulty of the families: by similarity alone they are copies
"$P" match -q --all-pairs --no-verify -k 12 rows >pairs
python3 score.py "$TOP" pairs >scores
at_least "only fingerprints pair them" "$(sed -n 's/^false .*weather=//p' scores)" 50
run "$P" dedup -q copies.jsonl -o clean
exits "dedup" 0
python3 - clean/verdicts.tsv >wrong <<'END'
import csv, sys
content = {r['url']: r['content'] for r in csv.DictReader(open('copies.truth.tsv'), delimiter='\t')}
lines = [l.rstrip('\n').lstrip('#').split('\t') for l in open(sys.argv[1]) if not l.startswith('# ')]
rows = [dict(zip(lines[0], l)) for l in lines[1:]]
url = {r['id']: r['url'] for r in rows}
removed = [r for r in rows if r['is_duplicate'] == '1']
print(len(removed), sum(content[r['url']] != content[url[r['dup_of']]] for r in removed))
END
is "dedup: removed pages have the text of the page kept" "$(awk '{ print ($1 > 150), $2 }' wrong)" "1 0"
tap_done
