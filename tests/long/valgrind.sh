#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The whole job on the demo, and unit tests of parsers, under valgrind: no bad access, nothing lost.
. "$(dirname "$0")/../tap.sh"
if ! command -v valgrind >/dev/null; then skip "valgrind" "no valgrind"; tap_done; fi
if nm "$P" 2>/dev/null | grep -Eq '__(asan|tsan|msan)_init'; then skip "valgrind" "a sanitizer is built in"; tap_done; fi

under() { run valgrind -q --suppressions="$TOP/tests/long/valgrind.supp" --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$@"; }
for preset in default paper; do
	under "$P" fp -q --preset=$preset -o pages.fp "$demo"; exits "fp, preset $preset" 0
	under "$P" match -q --preset=$preset -o pairs.tsv pages.fp; exits "match, preset $preset" 0
	under "$P" cluster -q -o verdicts.tsv pairs.tsv; exits "cluster, preset $preset" 0
	at_least "verdicts, preset $preset" "$(rows verdicts.tsv | wc -l)" 10
done
same "and the pairs are the same as without valgrind" <("$P" fp -q --preset=paper "$demo" | "$P" match -q --preset=paper) pairs.tsv
# Scans load memory after the last key of a column.
"$P" fp -q -o pages.fp "$demo" && "$P" store init --no-key -q store
under "$P" match -q --candidates=bands -o bands.tsv pages.fp; exits "match by bands" 0
under "$P" store add -q store pages.fp; exits "store add" 0
under "$P" store check -q store pages.fp; exits "store check" 0
head -c 100000 "$demo" >cut.warc.gz
under "$P" fp -q -o cut.fp cut.warc.gz; exits "fp of a file that ends too soon" 1
export CK_FORK=no CK_DEFAULT_TIMEOUT=0
for test in test_meta test_cluster test_warc; do
	if [ -x "$B/tests/$test" ]; then under "$B/tests/$test"; exits "$test" 0; fi
done
tap_done
