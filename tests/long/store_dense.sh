#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pages of two fingerprints with sketches that are alike in pairs alone (tests/dense_rows.py): keeping four times as many takes as many times the CPU
# seconds as n log n and a fifth (16 would be the square), and of each pair one is kept and the other found, also where more are kept than a
# band has values for.
# ROWS: pages of the smaller of two sizes (64,000: half of them are kept).
. "$(dirname "$0")/../tap.sh"
n=${ROWS:-64000}
add() { # ROWS -> CPU seconds, and duplicates
	rm -rf kept && "$P" store init -q kept
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=open("answers", "w"), check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)' "$P" store add -q kept "$1.fp"
}
for rows in $n $((4 * n)); do
	python3 "$TOP/tests/dense_rows.py" parts $rows >$rows.fp
done
bound=$(awk -v n="$n" 'BEGIN { m = 4 * n; print 1.2 * m * log(m) / (n * log(n)) }')
# A busy machine may disturb one measurement, not three.
for try in 1 2 3; do
	a=$(add $n) few=$(column status answers | grep -c duplicate)
	b=$(add $((4 * n))) many=$(column status answers | grep -c duplicate)
	ok=$(awk -v bound="$bound" -v a="$a" -v b="$b" 'BEGIN { print (b <= bound * a) }')
	[ "$ok" = 1 ] && break
done
[ "$ok" = 1 ] && pass "$n rows $a s, $((4 * n)) rows $b s" || fail "$n rows $a s, $((4 * n)) rows $b s" "bound: $bound times"
is "$n rows: of each pair one is kept" "$few" $((n / 2))
is "$((4 * n)) rows: of each pair one is kept" "$many" $((4 * n / 2))
run "$P" store verify kept
exits "no damage" 0
tap_done
