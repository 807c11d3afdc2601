#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Texts of rows are read from the file only for pages in pairs: the pairs, messages and exit status are those of a pipe,
# whose rows are all kept in a temporary file.
. "$(dirname "$0")/../tap.sh"
cat >make.py <<'END'
# KIND ROWS SEED FILE: rows of random keys, a third near an earlier one, over many pieces.
import random, sys
kind, n, seed, name = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
rng = random.Random(seed)
columns = ['fingerprint', 'id', 'url', 'fetch_time', 'text_bytes', 'quality', 'text_digest', 'sketch', 'params']
header = '# pagededup fp 1 version=3 bits=64 | sketch=%s' % ('16x4x5' if kind == 'sketches' else 'none')
out = []
def head(columns):
    out.extend([header, '#' + '\t'.join(columns)])
head(columns)
keys = []
for i in range(n):
    key = rng.getrandbits(64)
    if keys and rng.random() < .33:
        key = rng.choice(keys[-500:])
        for _ in range(rng.randrange(4)):
            key ^= 1 << rng.randrange(64)
    keys.append(key)
    row = {'fingerprint': '%016x' % key, 'id': '%s:%d' % (name, i * 7), 'url': 'http://h%d.example/%d' % (i % 50, i), 'fetch_time': '-' if i % 5 else '2024-01-02T00:00:00Z',
           'text_bytes': str(i % 999), 'quality': '-' if i % 3 else '.5', 'text_digest': '-', 'sketch': '-', 'params': 'aaaa0000'}
    if kind == 'digests' and i % 11 == 0:
        row.update(fingerprint='-', text_digest='%032x' % (i % 77))
    if kind == 'none' and i % 13 == 0:
        row['fingerprint'] = '-'
    if kind == 'sketches' and i % 4:
        row['sketch'] = '%016x' % (key >> 3)
    if kind == 'long' and i % 5000 == 4999:
        row['url'] += 'x' * 700000
    if kind == 'headers' and i % 3000 == 1000:
        columns = columns[:2] + rng.sample(columns[2:], len(columns) - 2)
        head(columns)
    if kind == 'remarks' and i % 2500 == 100:
        out.extend(['# total pages=%d' % i, '', '# a remark'])
    if kind == 'order' and i == n - 10:
        row['id'] = name + ':1'
    if kind == 'again' and i == n - 10:
        row['id'] = name + ':70'
    if kind == 'params' and i == n - 10:
        row['params'] = 'bbbb0000'
    if kind == 'wide' and i == n - 10:
        row['fingerprint'] *= 2
    line = '\t'.join(row[c] for c in columns)
    if kind == 'bad' and i % 4000 == 17:
        line = rng.choice(['only\ttwo', 'xyz' + line[3:], '\t' + line, line.replace('\t', '\0', 1)])
    if kind == 'narrow':
        line = '\t'.join(line.split('\t')[:3])
    out.append(line + ('\r' if kind == 'dos' or kind == 'some-dos' and i % 5000 == 4 else ''))
if kind == 'narrow':
    out[:2] = ['#fingerprint\tid\turl']
if kind == 'bare':
    out[:2] = []
    columns = ['fingerprint', 'id', 'url', 'fetch_time', 'content_digest', 'text_digest', 'content_charset', 'languages', 'terms', 'text_bytes', 'confidence', 'flags', 'quality', 'sketch', 'user_id', 'params']
    out = ['\t'.join((l.split('\t') + ['-'] * 20)[:16]) for l in out]
sys.stdout.buffer.write('\n'.join(out).encode() + (b'' if kind == 'cut' else b'\n'))
END
on_disk() { python3 -c 'import json; print(json.load(open("stats"))["bytes_on_disk"])'; }
# NAME FILE OPTION...: as from a pipe
as_piped() {
	local name=$1 file=$2
	shift 2
	"$P" match "$@" <(cat "$file") 2>want.err >want
	code_want=$?
	sed -i -E 's,/dev/fd/[0-9]+,FILE,; s/, [0-9.]+ s$//' want.err
	for threads in 1 2; do
		"$P" match -j$threads --stats stats "$@" "$file" 2>got.err >got
		is "$name -j$threads: exit status" $? $code_want
		sed -i -E "s,$file,FILE,; s/, [0-9.]+ s\$//" got.err
		same "$name -j$threads: pairs" got want
		same "$name -j$threads: messages" got.err want.err
	done
}
for kind in plain none cut narrow bare headers remarks long dos some-dos digests sketches; do
	python3 make.py $kind 12000 1 a >in.fp
	as_piped "$kind" in.fp -k 3 --no-verify
	at_least "$kind: there are pairs" "$(rows got | wc -l)" 1000
	is "$kind: nothing is kept on disk" "$(on_disk)" 0
