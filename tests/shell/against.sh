#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dedup --against: new pages like old ones are removed, old pages never are, for any kind of old input and after any
# interruption.
. "$(dirname "$0")/../tap.sh"
python3 - "$demo" <<'PY'
import gzip, sys
records = gzip.open(sys.argv[1]).read().split(b"WARC/1.0\r\n")[1:]
def write(name, some):
    with open(name, "wb") as f:
        for r in some:
            f.write(gzip.compress(b"WARC/1.0\r\n" + r, mtime=0))
write("old.warc.gz", records[0::3])
write("older.warc.gz", records[1::3])
write("new.warc.gz", records[2::3] + records[1:30:3])
PY
"$P" fp -q old.warc.gz >old.fp
"$P" fp -q older.warc.gz >older.fp
"$P" fp -q new.warc.gz >new.fp
"$P" match -q --save=old.keys old.fp
removed() { rows "$1" | awk -F '\t' '$4 == 1 { print $2 }' | sort; }
plain=(--no-boilerplate --max-loss=1)

run "$P" dedup "${plain[@]}" new.warc.gz --against=old.fp -o out --keep-rows
exits "a dump against rows" 0
has "pages removed for old pages are counted" "$tmp/err" 'of them duplicates \([0-9]+ of old pages\)'
# Every page with a pair to an old page is removed.
"$P" match -q --against=old.fp new.fp >pairs.tsv
rows pairs.tsv | cut -f1,2 | tr '\t' '\n' | grep '^new' | sort -u >paired
of_old() { rows "$1" | awk -F '\t' '$4 == 1 && $5 ~ /^old/ { print $2 }' | sort; }
same "every page that has a pair with an old page is removed for an old page" <(of_old out/verdicts.tsv) paired
at_least "these are some" "$(wc -l <paired)" 5
is "no old page is removed" "$(removed out/verdicts.tsv | grep -c '^old')" 0
has "clusters do not mark old pages as removed" out/verdicts.tsv '	0	-	-	-	-	[0-9]+	1	kept: old page, of [0-9]+ pages	'
same "each went for a page that it has a pair with" \
	<(rows out/verdicts.tsv | awk -F '\t' '$4 == 1 && $5 ~ /^old/ { print $2 "\t" $5 }' | sort) \
	<(rows out/verdicts.tsv | awk -F '\t' '$4 == 1 && $5 ~ /^old/ { print $2 "\t" $5 }' | sort |
		grep -Ff <(rows pairs.tsv | awk -F '\t' '$1 ~ /^new/ { print $1 "\t" $2 } $2 ~ /^new/ { print $2 "\t" $1 }'))
# The other pages are compared with each other, as if the removed pages did not exist.
awk -F '\t' -v OFS='\t' 'NR == FNR { gone[$1]; next } /^#/ || !($1 in gone || $2 in gone)' paired <("$P" match -q new.fp) |
	"$P" cluster -q --max-loss=1 >rest.tsv
same "pages that are like no old one are compared with each other" \
	<(rows out/verdicts.tsv | awk -F '\t' '$4 == 1 && $5 !~ /^old/ { print $2 }' | sort) <(removed rest.tsv)
at_least "some of these are removed, too" "$(removed rest.tsv | wc -l)" 2
is "clusters have separate numbers" "$(rows out/verdicts.tsv | awk -F '\t' '$4 == 0 && $14 == "-" { print $1 }' | sort | uniq -d)" ""
"$P" apply -q -V out/verdicts.tsv new.warc.gz -o by-apply.warc.gz
same "the dump is equal to apply's for these verdicts" out/new.warc.gz by-apply.warc.gz
is "it has all other pages" "$("$P" fp -q out/new.warc.gz | rows | wc -l)" $(($(rows new.fp | wc -l) - $(removed out/verdicts.tsv | wc -l)))
has "stats count pages removed for old pages" out/stats.json "\"duplicates_of_old_pages\": ?$(wc -l <paired)\b"
same "pairs with old pages are kept with --keep-rows" <(rows out/old-pairs.tsv | cut -f1,2) <(rows pairs.tsv | cut -f1,2)
run "$P" why "$(head -1 paired)" --verdicts=out/verdicts.tsv
exits "why" 0
has "names the old page" "$tmp/out" 'is a duplicate of old\.warc\.gz:'

verdicts() { run "$P" dedup -q "${plain[@]}" new.warc.gz "$@"; }
verdicts --against=old.keys -o by-keys
exits "against a key file" 0
same "the verdicts are the same" <(rows by-keys/verdicts.tsv) <(rows out/verdicts.tsv)
verdicts --against=old.fp -j1 -o one
same "with one thread, too" one/verdicts.tsv out/verdicts.tsv
verdicts --against=old.fp --against=older.fp -o both
exits "against several files" 0
cat old.fp older.fp >all.fp
verdicts --against=all.fp -o joined
same "they are one collection" <(rows both/verdicts.tsv) <(rows joined/verdicts.tsv)
at_least "more go" "$(removed both/verdicts.tsv | wc -l)" $(($(removed out/verdicts.tsv | wc -l) + 1))
verdicts --against=old.fp --linkage=connected -o connected
is "chains do not reach old pages" "$(removed connected/verdicts.tsv | grep -c '^old')" 0
same "or through them" <(of_old connected/verdicts.tsv) paired

# Old dumps may be gone, or elsewhere: their rows are enough.
mv old.warc.gz elsewhere.warc.gz
verdicts --against=old.fp -o alone
exits "without the old dump" 0
empty "no message about it" "$tmp/err"
same "the verdicts are the same without it" alone/verdicts.tsv out/verdicts.tsv
has "the report states that its text is missing" alone/report.html 'old\.warc\.gz: cannot open'

# A run that was interrupted after any step continues.  A list that cannot be written ends a run when all its steps but the last are done.
verdicts --against=old.fp --left-out=/dev/full -o done
exits "a list that cannot be written" 2
lines=$(wc -l <done/.dedup/journal)
for step in $(seq 2 "$lines"); do
	rm -rf resumed && cp -r done resumed && head -n "$step" done/.dedup/journal >resumed/.dedup/journal
	verdicts --against=old.fp -o resumed --resume
	exits "resumed after $(tail -1 resumed/.dedup/journal | cut -c1-20)" 0
	same "the same verdicts after line $step" resumed/verdicts.tsv out/verdicts.tsv
done
rm -rf resumed && cp -r done resumed
sed -i '/^against/q' resumed/.dedup/journal
touch -d '2001-01-01' old.fp
verdicts --against=old.fp -o resumed --resume
exits "old rows that have changed since" 2
has "are noticed" "$tmp/err" 'what --against names has changed since the run in resumed began'
verdicts --against=older.fp -o resumed --resume
exits "other old rows" 2
verdicts --against=none.fp -o never
exits "old rows that are not there" 2
has "are named before anything is read" "$tmp/err" '^pagededup dedup: --against: none\.fp: cannot open'
absent "and nothing is written" never
verdicts --against=- -o never
exits "old rows on standard input" 2
"$P" fp -q --bits=128 new.warc.gz >wide.fp
verdicts --against=wide.fp -o never
exits "rows of another kind" 2
has "the error gives the reason" "$tmp/err" 'bits'
tap_done
