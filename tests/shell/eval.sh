#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# eval: figures against the rules read slowly in Python, intervals, the sweep, misuse.
. "$(dirname "$0")/../tap.sh"
eval_() { run "$P" eval "$@"; }
# "by value precision recall f1 found_true true false" of each row, then "unknown N"
plain() { awk -F '\t' '/^# /{ match($0, /unknown=[0-9]+/); u = substr($0, RSTART + 8, RLENGTH - 8) } !/^#/ { print $1 "\t" $2 "\t" $3 "\t" $6 "\t" $9 "\t" $12 "\t" $13 "\t" $14 } END { print "unknown " u }' "$1"; }

for seed in 1 2 3 4 5; do
	python3 "$TOP/tests/brute_eval.py" make $seed .
	for kind in pairs clusters; do
		for level in 0 2 4; do
			eval_ truth.tsv --$kind=$kind.tsv --true-level=$level --by=lang,level,template,content --format=tsv
			is "pages, $kind, level $level, truth $seed" "$(plain "$tmp/out")" \
				"$(python3 "$TOP/tests/brute_eval.py" pages truth.tsv $kind $kind.tsv $level lang level template content)"
		done
		eval_ labels.tsv --$kind=$kind.tsv --by=lang,distance --format=tsv
		is "labels, $kind, truth $seed" "$(plain "$tmp/out")" \
			"$(python3 "$TOP/tests/brute_eval.py" labels labels.tsv $kind $kind.tsv 2 lang distance)"
	done
done

# --- a cluster of many pages: its 200 million pairs are counted, not listed ---
awk 'BEGIN { print "url\tcontent"; for (i = 0; i < 20000; i++) print "http://a.example/" i "\tc" i % 50 }' >many.tsv
awk 'BEGIN { print "#cluster_id\tid\turl"; for (i = 0; i < 20000; i++) print "1\td:" i "\thttp://a.example/" i }' >one_cluster.tsv
case $B in */san-*) ;; *) limit='ulimit -v 300000;' ;; esac
run bash -c "${limit:-} exec '$P' eval many.tsv --clusters=one_cluster.tsv --bootstrap=0 --format=tsv"
exits "eval of a cluster of 20,000 pages needs little memory" 0
is "and counts all of its pairs" "$(plain "$tmp/out" | cut -f 6-8)" "3990000	3990000	196000000
unknown 0"

# --- intervals ---
eval_ truth.tsv --pairs=pairs.tsv --by=lang --format=tsv && cp "$tmp/out" one
eval_ truth.tsv --pairs=pairs.tsv --by=lang --format=tsv
same "the same seed, the same intervals" "$tmp/out" one
{ head -2 pairs.tsv; rows pairs.tsv | tac; } >turned.tsv
eval_ truth.tsv --pairs=turned.tsv --by=lang --format=tsv
same "for any order of pairs" "$tmp/out" one
eval_ truth.tsv --pairs=pairs.tsv --by=lang --format=tsv --seed=2
is "another seed, others" "$(cmp -s "$tmp/out" one && echo same)" ""
is "an interval holds its figure" "$(rows one | awk -F '\t' '{ for (i = 3; i <= 9; i += 3) if ($(i + 1) > $i || $(i + 2) < $i || $(i + 1) >= $(i + 2) && $i > 0 && $i < 1) print $1, $2, i }')" ""
eval_ truth.tsv --pairs=pairs.tsv --bootstrap=0 --format=tsv
is "--bootstrap=0: no intervals" "$(rows "$tmp/out" | cut -f 4,5,7,8,10,11)" "$(printf -- '-\t-\t-\t-\t-\t-')"
# 400 labels, half of them found: the standard error of the recall is sqrt(.25 / 400) = .025.
{ printf '#id_a\tid_b\tlabel\n'; for i in $(seq 400); do printf 'a:%d\tb:%d\tduplicate\n' $i $i; done; } >many.tsv
{ echo "$old_pairs_columns"; for i in $(seq 200); do printf 'a:%d\tb:%d\t3\t-\tsimhash\t-\t-\t-\t-\t-\t-\t-\t-\n' $i $i; done; } >half.tsv
eval_ many.tsv --pairs=half.tsv --format=tsv --bootstrap=4000
is "the width of an interval agrees with theory" \
	"$(rows "$tmp/out" | awk -F '\t' '{ print ($7 > .44 && $7 < .46 && $8 > .54 && $8 < .56) ? "yes" : $7 " " $8 }')" yes
# Strata are drawn for themselves: where every label of a distance agrees nothing can change.
{ printf '#id_a\tid_b\tlabel\tdistance\n'; for i in $(seq 50); do printf 'a:%d\tb:%d\tduplicate\t%d\n' $i $i $((i > 25)); done; } >strata.tsv
rows half.tsv | head -25 | { echo "$old_pairs_columns"; cat; } >quarter.tsv
eval_ strata.tsv --pairs=quarter.tsv --format=tsv
is "labels are drawn inside their distance" "$(rows "$tmp/out" | cut -f 6-8)" "$(printf '0.500000\t0.500000\t0.500000')"

