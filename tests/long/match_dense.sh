#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# match over pages that crowd (tests/dense_rows.py) takes time in proportion to n log n: four times the pages take at most
# 1.2 times that, and so do the pairs that are compared.  Memory a page stays what it was.
. "$(dirname "$0")/../tap.sh"
n=${ROWS:-50000}
cat >cost.py <<'E2'
import resource, subprocess, sys
code = subprocess.run([sys.argv[1], 'match', '-q', '-j1', '--stats', 'stats', '-o', 'pairs'] + sys.argv[2:], stderr=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print('%.3f %d %d' % (used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, code))
E2
for test in ball ball,--scope=same-host ball,--scope=other-hosts texts twins parts sketches,--candidates=bands {texts,twins,parts,sketches},--scope={same,other}-{host,hosts}; do
	kind=${test%%,*}
	case $test in *same-hosts | *other-host) continue ;; *,*) option=${test#*,} ;; *) option=-q ;; esac
	python3 "$TOP/tests/dense_rows.py" $kind $n $((n / 100)) 2 >small.fp
	python3 "$TOP/tests/dense_rows.py" $kind $((4 * n)) $((n / 25)) 2 >large.fp
	# A busy machine may disturb one measurement, not three.
	for try in 1 2 3; do
		read -r a mb_a code_a < <(python3 cost.py "$P" $option small.fp)
		read -r b mb_b code_b < <(python3 cost.py "$P" $option large.fp)
		ok=$(awk -v n=$n -v a="$a" -v b="$b" 'BEGIN { print (b <= 1.2 * a * 4 * log(4 * n) / log(n)) }')
		[ "$ok" = 1 ] && break
	done
	is "$test: matched" "$code_a $code_b" "0 0"
	if [ "$ok" = 1 ]; then pass "$test: $a s, then $b s for four times the pages"; else fail "$test: $a s, then $b s for four times the pages"; fi
	work() { python3 -c 'import json; s = json.load(open("stats")); print(s["candidates"] + s["band_looks"])'; }
	python3 cost.py "$P" $option small.fp >/dev/null && a=$(work)
	python3 cost.py "$P" $option large.fp >/dev/null && b=$(work)
	at_least "$test: $a, then $b pairs compared" "$(awk -v n=$n -v a="$a" 'BEGIN { print 1.2 * a * 4 * log(4 * n) / log(n) + 1000 }')" "$b"
	at_least "$test: $mb_a MB, then $mb_b MB" $((5 * mb_a)) "$mb_b"
done
tap_done
