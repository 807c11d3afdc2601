#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Without Apache Arrow's library Parquet is refused in words; tests/systems/parquet.sh has the program with it.
. "$(dirname "$0")/../tap.sh"
if "$P" version | grep -q 'parquet [0-9]'; then skip "Parquet is refused" "this program has it"; tap_done; fi
printf 'PAR1%s' "$(printf 'x%.0s' {1..64})" >pages.parquet
run "$P" fp pages.parquet
exits "pages in Parquet" 1
has "are refused in words" "$tmp/err" "pages\.parquet: it is Parquet, and this program was built without Apache Arrow's libraries"
run "$P" match pages.parquet
exits "rows in Parquet" 2
has "are refused in words" "$tmp/err" "pages\.parquet: it is Parquet, and this program was built without Apache Arrow's libraries"
for command in "fp $demo" "match pages" "cluster pages"; do
	"$P" fp -q "$demo" >rows.tsv && "$P" match -q rows.tsv >pairs.tsv
	case $command in match*) command="match rows.tsv" ;; cluster*) command="cluster pairs.tsv" ;; esac
	run "$P" $command --format=parquet -o out.parquet
	exits "${command%% *} --format=parquet" 2
	has "is refused in words" "$tmp/err" "format=parquet: this program was built without"
	is "and writes nothing" "$(ls out.parquet* 2>/dev/null)" ""
done
tap_done
