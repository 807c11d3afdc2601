#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# engines/spark on real Spark clusters, 3.5 and 4: steps over DataFrames, Parquet between them, give what one machine gives.
. "$(dirname "$0")/../tap.sh"
. "$TOP/tests/engines/setup"
sorted() { grep -av '^#' "$@" | sort; } # rows alone
steps() { "$python" "$engines/steps_spark.py" "$MASTER" "$tmp/w/program.tar.gz" "$@"; }
"$TOP/engines/ship" "$P" program.tar.gz || { fail "the program is packed"; tap_done; }

mkdir dumps
cp "$demo" dumps/demo.warc.gz
head -c 60000 "$demo" >dumps/damaged.warc.gz
[ -z "${PAGEDEDUP_CORPORA:-}" ] || ln -s "$PAGEDEDUP_CORPORA/sites/sites-dev.warc.gz" "$PAGEDEDUP_CORPORA/neardup/transplant-dev.warc.gz" dumps/
"$P" fp -q "$PWD"/dumps/*.warc.gz >one.fp 2>one.err
"$P" match -q --all-pairs one.fp >one.pairs
"$P" cluster -q one.pairs >one.verdicts

for version in 3.5 4.0; do
	on_spark "$version"
	mkdir "$version"
	run steps "$version" fp "$PWD"/dumps/*.warc.gz
	exits "$version, fp: damaged records are left out" 0
	same "$version, fp: the rows of one machine" <(sorted "$version/fp.tsv") <(sorted one.fp)
	has "$version, fp: damaged records are counted" "$tmp/out" ' DAMAGED=[1-9]'
	mkdir "$version/none"
	run steps "$version/none" fp /missing.warc.gz
	exits "$version, fp: a dump that is not there fails the job" 1
	has "$version, fp: it is named" "$tmp/err" '/missing\.warc\.gz'
	run steps "$version" match --all-pairs
	exits "$version, match" 0
	same "$version, match: the pairs of one machine" <(sorted "$version/pairs.tsv") <(sorted one.pairs)
	run steps "$version" cluster
	exits "$version, cluster" 0
	same "$version, cluster: the verdicts of one machine" <(sorted "$version/verdicts.tsv") <(sorted one.verdicts)
	$stop_engine
	stop_engine=:
	rm -rf "$tmp/daemons"
done
tap_done
