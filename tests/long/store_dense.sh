#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pages of two fingerprints whose sketches are similar only in pairs, and pages of one host and one sketch, of which two
# have the same subject (tests/dense_rows.py).  Storing and verifying four times the pages takes at most n log n and a
# fifth of the CPU seconds (16 times would be the square).  One page of each pair is kept and the other found, also if
# more pages are kept than a band has values.
# ROWS: pages of the smaller of two sizes (64,000: half of them are kept); an eighth for pages of one host.
. "$(dirname "$0")/../tap.sh"
cat >spent.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=open("answers", "w"), check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
END
add() { # ROWS -> CPU seconds, and duplicates
	rm -rf kept && "$P" store init --no-key -q kept
	python3 spent.py "$P" store add -q kept "$1.fp"
}
within() { # NAME SMALL LARGE COMMAND...: in $few and $many how many duplicates were found
	local name=$1 n=$2 m=$3 a b bound ok
	bound=$(awk -v n="$n" -v m="$m" 'BEGIN { print 1.2 * m * log(m) / (n * log(n)) }')
	shift 3
	# A busy machine may disturb one measurement, not three.
	for try in 1 2 3; do
		a=$("$@" $n) few=$(column status answers | grep -c duplicate)
		b=$("$@" $m) many=$(column status answers | grep -c duplicate)
		ok=$(awk -v bound="$bound" -v a="$a" -v b="$b" 'BEGIN { print (b <= bound * a) }')
		[ "$ok" = 1 ] && break
	done
	[ "$ok" = 1 ] && pass "$name: $n rows $a s, $m rows $b s" || fail "$name: $n rows $a s, $m rows $b s" "bound: $bound times"
}
verify() { python3 spent.py "$P" store verify -q kept.$1; }
for kind in parts subjects template; do
	n=${ROWS:-64000}
	[ $kind = parts ] || n=$((n / 8))
	for rows in $n $((4 * n)); do
		python3 "$TOP/tests/dense_rows.py" $kind $rows >$rows.fp
	done
	within "$kind, add" $n $((4 * n)) add
	is "$kind, $n rows: of each pair one is kept" "$few" $((n / 2))
	is "$kind, $((4 * n)) rows: of each pair one is kept" "$many" $((4 * n / 2))
	for rows in $n $((4 * n)); do
		add $rows >/dev/null && rm -rf kept.$rows && mv kept kept.$rows
	done
	within "$kind, verify" $n $((4 * n)) verify
	run "$P" store verify kept.$((4 * n))
	exits "$kind: no damage" 0
done
tap_done
