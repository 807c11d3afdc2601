#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The output is byte-identical for every number of threads.
. "$(dirname "$0")/../tap.sh"
zcat "$demo" >plain.warc
cp "$demo" a.warc.gz
cat "$demo" "$demo" "$demo" >three.warc.gz
head -c 100000 "$demo" >cut.warc.gz
for input in a.warc.gz three.warc.gz "a.warc.gz plain.warc three.warc.gz" cut.warc.gz "$TOP/tests/golden"; do
	for command in fp text "fp --preset=paper --bits=256"; do
		for j in 1 2 4 16; do
			# shellcheck disable=SC2086
			run "$P" $command -j$j $input
			echo "exit $code" >>"$tmp/out"
			grep -v '^pagededup [a-z]*: [0-9]* pages' "$tmp/err" | LC_ALL=C sort >>"$tmp/out"
			cp "$tmp/out" out.$j
		done
		for j in 2 4 16; do same "$command -j$j as -j1: ${input//$TOP\//}" out.$j out.1; done
	done
done
at_least "three concatenated dumps in one file have three times the pages" \
	"$("$P" fp -q three.warc.gz | rows | wc -l)" $((3 * ($(wc -l <"$TOP/demo/truth.tsv") - 1)))

for bits in 64 128; do
	python3 "$TOP/tests/brute_pairs.py" keys clustered 3000 $bits 1 | fp_rows >in.fp
	for options in "-k 3" "-k 8 --plan=blocks" "-k 3 --plan=paper" "-k 12 --all-pairs" "-k 5 --scope=other-hosts" "-k 5 --scope=same-language"; do
		# shellcheck disable=SC2086
		for j in 1 2 4 16; do run "$P" match -j$j $options in.fp && cp "$tmp/out" out.$j; done
		for j in 2 4 16; do same "match $options -j$j as -j1, $bits bits" out.$j out.1; done
		at_least "match $options, $bits bits, finds pairs" "$(rows out.1 | wc -l)" 100
	done
done

# With sketches: the second look and bands, and rows in another order.
"$P" fp -q "$demo" >demo.fp
{ grep '^#' demo.fp | grep -v '^# total'; rows demo.fp | LC_ALL=C sort; grep '^# total' demo.fp; } >sorted.fp
for options in "" "--candidates=bands" "--candidates=both -k 4 --all-pairs" "--candidates=bands --band-width=2 --scope=same-host" \
	"--candidates=both --scope=other-hosts" "--candidates=bands --scope=same-language"; do
	# shellcheck disable=SC2086
	for j in 1 2 4; do run "$P" match -j$j $options demo.fp && cp "$tmp/out" out.$j; done
	for j in 2 4; do same "match $options -j$j as -j1, with sketches" out.$j out.1; done
	# shellcheck disable=SC2086
	same "match $options: the order of the rows does not matter" <("$P" match -q $options sorted.fp) out.1
	at_least "match $options finds pairs, with sketches" "$(rows out.1 | wc -l)" 5
done
tap_done
