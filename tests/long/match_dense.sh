#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The time of match over dense pages (tests/dense_rows.py) grows like n log n: four times the pages take at most 1.2
# times that, and so does the number of compared pairs.  The memory per page is constant.  The distance and the
# candidate search are fixed, because the defaults depend on the number of pages and two plans cannot be compared.
#
# Bands become one minimum wider for 16 times the pages, and their buckets grow until then; tests with bands therefore
# compare 16 times the pages.
# ROWS: pages of the smaller of two sizes (50,000).  COUNT=1: print seconds, and check only the compared pairs, for a
# busy machine.
. "$(dirname "$0")/../tap.sh"
n=${ROWS:-50000}
cat >cost.py <<'E2'
import resource, subprocess, sys
code = subprocess.run([sys.argv[1], 'match', '-q', '-j1', '--stats', 'stats', '-o', 'pairs'] + sys.argv[2:], stderr=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print('%.3f %d %d' % (used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, code))
E2
work() { python3 -c 'import json; s = json.load(open("stats")); print(s["candidates"] + s["band_looks"])'; }
check() { # NAME SMALL LARGE OPTION…: names of files with rows; OTHER: the other half of each
	local name=$1 small=$2 large=$3 a b mb_a mb_b code_a code_b work_a work_b ok n m bound
	shift 3
	n=$(wc -l <$small.fp) m=$(wc -l <$large.fp)
	bound=$(awk -v n="$n" -v m="$m" 'BEGIN { print 1.2 * m * log(m) / (n * log(n)) }')
	# A busy machine may disturb one measurement, not three.
	for try in 1 2 3; do
		read -r a mb_a code_a < <(python3 cost.py "$P" "${@//OTHER/$small.other}" $small.fp) && work_a=$(work)
		read -r b mb_b code_b < <(python3 cost.py "$P" "${@//OTHER/$large.other}" $large.fp) && work_b=$(work)
		ok=$(awk -v bound="$bound" -v a="$a" -v b="$b" 'BEGIN { print (b <= bound * a) }')
		[ "$ok" = 1 ] || [ "${COUNT:-0}" = 1 ] && break
	done
	is "$name: matched" "$code_a $code_b" "0 0"
	if [ "$ok" = 1 ]; then pass "$name: $n rows $a s, $m rows $b s"
	elif [ "${COUNT:-0}" = 1 ]; then pass "$name: $n rows $a s, $m rows $b s # SKIP seconds are not held to the bound"
	else fail "$name: $n rows $a s, $m rows $b s" "bound: $bound times"; fi
	at_least "$name: $n rows $work_a, $m rows $work_b pairs compared" "$(awk -v bound="$bound" -v a="$work_a" 'BEGIN { print bound * a + 1000 }')" "$work_b"
	at_least "$name: $n rows $mb_a MB, $m rows $mb_b MB" "$(awk -v n="$n" -v m="$m" -v a="$mb_a" 'BEGIN { print 1.25 * a * m / n }')" "$mb_b"
}
for kind in ball touching texts twins parts sketches; do
	for rows in $((n / 4)) $n $((4 * n)); do
		python3 "$TOP/tests/dense_rows.py" $kind $rows $((rows / 100)) 2 >$rows.fp
		awk 'NR % 2' $rows.fp >half$rows.fp && awk 'NR % 2 == 0' $rows.fp >half$rows.other
	done
	few=$((n / 4)) most=$((4 * n))
	[ $kind = sketches ] || check "$kind, -k 12" $n $most -k 12 --candidates=hamming
	case $kind in
	ball | touching)
		check "$kind, -k 12, other hosts" $n $most -k 12 --candidates=hamming --scope=other-hosts
		check "$kind, -k 12, two sides" half$n half$most -k 12 --candidates=hamming --against=OTHER ;;
	*)
		check "$kind, bands" $few $most --candidates=bands
		check "$kind, both, same host" $few $most -k 12 --candidates=both --scope=same-host
		check "$kind, both, other hosts" $few $most -k 12 --candidates=both --scope=other-hosts
		check "$kind, both, two sides" half$few half$most -k 12 --candidates=both --against=OTHER ;;
	esac
done
tap_done
