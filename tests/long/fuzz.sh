#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# libFuzzer looks for inputs that break a parser, some seconds each; FUZZ_SECONDS=600 for a night.
. "$(dirname "$0")/../tap.sh"
for source in "$TOP"/tests/fuzz/fuzz_*.c; do
	t=$(basename "$source" .c) t=${t#fuzz_}
	B=${B#"$TOP"/} run "$TOP/tests/fuzz/run" "${FUZZ_SECONDS:-8}" "$t"
	case $code in
	0) pass "$(tail -1 "$tmp/out")" ;;
	77) skip "$t" "$(tail -1 "$tmp/out")" ;;
	*) fail "$t" "$(cat "$tmp/out" "$tmp/err")" ;;
	esac
done
tap_done
