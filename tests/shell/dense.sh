#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# match where pages crowd (tests/dense_rows.py): work and pairs that are counted grow with the pages, not with their
# square, no cluster is lost whichever page is kept, and the pairs depend on the rows alone.
. "$(dirname "$0")/../tap.sh"
n=4000
rows_of() { python3 "$TOP/tests/dense_rows.py" "$1" $n; }
stat() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' stats.json "$1"; }
clusters() { "$P" cluster --max-loss=1 "$@" 2>&1 >/dev/null | grep -o '[0-9]* clusters\? of [0-9]* pages'; }
check() { # KIND PAIRS CLUSTERS OPTION…
	local kind=$1 pairs=$2 want=$3
	shift 3
	rows_of "$kind" >"$kind.fp"
	run "$P" match --stats stats.json -o "$kind.pairs" "$@" "$kind.fp"
	exits "$kind: matched" 0
	at_least "$kind: at most 128 pairs a page were verified" $((128 * n - $(stat candidates))) 0
	at_least "$kind: at most $pairs pairs" $((pairs - $(stat pairs))) 0
	is "$kind: clusters" "$(clusters "$kind.pairs")" "$want"
	is "$kind: clusters, the longest kept" "$(clusters --keep=longest "$kind.pairs")" "$want"
	is "$kind: clusters, connected" "$(clusters --linkage=connected "$kind.pairs")" "$want"
	sort "$kind.fp" >sorted.fp
	for other in "-j1" "-j3" "--plan=all" "--plan=blocks" "--memory=40M"; do
		run "$P" match -q "$other" "$@" sorted.fp
		cmp -s "$tmp/out" "$kind.pairs" || fail "$kind: the same pairs with $other and other rows first"
	done
}
check ball $((2 * n)) "1 cluster of $n pages"
at_least "ball: pages are linked" "$(stat linked)" $((n - 200))
check texts $((2 * n)) "1 cluster of $n pages"
check twins $n "$((n / 2)) clusters of $n pages"
check parts $n "$((n / 2)) clusters of $n pages"
check sketches $n "1 cluster of $n pages" --candidates=bands
head -1000 ball.fp >some.fp
run "$P" match -q -k 8 some.fp
is "of fewer pages every pair is named" "$(rows "$tmp/out" | wc -l)" 499500
run "$P" match -q --preset=paper -k 3 ball.fp
cp "$tmp/out" paper.pairs
run "$P" match -q --preset=paper -k 3 --plan=blocks ball.fp
is "the documents' tables give the same pairs" "$(md5sum <paper.pairs)" "$(md5sum <"$tmp/out")"
tap_done