# --- forms ---
eval_ truth.tsv --pairs=pairs.tsv --by=level
exits "text" 0
has "a table for people" "$tmp/out" '^level 1 +- +[01]\.[0-9]{4} \([01]\.[0-9]{4}-[01]\.[0-9]{4}\) +- +[0-9]+ / [0-9]+$'
has "false pairs that share a template are counted" "$tmp/out" '^false pairs that share a template: [1-9][0-9]*$'
eval_ truth.tsv --pairs=pairs.tsv --by=level --format=jsonl
is "JSON" "$(python3 -c 'import json, sys; [print(r["by"], r["value"], type(r["recall"]).__name__, r["precision"] is None, type(r["true"]).__name__) for r in list(map(json.loads, sys.stdin))[:2]]' <"$tmp/out")" \
	$'all None float False int\nlevel 0 float True int'
run_in pairs.tsv "$P" eval truth.tsv --pairs=-
exits "pairs from standard input" 0
printf 'url\tcontent\tlevel\nu\tx\t0\nv\tx\t00\nw\tx\t1\n' >zeros.tsv
printf '#cluster_id\tid\turl\n1\td:1\tu\n1\td:2\tv\n1\td:3\tw\n' >c.tsv
eval_ zeros.tsv --clusters=c.tsv --by=level --format=tsv
is "levels are numbers, however they are written" "$(rows "$tmp/out" | cut -f 2,12,13)" "$(printf -- '-\t3\t3\n0\t1\t1\n1\t2\t2')"
printf 'id\tcontent\nd:1\tx\nd:2\tx\nd:3\ty\n' >ids.tsv
printf '#cluster_id\tid\turl\n1\td:1\t-\n1\td:2\t-\n1\td:3\t-\n' >c.tsv
eval_ ids.tsv --clusters=c.tsv --format=tsv
is "pages known by id" "$(rows "$tmp/out" | cut -f 12-14)" "$(printf '1\t1\t2')"
# Pairs labelled twice: equal labels count once, different labels make the pair uncertain.
printf '#id_a\tid_b\tlabel\nd:1\td:2\tduplicate\nd:2\td:1\tyes\nd:1\td:3\tduplicate\nd:3\td:1\tdifferent\n' >twice.tsv
eval_ twice.tsv --clusters=c.tsv --format=tsv
is "labels given twice" "$(rows "$tmp/out" | cut -f 12-14)" "$(printf '1\t1\t0')"
printf 'url\tcontent\tlevel\nu\tx\t0\nv\tx\tmany\nu\ty\t1\nw\n\n# a remark\nx\tx\t1\n' >bad.tsv
eval_ bad.tsv --pairs=pairs.tsv
exits "bad rows of the truth" 1
is "the message names them" "$(grep -c 'bad.tsv:[345]: .*; row skipped' "$tmp/err")" 3
printf '#id_a\tid_b\tlabel\tweight\na\tb\tmaybe\t1\na\ta\tyes\t1\na\tb\tyes\t0\na\tb\tyes\tinf\na\tb\tyes\t2\n' >bad.tsv
eval_ bad.tsv --pairs=half.tsv
exits "bad labels" 1
is "the message names them" "$(grep -c 'bad.tsv:[2345]: .*; row skipped' "$tmp/err")" 4

# --- the sweep: the same as fp, match and eval, setting by setting ---
"$P" fp -q "$demo" >d.fp
"$P" match -q -k 16 --all-pairs d.fp | "$P" cluster -q --linkage=connected >v.tsv
{ printf 'url\tcontent\tlevel\n'; rows d.fp | cut -f 3 | sort -u | awk -F '\t' 'FILENAME != "-" { if (!/^#/) c[$3] = $1; next } { print $1 "\t" ($1 in c ? "c" c[$1] : "u" NR) "\t" NR % 4 }' v.tsv -; } >t.tsv
tried="-k 16 --shingle=1,2,4 --weights=count,tf,set --bits=64,128 --format=tsv"
# shellcheck disable=SC2086
eval_ t.tsv --sweep "$demo" $tried --no-verify && cp "$tmp/out" alone.tsv
# shellcheck disable=SC2086
eval_ t.tsv --sweep "$demo" $tried
exits "a sweep" 0
cp "$tmp/out" sweep.tsv
is "the second look removes false pairs" "$(paste <(rows alone.tsv | cut -f 10) <(rows sweep.tsv | cut -f 10) | awk '{ more += $1; less += $2; bad += $2 > $1 } END { print (!bad && less < more) }')" 1
is "a row for each setting and each k" "$(rows sweep.tsv | wc -l)" $((17 * 18))
for case in "1 set 64 12" "2 count 64 8" "2 count 64 16" "4 tf 64 10" "2 tf 128 16" "4 set 128 0"; do
	read -r shingle weights bits k <<<"$case"
	for verify in verify:sweep no-verify:alone; do
	"$P" fp -q --shingle=$shingle --weights=$weights --bits=$bits "$demo" | "$P" match -q --all-pairs --${verify%:*} -k $k >p.tsv
	eval_ t.tsv --pairs=p.tsv --format=tsv --bootstrap=0
	is "sweep: shingle $shingle, $weights, $bits bits, k $k, ${verify%:*}" \
		"$(rows ${verify#*:}.tsv | awk -F '\t' -v s=$shingle -v w=$weights -v b=$bits -v k=$k '$1 == b && $2 == s && $3 == w && $4 == k { print $5, $6, $7, $8, $9, $10 }')" \
		"$(rows "$tmp/out" | awk -F '\t' '{ print $3, $6, $9, $12, $13, $14 }')"
	done
