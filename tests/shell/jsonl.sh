#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --format=jsonl says the same as the table, value by value; the next stages refuse it.
. "$(dirname "$0")/../tap.sh"
cat >compare.py <<'EOF'
import codecs, json, re, sys
codecs.register_error("each", lambda e: ("\ufffd" * (e.end - e.start), e.end))
INTEGERS = {"terms", "text_bytes", "text_bytes_a", "text_bytes_b", "distance", "cluster_id", "cluster_size", "weight"}
REALS = {"confidence", "loss", "similarity", "quality", "quality_a", "quality_b"}
def plain(v):
    one = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}
    v = re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda m: one.get(m[1]) or bytes([int(m[1][1:], 16)]), v)
    return v.decode("utf-8", "each")
def want(name, v):
    if v == b"-": return None
    if name in INTEGERS: return int(v)
    if name in REALS: return float(v)
    if name == "is_duplicate": return v == b"1"
    if name in ("flags", "languages"): return v.decode().split(",")
    return plain(v)
def same(a, b):
    return type(a) is type(b) and a == b
lines = open(sys.argv[1], "rb").read().split(b"\n")
names = [l for l in lines if l[:1] == b"#" and l[1:2] != b" "][0][1:].decode().split("\t")
table = [l.split(b"\t") for l in lines if l and l[:1] != b"#"]
objects = [json.loads(l) for l in open(sys.argv[2], encoding="utf-8")]
if len(table) != len(objects): print(f"{len(table)} rows, {len(objects)} objects")
for n, (row, o) in enumerate(zip(table, objects), 1):
    if list(o) != names: print(f"row {n}: keys {list(o)}")
    for name, v in zip(names, row):
        if not same(want(name, v), o.get(name)): print(f"row {n}, {name}: {want(name, v)!r} in the table, {o.get(name)!r}")
EOF
agree() { # NAME TSV JSONL
	is "$1: the same values as the table" "$(python3 compare.py "$2" "$3" 2>&1 | head -5)" ""
}
both() { # NAME COMMAND…
	local name=$1
	shift
	"$@" -q >"$name.tsv" && "$@" -q --format=jsonl >"$name.jsonl"
	is "$name: exit code" $? 0
	at_least "$name: rows" "$(wc -l <"$name.jsonl")" 5
	hasnt "$name: no header, no totals" "$name.jsonl" '^[^{]'
	agree "$name" "$name.tsv" "$name.jsonl"
}
if ! command -v python3 >/dev/null; then skip "JSON agrees with the table" "no python3"; tap_done; fi
both fp "$P" fp "$demo"
both match "$P" match fp.tsv
both cluster "$P" cluster match.tsv
both pages "$P" fp "$TOP/tests/golden"
has "a page without a fingerprint has null" pages.jsonl '"fingerprint":null.*"flags":\["[^]]*"short"\]'
"$P" fp -q --format=tsv "$demo" >named.tsv
same "--format=tsv is the default" named.tsv fp.tsv
"$P" cluster -q --format=jsonl --linkage=connected --keep=newest -o to.jsonl match.tsv
at_least "-o writes it too" "$(wc -l <to.jsonl)" 5

# Difficult values: control bytes, a lone dash, invalid UTF-8, invalid numbers.
printf '%s\n' 'aaaaaaaaaaaaaaaa f:1 a\x5c\t\n"\x01' 'aaaaaaaaaaaaaaaa \x2d \xff\xe4\xb8z - 7' 'aaaaaaaaaaaaaaab f:3 \x23x\x7f 2024-01-01T00:00:00Z 12' |
	fp_rows >odd.fp
sed '1i'"$fp_columns" odd.fp >odd.tsv
both_odd() { "$P" "$@" -q >odd-out.tsv && "$P" "$@" -q --format=jsonl >odd-out.jsonl; is "odd values, $1: exit code" $? 0; agree "odd values, $1" odd-out.tsv odd-out.jsonl; }
both_odd match odd.tsv
cp odd-out.tsv odd-pairs.tsv
both_odd cluster odd-pairs.tsv
printf '%s\n' 'aaaaaaaaaaaaaaaa f:1 u - many' 'aaaaaaaaaaaaaaaa f:2 u - 99999999999999999999' | fp_rows >bad.fp
has "text that is not a number is a string" <("$P" match -q --format=jsonl bad.fp) '"text_bytes_a":"many".*"text_bytes_b":"99999999999999999999"'

for j in 2 4 16; do
	same "fp -j$j as -j1" <("$P" fp -q --format=jsonl -j$j "$demo") <("$P" fp -q --format=jsonl -j1 "$demo")
	same "match -j$j as -j1" <("$P" match -q --format=jsonl -j$j fp.tsv) <("$P" match -q --format=jsonl -j1 fp.tsv)
done

run "$P" match fp.jsonl
exits "match of JSONL" 2
has "match names the format that it needs" "$tmp/err" 'fp.jsonl holds JSONL.*TSV.*pagededup fp'
empty "match of JSONL writes nothing" "$tmp/out"
run "$P" cluster match.jsonl
exits "cluster of JSONL" 2
has "cluster names the format that it needs" "$tmp/err" 'match.jsonl holds JSONL.*TSV.*pagededup match'
run "$P" fp --format=xml "$demo"
exits "a format that does not exist" 2
has "the formats are named" "$tmp/err" 'tsv, jsonl'
tap_done
