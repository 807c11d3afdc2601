#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Differences on a terminal: colour, progress, no binary data.
. "$(dirname "$0")/../tap.sh"
unset NO_COLOR
export TERM=xterm
# Under the sanitizer for threads, which costs a tenfold, fewer pages take as long.
case $B in *san-thread*) most=600 waits=20 copies=8 ;; *san-*) most=600 waits=20 copies=40 ;; *) most=60 waits=2 copies=40 ;; esac
terminal() { local streams=$1; shift; timeout $most python3 "$TOP/tests/on_terminal.py" "$streams" "$@" >"$tmp/tty" 2>"$tmp/err" </dev/null; code=$?; }
plain() { sed 's/\x1b\[[0-9;]*m//g' "$1"; }
esc=$'\x1b\\['
cp "$demo" d.warc.gz
"$P" fp -q d.warc.gz >d.fp
mapfile -t id < <("$P" match -q d.fp | column id_a | head -1; "$P" match -q d.fp | column id_b | head -1)

# --- colour ---
for c in "show ${id[0]}" "show --stage=blocks ${id[0]}" "show --stage=signature ${id[0]}" "compare ${id[0]} ${id[1]}"; do
	# shellcheck disable=SC2086
	set -- $c
	run "$P" "$@"
	hasnt "$1: a pipe gets no colour" "$tmp/out" "$esc"
	cp "$tmp/out" pipe
	terminal out "$P" "$@"
	exits "$c on a terminal" 0
	has "$1: a terminal gets colour" "$tmp/tty" "${esc}[0-9]+m"
	same "$1: which is all that it gets more" <(plain "$tmp/tty") pipe
	NO_COLOR=1 terminal out "$P" "$@"
	same "$1: none with NO_COLOR" "$tmp/tty" pipe
	NO_COLOR='' terminal out "$P" "$@"
	has "$1: an empty NO_COLOR is none" "$tmp/tty" "$esc"
	TERM=dumb terminal out "$P" "$@"
	same "$1: none on a dumb terminal" "$tmp/tty" pipe
	terminal out "$P" "$@" --color=never
	same "$1: --color=never" "$tmp/tty" pipe
	run env NO_COLOR=1 "$P" "$@" --color=always
	has "$1: --color=always" "$tmp/out" "$esc"
	same "$1: paints the same text" <(plain "$tmp/out") pipe
done
has "kept text is green" <("$P" show --color=always "${id[0]}") "^${esc}32mkeep "
has "dropped text is red" <("$P" show --color=always "${id[0]}") "^${esc}31mdrop "
hasnt "the text is not painted" <("$P" show --color=always "${id[0]}") "${esc}.*  [|] "
hasnt "the page is not, either" <("$P" show --color=always --stage=html "${id[0]}") "$esc"
run "$P" show --color=mauve "${id[0]}"
exits "--color=mauve is misuse" 2
for c in fp text "match d.fp" estimate info selftest help; do
	# shellcheck disable=SC2086
	terminal out "$P" $c "$([ "${c% *}" = match ] || [ "$c" = info ] || [ "$c" = selftest ] || [ "$c" = help ] || echo d.warc.gz)"
	hasnt "$c has no colour" "$tmp/tty" "$esc"
done

