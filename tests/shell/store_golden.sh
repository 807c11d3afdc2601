#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Stores of every version open, hold what they held, answer as they answered, and can be added to and compacted.
. "$(dirname "$0")/../tap.sh"
golden=$TOP/tests/data/store
ls "$golden" | grep -E '^v[0-9]+$' >versions
at_least "golden stores" "$(wc -l <versions)" 1
# The columns that rows had when these were made.
of_then() { cut -f1-16 "$1"; }
while read -r v; do
	run "$P" store verify "$golden/$v"
	exits "$v: no damage" 0
	run "$P" store export -q "$golden/$v"
	same "$v: holds what it held" <(of_then "$tmp/out") <(of_then "$golden/$v.fp")
	run "$P" store check -q "$golden/$v" "$golden/questions.fp" --similarity=.4 --similarity-same-host=.5
	same "$v: answers as it answered" <(cut -f1-13 "$tmp/out") <(cut -f1-13 "$golden/$v.answers")
	cp -r "$golden/$v" mine && chmod -R u+w mine
	run "$P" store compact mine
	exits "$v: compact" 0
	run "$P" store export -q mine
	same "$v: and it holds the same" <(of_then "$tmp/out") <(of_then "$golden/$v.fp")
	run "$P" store add -q mine "$golden/questions.fp"
	exits "$v: add" 0
	run "$P" store check -q mine "$golden/questions.fp"
	is "$v: and now nothing is new" "$(column status "$tmp/out" | grep -c new)" 0
	rm -rf mine
done <versions
tap_done
