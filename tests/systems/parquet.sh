#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program with Apache Arrow's library, which the wheel of pyarrow holds: rows, pairs and verdicts in Parquet say what they say in
# text, byte for byte; pages are read from Parquet and taken out of it; DuckDB and pyarrow read what is written.
. "$(dirname "$0")/../tap.sh"
venv=$B/parquet/venv
python() { "$venv/bin/python" "$@"; }
if ! python -c 'import pyarrow, duckdb' 2>/dev/null; then
	python3 -m venv "$venv" >"$tmp/log" 2>&1 && "$venv/bin/pip" install -q pyarrow duckdb >>"$tmp/log" 2>&1 || {
		skip "Parquet" "pyarrow and duckdb cannot be installed: $(tail -1 "$tmp/log")"
		tap_done
	}
fi
# What pkg-config would know of them, were they packages of the system.
python - "$B/parquet/pkgconfig" <<'PY'
import os, sys, pyarrow
pyarrow.create_library_symlinks()
os.makedirs(sys.argv[1], exist_ok=True)
lib = pyarrow.get_library_dirs()[0]
for name, more in (("arrow", ""), ("parquet", "Requires: arrow\n")):
    with open(os.path.join(sys.argv[1], name + ".pc"), "w") as f:
        f.write(f"Name: {name}\nDescription: in the wheel pyarrow\nVersion: {pyarrow.__version__}\n{more}Cflags: -I{pyarrow.get_include()}\nLibs: -L{lib} -Wl,-rpath,{lib} -l{name}\n")
PY
run env -u MAKEFLAGS -u MAKELEVEL PKG_CONFIG_PATH="$B/parquet/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}" \
	make --no-print-directory -s -j"$(nproc)" -C "$TOP" DEV=1 B="$B/parquet/build" "$B/parquet/build/pagededup"
exits "it builds" 0
Q=$B/parquet/build/pagededup
has "version names the library" <("$Q" version) 'parquet [0-9]'

# --- rows ---
cp "$demo" demo.warc.gz
both() { # NAME COMMAND…
	local name=$1
	shift
	"$Q" "$@" -q >"$name.tsv"
	run "$Q" "$@" -q --format=parquet -o "$name.parquet"
	exits "$name in Parquet" 0
}
both fp fp demo.warc.gz
both match match fp.tsv
both cluster cluster match.tsv
"$Q" match -q -o pairs.tsv fp.parquet
same "match reads it: the same pairs, suspects and totals" pairs.tsv match.tsv
"$Q" cluster -q -o verdicts.tsv match.parquet
same "cluster reads it: the same verdicts" verdicts.tsv cluster.tsv
"$Q" apply -q -V cluster.tsv -o by-text.warc.gz demo.warc.gz
"$Q" apply -q -V cluster.parquet -o by-columns.warc.gz demo.warc.gz
same "apply reads it: the same dump" by-columns.warc.gz by-text.warc.gz
"$Q" fp -q --format=parquet demo.warc.gz >piped.parquet
same "the same bytes into a pipe" piped.parquet fp.parquet
for j in 1 2 4; do same "fp -j$j: the same bytes" <("$Q" fp -q -j$j --format=parquet demo.warc.gz) fp.parquet; done
"$Q" match -q <fp.parquet >stdin.tsv
same "standard input that is a file" stdin.tsv match.tsv
"$Q" store init kept -q && "$Q" store add -q --format=parquet kept fp.parquet >answers.parquet
"$Q" store export -q kept >export.tsv
"$Q" store export -q --format=parquet kept >export.parquet
"$Q" match -q export.tsv >a && "$Q" match -q export.parquet >b
same "a store's rows" b a
for method in exact segments keywords vsm links; do
	"$Q" fp -q --method=simhash,$method demo.warc.gz >m.tsv && "$Q" fp -q --method=simhash,$method --format=parquet demo.warc.gz >m.parquet
	"$Q" match -q m.tsv >m1.tsv && "$Q" match -q --format=parquet m.parquet >m2.parquet
	same "$method: the same verdicts" <("$Q" cluster -q m2.parquet) <("$Q" cluster -q m1.tsv)
