#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# match --memory gives the same pairs with any limit, which RLIMIT_DATA enforces: private memory, without the stacks of
# threads and 16 MB of the program itself.
. "$(dirname "$0")/../tap.sh"
cat >make.py <<'END'
# ROWS WITH_SKETCHES: random keys, a tenth near an earlier one, a twentieth equal to one; sketches near where keys are.
import random, sys
n, sketches, rng = int(sys.argv[1]), sys.argv[2] == 'sketches', random.Random(1)
print('# pagededup fp 1 version=3 bits=64 | sketch=%s' % ('16x4x5' if sketches else 'none'))
print('#fingerprint\tid\turl\ttext_digest\tsketch')
rows, out = [], []
for i in range(n):
    key, sketch, what = rng.getrandbits(64), rng.getrandbits(64), rng.random()
    if i and what < .2:
        key, sketch = rows[rng.randrange(i)]
        if what < .1:
            for _ in range(rng.randrange(1, 4)):
                key ^= 1 << rng.randrange(64)
        sketch ^= rng.choice([0, 0, 15, 255 << 20, (1 << 60) - 1])
    rows.append((key, sketch))
    out.append('%s\tx:%d\thttp://h%d/%d\t%s\t%s' % ('-' if what > .98 else '%016x' % key, i, rng.randrange(500), i,
               '%032x' % (key >> 50), '%016x' % sketch if sketches and what < .95 else '-'))
if sketches:
    rng.shuffle(out)
print('\n'.join(out))
END
python3 make.py 600000 sketches >sketches.fp
python3 make.py 600000 none >in.fp
cat in.fp <(tail -n +3 in.fp | sed 's/\tx:/\ty:/') <(tail -n +3 in.fp | awk -F '\t' -v OFS='\t' '{ $2 = "z:" NR; $1 = NR % 3 ? "-" : $1; print }') >large.fp
say() { python3 -c 'import json, sys; s = json.load(open("stats.json")); print(*(s[k] for k in sys.argv[1:]))' "$@"; }
# NAME FILE OPTION...
check() {
	local name=$1 file=$2 mb threads
	shift 2
	run "$P" match -q "$@" "$file" && cp "$tmp/out" want
	exits "$name" 0
	at_least "$name: there are pairs" "$(rows want | wc -l)" 100
	for mb in 36 48 64; do
		for threads in 1 2; do
			run bash -c 'ulimit -d $(($1 * 1024 + 16384 + $2 * 8192)); shift 2; exec "$@"' - $mb $threads \
				"$P" match -q --memory=${mb}M -j$threads --stats stats.json "$@" "$file"
			exits "$name, --memory=${mb}M -j$threads" 0
			same "$name, --memory=${mb}M -j$threads: the same pairs" "$tmp/out" want
		done
		echo "# $name, ${mb}M: bytes on disk, runs, parts: $(say bytes_on_disk runs join_parts)"
	done
}
check "k 3" large.fp -k 3
at_least "the keys were joined in parts" "$("$P" match -q -k 3 --memory=36M --stats stats.json -o out large.fp && say join_parts)" 4
check "k 8" in.fp -k 8
check "same host, all pairs" large.fp -k 3 --scope=same-host --all-pairs
check "other hosts" large.fp -k 3 --scope=other-hosts
check "sketches, rows in no order" sketches.fp -k 8
check "sketches, other hosts" sketches.fp -k 5 --scope=other-hosts
check "sketches, same host" sketches.fp -k 5 --scope=same-host
"$P" match -q -k 5 --candidates=both sketches.fp >want
run "$P" match -q -k 5 --candidates=both --memory=100M sketches.fp
same "candidates by bands too: the same pairs" "$tmp/out" want
run "$P" match -q --candidates=both --memory=64M sketches.fp
exits "a limit that is too little for bands" 2
has "names the smallest sufficient value" "$tmp/err" 'at least [0-9]+M'
"$P" match -q --save sketches.keys sketches.fp
"$P" match -q -k 3 in.fp --against sketches.keys >want
run "$P" match -q -k 3 --memory=40M in.fp --against sketches.keys
same "a batch against a collection" "$tmp/out" want
tap_done
