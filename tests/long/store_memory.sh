#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A store larger than the memory that the process may take: private memory is limited (RLIMIT_DATA), and the store, which
# is mapped and which the system may drop from memory at any time, is several times as large as the limit.
. "$(dirname "$0")/../tap.sh"
keys=$B/bench/keys
if [ ! -x "$keys" ]; then make -s -C "$TOP" "$keys" >/dev/null; fi
limit=100000	# KiB
"$P" store init --no-key -q -k 3 big
"$keys" 4000000 64 1 --planted 5 | "$P" store add -q --no-verify big >/dev/null
at_least "the store is over three times as large as the limit" "$(du -sk big | cut -f 1)" $((3 * limit))
"$keys" 20000 64 1 --planted 5 | sed 's/gen.warc.gz/again/' >ask
run bash -c "ulimit -d $limit; exec '$P' store check -q --no-verify big ask"
exits "check" 0
at_least "finds its contents" "$(column status "$tmp/out" | grep -c duplicate)" 19000
run bash -c "ulimit -d $limit; exec '$P' store add -q --no-verify big ask"
exits "add" 0
run bash -c "ulimit -d $limit; exec '$P' store compact -q big"
exits "compact" 0
run bash -c "ulimit -d $limit; '$P' store export -q big | wc -l"
at_least "export" "$(cat "$tmp/out")" 3000000
run bash -c "ulimit -d $limit; exec '$P' store verify -q big"
exits "verify" 0
tap_done