done
for bits in 128 256; do
	"$Q" fp -q --bits=$bits demo.warc.gz >w.tsv && "$Q" fp -q --bits=$bits --format=parquet demo.warc.gz >w.parquet
	same "$bits bits" <("$Q" match -q w.parquet) <("$Q" match -q w.tsv)
done
# Values that need care: control bytes, what is no UTF-8, what stands for that, no value at all.
printf '%s\n' 'aaaaaaaaaaaaaaaa f:1 a\\\t\n"\x01' 'aaaaaaaaaaaaaaaa \x2d \xff\xe4\xb8z - 7' 'aaaaaaaaaaaaaaaa f:3 \x23x\x7f 2024-01-01T00:00:00Z 12' \
	"aaaaaaaaaaaaaaaa f:4 $(printf '\xee\xbf\xbf\xee\xbe\x80') - 1" | fp_rows >odd.fp
sed '1i'"$fp_columns" odd.fp >odd.tsv
"$Q" match -q odd.tsv >odd-pairs.tsv
"$Q" match -q --format=parquet odd.tsv >odd-pairs.parquet
same "odd values come back as they were" <("$Q" cluster -q odd-pairs.parquet) <("$Q" cluster -q odd-pairs.tsv)
is "DuckDB reads them, too" "$(python -c 'import duckdb; print(duckdb.sql("select count(url_b) from \"odd-pairs.parquet\"").fetchall()[0][0])' 2>&1)" 3

# --- others read it ---
is "DuckDB counts rows" "$(python -c 'import duckdb; print(duckdb.sql("select count(*), count(fingerprint) from \"fp.parquet\"").fetchall()[0])')" \
	"($(grep -vc '^#' fp.tsv), $(grep -v '^#' fp.tsv | grep -vc '^-'))"
is "types of Arrow" "$(python -c '
import pyarrow.parquet as pq
s = pq.read_schema("fp.parquet")
print(s.field("fingerprint").type, s.field("sketch").type, s.field("terms").type, s.field("confidence").type, s.field("url").type, b"pagededup.header" in s.metadata)')" \
	"uint64 fixed_size_binary[64] uint64 double large_string True"
is "the values are those of the text" "$(python -c '
import pyarrow.parquet as pq
t = pq.read_table("fp.parquet").to_pylist()
lines = [l.rstrip("\n").split("\t") for l in open("fp.tsv") if l[0] != "#"]
names = [l for l in open("fp.tsv") if l[0] == "#" and l[1] != " "][0][1:].rstrip("\n").split("\t")
for row, line in zip(t, lines):
    for name, v in zip(names, line):
        got = row[name]
        text = "-" if got is None else "%016x" % got if name == "fingerprint" else got.hex() if isinstance(got, bytes) else "%.2f" % got if name == "confidence" else str(got)
        if text != v: print(row["id"], name, got, v)' 2>&1 | head -3)" ""
is "it is compressed by zstd" "$(python -c 'import pyarrow.parquet as pq; print(pq.ParquetFile("fp.parquet").metadata.row_group(0).column(1).compression)')" ZSTD
python -c 'import duckdb; duckdb.sql("copy (select * from \"fp.parquet\") to \"duck.parquet\" (format parquet)")'
"$Q" match -q duck.parquet 2>err | grep -v '^#' >duck.tsv
same "rows that DuckDB wrote again" duck.tsv <(grep -v '^#' match.tsv)

