#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# match over dense pages (tests/dense_rows.py): work and pairs grow with the pages and not with their square, no cluster
# is lost for any kept page, and the pairs depend only on the rows.
. "$(dirname "$0")/../tap.sh"
n=4000
rows_of() { python3 "$TOP/tests/dense_rows.py" "$1" $n; }
most() { awk -v n="$1" 'BEGIN { print int(1.2 * n * log(n) / log(2)) }'; } # comparisons of N pages
stat() { sed -n 's/^{.*[{,]"'"$1"'":\([0-9]*\)[,}].*/\1/p' stats.json; }
clusters() { "$P" cluster --max-loss=1 "$@" 2>&1 >/dev/null | grep -o '[0-9]* clusters\? of [0-9]* pages'; }
check() { # KIND PAIRS CLUSTERS OPTION…
	local kind=$1 pairs=$2 want=$3
	shift 3
	rows_of "$kind" >"$kind.fp"
	run "$P" match --stats stats.json -o "$kind.pairs" "$@" "$kind.fp"
	exits "$kind: matched" 0
	at_least "$kind: at most 1.2 n log n pairs were verified" $(($(most $n) - $(stat candidates))) 0
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
# One page represents all that match it.
for rows in 3000 6000 12500; do
	python3 "$TOP/tests/dense_rows.py" texts $rows >some.fp
	run "$P" match -q -j1 -k 12 --candidates=hamming --stats stats.json -o some.pairs some.fp
	is "texts, $rows pages: one stands for the others" $((rows - $(stat linked))) 1
	at_least "texts, $rows pages: at most 1.2 n log n pairs were verified" $(($(most $rows) - $(stat candidates))) 0
done
check twins $n "$((n / 2)) clusters of $n pages"
check parts $n "$((n / 2)) clusters of $n pages"
check sketches $n "1 cluster of $n pages" --candidates=bands
# Pages that are alike are in one cluster, by comparing all with all: a page that follows another may be all that two have in
# common.
for kind in texts twins parts sketches; do
	for scope in all same-host other-hosts; do
		python3 "$TOP/tests/dense_rows.py" $kind 600 $(case $scope in all) ;; same-host) echo 6 2 ;; *) echo 6 ;; esac) >few.fp
		run "$P" match -q --candidates=bands --scope=$scope -o few.pairs few.fp
		empty "$kind, $scope: pages that are alike, and apart" <(python3 "$TOP/tests/brute_bands.py" apart few.fp $scope few.pairs)
	done
done
python3 "$TOP/tests/dense_rows.py" sketches 32000 >many.fp
run "$P" match -q --candidates=bands -o many.pairs many.fp
is "many pages are one cluster as well" "$(clusters --linkage=connected many.pairs)" "1 cluster of 32000 pages"
empty "pages that are alike to some, and in no pair" <(python3 "$TOP/tests/brute_bands.py" alone few.fp $scope few.pairs)
# With a scope, or against a collection, sketches separate the pages: the work is bounded, and every page with a partner
# finds one.
check_scope() { # KIND ROWS IN PAIRS OPTION…, of the rows that are there already
	local kind=$1 want=$2
	shift 2
	run "$P" match --stats stats.json -o scoped.pairs "$@"
	exits "$kind $*: matched" 0
	at_least "$kind $*: at most 2,048 sketches a page were compared" $((2048 * n - $(stat candidates) - $(stat band_looks))) 0
	at_least "$kind $*: at most 64 pairs a page" $((64 * n - $(stat pairs))) 0
	at_least "$kind $*: pages in pairs" "$(rows scoped.pairs | cut -f1,2 | tr '\t' '\n' | sort -u | wc -l)" "$want"
	for other in -j1 -j3 --memory=40M; do
		run "$P" match -q $other "$@"
		cmp -s "$tmp/out" scoped.pairs || fail "$kind $*: the same pairs with $other"
	done
}
for kind in texts twins parts sketches; do
	python3 "$TOP/tests/dense_rows.py" $kind $n 40 2 >scoped.fp
	check_scope $kind $n --scope=same-host scoped.fp
	python3 "$TOP/tests/dense_rows.py" $kind $n 40 >scoped.fp
	check_scope $kind $((n * 99 / 100)) --scope=other-hosts scoped.fp
	check_scope $kind $((n * 99 / 100)) --scope=other-hosts --candidates=bands scoped.fp
	awk -F '\t' '{ split($2, id, ":"); print > (id[2] % 2 ? "a.fp" : "b.fp") }' scoped.fp
	check_scope $kind $((n / 2)) a.fp --against b.fp
	is "$kind: each page of a batch has its partner in the collection" \
		"$(rows scoped.pairs | cut -f1,2 | tr '\t' '\n' | grep -c '[13579]$')" "$(rows scoped.pairs | wc -l)"
	at_least "$kind: all of the batch have one" "$(rows scoped.pairs | cut -f1,2 | tr '\t' '\n' | grep '[13579]$' | sort -u | wc -l)" $((n / 2 * 99 / 100))
	check_scope $kind $((n / 2)) --scope=other-hosts a.fp --against b.fp