done
as_piped "sketches that are compared" in.fp -k 3
at_least "they are kept" "$(on_disk)" 100000
for kind in plain digests; do
	python3 make.py $kind 12000 1 a >in.fp
	as_piped "$kind, without sketches to verify by" in.fp -k 3
done
for kind in order again bad; do
	python3 make.py $kind 12000 1 a >in.fp
	as_piped "$kind" in.fp -k 3 --no-verify
done
for kind in params wide; do
	python3 make.py $kind 12000 1 a >in.fp
	as_piped "$kind" in.fp -k 3 --no-verify
	is "$kind: is refused" $code_want 2
done
# The second row of a pair begins a page of memory after the first, or a byte before or after it.
for n in 4095 4096 4097; do
	{ printf '#fingerprint\tid\turl\n'
		printf '0000000000000001\ta:1\thttp://a.example/%*s\n' $((n - 39)) '' | tr ' ' x
		printf '0000000000000000\ta:2\thttp://a.example/2\n'; } >in.fp
	is "the first row has $n bytes" "$(sed -n 2p in.fp | wc -c)" "$n"
	as_piped "a row of $n bytes" in.fp -k 3 --no-verify
	is "a row of $n bytes: a pair" "$(rows got | wc -l)" 1
done
printf '#fingerprint\tid\turl\r\n0000000000000001\ta:1\thttp://a.example/1\r\n0000000000000000\ta:2\thttp://a.example/2\r\n' >in.fp
as_piped "CR after a value of a pair" in.fp -k 3 --no-verify
is "CR after a value of a pair: it has none" "$(rows got | cut -f6,7)" "http://a.example/1	http://a.example/2"
: >in.fp
as_piped "an empty file" in.fp -k 3
printf '# pagededup fp 1 version=3 bits=64 | sketch=none\n' >in.fp
as_piped "a header alone" in.fp -k 3
printf 'no rows\n' >in.fp
as_piped "no rows" in.fp -k 3
printf '#fingerprint\tid\turl\n' >in.fp
as_piped "names alone" in.fp -k 3

# --- rows that are all kept on disk: files are read in pieces, on threads, pipes line by line ---
for kind in plain none cut narrow bare headers remarks long dos some-dos digests sketches order again bad params wide; do
	python3 make.py $kind 12000 1 a >in.fp
	as_piped "$kind, kept on disk" in.fp -k 3 --candidates=both
	[ $code_want = 2 ] || at_least "$kind, kept on disk: they are" "$(on_disk)" 100000
done
python3 make.py sketches 12000 1 a >in.fp
sed '6000,$s/\t[0-9a-f]\{16\}\taaaa0000$/\tzz\taaaa0000/; 7000s/\tzz\t/\tzzzzzzzzzzzzzzzz\t/' in.fp >other.fp
sed 's/sketch=16x4x5/sketch=32x2x5/; s/\ta:/\tb:/' in.fp >>other.fp
as_piped "sketches of other kinds, and one that is none" other.fp
is "that one is a bad row" "$code_want" 1
for scope in same-host other-hosts; do
	as_piped "--scope=$scope" in.fp --scope=$scope
done

# --- several files, key files among them ---
python3 make.py plain 9000 1 a >a.fp
python3 make.py headers 9000 1 b >b.fp
python3 make.py digests 9000 1 c >c.fp
for f in a b c; do "$P" match -q --save $f.keys $f.fp; done
match() { "$P" match -q -k 3 --no-verify --stats stats "$@"; }
match <(cat a.fp) <(cat b.fp) <(cat c.fp) >want
at_least "several files: there are pairs" "$(rows want | wc -l)" 20000
for files in "a.fp b.fp c.fp" "a.keys b.keys c.keys" "a.fp b.keys c.fp" "a.keys b.fp c.keys"; do
	# shellcheck disable=SC2086
	match $files >got
	same "$files: the same pairs" got want
	is "$files: nothing is kept on disk" "$(on_disk)" 0
done
# shellcheck disable=SC2043
match b.fp c.keys a.fp >got
same "in another order: the same pairs" got want
at_least "and ids are brought in order" "$(on_disk)" 100000
match <(cat b.fp) --against <(cat a.fp) >want
match b.fp --against a.fp >got
same "--against: the same pairs" got want
match <(cat a.fp) --against <(cat b.fp) >want
match a.keys --against b.keys >got
same "--against, key files" got want
is "--against, key files: nothing is kept on disk" "$(on_disk)" 0
match --all-pairs <(cat a.fp) >want
match --all-pairs a.keys >got
same "--all-pairs" got want
match --format=jsonl <(cat a.fp) >want
match --format=jsonl a.fp >got
same "--format=jsonl" got want
match --memory=36M <(cat a.fp) >want
match --memory=36M a.keys >got
same "--memory" got want

tap_done
