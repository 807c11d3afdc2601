#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Power cuts at each step of the commands that write files; those that can be continued are continued from some states.  tests/long/power.sh
# continues from all.
. "$(dirname "$0")/../tap.sh"
case $B in *san-*) skip "power cuts" "the sanitizers use the calls that are caught"; tap_done ;; esac
while IFS= read -r job; do
	run timeout 300 python3 "$TOP/tests/power.py" "$P" "$B/tests/inject.so" "$demo" --most=12 "$job"
	exits "power cuts during $job" 0
	has "power cuts during $job: all states" "$tmp/out" "^$job: [0-9]+ steps, ([2-9]|[0-9]{2,}) states, [0-9]+ continued, all whole"
done < <(sed -n "s/^    '\([a-z-]*\)': Job(.*/\1/p" "$TOP/tests/power.py")
tap_done