# --- characters with an effect on a terminal ---
evil=$'p\e[2J\xc2\x9b31m\xe2\x80\xaecod\xff.html'
printf '<p>The tide mill at Pellow Creek \xc2\x9b31m grinds \xe2\x80\xae again after eighty quiet years, and Anna saw it \xe2\x81\xa7 run.' >"$evil"
acts=$'\e\\[2J|\xc2\x9b|\xe2\x80\xae|\xe2\x81\xa7'
acting() { is "$1: nothing that acts" "$(LC_ALL=C grep -acE "$acts" "$2")" 0; } # NAME FILE
run "$P" fp -q "$evil"
acting "rows" "$tmp/out"
is "rows: the name is read back" "$(printf "$(rows "$tmp/out" | cut -f 2)")" "$evil"
run "$P" fp -q --format=jsonl "$evil"
acting "rows in JSON" "$tmp/out"
has "rows in JSON: as JSON writes it" "$tmp/out" '"id":"p\\u001B\[2J\\u009B31m\\u202Ecod'
run "$P" fp -q "$evil.gone"
acting "messages" "$tmp/err"
has "messages: the name is printed" "$tmp/err" 'p\\x1b\[2J\\xc2\\x9b31m\\xe2\\x80\\xaecod\\xff.html.gone: '
for stage in utf8 topic; do
	terminal out "$P" show --color=never --stage=$stage "$evil"
	acting "show --stage=$stage on a terminal" "$tmp/tty"
	run "$P" show --stage=$stage "$evil"
	is "show --stage=$stage in a pipe: as it is" "$(LC_ALL=C grep -ac $'\xe2\x80\xae' "$tmp/out")" 1
done

# --- binary data ---
printf '网页 3 n\n近似 5 n\n' >words
terminal out "$P" dict -o - words
exits "a dictionary is cannot go to a terminal" 2
has "the message gives the reason" "$tmp/err" 'dictionary is binary'
empty "nothing of it came" "$tmp/tty"
terminal out "$P" dict -o /dev/stdout words
exits "not under another name, either" 2
run "$P" dict -o - words
exits "a pipe receives it" 0
is "and it is one" "$(head -c 7 "$tmp/out" | tail -c 6)" PDDICT
cp "$tmp/out" mine.dict
run "$P" fp -q --dict=mine.dict d.warc.gz
exits "that fp reads" 0

# --- progress ---
lines() { tr '\r' '\n' <"$tmp/tty" | sed 's/\x1b\[K//g' | grep ' pages, ' | grep -v '^pagededup'; }
mkdir -p folder/deeper
for i in $(seq $copies); do cat d.warc.gz; done >long.warc.gz
# Each runs long enough to show progress.
for i in 1 2 3 4; do cp long.warc.gz folder/$i.warc.gz; done
cp d.warc.gz folder/deeper/
zcat long.warc.gz >long.warc
shown() { # NAME ARGUMENT…: with a share that grows to 100
	local name=$1; shift
	terminal err "$P" fp -o rows --progress "$@"
	exits "$name" 0
	local shares
	shares=$(lines | grep -oE '[0-9]+ %' | tr -d ' %')
	at_least "$name: a share is shown" "$(wc -l <<<"$shares")" 1
	is "$name: it grows" "$shares" "$(sort -n <<<"$shares")"
	is "$name: never over 100" "$(awk '$1 > 100' <<<"$shares")" ""
	at_least "$name: begins low" "$(head -1 <<<"$shares" | awk '{ print 100 - $1 }')" "${least:-60}"
	hasnt "$name: with the time left, once that can be told" <(lines | grep -v -e ' left' -e ' 0 %$') .
	at_least "$name: which is soon" "$(lines | grep -c ' left')" 1
}
shown "progress of one compressed file" -j1 long.warc.gz
shown "progress of one plain file" -j1 long.warc
shown "progress of many files" -j1 long.warc.gz d.warc.gz long.warc folder/1.warc.gz
shown "progress of a folder" -j1 folder
printf '%s\n' d.warc.gz folder long.warc.gz >list
shown "progress of a list" -j1 -T list
least=20 shown "progress with two threads" -j2 long.warc.gz
terminal err sh -c 'cat "$2" | "$1" fp -o rows' - "$P" long.warc.gz
has "stdin: pages, bytes and speed" <(lines) '^[0-9]+ pages, [0-9.]+ MB, [0-9.]+ MB/s$'
hasnt "stdin: no share, no time left" <(lines) '%|left'
for mixed in "- d.warc.gz" "d.warc.gz -" "d.warc.gz pipe.fifo" "-T pipe.fifo"; do
	rm -f pipe.fifo && mkfifo pipe.fifo
	case $mixed in -T*) printf 'd.warc.gz\n' >pipe.fifo & ;; *fifo*) cat d.warc.gz >pipe.fifo & ;; esac
	terminal err sh -c 'p=$1; shift; cat d.warc.gz | "$p" fp -o rows "$@"' - "$P" $mixed
	exits "progress of $mixed" 0
	has "$mixed: pages and bytes" <(lines) 'pages, .* MB, '
	hasnt "$mixed: no share" <(lines) '%'
	kill $(jobs -p) 2>/dev/null
	wait
