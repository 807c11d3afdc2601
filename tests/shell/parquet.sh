#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Without the plug-in Parquet is refused in words; tests/systems/parquet.sh tests the program with it.
. "$(dirname "$0")/../tap.sh"
export PAGEDEDUP_PARQUET=/nowhere/plugin.so
printf 'PAR1%s' "$(printf 'x%.0s' {1..64})" >pages.parquet
run "$P" fp pages.parquet
exits "pages in Parquet" 1
has "the error gives the reason" "$tmp/err" "pages\.parquet: it is Parquet, which needs the plug-in pagededup-parquet\.so"
has "and the two commands that make it" "$tmp/err" 'make it in the source folder: pip install pyarrow; make parquet\.'
run "$P" dedup pages.parquet -o cleaned
exits "dedup of them" 1
has "reports that texts were not compared" "$tmp/err" '^pagededup dedup: no page was read, so nothing was compared'
run "$P" match pages.parquet
exits "rows in Parquet" 2
has "the error gives the reason" "$tmp/err" "pages\.parquet: it is Parquet, which needs the plug-in pagededup-parquet\.so"
# From a pipe, and in Arrow's forms.
printf 'ARROW1\0\0%s' "$(printf 'x%.0s' {1..64})" >pages.arrow
printf '\377\377\377\377\20\1\0\0%s' "$(printf 'x%.0s' {1..64})" >pages.arrows
while read -r form file; do
	for command in "fp 1" "match 2"; do
		run bash -c "cat $file | '$P' ${command% *} -"
		exits "$form through a pipe into ${command% *}" "${command#* }"
		has "the error gives the reason" "$tmp/err" "standard input: it is $form, which needs the plug-in pagededup-parquet\.so|-: it is $form, which needs"
	done
	run "$P" eval --pairs=none $file
	exits "$form as a list" 2
	has "the error gives the reason" "$tmp/err" "$file is a file of Parquet or Arrow; give a text file"
done <<'EOF'
Parquet pages.parquet
Arrow pages.arrow
Arrow pages.arrows
EOF
# A file that only begins like them is text.
printf 'PAR\n' | "$P" match 2>err
has "a line that begins like one" err 'standard input holds no fp rows'
{ "$P" fp -q "$demo" | (while IFS= read -r -n 1 -d '' c; do printf %s "$c" || exit; done); } 2>/dev/null | head -c 3000 | "$P" match -q >slow.tsv 2>/dev/null
has "a pipe that gives byte by byte" slow.tsv '^# pagededup pairs'
for command in "fp $demo" "match pages" "cluster pages"; do
	"$P" fp -q "$demo" >rows.tsv && "$P" match -q rows.tsv >pairs.tsv
	case $command in match*) command="match rows.tsv" ;; cluster*) command="cluster pairs.tsv" ;; esac
	run "$P" $command --format=parquet -o out.parquet
	exits "${command%% *} --format=parquet" 2
	has "the error gives the reason" "$tmp/err" "format=parquet: it is (Parquet|Arrow), which needs"
	run "$P" $command --format=arrow
	has "${command%% *} --format=arrow, too" "$tmp/err" "format=arrow: it is (Parquet|Arrow), which needs"
	is "and writes nothing" "$(ls out.parquet* 2>/dev/null)" ""
done
tap_done
