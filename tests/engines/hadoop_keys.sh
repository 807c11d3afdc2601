#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pagededup-hadoop over rows that lie in the cluster: generated fingerprints, and rows that do not go together.
. "$(dirname "$0")/../tap.sh"
. "$TOP/tests/engines/setup"
on_hadoop
H=$TOP/engines/hadoop/pagededup-hadoop
small=(--program="$P" --map-memory=512 --reduce-memory=512 --reduces=3)
got() { hadoop fs -cat "$1/part-*" 2>/dev/null; } # FOLDER OF THE CLUSTER
sorted() { grep -av '^#' | sort; }                # rows alone

# Rows that were made in two ways.
"$P" fp -q "$demo" >one.fp
"$P" fp -q --bits=128 "$demo" >wide.fp
hadoop fs -mkdir /mixed && hadoop fs -put wide.fp one.fp /mixed/
run "$H" match "${small[@]}" -D mapreduce.map.maxattempts=1 -D mapreduce.reduce.maxattempts=1 /mixed /refused
exits "rows of two kinds: the flow fails" 2
has "rows of two kinds: it is said" "$tmp/err" 'pagededup (map|reduce): .*(param|bits|differ)'
run hadoop fs -test -e /refused/count
exits "rows of two kinds: nothing is written" 1

# Generated fingerprints, skewed as real ones are.  KEYS=5000000: the long form.
if time_for 600 "match: the pairs of one machine"; then
	"$B/bench/keys" "${KEYS:-30000}" 64 1 --skew >keys.fp
	"$P" match -q -k 6 keys.fp >keys.pairs
	hadoop fs -mkdir /keys && hadoop fs -D dfs.blocksize=524288 -put keys.fp /keys/
	run "$H" match "${small[@]}" --match='-k 6' --until=pairs /keys /matched
	exits "match: rows that are there" 0
	same "match: the pairs of one machine" <(got /matched/pairs | sorted) <(sorted <keys.pairs)
	has "match: a mapper for each block" "$tmp/err" "count: launched_map_tasks=$(($(stat -c %s keys.fp) / 524288 + 1)) "
fi
tap_done
