#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Golden pages: each folder of tests/golden contains a page and the output of every stage.
# usage: tests/golden.sh                       compare, print TAP
#        tests/golden.sh --update [CASE…]      write the expected files again; read them before you commit them
set -u
cd "$(dirname "$0")/.." || exit 2
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
P="$B/pagededup"
stages="utf8 html blocks terms topic features signature"
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT

# The page of a case with an http file is put into a WARC record; other cases are plain files.
page() { # CASE -> path or id
	if [ -f "tests/golden/$1/http" ]; then
		python3 tests/wrap_warc.py "tests/golden/$1/http" "tests/golden/$1/page.html" >"$tmp/$1.warc"
		echo "$tmp/$1.warc:0"
	else
		echo "tests/golden/$1/page.html"
	fi
}
show() { # CASE STAGE
	# shellcheck disable=SC2046
	"$P" show --stage="$2" $(cat "tests/golden/$1/opts" 2>/dev/null) "$(page "$1")" 2>&1
}

# Keep long output as its beginning and a digest, which is enough to notice a change.
stage_output() { # CASE STAGE
	show "$1" "$2" >"$tmp/stage"
	if [ "$(wc -c <"$tmp/stage")" -le 16384 ]; then cat "$tmp/stage"
	else
		head -c 8192 "$tmp/stage"
		printf '\n# of %s\n' "$(cksum <"$tmp/stage")"
	fi
}

if [ "${1:-}" = --update ]; then
	shift
	[ $# -gt 0 ] || set -- $(cd tests/golden && ls -d */ | tr -d /)
	for case in "$@"; do
		for stage in $stages; do stage_output "$case" "$stage" >"tests/golden/$case/$stage"; done
	done
	exit 0
fi
set -- $(cd tests/golden && ls -d */ | tr -d /)
echo "1..$#"
n=0
for case in "$@"; do
	n=$((n + 1))
	bad=
	for stage in $stages; do
		stage_output "$case" "$stage" >"$tmp/out"
		cmp -s "$tmp/out" "tests/golden/$case/$stage" || { bad="$bad $stage"; [ -n "${shown:-}" ] || diff "tests/golden/$case/$stage" "$tmp/out" | head -5 | sed 's/^/# /'; }
	done
	if [ -z "$bad" ]; then echo "ok $n - golden $case"; else echo "not ok $n - golden $case:$bad"; fi
done
