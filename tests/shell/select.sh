#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fp --select: only the records in the lines of an index, by seeking in files and by reading pipes; missing records are
# named.
. "$(dirname "$0")/../tap.sh"
"$P" apply -q -V /dev/null "$demo" -o d.warc.gz --cdxj=all.cdxj
gzip -dc d.warc.gz >d.warc
"$P" fp -q d.warc.gz >all.fp
awk 'NR % 5 == 2' all.cdxj >some.cdxj
offsets=$(sed 's/.*"offset":"\([0-9]*\)".*/\1/' some.cdxj | sort -n)
rows all.fp | grep -wFf <(sed 's/^/d.warc.gz:/' <<<"$offsets") >want
at_least "some records are selected" "$(wc -l <want)" 10
run "$P" fp --select=some.cdxj d.warc.gz
exits "records by CDXJ" 0
same "only their rows" <(rows "$tmp/out") want
run "$P" fp --select=all.cdxj d.warc.gz
same "all that the index has" <(rows "$tmp/out") <(rows all.fp)
gzip -k some.cdxj
same "from a compressed index" <("$P" fp -q --select=some.cdxj.gz d.warc.gz | rows) want
same "from an index on standard input" <("$P" fp -q --select=- d.warc.gz <some.cdxj | rows) want
same "in a dump on standard input" <("$P" fp -q --select=some.cdxj --name=d.warc.gz - <d.warc.gz | rows) want
same "in a pipe" <(cat d.warc.gz | "$P" fp -q --select=some.cdxj --name=d.warc.gz - | rows) want
same "with one thread" <("$P" fp -q -j1 --select=some.cdxj d.warc.gz | rows) want

# Other forms of the same: CDX with eleven columns and with nine, with a header in another order; paths before the name.
python3 - <<'PY'
import json
lines = [(a, t, json.loads(o)) for a, t, o in (line.split(" ", 2) for line in open("some.cdxj"))]
def write(name, header, columns):
    with open(name, "w") as f:
        if header:
            f.write(header + "\n")
        for a, t, o in lines:
            f.write(columns(a, t, o) + "\n")
write("eleven.cdx", " CDX N b a m s k r M S V g", lambda a, t, o: " ".join([a, t, o["url"], "text/html", "200", "X", "-", "-", o["length"], o["offset"], o["filename"]]))
write("bare.cdx", None, lambda a, t, o: " ".join([a, t, o["url"], "text/html", "200", "X", "-", "-", o["length"], o["offset"], o["filename"]]))
write("nine.cdx", None, lambda a, t, o: " ".join([a, t, o["url"], "text/html", "200", "X", "-", o["offset"], o["filename"]]))
write("turned.cdx", " CDX g V N b a m s k r", lambda a, t, o: " ".join([o["filename"], o["offset"], a, t, o["url"], "text/html", "200", "X", "-"]))
write("cc.cdxj", "!meta 0 {}", lambda a, t, o: "%s %s %s" % (a, t, json.dumps({"url": o["url"], "offset": int(o["offset"]), "filename": "crawl-data/CC-MAIN/warc/" + o["filename"]})))
write("gone.cdxj", None, lambda a, t, o: "%s %s %s" % (a, t, json.dumps({"offset": str(int(o["offset"]) + 1), "filename": o["filename"]})))
write("other.cdxj", None, lambda a, t, o: "%s %s %s" % (a, t, json.dumps({"offset": o["offset"], "filename": "other.warc.gz"})))
with open("bad.cdxj", "w") as f:
    f.write(open("some.cdxj").read() + 'com,example)/ 2020 {"url": "http://example.com/"}\njust words\n')
PY
for index in eleven.cdx bare.cdx nine.cdx turned.cdx cc.cdxj; do
	same "$index" <("$P" fp -q --select=$index d.warc.gz | rows) want
done
shuf --random-source=all.fp some.cdxj >mixed.cdxj && cat some.cdxj >>mixed.cdxj
same "lines in any order, and twice" <("$P" fp -q --select=mixed.cdxj d.warc.gz | rows) want

# Missing records are named and counted, in files and in pipes.
n=$(wc -l <some.cdxj)
for from in d.warc.gz -; do
	run_in d.warc.gz "$P" fp --select=gone.cdxj --name=d.warc.gz $from
	exits "places where no record begins ($from)" 1
	is "each is named ($from)" "$(grep -c '^pagededup fp: d\.warc\.gz:[0-9]*: the index names a record here, and none begins here; left out' "$tmp/err")" "$n"
	has "and counted ($from)" "$tmp/err" "$n damaged"
done
run "$P" fp --select=other.cdxj d.warc.gz
has "records of files that are not inputs are counted" "$tmp/err" "^pagededup fp: $n records of the index are in files that are not inputs"
is "no other record is read" "$(rows "$tmp/out" | wc -l)" 0
run "$P" fp --select=bad.cdxj d.warc.gz
exits "lines that are not an index" 1
has "the message names them" "$tmp/err" '^pagededup fp: bad\.cdxj:[0-9]+: this line of the index names no offset and no filename'
same "all others count" <(rows "$tmp/out") want
run "$P" fp --select=none.cdxj d.warc.gz
exits "an index that is not there" 2
# Offsets of a dump that is not compressed.
rows <("$P" fp -q d.warc) | awk -F '\t' 'NR % 7 == 0 { split($2, id, ":"); print "x 2024 {\"offset\": " id[2] ", \"filename\": \"d.warc\"}" }' >plain.cdxj
same "a dump that is not compressed" <("$P" fp -q --select=plain.cdxj d.warc | rows) <("$P" fp -q d.warc | rows | awk 'NR % 7 == 0')
is "text takes it, too" "$("$P" text -q --select=some.cdxj d.warc.gz | wc -l)" "$(wc -l <want)"
# Seeking reads less than the dump.
for i in $(seq 60); do cat d.warc.gz; done >large.warc.gz
printf 'x 2024 {"offset": "%s", "filename": "large.warc.gz"}\n' 278 $(($(stat -c %s d.warc.gz) * 40 + 278)) >two.cdxj
is "two records of a large dump" "$("$P" fp -q --select=two.cdxj --stats=stats.json large.warc.gz | rows | wc -l)" 2
read_bytes=$(python3 -c 'import json; s = json.load(open("stats.json")); print(s.get("bytes", s.get("bytes_read", 0)))')
yes "are found without reading it" [ "$read_bytes" -lt $(($(stat -c %s large.warc.gz) / 2)) ]
tap_done