# --- pages ---
cat >convert.py <<'PY'
import json, subprocess, sys, pyarrow as pa, pyarrow.parquet as pq
Q, dump, out = sys.argv[1:4]
import gzip, re
rows = []
data = gzip.open(dump).read() if dump.endswith(".gz") else open(dump, "rb").read()
for part in re.split(rb"(?m)^WARC/1\.[01]\r\n", data)[1:]:
    head, _, body = part.partition(b"\r\n\r\n")
    h = dict((k.strip().lower(), v.strip()) for k, _, v in (l.partition(b":") for l in head.split(b"\r\n")))
    if h.get(b"warc-type") != b"response": continue
    body = body[:int(h[b"content-length"])]
    http, _, html = body.partition(b"\r\n\r\n")
    t = re.search(rb"(?im)^content-type:\s*(.*?)\s*$", http)
    if not re.match(rb"HTTP/\S+ 200", http) or re.search(rb"(?im)^(transfer|content)-encoding:", http): continue
    rows.append((h[b"warc-target-uri"].decode("utf-8", "replace"), html, h[b"warc-date"].decode(), t[1].decode("latin-1") if t else None, len(rows)))
table = pa.table({"url": [r[0] for r in rows], "html": pa.array([r[1] for r in rows], pa.binary()), "fetch_time": [r[2] for r in rows],
                  "content_type": [r[3] for r in rows], "id": [r[4] for r in rows], "tags": [["a", "b"]] * len(rows)})
pq.write_table(table, out, row_group_size=int(sys.argv[4]), compression="zstd")
PY
cat >sql.py <<'PY'
import duckdb
n = duckdb.sql("""select count(*) from read_parquet('pages.parquet', file_row_number = true)
  where 'pages.parquet:' || file_row_number not in (select id from 'pages-verdicts.parquet' where is_duplicate = 1)""").fetchall()[0][0]
print(n == duckdb.sql("select count(*) from 'clean.parquet'").fetchall()[0][0])
PY
whole() { # NAME DUMP ROWS-OF-A-GROUP
	python convert.py "$Q" "$2" pages.parquet "$3"
	"$Q" fp -q "$2" >from-dump.tsv 2>/dev/null
	run "$Q" fp -q --format=parquet -o pages-rows.parquet pages.parquet
	exits "$1: fp of Parquet" 0
	"$Q" fp -q pages.parquet >from-parquet.tsv
	cut -f 1,3,4,5,6,7,8,9,10,11,12,14,17 from-parquet.tsv | grep -v '^#' | sort >got
	cut -f 1,3,4,5,6,7,8,9,10,11,12,14,17 from-dump.tsv | grep -v '^#' | sort >all
	at_least "$1: rows" "$(wc -l <got)" "$4"
	is "$1: every row is one of the dump's" "$(comm -23 got all | head -3)" ""
	has "its rows' numbers are the ids" from-parquet.tsv "	pages\.parquet:$(($(wc -l <got) / 2))	"
	"$Q" match -q pages-rows.parquet --format=parquet -o pages-pairs.parquet
	"$Q" cluster -q pages-pairs.parquet --format=parquet -o pages-verdicts.parquet
	"$Q" match -q from-parquet.tsv | "$Q" cluster -q >pages-verdicts.tsv
	same "$1: the same verdicts as by text" <("$Q" match -q pages-rows.parquet | "$Q" cluster -q) pages-verdicts.tsv
	run "$Q" apply -q -V pages-verdicts.parquet -o clean.parquet pages.parquet
	exits "$1: apply" 0
	is "$1: what is left is what no verdict removes, with all columns" "$(python -c '
import duckdb, pyarrow.parquet as pq
a, b = pq.read_table("pages.parquet"), pq.read_table("clean.parquet")
gone = {int(r[0].split(":")[-1]) for r in duckdb.sql("select id from \"pages-verdicts.parquet\" where is_duplicate = 1").fetchall()}
left = a.take([i for i in range(a.num_rows) if i not in gone])
print(len(gone) > 0, a.num_rows - b.num_rows == len(gone), left.equals(b), a.schema.equals(b.schema, check_metadata=True))' 2>&1)" "True True True True"
	is "$1: one line of SQL does the same" "$(python sql.py 2>&1)" True
}
whole demo demo.warc.gz 20 60
run "$Q" dedup -q -o clean pages.parquet
exits "dedup of Parquet" 0
is "dedup writes Parquet" "$(python -c 'import pyarrow.parquet as pq; print(pq.read_table("clean/pages.parquet").num_rows < pq.read_table("pages.parquet").num_rows)' 2>&1)" True
"$Q" show --stage=text pages.parquet:30 >shown 2>&1
at_least "an id leads to its page" "$(wc -l <shown)" 1
cat pages.parquet | "$Q" fp -q - 2>piped.err >/dev/null
has "a pipe is refused in words" piped.err 'Parquet cannot be read from a pipe'
if [ -n "${PAGEDEDUP_CORPORA:-}" ]; then
	whole transplant-dev "$PAGEDEDUP_CORPORA/neardup/transplant-dev.warc.gz" 100 1000
