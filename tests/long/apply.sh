#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compare the outputs of apply with other programs: warcio reads every output, and its digests agree with those of the
# input; pywb's cdxj-indexer makes the same index; DuckDB and pandas join the attribute files (all from PyPI, in a
# virtual environment in the build folder).  Then a dump of 1 GB: it takes the memory of a small one; runs are killed,
# or fail on a full disk, at random moments.
. "$(dirname "$0")/../tap.sh"
venv=$B/venv-apply
python=$venv/bin/python
[ -x "$python" ] && "$python" -c 'import warcio, cdxj_indexer, duckdb, pandas' 2>/dev/null || {
	python3 -m venv "$venv" && timeout 300 "$venv/bin/pip" install -q warcio cdxj-indexer duckdb pandas
} >"$tmp/pip" 2>&1
have=1
"$python" -c 'import warcio, cdxj_indexer, duckdb, pandas' 2>/dev/null || have=

# --- other readers ---
# A line a record: type, URL, date, digest of the content as stored.
cat >records.py <<'E2'
import hashlib, sys
from warcio.archiveiterator import ArchiveIterator
with open(sys.argv[1], 'rb') as f:
    for r in ArchiveIterator(f, no_record_parse=True, arc2warc=False):
        h = r.rec_headers
        content = hashlib.sha1(r.raw_stream.read()).hexdigest()
        print(r.rec_type, h.get_header('WARC-Target-URI') or h.get_header('uri'), h.get_header('WARC-Date') or h.get_header('archive-date'), content, sep='\t')
E2
# Index lines, so that they can be compared: keys in one order, no matter how JSON is spaced.
cat >index.py <<'E2'
import json, sys
for line in open(sys.argv[1], encoding='utf-8'):
    key, time, rest = line.rstrip('\n').split(' ', 2)
    print(key, time, json.dumps(json.loads(rest), sort_keys=True))
E2
# Inputs that the other reader does not support, with the reason.
unfair() { # FILE
	case $1 in
	*.lz4) echo "warcio does not know lz4" ;;
	*clueweb-quirk*) echo "warcio stops at WARC/0.18" ;;
	*bad* | *clipped* | *trunc* | *wrong-chunks*) echo "damaged: warcio stops, or reads something else" ;;
	*space-in*) echo "warcio escapes spaces, and counts what follows an ARC record" ;;
	*example.arc.gz | *example.arc) echo "warcio indexes dns: records of ARC, and reads a line too much" ;;
	esac
}
mkdir out
for dump in "${PAGEDEDUP_CORPORA:-/nowhere}"/warc/*/*; do
	[ -f "$dump" ] || { skip "dumps of other projects" "PAGEDEDUP_CORPORA is not set"; break; }
	name=$(basename "$dump")
	why=$(unfair "$name")
	[ $have ] || why="PyPI cannot be reached"
	[ -z "$why" ] || { skip "$name" "$why"; continue; }
	"$P" fp -q --status=1xx,2xx,3xx,4xx,5xx --content-types='*/*' "$dump" 2>/dev/null | rows >all.fp
	awk -F '\t' 'BEGIN { OFS = FS } NR % 2 { print 1, $2, $3, 1, "x", "x", 0, "-", 1, 0, "test" }' all.fp >some.tsv
	run "$P" apply -q --keep-others -V some.tsv "$dump" -o "out/$name" --cdxj index.cdxj
	exits "$name" 0
	"$python" records.py "$dump" >before 2>"$tmp/err"
	"$python" records.py "out/$name" >after 2>>"$tmp/err"
	is "$name: warcio reads all of it" "$(wc -l <after)" "$(($(wc -l <before) - $(wc -l <some.tsv)))"
	empty "$name: and every record is one of the input's" <(LC_ALL=C sort after | LC_ALL=C comm -23 - <(LC_ALL=C sort before))
	"$venv/bin/cdxj-indexer" "out/$name" >theirs.cdxj 2>"$tmp/err"
	same "$name: the index of $(wc -l <index.cdxj) records" <("$python" index.py index.cdxj) <("$python" index.py theirs.cdxj)
done

# --- the join of docs/clean-dumps.md ---
mkdir corpus
for shard in 1 2; do
	awk -v s=$shard 'BEGIN { srand(s); for (i = 0; i < 200; i++) {
		if (i % 4 || i < 4) { t = ""; srand(i % 7 * 100 + (i % 3 ? i : 5)); for (w = 0; w < 30; w++) t = t " word" int(rand() * 9999) }
		printf "{\"id\": \"%d-%d\", \"url\": \"http://h%d.example/%d\", \"text\": \"%s\"}\n", s, i, s, i, t } }' >corpus/shard-$shard.jsonl
