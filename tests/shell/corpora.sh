#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Real pages and dumps, when PAGEDEDUP_CORPORA names the folder that holds them (beside it: tools/score.py).
. "$(dirname "$0")/../tap.sh"
corpora=${PAGEDEDUP_CORPORA:-}
cases="pages of the transplant dump|charsets of the transplant dump|F1 on the transplant dump|real WARC files|broken HTML|files in sixty charsets"
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
else
	skip "F1 on the transplant dump" "no score.py beside the corpora"
fi

# No crash, whatever comes: 0, or 1 with the damage named.
survives() { # NAME INPUT…
	local name=$1 bad=
	shift
	for input; do
		run timeout 60 "$P" fp "$input"
		[ $code = 0 ] || [ $code = 1 ] || bad="$bad ${input#"$corpora"/}=$code"
		[ $code = 0 ] || grep -q 'left out$' "$tmp/err" || bad="$bad ${input#"$corpora"/}=unnamed"
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
