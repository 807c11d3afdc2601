#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A store that has only keys, in a database or a filter: its answers, the state after a kill, and that damaged data
# gives no answer.
. "$(dirname "$0")/../tap.sh"
fp() { # NAME: keys, one a line
	echo '# pagededup fp 1 bits=64 | sketch=none methods=exact:of=text:hash=md5'
	printf '#fingerprint\tid\texact\n'
	awk -v name="$1" '{ printf "-\t%s:%d\t%s\n", name, NR, $1 }'
}
key() { printf '%032x\n' "$@"; }
{ key $(seq 1 3000); key 5 5 7; echo -; } | fp a >a.fp
{ key $(seq 2001 5000); } | fp b >b.fp
count() { rows "$1" | cut -f12 | sort | uniq -c | awk '{ print $2, $1 }' | tr '\n' ' '; }
for kind in lmdb bloom; do
	run "$P" store init --no-key $kind --keys=$kind
	exits "$kind: init" 0
	run "$P" store init --no-key $kind --keys=$kind
	exits "$kind: init again changes nothing" 0
	"$P" store add -q $kind a.fp >a.said
	is "$kind: what has no key is new" "$(count a.said)" "duplicate 3 new 3001 "
	for compact in no yes; do
		[ $compact = no ] || "$P" store compact -q $kind
		"$P" store check -q $kind b.fp >b.said
		is "$kind: keys that were seen, from a table: $compact" "$(count b.said)" "duplicate 1000 new 2000 "
		is "$kind: reasons" "$(column reason b.said | sort -u | tr '\n' ' ')" "new the same key, found by exact "
	done
	"$P" store add -q $kind b.fp >b.said
	"$P" store compact -q $kind
	"$P" store add -q $kind b.fp >again.said
	is "$kind: kept over two tables" "$(count b.said)" "duplicate 1000 new 2000 "
	run "$P" store info $kind
	has "$kind: info counts keys" "$tmp/out" '^keys_seen	(49[0-9][0-9]|5000)$'
	run "$P" store verify $kind
	exits "$kind: verify" 0
	run "$P" store info $kind --format=jsonl
	is "$kind: info as JSON" "$(python3 -c 'import json, sys; print(json.load(sys.stdin)["keys"])' <"$tmp/out")" $kind
	# A bit anywhere: the file is named, or the answer is the same.
	"$P" store check -q $kind a.fp >right
	python3 - "$P" $kind >damage <<'END'
import os, random, subprocess, sys
program, folder = sys.argv[1:]
random.seed(3)
right = open('right').read()
run = lambda *args: subprocess.run([program, 'store', *args], capture_output=True, text=True)
for name in sorted(os.listdir(folder)):
    path = os.path.join(folder, name)
    whole = open(path, 'rb').read()
    for i in range(12 if whole else 0):
        at, damaged = random.randrange(len(whole)), bytearray(whole)
        damaged[at] ^= 1 << random.randrange(8)
        open(path, 'wb').write(damaged if i else whole[:-1 - random.randrange(len(whole))])
        told, said = run('verify', folder), run('check', '-q', folder, 'a.fp')
        kind = name.split('-')[0]
        print(name, 'told' if told.returncode and name in told.stderr or (kind == 'log' and not i) else 'silent: ' + told.stderr,
              'named' if name in said.stderr else 'same' if said.stdout == right else 'WRONG')
    open(path, 'wb').write(whole)
END
	is "$kind: damage is told" "$(grep -c silent damage)" 0
	is "$kind: and never answered from" "$(grep -c WRONG damage)" 0
	at_least "$kind: files that were damaged" "$(cut -d' ' -f1 damage | sort -u | wc -l)" 4
	rm "$kind"/sums-*
	run "$P" store check $kind a.fp
	exits "$kind: a file that is missing" 2
	has "$kind: the message names it" "$tmp/err" "sums-[0-9]+ does not exist"
	run python3 "$TOP/tests/store_keys_kill.py" "$P" "$tmp/w/killed" 25 $kind
	exits "$kind: killed" 0
	has "$kind: and no key lost" "$tmp/out" '^25 killed, [0-9]+ reported, all seen$'
done

# The database knows the first page of a key, and a page that is checked again.
"$P" store init --no-key -q ids --keys=lmdb
"$P" store add -q ids a.fp >said
is "the id of the first" "$(rows said | awk -F '\t' '$12 == "duplicate" { print $2, $5 }' | tr '\n' ' ')" "a:3001 a:5 a:3002 a:5 a:3003 a:7 "
"$P" store compact -q ids
is "a run that is run again: its pages are kept" "$("$P" store add -q ids a.fp | rows /dev/stdin | cut -f12 | sort | uniq -c | awk '{ print $2, $1 }' | tr '\n' ' ')" \
	"duplicate 3 kept 3000 new 1 "