done
for j in 1 3; do
	# shellcheck disable=SC2086
	eval_ t.tsv --sweep "$demo" $tried -j $j
	same "sweep: the same with -j $j" "$tmp/out" sweep.tsv
done
eval_ t.tsv --sweep "$demo"
is "as a table: nine settings by default" "$(wc -l <"$tmp/out")" 10
has "the closing line counts pages" "$tmp/err" "^pagededup eval: [0-9]+ of [0-9]+ pages of the truth, 9 settings, "
# Labels that agree with the truth for some pairs.
python3 - <<'END'
import itertools
rows = [l.rstrip('\n').split('\t') for l in open('t.tsv')][1:]
with open('l.tsv', 'w') as f:
    f.write('#url_a\turl_b\tlabel\tweight\n')
    for a, b in itertools.combinations(rows, 2):
        f.write('%s\t%s\t%s\t2\n' % (b[0], a[0], 'different' if a[1] != b[1] else 'unsure' if max(int(a[2]), int(b[2])) > 2 else 'duplicate'))
END
# shellcheck disable=SC2086
eval_ l.tsv --sweep "$demo" $tried
is "sweep with labels: the same shares" "$(rows "$tmp/out" | cut -f 1-7)" "$(rows sweep.tsv | cut -f 1-7)"
is "and twice the counts, for weights of 2" "$(rows "$tmp/out" | cut -f 8-10)" "$(rows sweep.tsv | awk -F '\t' -v OFS='\t' '{ print 2 * $8, 2 * $9, 2 * $10 }')"

# --- misuse ---
while IFS='|' read -r message options; do
	# shellcheck disable=SC2086
	eval_ $options
	exits "eval $options" 2
	has "eval $options: the message gives the reason" "$tmp/err" "$message"
done <<'END'
missing operand TRUTH|--pairs=pairs.tsv
one of --pairs=FILE, --clusters=FILE and --sweep|truth.tsv
--pairs, --clusters and --sweep cannot be combined|truth.tsv --pairs=pairs.tsv --sweep
INPUT is read only with --sweep|truth.tsv truth.tsv --pairs=pairs.tsv
--bits has no effect without --sweep|truth.tsv --pairs=pairs.tsv --bits=128
--distance has no effect without --sweep|truth.tsv --pairs=pairs.tsv --distance=3
--shingle has no effect without --sweep|truth.tsv --pairs=pairs.tsv --shingle=2
--weights has no effect without --sweep|truth.tsv --pairs=pairs.tsv --weights=tf
--features has no effect without --sweep|truth.tsv --pairs=pairs.tsv --features=title
--hash has no effect without --sweep|truth.tsv --pairs=pairs.tsv --hash=rabin
--min-terms has no effect without --sweep|truth.tsv --pairs=pairs.tsv --min-terms=9
--verify has no effect without --sweep|truth.tsv --pairs=pairs.tsv --no-verify
--topic has no effect without --sweep|truth.tsv --pairs=pairs.tsv --topic=paper
no column 'colour'|truth.tsv --pairs=pairs.tsv --by=lang,colour
is not a truth file|pairs.tsv --clusters=clusters.tsv
cannot open|none.tsv --pairs=pairs.tsv
cannot open|truth.tsv --pairs=none.tsv
is empty|/dev/null --pairs=pairs.tsv
no page of TRUTH was read|truth.tsv --sweep d.fp
too many|truth.tsv --sweep --shingle=1,2,3,4,5,6,7,8,9 --bits=64,128,256
--shingle takes a list of numbers|truth.tsv --sweep --shingle=0
--weights takes a list of|truth.tsv --sweep --weights=heavy
no effect with --sweep|truth.tsv --sweep --by=lang
END
tap_done
