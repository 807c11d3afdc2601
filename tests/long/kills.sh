#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kill every command that writes files at random moments (tests/kill.py): files under their final names are complete.
# KILLS: kills of each job (100).
. "$(dirname "$0")/../tap.sh"
cat "$demo" "$demo" "$demo" "$demo" "$demo" >dump.warc.gz
run python3 "$TOP/tests/kill.py" "$P" "$tmp/kills" "${KILLS:-100}" dump.warc.gz ${JOBS:-}
exits "${KILLS:-100} kills of each job" 0
while read -r line; do pass "$line"; done <"$tmp/out"
tap_done
