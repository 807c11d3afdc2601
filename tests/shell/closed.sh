#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Standard streams that are closed: messages are written into no file, and what cannot be read or written is an error.
. "$(dirname "$0")/../tap.sh"
"$P" fp -q "$demo" >rows && "$P" match -q rows >pairs && "$P" cluster -q pairs >verdicts
head -c 100000 "$demo" >cut.warc.gz
printf 'http://a.example/1\nno URL\n' >urls
cp rows bad.rows && printf 'nonsense\n' >>bad.rows

# --- standard error ---
for name in fp apply match url; do
	case $name in
	fp) set -- fp --learn-boilerplate cut.warc.gz ;;
	apply) set -- apply --verdicts=verdicts "$demo" ;;
	match) set -- match --all-pairs rows ;;
	url) set -- url --seen=seen urls ;;
	esac
	rm -f open closed seen && "$P" "$@" -o open 2>messages
	rm -f seen && "$P" "$@" -o closed 2>&-
	same "2>&-: $name -o FILE has no messages in it" closed open
	rm -f seen && "$P" "$@" >closed 2>&-
	same "2>&-: $name >FILE has no messages in it" closed open
	rm -f seen && "$P" "$@" -o closed 0<&- 2>&-
	same "0<&- 2>&-: $name -o FILE has no messages in it" closed open
	at_least "$name has messages" "$(wc -l <messages)" 1
done
mkdir both && "$P" dedup cut.warc.gz -o both/open 2>messages
"$P" dedup cut.warc.gz -o both/closed 0<&- 1>&- 2>&-
same "all closed: dedup writes the same dump" both/closed/cut.warc.gz both/open/cut.warc.gz
same "all closed: dedup writes the same verdicts" both/closed/verdicts.tsv both/open/verdicts.tsv

# --- standard output ---
closed_out() { "$P" "$@" >&-; }
for command in "fp $demo" "match rows" "cluster pairs" "apply --verdicts=verdicts $demo" "boilerplate $demo" "url urls" "text $demo" "report -V verdicts -P pairs $demo" \
	"sample pairs" "link $demo" "rank $demo" "sites $demo" "estimate rows" version help; do
	# shellcheck disable=SC2086
	run closed_out $command
	exits ">&-: ${command%% *}" 2
	has ">&-: ${command%% *} says so" "$tmp/err" 'cannot write (standard output|the report): it is closed'
done
run closed_out fp -q "$demo" -o named
exits ">&-: files are written without standard output" 0
same ">&-: and is the same" named rows

# --- standard input ---
closed_in() { "$P" "$@" <&-; }
for command in fp match cluster boilerplate url text link rank "map --job=fp"; do
	# shellcheck disable=SC2086
	run closed_in $command
	exits "<&-: ${command%% *}" 2
	has "<&-: ${command%% *} says so" "$tmp/err" 'cannot read standard input: it is closed'
done
run closed_in fp -q "$demo" -o named
exits "<&-: files are read without standard input" 0
same "<&-: and is the same" named rows
tap_done
