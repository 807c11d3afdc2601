#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a million equal keys, and of a million keys within distance 1 of one key, is that of the output: the pairs
# are counted, and twice the rows may take 2.6 times the CPU seconds, without reading.
. "$(dirname "$0")/../tap.sh"
n=${ROWS:-1000000}
# Print rows: HOSTS hosts take turns, and EACH rows in turn have the next of KEYS keys: 0, or one of 64 bits.
make_rows() { # COUNT KEYS [EACH HOSTS]
	awk -v n="$1" -v keys="$2" -v each="${3:-1000}" -v hosts="${4:-1000}" 'BEGIN {
		zeros = "0000000000000000"
		key[0] = zeros
		for (k = 0; k < 64; k++) key[k + 1] = substr(zeros, 1, int(k / 4)) 2 ^ (k % 4) substr(zeros, 2 + int(k / 4))
		print "#fingerprint\tid\turl"
		for (i = 0; i < n; i++) printf "%s\tx:%d\thttp://h%d/%d\n", key[int(i / each) % keys], i, i % hosts, i
	}'
}
cat >spent.py <<'END'
import json, sys
s = json.load(open(sys.argv[1]))
print('%.3f' % (s['cpu_seconds'] - s['cpu_seconds_by_phase']['read']), s['pairs'])
END
for keys in 1 65; do
	for rows in $n $((2 * n)); do make_rows $rows $keys | "$P" match -q --save $keys.$rows.keys; done
done
# NAME KEYS PAIRS MORE OPTION...: PAIRS of n rows, MORE of 2n
check() {
	local name=$1 keys=$2 pairs=$3 more=$4 try ok a b n_a n_b
	shift 4
	for try in 1 2 3; do
		"$P" match -q --stats a.json -o a.pairs "$@" $keys.$n.keys && read -r a n_a < <(python3 spent.py a.json)
		"$P" match -q --stats b.json -o b.pairs "$@" $keys.$((2 * n)).keys && read -r b n_b < <(python3 spent.py b.json)
		ok=$(awk -v a="$a" -v b="$b" 'BEGIN { print (b <= 2.6 * a || b < .1) }')
		[ "$ok" = 1 ] && break	# a busy machine may disturb one measurement, not three
	done
	is "$name: pairs of $n rows, of twice as many" "$n_a $n_b" "$pairs $more"
	is "$name: and they are written" "$(rows a.pairs | wc -l)" "$pairs"
	if [ "$ok" = 1 ]; then pass "$name: $a s, $b s"; else fail "$name: $a s, then $b s for twice the rows"; fi
}
check "equal keys" 1 $((n - 1)) $((2 * n - 1)) -k 3
check "equal keys, same host" 1 $((n - 1000)) $((2 * n - 1000)) -k 3 --scope=same-host
check "equal keys, other hosts" 1 $((n - 1)) $((2 * n - 1)) -k 3 --scope=other-hosts
check "65 keys within distance 1 of one" 65 $((n - 65 + 2080)) $((2 * n - 65 + 2080)) -k 3
check "the same, same host" 65 $((n - 65000 + 2080000)) $((2 * n - 65000 + 2080000)) -k 3 --scope=same-host
check "the same, other hosts, equal keys alone" 65 $((n - 65)) $((2 * n - 65)) -k 0 --scope=other-hosts
"$P" match -q --save b.keys 65.$n.keys
check "a batch against a collection of the same, equal keys alone" 65 $((n - 65)) $((2 * n - 65)) -k 0 --against b.keys
# Pairs between hosts are not linked: 40 rows of each of 65 keys make more than anyone wants, but no more than that.
make_rows 2600 65 1 2600 >few.fp
run "$P" match -q -k 2 --scope=other-hosts few.fp
is "other hosts, near keys: every pair of rows of different keys, and each row of a group with its first" \
	"$(rows "$tmp/out" | wc -l)" $((2080 * 40 * 40 + 2600 - 65))
tap_done
