#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Real pages and dumps, if PAGEDEDUP_CORPORA names their folder (tools/score.py is in the folder next to it).
. "$(dirname "$0")/../tap.sh"
corpora=${PAGEDEDUP_CORPORA:-}
cases="pages of the transplant dump|charsets of the transplant dump|F1 on the transplant dump|eval and score.py agree|pairs judged by people|real WARC files|broken HTML|files in sixty charsets"
if [ ! -d "$corpora" ]; then
	while IFS= read -r name; do skip "$name" "PAGEDEDUP_CORPORA is not set"; done < <(tr '|' '\n' <<<"$cases")
	tap_done
fi
dump=$corpora/neardup/transplant-dev.warc.gz truth=$corpora/neardup/transplant-dev.truth.tsv
run "$P" fp "$dump"
exits "fp of the transplant dump" 0
cp "$tmp/out" t.fp
is "transplant dump: pages read" "$(rows t.fp | wc -l)" 1684
family() { sed -E 's/\t(gbk|gb2312|gb18030)$/\tgb/; s/\t(iso-8859-1|windows-1252)$/\tlatin/'; }
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["url"] "\t" tolower($at["charset"]) }' "$truth" | family | LC_ALL=C sort >want
paste <(column url t.fp) <(column content_charset t.fp) | family | LC_ALL=C sort >got
at_least "transplant dump: right charsets" "$(LC_ALL=C comm -12 want got | wc -l)" 1680
run "$P" match --all-pairs t.fp
exits "match of the transplant dump" 0
if [ -f "$corpora/../tools/score.py" ]; then
	python3 "$corpora/../tools/score.py" "$truth" --pairs "$tmp/out" >score
	at_least "transplant dump: F1 with the defaults" "$(awk '$1 == "all" { print $4 }' score)" .85
	cp "$tmp/out" t.pairs
	"$P" cluster -q --linkage=connected t.pairs >t.verdicts
	# "all P R F1 true / true, false" of both, in the same words.
	figures() { sed -E 's/ \([0-9.]+-[0-9.]+\)//g; s/^(level [0-9]+) +- +([0-9.]+) +-/\1 \2/; s/; pairs naming/\npairs naming/' | tr -s ' ' | sed 's/ $//' | grep -E '^(all|lang|level|false|pairs)'; }
	for kind in pairs:t.pairs clusters:t.verdicts; do
		for level in 2 3; do
			is "eval and score.py agree: ${kind%%:*}, level $level" \
				"$("$P" eval "$truth" --${kind%%:*}="${kind#*:}" --true-level=$level --by=lang,level | figures)" \
				"$(python3 "$corpora/../tools/score.py" "$truth" --${kind%%:*} "${kind#*:}" $([ $level = 2 ] || echo --strict) | figures)"
		done
	done
else
	skip "F1 on the transplant dump" "no score.py beside the corpora"
	skip "eval and score.py agree" "no score.py beside the corpora"
fi

# The lines of docs/eval.md.
python3 "$TOP/tests/ecir.py" "$corpora/neardup/ecir20-core-pairs.jsonl.gz" .
run "$P" eval labels-2.tsv --sweep texts.jsonl -k 16 --no-verify --format=tsv
exits "eval --sweep of pairs judged by people" 0
is "all of them are known: 60 of 120 are duplicates" "$(rows "$tmp/out" | cut -f 9 | sort -u)" 60
at_least "pairs judged by people: the best F1" "$(rows "$tmp/out" | cut -f 7 | sort -n | tail -1)" .8
"$P" fp -q texts.jsonl | "$P" match -q --all-pairs >j.pairs
run "$P" eval labels-2.tsv --pairs=j.pairs --by=judged --format=tsv
at_least "of the pairs judged equivalent, found by default" "$(rows "$tmp/out" | awk -F '\t' '$2 == 3 { print $6 }')" .93

# No input causes a crash: the exit status is 0, or 1 with the damage or the missing pages named.
survives() { # NAME INPUT…
	local name=$1 bad=
	shift
	for input; do
		run timeout 60 "$P" fp "$input"
		[ $code = 0 ] || [ $code = 1 ] || bad="$bad ${input#"$corpora"/}=$code"
		[ $code = 0 ] || grep -q 'left out$\| has no pages; ' "$tmp/err" || bad="$bad ${input#"$corpora"/}=unnamed"
	done
	is "$name: exit 0 or 1, $# inputs" "$bad" ""
}
mapfile -t dumps < <(find "$corpora/warc" -type f | LC_ALL=C sort)
survives "real WARC files" "${dumps[@]}"
survives "broken HTML" "$corpora/robustness/libxml2-html" "$corpora/robustness/html-fuzz-seeds"
survives "files in sixty charsets" "$corpora/encodings/chardet"
for command in text "fp --preset=paper" "fp -j1"; do
	# shellcheck disable=SC2086
	run timeout 60 "$P" $command "$corpora/robustness" "$corpora/encodings/chardet/tests"
	is "$command over all of them" "$(case $code in 0 | 1) echo fine ;; *) echo "$code" ;; esac)" fine
done
tap_done