done
# A dense host does not hide other hosts: a single page elsewhere is found by all similar pages.
{ python3 "$TOP/tests/dense_rows.py" sketches $n 1 | sed '1s/h0/other/'; } >scoped.fp
check_scope "one host" $((n * 99 / 100)) --scope=other-hosts --candidates=bands scoped.fp
# The same where rows have no sketches: each keeps its first partners, and no cluster falls in two.
check_near() { # NAME ROWS SCOPE INPUT…
	local name=$1 rows=$2 scope=$3
	shift 3
	run "$P" match -k 8 --stats stats.json -o near.pairs --scope=$scope "$@"
	exits "$name: matched" 0
	at_least "$name: at most 1.2 n log n pairs were verified" $(($(most $rows) - $(stat candidates))) 0
	at_least "$name: at most 2 pairs a page" $((2 * rows - $(stat pairs))) 0
	empty "$name: near pages in two clusters" <(python3 "$TOP/tests/brute_near.py" 8 $scope near.pairs $(printf '%s\n' "$@" | grep -v '^--'))
	for other in -j1 -j3 --plan=all --memory=40M; do
		run "$P" match -q -k 8 $other --scope=$scope "$@"
		cmp -s "$tmp/out" near.pairs || fail "$name: the same pairs with $other"
	done
}
few=2500
python3 "$TOP/tests/dense_rows.py" ball $few 40 >near.fp
python3 "$TOP/tests/dense_rows.py" ball $few 1 | sed '1s/h0/other/' >one.fp
awk -F '\t' '{ split($2, id, ":"); print > (id[2] % 3 ? "near-a.fp" : "near-b.fp") }' near.fp
check_near "no sketches, one host" $few same-host one.fp
check_near "no sketches, many hosts" $few other-hosts near.fp
check_near "no sketches, one page elsewhere" $few other-hosts one.fp
check_near "no sketches, two sides" $few all near-a.fp --against near-b.fp
check_near "no sketches, two sides, other hosts" $few other-hosts near-a.fp --against near-b.fp
# Dense groups that share only two pages are one cluster.  A page near one page only has that partner, even if the
# partner has many others.
python3 "$TOP/tests/dense_rows.py" touching $few >touching.fp
check_near "crowds that touch" $few all touching.fp
at_least "crowds that touch: pages are linked" "$(stat linked)" $((few - 200))
python3 "$TOP/tests/dense_rows.py" touching 3500 1 >near.fp
awk -F '\t' '{ split($2, id, ":"); print > (int(id[2] / 3) % 3 ? "near-a.fp" : "near-b.fp") }' near.fp
check_near "crowds that touch, two sides" 3500 all near-a.fp --against near-b.fp
# Two fingerprints of very many pages each.
for hosts in 40 2 "40 50"; do
	# shellcheck disable=SC2086
	python3 "$TOP/tests/dense_rows.py" pair 1000 $hosts >near.fp
	run "$P" match -k 8 --stats stats.json -o near.pairs --scope=other-hosts near.fp
	at_least "two fingerprints on $hosts hosts: at most 2 pairs a page" $((2 * 1000 - $(stat pairs))) 0
	empty "two fingerprints on $hosts hosts: near pages in two clusters" <(python3 "$TOP/tests/brute_near.py" 8 other-hosts near.pairs near.fp)
done
head -1000 ball.fp >some.fp
run "$P" match -q -k 8 some.fp
is "of fewer pages every pair is named" "$(rows "$tmp/out" | wc -l)" 499500
# With --all-pairs there is any number of pairs: pairs beyond --memory are on disk.
head -2500 ball.fp >some.fp
is "--all-pairs: every pair of a crowd" "$("$P" match -q -k 8 --all-pairs --memory=40M --stats=stats.json some.fp | grep -vc '^#')" $((2500 * 2499 / 2))
at_least "--all-pairs: pairs lie on disk" "$(stat bytes_on_disk)" $((2500 * 2499 / 2 * 8))
run "$P" match -q --preset=paper -k 3 ball.fp
cp "$tmp/out" paper.pairs
run "$P" match -q --preset=paper -k 3 --plan=blocks ball.fp
is "the documents' tables give the same pairs" "$(md5sum <paper.pairs)" "$(md5sum <"$tmp/out")"
# --- rows that look alike, and are different: equal sketches of pages of one host, with other subjects ---
python3 -c 'print("<title>Tides</title><ul>" + "".join(f"<li>word{i} term{i} name{i}" for i in range(12)))' >page.html
"$P" fp -q page.html | awk -F '\t' -v OFS='\t' '
	/^#fingerprint/ { sub(/^#/, "", $1); for (i = 1; i <= NF; i++) at[$i] = i; print "#" $0; next }
	/^# total/ { print "# total pages=6000"; next }
	/^#/ { print; next }
	{ for (n = 0; n < 6000; n++) { $at["id"] = "d:" n; $at["url"] = "http://a.example/" n; $at["confidence"] = "0.00"
		$at["subject"] = sprintf("%016x", 1000003 * n + 17); print } }' >look_alike.fp
case $B in *san-*) most=30 ;; *) most=3 ;; esac
run bash -c "ulimit -t $most; exec '$P' match look_alike.fp"
exits "6000 similar rows take little time" 0
has "they are not pairs" "$tmp/err" '6000 pages, k [0-9]+, 0 pairs; 5999 more look alike'
tap_done
