#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compare match by bands of sketches with brute force (tests/brute_bands.py), for any threads, order, memory and
# fingerprint search; and check that it is the default for many pages.
. "$(dirname "$0")/../tap.sh"
brute() { python3 "$TOP/tests/brute_bands.py" "$@"; }
ids() { rows "$1" | cut -f1,2; }
stat() { python3 -c 'import json, sys; print(json.load(open("stats.json"))[sys.argv[1]])' "$1"; }
check() { # NAME WIDTH SCOPE FILE OPTION…
	local name=$1 width=$2 scope=$3 file=$4
	shift 4
	run "$P" match --candidates=bands --all-pairs --band-width="$width" --scope="$scope" --stats stats.json "$@" "$file"
	exits "$name" 0
	cp "$tmp/out" found.pairs
	ids found.pairs | LC_ALL=C sort >found
	brute pairs "$file" "$width" "$(stat band_reach)" "$scope" | LC_ALL=C sort >want
	same "$name: the pairs of comparing all with all" found want
	at_least "$name: there are pairs" "$(wc -l <found)" 300
	for other in "-j2" "-j5" "--memory=40M"; do
		run "$P" match -q --candidates=bands --all-pairs --band-width="$width" --scope="$scope" "$other" "$@" shuffled.fp
		same "$name: the same with $other and rows in another order" "$tmp/out" found.pairs
	done
	PAGEDEDUP_SCAN=portable run "$P" match -q --candidates=bands --all-pairs --band-width="$width" --scope="$scope" "$@" "$file"
	same "$name: the same with portable code" "$tmp/out" found.pairs
}
shuffle() { { head -1 "$1"; tail -n +2 "$1" | LC_ALL=C sort; } >shuffled.fp; }

brute rows 2000 1 >rows.fp
shuffle rows.fp
for width in 1 2 3 5 9; do check "bands of $width minima" $width all rows.fp; done
brute rows 1500 2 5 >hosts.fp
shuffle hosts.fp
check "within hosts" 3 same-host hosts.fp
check "between hosts" 3 other-hosts hosts.fp
head -1 rows.fp >none.fp
run "$P" match --candidates=bands none.fp
exits "no rows" 0

# Many rows: unrelated fingerprints, and one row in ten with a similar sketch but a distant fingerprint.
many=160000
python3 - $many >many.fp <<'END'
import random, sys
n, rnd = int(sys.argv[1]), random.Random(3)
print('#fingerprint\tid\turl\tsketch')
for i in range(n):
    if i % 10 != 9:
        key, sketch = rnd.getrandbits(64), rnd.getrandbits(512)
    else:
        for bit in rnd.sample(range(64), 18):
            key ^= 1 << bit
        for at in rnd.sample(range(128), 38):
            sketch ^= rnd.randrange(1, 16) << 4 * at
    print('%016x\tm:%d\thttp://h%d.example/\t%0128x' % (key, i, i, sketch))
END
run "$P" match --stats stats.json many.fp
exits "many pages" 0
is "sketches are searched in addition to fingerprints" "$(stat candidates_from)" both
at_least "sketches find pairs beyond any distance" "$(rows "$tmp/out" | wc -l)" $((many / 10 * 97 / 100))
at_least "at most six sketches a page are compared by chance" $((6 * many + many / 10 - $(stat band_looks))) 0
has "the header says so" "$tmp/out" 'candidates=both '
run "$P" match -q -k 12 --stats stats.json many.fp
is "with -k only fingerprints" "$(stat candidates_from) $(stat k)" "hamming 12"
head -2000 many.fp >few.fp
run "$P" match -q --stats stats.json few.fp
is "of fewer pages both find some" "$(stat candidates_from) $(stat k)" "both 16"
at_least "sketches find pairs beyond k" "$(rows "$tmp/out" | wc -l)" $((2000 / 10 * 97 / 100))
tap_done
