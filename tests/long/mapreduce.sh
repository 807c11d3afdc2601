#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# map | sort | reduce of --job=join and --job=batch on five million generated keys with skew: some keys have very many copies, and the
# first bits of the others follow Zipf's law, so that one bucket of the first table has a twentieth of all rows.
. "$(dirname "$0")/../tap.sh"
. "$TOP/tests/mapreduce.sh"
n=${ROWS:-5000000}
python3 - $n >rows.fp <<'END'
import random, sys
n, draw, fresh, out = int(sys.argv[1]), random.Random(9), [], []
rest = '\t-' * 14
for i in range(n):
    what = draw.random()
    if what < .3 and i:
        key = fresh[int(len(fresh) * draw.random() ** 8)]
    elif what < .4 and i:
        key = fresh[int(len(fresh) * (.5 + draw.random() / 2))]
        for _ in range(draw.randrange(1, 5)):
            key ^= 1 << draw.randrange(64)
    else:
        key = min(int(1 / (1 - draw.random())), 65535) * 0x9e37 % 65536 << 48 if draw.random() < .1 else draw.getrandbits(16) << 48
        key |= draw.getrandbits(48)
        fresh.append(key)
    out.append('%016x\tx:%d\thttp://h%d.example/%d%s' % (key, i, i % 997, i, rest))
    if len(out) == 65536:
        print('\n'.join(out)); out = []
print('\n'.join(out))
END
is "rows are made" "$(wc -l <rows.fp)" $n
largest=$(cut -c 1-4 rows.fp | LC_ALL=C sort | uniq -c | sort -rn | head -1 | awk '{ print $1 }')
at_least "one bucket has many of them" "$largest" $((n / 40))
parts=4
join_rows got rows.fp -- -k 3 2>"$tmp/err"
is "join ends" $? 0
"$P" match -q -k 3 rows.fp >want
at_least "pairs" "$(wc -l <want)" $((n / 4))
same "join: the pairs of match" <(in_order got) <(in_order want)
rm -f got* want
# A batch names every stored page of every new one: of a key with very many copies some go, else there were a thousand million pairs.
awk -F '\t' 'NR % 50 == 0 && new[$1]++ < 100 { print > "new.fp" } NR % 50 && old[$1]++ < 1000 { print > "old.fp" }' rows.fp
"$P" match -q --save=new.key new.fp
shared=()
step batch count old.fp -- --batch=new.key -- -k 3 >params 2>"$tmp/err"
shared=(--params=params --batch=new.key)
"$P" map --job=batch --step=tables "${shared[@]}" </dev/null >tables
tables=tables step batch find old.fp >found 2>>"$tmp/err"
is "batch ends" $? 0
step batch pairs found >got 2>>"$tmp/err"
"$P" match -q -k 3 --all-pairs --against=old.fp new.fp >want
at_least "pairs with the batch" "$(wc -l <want)" $((n / 1000))
same "batch: the pairs of match --against" <(in_order got) <(in_order want)
tap_done
