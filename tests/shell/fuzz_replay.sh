#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every fuzz target runs once over its seeds and over the inputs that once broke it (make fuzz looks for new ones).
. "$(dirname "$0")/../tap.sh"
for source in "$TOP"/tests/fuzz/fuzz_*.c; do
	t=$(basename "$source" .c) t=${t#fuzz_}
	files=$(find -L "$TOP/tests/fuzz/corpus/$t" "$TOP/tests/fuzz/crashes/$t" -type f 2>/dev/null | sort)
	# shellcheck disable=SC2086
	run timeout 60 "$B/replay/$t" $files
	at_least "$t has seeds" "$(wc -w <<<"$files")" 3
	if [ $code = 0 ]; then is "$t runs over all of them" "$(cat "$tmp/out")" "$(wc -w <<<"$files")"
	else fail "$t, exit code $code" "$(tail -5 "$tmp/err")"; fi
done
tap_done