else
	skip "transplant-dev by way of Parquet" "PAGEDEDUP_CORPORA is not set"
fi

# --- other columns ---
python - <<'PY'
import pyarrow as pa, pyarrow.parquet as pq, datetime
words = "the mill by the tide creek was built of grey stone and the ferry left the harbour at noon with a lantern".split()
texts = [" ".join(words[i:] + words[:i]) * 3 for i in range(4)] + [None, ""]
t = pa.table({"id": pa.array([f"d{i}" for i in range(6)]).dictionary_encode(), "text": pa.array(texts, pa.large_string()), "fetch_time": [datetime.datetime(2024, 1, 2, 3, 4, 5)] * 6, "n": range(6)})
pq.write_table(t, "texts.parquet")
pq.write_table(t.rename_columns(["key", "body", "when", "n"]), "other.parquet")
PY
run "$Q" fp -q texts.parquet
exits "id and text" 0
is "rows of id and text" "$(grep -v '^#' "$tmp/out" | cut -f 2,4,15 | head -1)" "texts.parquet:0	2024-01-02T03:04:05Z	$(grep -v '^#' "$tmp/out" | head -1 | cut -f 15)"
run "$Q" fp -q other.parquet
exits "other names" 1
has "are named" "$tmp/err" 'other\.parquet: no column "text" or "html" \(found: key, body, when, n\): use --field-html= or --field-text='
run "$Q" fp -q --field-text=body other.parquet
exits "and can be said" 0
same "with the same rows" <(grep -v '^#' "$tmp/out" | cut -f 1,6) <("$Q" fp -q texts.parquet | grep -v '^#' | cut -f 1,6)
run "$Q" match -q texts.parquet
exits "pages are no rows" 2
has "and match says so" "$tmp/err" 'texts\.parquet holds no fp rows'

# --- damage ---
python - <<'PY'
import pyarrow.parquet as pq
m = pq.ParquetFile("pages.parquet").metadata
c = m.row_group(1).column(1)
data = bytearray(open("pages.parquet", "rb").read())
at = c.dictionary_page_offset or c.data_page_offset
for i in range(at, at + c.total_compressed_size): data[i] ^= 0x5A
open("bad.parquet", "wb").write(data)
open("cut.parquet", "wb").write(data[:len(data) // 2])
c = pq.ParquetFile("fp.parquet").metadata.row_group(0).column(1)
data = bytearray(open("fp.parquet", "rb").read())
at = c.dictionary_page_offset or c.data_page_offset
for i in range(at, at + c.total_compressed_size): data[i] ^= 0x5A
open("bad-rows.parquet", "wb").write(data)
PY
python convert.py "$Q" demo.warc.gz pages.parquet 20
run "$Q" fp bad.parquet
exits "a damaged row group" 1
has "is named with file, row, group and reason" "$tmp/err" '^pagededup fp: bad\.parquet:[0-9]+: row group 1: [0-9]+ rows that cannot be read: .+; left out'
at_least "the others are read" "$(grep -vc '^#' "$tmp/out")" 30
run "$Q" fp cut.parquet
exits "a file that is cut" 1
has "is named" "$tmp/err" 'cut\.parquet: '
run "$Q" match bad-rows.parquet
exits "damaged rows" 1
has "are named" "$tmp/err" 'bad-rows\.parquet:0: row group 0: [0-9]+ rows that cannot be read'
run "$Q" fp -q --format=parquet -o /dev/full demo.warc.gz
exits "a full disk" 2
has "is said" "$tmp/err" 'cannot write /dev/full: No space left'
tap_done