is "a filter knows no ids" "$("$P" store init --no-key -q noids --keys=bloom; "$P" store add -q noids a.fp >said; "$P" store compact -q noids; "$P" store check -q noids a.fp | rows /dev/stdin | awk -F '\t' '$12 == "duplicate" { print $5, $13 }' | sort -u)" "- -"

# The error rate of a filter, computed and measured.
"$P" store init --no-key -q full --keys=bloom --count=100000 --error=.01
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "%032x\n", i * 7919 + 12345 }' | fp full >full.fp
"$P" store add -q full full.fp >/dev/null
"$P" store compact -q full
run "$P" store info full
has "its size by the standard formula" "$tmp/out" '^filter_bits	958506$'
rate() { awk -F '\t' -v key="$1" '$1 == key { print $2 }' "$tmp/out"; }
is "as often as computed, within a twentieth: $(rate false_answers_measured) and $(rate false_answers_computed)" \
	"$(awk -v m="$(rate false_answers_measured)" -v c="$(rate false_answers_computed)" 'BEGIN { print (m > .95 * c && m < 1.05 * c && c > .009 && c < .0105) }')" 1
is "which are 1 in 100 of other keys" "$(awk 'BEGIN { for (i = 0; i < 20000; i++) printf "f%031x\n", i }' | fp other | "$P" store check -q full | rows /dev/stdin | cut -f12 | grep -c duplicate |
	awk '{ print ($1 > 150 && $1 < 250) }')" 1

# Several methods: any, or over half.
all=exact,abstract,keywords,semantic
"$P" fp -q --method=$all "$demo" >demo.fp
"$P" store init --no-key -q several --keys=lmdb
for require in any 2 all; do
	rm -rf several && "$P" store init --no-key -q several --keys=lmdb
	"$P" store add -q several demo.fp --require=$require >said
	is "--require=$require: as brute force" "$(rows said | awk -F '\t' '{ print $2, ($12 == "duplicate") }')" "$(python3 - demo.fp $require <<'END'
import sys
path, require = sys.argv[1:]
need = {'any': 1, '2': 2, 'all': 4}[require]
seen, head = set(), None
for line in open(path, encoding='utf-8'):
    f = line.rstrip('\n').split('\t')
    if line.startswith('#'):
        head = [c.lstrip('#') for c in f] if len(f) > 1 else head
        continue
    row = dict(zip(head, f))
    keys = {}
    for m in ('exact', 'abstract', 'keywords', 'semantic'):
        if row[m] != '-':
            keys[m] = row[m].split(',')[1] if m == 'keywords' else row[m]
    duplicate = sum((m, k) in seen for m, k in keys.items()) >= need
    if not duplicate:
        seen |= set(keys.items())
    print(row['id'], int(duplicate))
END
)"
done

# --- refused ---
refuse() { # NAME MESSAGE ARGUMENT...
	run "$P" store "${@:3}"
	exits "$1" 2
	has "$1: the message gives the reason" "$tmp/err" "$2"
}
refuse "removing" "the store ids has only keys: pages cannot be removed or written" remove ids a:1
refuse "exporting" "the store ids has only keys" export ids
refuse "replacing" "has only keys, so pages cannot be replaced" add ids a.fp --on-duplicate=replace
refuse "fingerprints" "a store of keys cannot keep 'simhash', which has no keys" init new --keys=lmdb --method=simhash
refuse "a width" "--keys stores no fingerprints" init new --keys=lmdb --bits=64
refuse "the size of a database" "--count and --error need --keys=bloom" init new --keys=lmdb --count=5
refuse "another kind for one that is there" "ids is already a store, with other parameters \(keys: lmdb for 0 and bloom for 10000000\)" init ids --keys=bloom
refuse "weights" "has only keys, no weights; compare with --method=keywords:sigma=1" check several demo.fp --method=keywords
"$P" fp -q "$demo" >plain.fp
"$P" store init --no-key -q fresh --keys=lmdb
refuse "rows of fingerprints" "plain.fp: signed by 'simhash', but a store keeps only keys" add fresh plain.fp
key 1 | fp long | sed 's/0000/'"$(printf 'x%.0s' {1..500})"'/' >long.fp
run "$P" store add fresh long.fp
exits "a key that is too long" 1
has "is named, and left out" "$tmp/err" 'long.fp:3: a key of over 500 bytes'
tap_done
