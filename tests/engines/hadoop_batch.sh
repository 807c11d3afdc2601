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

# The client stores this in the place of the batch tables: TABLES=FILE; if it is empty, nothing.
mkdir client
cat >client/hadoop <<END
#!/usr/bin/env bash
case "\$*" in
"fs -put -f "*/batch.tables) [ "\$TABLES" != none ] || exit 0; set -- fs -put -f "\$TABLES" "\$5" ;;
esac
exec "$(command -v hadoop)" "\$@"
END
chmod +x client/hadoop
with_tables() { PATH=$PWD/client:$PATH TABLES=$1 run "${@:2}"; } # FILE|none COMMAND…

mkdir dumps
cp "$demo" dumps/demo.warc.gz
if [ -n "${PAGEDEDUP_CORPORA:-}" ]; then
	ln -s "$PAGEDEDUP_CORPORA/sites/sites-dev.warc.gz" "$PAGEDEDUP_CORPORA/neardup/transplant-dev.warc.gz" dumps/
fi
for dump in dumps/*; do "$P" fp -q --name="/$dump" <"$dump"; done >all.fp
awk '/^#/ || NR % 4 == 0' all.fp >new.fp
awk '/^#/ || NR % 4' all.fp >stored.fp
hadoop fs -mkdir /stored && hadoop fs -put stored.fp /stored/
"$P" match -q -k 6 --all-pairs --against=stored.fp new.fp >against.pairs
"$P" match -q -k 6 --all-pairs new.fp >inside.pairs

# Wrong tables stop the step; afterwards the same command continues.
hadoop fs -mkdir /dumps && hadoop fs -put dumps/* /dumps/ && ls dumps | sed 's|^|/dumps/|' >list
flow=("$H" batch "${small[@]}" --match='-k 6' --pairs-inside --dumps=list)
once=(-D mapreduce.map.maxattempts=1)
head -c 1000 "$demo" >other.tables
with_tables other.tables "${flow[@]}" "${once[@]}" new.fp /stored /batch
exits "another file in place of the tables: the step fails" 2
has "another file in place of the tables: the message says so" "$tmp/err" 'batch\.tables is not a file of batch tables'
awk '/^#/ || NR % 3 == 0' all.fp | "$P" match -q --save=other.key
hadoop fs -cat /batch/count/part-00000 >params 2>/dev/null
"$P" map --job=batch --step=tables --params=params --batch=other.key </dev/null >other.tables 2>/dev/null
with_tables other.tables "${flow[@]}" "${once[@]}" new.fp /stored /batch
exits "tables of another batch: the step fails" 2
has "tables of another batch: the message says so" "$tmp/err" 'batch\.tables: the tables were made from a different batch'
hadoop fs -rm -r -skipTrash /batch/batch.tables >/dev/null 2>&1
with_tables none "${flow[@]}" new.fp /stored /batch
exits "no tables: the step fails" 2
has "no tables: the message says so" "$tmp/err" 'batch\.tables'
run hadoop fs -test -e /batch/find
exits "nothing is written" 1

run "${flow[@]}" --keep-steps --until=collection new.fp /stored /batch
exits "batch: ends well" 0
same "batch: the pairs of one machine, and the pairs inside the batch" <(got /batch/pairs | sorted) <(cat against.pairs inside.pairs | sorted | sort -u)
stored_pages=$(sorted <stored.fp | wc -l) new_pages=$(sorted <new.fp | wc -l) gone=$(got /batch/tombstones | sorted | wc -l)
at_least "batch: stored pages are given up" "$gone" 1
is "batch: the collection is the stored rows without them, and the batch" "$(got /batch/collection | sorted | wc -l)" \
	$((stored_pages + new_pages - gone))

is "batch: its tables were shipped" "$(hadoop fs -cat /batch/batch.tables 2>/dev/null | head -c 4 | tail -c 3)" PDT

# The last step again, with the batch's keys gone; and when they are back.
hadoop fs -get /batch/batch.keys keys
got /batch/collection | sorted >collection
hadoop fs -rm -r -skipTrash /batch/done/collection /batch/collection /batch/batch.keys >/dev/null 2>&1
run "${flow[@]}" --keep-steps --until=collection new.fp /stored /batch
exits "a side file that is not there: the step fails" 2
has "a side file that is not there: the message says so" "$tmp/err" 'batch\.keys'
run hadoop fs -test -e /batch/collection
exits "a side file that is not there: nothing is written" 1

hadoop fs -put keys /batch/batch.keys
run "${flow[@]}" new.fp /stored /batch
exits "a repaired failure: the same command continues" 0
has "a failure that was mended: from the last finished step" "$tmp/err" 'tombstones: finished before'
hasnt "a failure that was mended: nothing is done twice" "$tmp/err" '(find|pairs|tombstones): launched'
same "a failure that was mended: the same collection" <(got /batch/collection | sorted) collection

# The stored pages that go are taken out of the dumps.
rows against.pairs | awk -F '\t' '{ print $1; print $2 }' | sort -u | comm -23 - <(rows new.fp | cut -f 2 | sort) >gone
same "each stored page of a pair is removed" <(got /batch/tombstones | rows | cut -f 2 | sort) gone
got /batch/tombstones >tombstones
"$P" apply -q -V tombstones dumps/* -o clean/
mkdir written && hadoop fs -get '/batch/clean/dumps/*' written/
for dump in dumps/*; do same "$(basename "$dump") as one machine writes it" "written/${dump#dumps/}" "clean/${dump#dumps/}"; done
is "the dumps have the other pages" "$("$P" fp -q written/* | rows | wc -l)" $(($(rows all.fp | wc -l) - $(wc -l <gone)))

# Against a collection that holds nothing yet.
if time_for 400 "nothing is stored"; then
	hadoop fs -mkdir /empty
	run "$H" batch "${small[@]}" --match='-k 6' new.fp /empty /first
	exits "nothing is stored: ends well" 0
	is "nothing is stored: no pair, only the header" "$(got /first/pairs | grep -v '^# total' | cut -c 1-17 | sort -u | paste -sd' ')" "# pagededup pairs #id_a	id_b	distan"
	same "nothing is stored: no tombstone, only the header" <(got /first/tombstones) <(echo "$verdicts_columns")
	same "nothing is stored: the collection is the batch" <(got /first/collection | sorted) <(sorted <new.fp)
fi

printf 'no rows\n' >none.fp
run "$H" batch "${small[@]}" none.fp /stored /none
exits "batch: input without rows is refused" 2
tap_done
