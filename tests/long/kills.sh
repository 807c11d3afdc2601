#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command that writes files, killed at random moments (tests/kill.py): what has its final name is whole.
# KILLS: of each job (100).
. "$(dirname "$0")/../tap.sh"
cat "$demo" "$demo" "$demo" "$demo" "$demo" >dump.warc.gz
run python3 "$TOP/tests/kill.py" "$P" "$tmp/kills" "${KILLS:-100}" dump.warc.gz ${JOBS:-}
exits "${KILLS:-100} kills of each job" 0
while read -r line; do pass "$line"; done <"$tmp/out"
tap_done
