#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pagededup-hadoop batch on a real cluster: new pages against a stored collection.
. "$(dirname "$0")/../tap.sh"
. "$TOP/tests/engines/setup"
time_for 900 "batch" || tap_done
on_hadoop
H=$TOP/engines/hadoop/pagededup-hadoop
small=(--program="$P" --map-memory=512 --reduce-memory=512 --reduces=2)
got() { hadoop fs -cat "$1/part-*" 2>/dev/null; } # FOLDER OF THE CLUSTER
sorted() { grep -av '^#' | sort; }                # rows alone

"$P" fp -q "$demo" >all.fp
awk '/^#/ || NR % 4 == 0' all.fp >new.fp
awk '/^#/ || NR % 4' all.fp >stored.fp
hadoop fs -mkdir /stored && hadoop fs -put stored.fp /stored/
"$P" match -q -k 6 --all-pairs --against=stored.fp new.fp >against.pairs
"$P" match -q -k 6 --all-pairs new.fp >inside.pairs

run "$H" batch "${small[@]}" --keep-steps --match='-k 6' --pairs-inside --until=collection new.fp /stored /batch
exits "batch: ends well" 0
same "batch: the pairs of one machine, and those inside the batch" <(got /batch/pairs | sorted) <(cat against.pairs inside.pairs | sorted | sort -u)
stored_pages=$(sorted <stored.fp | wc -l) new_pages=$(sorted <new.fp | wc -l) gone=$(got /batch/tombstones | sorted | wc -l)
at_least "batch: stored pages are given up" "$gone" 1
is "batch: the collection is what was stored, without them, and the batch" "$(got /batch/collection | sorted | wc -l)" \
	$((stored_pages + new_pages - gone))

is "batch: its tables were shipped" "$(hadoop fs -cat /batch/batch.tables 2>/dev/null | head -c 4 | tail -c 3)" PDT

# The last step again, with the batch's keys gone; and when they are back.
hadoop fs -get /batch/batch.keys keys
got /batch/collection | sorted >collection
hadoop fs -rm -r -skipTrash /batch/done/collection /batch/collection /batch/batch.keys >/dev/null 2>&1
run "$H" batch "${small[@]}" --match='-k 6' --pairs-inside --until=collection new.fp /stored /batch
exits "a side file that is not there: the step fails" 2
has "a side file that is not there: it is said" "$tmp/err" 'batch\.keys'
run hadoop fs -test -e /batch/collection
exits "a side file that is not there: nothing is written" 1

hadoop fs -put keys /batch/batch.keys
run "$H" batch "${small[@]}" --match='-k 6' --pairs-inside --until=collection new.fp /stored /batch
exits "a failure that was mended: the same command goes on" 0
has "a failure that was mended: from the last finished step" "$tmp/err" 'tombstones: finished before'
hasnt "a failure that was mended: nothing is done twice" "$tmp/err" '(find|pairs|tombstones): launched'
same "a failure that was mended: the same collection" <(got /batch/collection | sorted) collection

printf 'no rows\n' >none.fp
run "$H" batch "${small[@]}" none.fp /stored /none
exits "batch: what holds no rows is refused" 2
tap_done