done
terminal err "$P" fp -o rows d.warc.gz
has "a terminal shows progress unasked" "$tmp/tty" '[0-9]+ %'
is "the last line is the closing line" "$(tr '\r' '\n' <"$tmp/tty" | sed 's/\x1b\[K//g' | tail -1 | cut -c 1-14)" "pagededup fp: "
terminal err "$P" fp -o rows --no-progress d.warc.gz
is "--no-progress on a terminal" "$(tr -dc '\r' <"$tmp/tty" | wc -c)" 0
# --- one line for a job with stages ---
stages() { tr '\r' '\n' <"$tmp/tty" | sed 's/\x1b\[K//g' | grep -v '^pagededup' | grep .; }
grows() { # NAME
	local shares
	shares=$(stages | grep -oE '[0-9]+ %' | tr -d ' %')
	at_least "$1: a share is shown" "$(wc -l <<<"$shares")" 2
	is "$1: it grows through all stages, to less than 100" "$shares" "$(sort -n <<<"$shares" | awk '$1 < 100')"
}
terminal err "$P" dedup -j1 long.warc.gz d.warc.gz -o staged
exits "dedup on a terminal" 0
is "dedup: stages in order" "$(stages | sed 's/:.*//' | uniq | sed 's/ .*//' | tr '\n' ' ' | sed 's/match //; s/cluster //; s/write //; s/report //')" "learn sign "
hasnt "dedup: all lines name their stage" <(stages) '^[^0-9]*$|^[0-9]'
grows dedup
at_least "dedup: the last line is near the end" "$(stages | tail -1 | grep -oE '[0-9]+ %' | tr -d ' %')" 75
terminal err "$P" dedup -j1 --no-boilerplate long.warc.gz folder -o staged2
has "dedup without learning: one stage less" <(stages) '^sign 1/5: [0-9]+ pages, '
grows "dedup in units"
terminal err "$P" fp -j1 --learn-boilerplate -o rows long.warc.gz
has "fp --learn-boilerplate: two stages" <(stages) '^sign 2/2: '
"$P" fp -q --shingles=long.shingles long.warc.gz >long.fp
terminal err "$P" match -j1 long.fp -o long.pairs
has "match" <(stages) '^[0-9]+ rows read, '
terminal err "$P" cluster long.pairs --shingles=long.shingles -o long.verdicts
has "cluster" <(stages) '^[0-9]+ (pairs read|texts compared|verdicts written), '
terminal err "$P" apply -V long.verdicts long.warc.gz folder -o applied/
has "apply" <(stages) '^file [0-9] of 6, '
grows apply
"$P" store init -q kept --no-key
terminal err "$P" store add kept long.fp -q
has "store add" <(stages) '^[0-9]+ rows, '
terminal err "$P" match -q --no-progress long.fp -o long.pairs
empty "--no-progress" "$tmp/tty"
# --- fp waits for standard input ---
terminal in,err timeout $waits "$P" fp -j1
has "fp prints a note if it waits for a terminal" "$tmp/tty" '^pagededup fp: reading standard input from the terminal; Ctrl-D ends it'
terminal in,err "$P" fp "$demo"
hasnt "not when it has an input" "$tmp/tty" 'reading standard input'
tap_done
