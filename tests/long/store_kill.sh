#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kill adding to a store, and compacting it, 500 times at random moments: nothing is lost.
. "$(dirname "$0")/../tap.sh"
run python3 "$TOP/tests/store_kill.py" "$P" "$tmp/w" 500
exits "500 kills" 0
has "and all records are kept" "$tmp/out" '^5[0-9][0-9] killed \(.*\), [0-9]+ reported, all kept$'
echo "# $(cat "$tmp/out")"
for kind in lmdb bloom; do
	run python3 "$TOP/tests/store_keys_kill.py" "$P" "$tmp/w/$kind" 300 $kind
	exits "$kind: 300 kills" 0
	has "$kind: and no key lost" "$tmp/out" '^300 killed, [0-9]+ reported, all seen$'
done
tap_done
