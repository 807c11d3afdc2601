#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a page or dump is linear in its bytes for every content: compare CPU seconds at 1 MB and at 4 MB for each
# pattern of hostile.py.  Four times the bytes may take six times as long.  4 MB may take at most MOST seconds (the most
# expensive, U+FDFA, folds to 18 characters) and MEMORY MB.  Times under LEAST are noise and are not compared.
# PATTERNS="han links" runs some patterns; LINEAR_SAY=1 prints the figures.
. "$(dirname "$0")/../tap.sh"
ratio=6 most=15 least=0.15 memory=600
cat >cost.py <<'E2'
import resource, subprocess, sys
code = subprocess.run([sys.argv[1], 'fp', '-q', '-j1', '--max-page=8M', '-o', 'rows', '--preset=' + sys.argv[3], sys.argv[2]],
                      stderr=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print('%.3f %d %d' % (used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, code))
E2
measure() { # PRESET: sets a and b (CPU seconds), mb
	local code_a code_b
	read -r a mb code_a < <(python3 cost.py "$P" small.html "$1")
	read -r b mb code_b < <(python3 cost.py "$P" large.html "$1")
	# 1: damage was found and reported.
	[ "$code_a" -le 1 ] && [ "$code_b" -le 1 ] && awk -v a="$a" -v b="$b" -v r=$ratio -v m=$most -v l=$least -v mb="$mb" -v memory=$memory \
		'BEGIN { exit !((b < l || b <= r * a) && b <= m && mb <= memory) }'
}
over_most() { awk -v b="$b" -v m=$most 'BEGIN { exit !(b > m) }'; }
for name in ${PATTERNS:-$(python3 "$TOP/tests/long/hostile.py")}; do
	python3 "$TOP/tests/long/hostile.py" "$name" 1000000 >small.html
	python3 "$TOP/tests/long/hostile.py" "$name" 4000000 >large.html
	case $name in dump-*) presets=default ;; *) presets="default paper" ;; esac
	for preset in $presets; do
		# A busy machine may disturb one measurement, not three.
		for try in 1 2 3; do measure $preset && ok=1 && break; ok=0; over_most && break; done
		if [ $ok = 1 ]; then pass "$name, $preset"
		else fail "$name, $preset: $a s for 1 MB, $b s and $mb MB for 4 MB" "at most $ratio times as long, $most s, $memory MB"; fi
		[ -z "${LINEAR_SAY:-}" ] || echo "# $name, $preset: $a s, $b s, $mb MB"
	done
done
tap_done
