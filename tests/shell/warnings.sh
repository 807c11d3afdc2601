#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The source compiles without a warning: with gcc and all that its optimiser sees, and with clang, which warns before
# that.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 2
for compiler in "gcc -O2" "clang -O0"; do
	read -r cc optimise <<<"$compiler"
	command -v "$cc" >/dev/null || { skip "$cc: no warnings" "there is no $cc"; continue; }
	run env -u MAKEFLAGS -u MAKELEVEL -u SAN -u COVER make -k -s DEV=1 CC="$cc" OPTIMISE="$optimise" B="$tmp/$cc" all tests
	is "$cc: no warnings" "$(grep -E 'warning|error' "$tmp/err")" ""
	exits "$cc: builds with warnings as errors" 0
	rm -rf "${tmp:?}/$cc"
done
tap_done
