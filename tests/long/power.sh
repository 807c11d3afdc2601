#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Power cuts at each step of the commands that write files; those that can be continued are continued from every state.
. "$(dirname "$0")/../tap.sh"
run python3 "$TOP/tests/power.py" "$P" "$B/tests/inject.so" "$demo"
exits "power cuts" 0
at_least "jobs" "$(grep -c 'all whole' "$tmp/out")" 40
sed 's/^/# /' "$tmp/out"
tap_done