done
"$P" fp -q corpus/*.jsonl | "$P" match -q | "$P" cluster -q >corpus.tsv
"$P" apply -q -V corpus.tsv --attributes=attributes corpus/*.jsonl
"$P" apply -q -V corpus.tsv corpus/*.jsonl -o clean/
gone=$(rows corpus.tsv | awk -F '\t' '$4 == 1' | wc -l)
at_least "duplicates in the corpus" "$gone" 20
if [ $have ]; then
	sed -n '/^```sql/,/^```/{/^```/!p}' "$TOP/docs/clean-dumps.md" >join.sql
	run "$python" -c '
import duckdb, sys
c = duckdb.connect()
for statement in open("join.sql").read().split(";"):
    if statement.strip():
        c.execute(statement)
for (id,) in c.execute("SELECT id FROM kept ORDER BY id").fetchall():
    print(id)
'
	exits "the statements of docs/clean-dumps.md run in DuckDB" 0
	same "and keep the same records as apply" "$tmp/out" <(cat clean/*.jsonl | sed 's/{"id": "\([^"]*\)".*/\1/' | LC_ALL=C sort)
	{ sed -n '/^```python/,/^```/{/^```/!p}' "$TOP/docs/clean-dumps.md"; echo 'print("\n".join(kept.id))'; } >join.py
	run "$python" join.py
	exits "the lines of docs/clean-dumps.md run in pandas" 0
	same "and leave the same" <(LC_ALL=C sort "$tmp/out") <(cat clean/*.jsonl | sed 's/{"id": "\([^"]*\)".*/\1/' | LC_ALL=C sort)
else skip "the joins in DuckDB and pandas" "PyPI cannot be reached"; fi

# --- 1 GB ---
dump=${PAGEDEDUP_CORPORA:-/nowhere}/neardup/transplant-dev.warc.gz
cat >peak.py <<'E2'
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, code)
E2
if [ -f "$dump" ]; then
	"$P" fp -q "$dump" | "$P" match -q | "$P" cluster -q | sed "s|$dump|small.warc.gz|g" >small.tsv
	cp "$dump" small.warc.gz
	size=$(stat -c %s small.warc.gz)
	times=36
	for _ in $(seq $times); do cat small.warc.gz; done >large.warc.gz
	awk -F '\t' -v n="$size" -v times=$times 'BEGIN { OFS = FS } /^#/ { print; next }
		{ split($2, a, ":"); for (i = 0; i < times; i++) { $2 = sprintf("large.warc.gz:%d", a[2] + i * n); print } }' small.tsv >large.tsv
	read -r a code < <(python3 peak.py "$P" apply -q -V small.tsv small.warc.gz -o small.out)
	is "28 MB" "$code" 0
	read -r b code < <(python3 peak.py "$P" apply -q -V large.tsv large.warc.gz -o large.out)
	is "$(($(stat -c %s large.warc.gz) / 1000000)) MB" "$code" 0
	echo "# memory: $a MB, $b MB"
	at_least "memory for 1 GB is that for 28 MB, and 16 MB more at most" $((a + 16)) "$b"
	same "36 copies of the dump give 36 copies of the result" large.out <(for _ in $(seq $times); do cat small.out; done)
	bad=
	for i in $(seq 8); do
		timeout -s KILL "0.$((RANDOM % 9))$((RANDOM % 9))" "$P" apply -q -V large.tsv large.warc.gz -o killed.out
		if [ -e killed.out ]; then cmp -s killed.out large.out || bad="$bad half"; fi
		rm -f killed.out*
		(ulimit -f $((RANDOM * 12)) && "$P" apply -q -V large.tsv large.warc.gz -o killed.out 2>/dev/null)
		if [ -e killed.out ]; then cmp -s killed.out large.out || bad="$bad half"; fi
		[ -z "$(ls killed.out.* 2>/dev/null)" ] || bad="$bad left over"
		rm -f killed.out*
	done 2>/dev/null
	is "killed, and without room, at 16 moments: all or nothing" "$bad" ""
	read -r b code < <(python3 peak.py "$P" dedup -q large.warc.gz -o deduped)
	is "dedup of it" "$code" 0
	echo "# memory of dedup: $b MB"
	at_least "memory of dedup" 400 "$b"
else
	skip "a dump of 1 GB" "PAGEDEDUP_CORPORA is not set"
fi
tap_done
