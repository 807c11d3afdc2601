#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# match by each method, and by several in one run, with the least memory that it accepts: it uses the disk, and gives
# the same output as with enough memory.  THREADS="1 2": each with these threads (tests/long/match_spilling.sh); otherwise one
# search on one thread, and the other on two.
. "$(dirname "$0")/../tap.sh"
spilt() { python3 -c 'import json; s = json.load(open("stats.json")); print(s["runs"] + s["join_parts"], s["bytes_on_disk"])'; }
sorted() { # FILE: its pairs, with the pages of a pair in either order
	rows "$1" | awk -F '\t' '{ print ($1 < $2 ? $1 "\t" $2 : $2 "\t" $1) "\t" $3 "\t" $4 "\t" $5 }' | LC_ALL=C sort
}
for method in simhash exact abstract semantic keywords keywords:sigma=1:order=weight segments overlap punctuation links vsm \
	simhash,keywords,segments exact,vsm; do
	name=${method%%:*} more=
	case $name in
	simhash) n=600000 more='-k 3' ;;
	exact | keywords | abstract | semantic) n=300000 ;;
	segments | punctuation | links) n=60000 ;;
	overlap | vsm | exact,vsm) n=40000 ;;
	simhash,*) n=60000 more='-k 3' ;;
	esac
	"$P" fp -q --method=$name "$demo" >like.fp
	python3 "$TOP/tests/spilling_rows.py" $name $n like.fp >in.fp
	for pairs in "" --all-pairs; do
		"$P" match -q --method=$method $more $pairs --stats=stats.json in.fp >want
		read -r steps bytes <<<"$(spilt)"
		at_least "$method $pairs: there are pairs" "$(rows want | wc -l)" 1000
		for threads in ${THREADS:-$([ "$pairs" ] && echo 2 || echo 1)}; do
			run "$P" match -q --method=$method $more $pairs --memory=33M -j$threads --stats=stats.json in.fp
			read -r more_steps more_bytes <<<"$(spilt)"
			at_least "$method $pairs -j$threads: runs and parts on disk" "$more_steps" $((steps + 2))
			at_least "$method $pairs -j$threads: more bytes there than with all the memory" "$more_bytes" $((bytes + 1))
			same "$method $pairs -j$threads: the same bytes" "$tmp/out" want
		done
	done
	{ grep '^#' in.fp; grep -v '^#' in.fp | shuf --random-source=in.fp; } >turned.fp
	"$P" match -q --method=$method $more --all-pairs --memory=47M turned.fp >turned
	same "$method: the same pairs of rows in another order, in other memory" <(sorted turned) <(sorted want)
done
tap_done
