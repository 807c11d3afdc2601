#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The store from the command line: stored pages and answers, refused calls, and the state after a kill.
. "$(dirname "$0")/../tap.sh"
header='# pagededup fp 1 bits=64 shingle=2 | sketch=none'
fp() { echo "$header"; echo "$fp_columns"; fp_rows a6b9263e; } # rows from lines, with their header
status() { column status "$@" | tr '\n' ' ' | sed 's/ $//'; }

# init
run "$P" store init --no-key s
exits "init" 0
has "init prints the new store" "$tmp/err" '^pagededup store: s is a store for fingerprints of 64 bits, k 12$'
run "$P" store init --no-key s
exits "init again changes nothing" 0
run "$P" store init --no-key s -k 3
exits "another k is refused" 2
has "and both are named" "$tmp/err" 'k: 12 and 3'
run "$P" store init --no-key s --bits=128 -k 12
has "also another width" "$tmp/err" 'bits: 64 and 128'
run "$P" store init --no-key s -k 12
exits "the same k, also for pages without a sketch, is another store" 2
has "the message says so" "$tmp/err" 'k_unknown: 7 and 12'
mkdir full && touch full/thing
run "$P" store init --no-key full
exits "a folder with other things in it is refused" 2
has "and the thing is named" "$tmp/err" "full is not a store, and not empty \(it contains 'thing'\)"
run "$P" store init --no-key p --preset=paper
run "$P" store info p
has "the preset makes k 3" "$tmp/out" '^k	3$'

# add
fp >night1 <<'END'
00000000000000ff d.warc:1 http://a.example/1 2026-01-01T00:00:00Z 100
00000000000000fe d.warc:2 http://a.example/2 2026-01-01T00:00:00Z 100
ff00ff00ff00ff00 d.warc:3 http://b.example/1 2026-01-01T00:00:00Z 50
- d.warc:4 http://b.example/2 - 5 00112233445566778899aabbccddeeff
- d.warc:5 http://b.example/3 - 5 00112233445566778899aabbccddeeff
- d.warc:6 http://b.example/4
END
run "$P" store add s night1
exits "add" 0
is "the added pages" "$(status "$tmp/out")" "new duplicate new new duplicate new"
is "the page that it duplicates" "$(column dup_of "$tmp/out" | tr '\n' ' ')" "- d.warc:1 - - d.warc:4 - "
is "all matches" "$(column matches "$tmp/out" | tr '\n' ' ')" "- d.warc:1:1 - - d.warc:4:- - "
is "why" "$(column reason "$tmp/out" | sort -u | tr '\n' ' ')" "distance 1 new same text "
has "the closing line" "$tmp/err" '^pagededup store: 6 pages, 4 new, 0 kept already, 2 duplicates, [0-9.]+ s$'
has "the header tells the parameters" "$tmp/out" '^# pagededup answers 1 bits=64 shingle=2 k=12 similarity=0.5 similarity_same_host=0.7 k_unknown=7 on_duplicate=skip same_url=judge \| '
run "$P" store add s night1
is "the same again changes nothing" "$(status "$tmp/out")" "kept duplicate kept kept duplicate kept"
sed 's/d.warc:1/d.warc:11/' night1 >night2
run "$P" store check s night2
is "another id is another page" "$(status "$tmp/out" | cut -d' ' -f 1)" "duplicate"
run "$P" store info s
has "check kept nothing" "$tmp/out" '^pages	4$'
run_in night2 "$P" store check s -k 0 -q
is "from standard input, with a smaller k" "$(status "$tmp/out")" "duplicate new kept kept duplicate kept"
run "$P" store check s -k 13 night2
exits "a larger k is misuse" 2
has "the message says so" "$tmp/err" 'k 13: the store s supports distances up to 12'

# replace
run "$P" store add s night2 --on-duplicate=replace -q
is "replaced pages follow their page" "$(column id "$tmp/out" | tr '\n' ' ')" \
	"d.warc:11 d.warc:1 d.warc:2 d.warc:11 d.warc:3 d.warc:4 d.warc:5 d.warc:4 d.warc:6 "
is "statuses" "$(status "$tmp/out")" "new replaced new replaced kept kept new replaced kept"
run "$P" store export s
is "the kept pages" "$(column id "$tmp/out" | sort | tr '\n' ' ')" "d.warc:2 d.warc:3 d.warc:5 d.warc:6 "

awk 'BEGIN { print "#fingerprint\tid"; for (i = 0; i < 30000; i++) printf "00ff00ff00ff00ff\teq:%d\n", i }' >equal
"$P" store init --no-key -q eq
is "a page that replaces 30,000 equal ones in succession" \
	"$("$P" store add -q --on-duplicate=replace eq equal | column status | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" "30000 new 29999 replaced "
is "is the only one kept" "$("$P" store export -q eq | column id)" "eq:29999"

# same URL
echo "0f0f0f0f0f0f0f0f d.warc:20 http://b.example/1 2026-01-02T00:00:00Z 70" | fp >version
run "$P" store check s version
is "another version of a page is a page" "$(status "$tmp/out")" "new"
run "$P" store add s version --same-url=update -q
is "or replaces the old one" "$(status "$tmp/out") $(column reason "$tmp/out" | tail -n 1)" "new replaced another version of its URL"

# JSON
run "$P" store check s night1 --format=jsonl
is "answers as JSON" "$(python3 -c 'import json, sys; print(*[json.loads(l)["status"] for l in sys.stdin])' <"$tmp/out")" \
	"duplicate kept new duplicate kept kept"
run "$P" store info s --format=jsonl
is "info as JSON" "$(python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["pages"], d["k"], d["bits"])' <"$tmp/out")" "4 12 64"

# remove, compact, verify
run "$P" store remove s d.warc:20 d.warc:99
exits "a page that is not kept cannot be removed" 1
has "the message names it" "$tmp/err" 'd.warc:99 is not in the store'
run_in <(echo d.warc:6) "$P" store remove s
exits "ids from standard input" 0
run "$P" store remove s --by-url http://b.example/3
exits "by URL" 0
run "$P" store compact s -q
exits "compact" 0
run "$P" store info s
has "one page is left" "$tmp/out" '^pages	1$'
has "no removed page" "$tmp/out" '^gone	0$'
run "$P" store verify s
exits "verify" 0
has "the message says so" "$tmp/err" 'no damage'
run "$P" store export s
is "exported rows can be added" "$("$P" store init --no-key -q e && "$P" store add -q e "$tmp/out" | status)" "new"

# fp and back
run "$P" fp -q "$demo"
cp "$tmp/out" demo.fp
"$P" store init --no-key -q demo && "$P" store add -q demo demo.fp --no-verify >answers
"$P" store export -q demo >back
is "the rows are read back unchanged" "$(rows back | sort)" "$(awk -F '\t' 'NR == FNR { if ($12 == "new") want[$2]; next } !/^#/ && $2 in want' answers demo.fp | sort)"
is "with their header" "$(sed -n 's/ |.*//p;2q' back | head -n 1)" "$(sed -n 's/ |.*//p;2q' demo.fp | head -n 1)"

# refused calls
sed 's/shingle=2/shingle=3/' night1 >other
run "$P" store add s other
exits "other parameters are refused" 2
has "the message names it" "$tmp/err" 'other: made with other parameters than the store s \(shingle: 2 and 3\)'
sed 's/sketch=none/sketch=32x8x5/' night1 >k1 && "$P" store init --no-key -q k && "$P" store add -q k k1 >/dev/null
sed 's/sketch=none/sketch=64x4x5/' night1 >k2
run "$P" store add k k2
has "other sketches too" "$tmp/err" 'sketch: 32x8x5 and 64x4x5'
fp_rows 00000000 <<<"0000000000000000 x:1" >bare
run "$P" store add s bare
exits "rows without a header, of other parameters" 2
has "are named by their hash" "$tmp/err" 'bare:1: made with other parameters \(00000000\) than the store s'
fp_rows <<<"00000000000000000000000000000000 x:1" >wide
run "$P" store check p wide
has "fingerprints of another width" "$tmp/err" 'wide:1: a fingerprint of 128 bits; those of the store p have 64 bits'
{ fp_rows <<<"0123 x:1"; fp_rows <<<"0123456789abcdef x:2"; } >bad
run "$P" store add p bad
exits "a bad row is left out" 1
has "the message names it" "$tmp/err" "bad:1: '0123' is not a fingerprint"
is "the others are not" "$(status "$tmp/out")" "new"
for i in $(seq 130); do fp_rows <<<"0123 x:$i"; done >bad
run "$P" store check p bad
is "a hundred of very many bad rows are named" "$(grep -c 'is not a fingerprint' "$tmp/err")" 100
has "and the number of further ones" "$tmp/err" '^pagededup store: bad: 30 more are not listed$'
has "all of them counted" "$tmp/err" '130 bad rows left out'
cp -r s newer && sed -i 's/^pagededup store [0-9]*/pagededup store 9/' newer/manifest
run "$P" store check newer night1
exits "a newer store is refused" 2
has "and both versions named" "$tmp/err" 'a store of version 9; this program knows version 7'
run "$P" store add nothing night1
exits "no store" 2
has "the message says so" "$tmp/err" "there is no store nothing; make one with 'pagededup store init'"
run "$P" store check night1 night2
has "rows in the place of the store" "$tmp/err" "night1 is a file, not a store; name the store's folder first"
run "$P" store init --no-key night1
exits "a file becomes no store" 2
run "$P" store add demo/.. night1
has "a folder that is not a store" "$tmp/err" "is not a store, because it has no manifest; make one with 'pagededup store init'"
run "$P" store check "" night1
exits "a store without a name" 2
has "the operand is required" "$tmp/err" 'check: missing operand DIR'
for misuse in "" "frob s" "add" "init s more" "add s -k 3" "check s --on-duplicate=skip" "compact s --format=tsv" "init t --by-url"; do
	run "$P" store $misuse
	exits "misuse: store $misuse" 2
	has "hint: store $misuse" "$tmp/err" "Try 'pagededup store --help'"
done

# page by page, next to a second writer
mkfifo in
"$P" store add s -q --line-buffered <in >live 2>/dev/null &
exec 3>in
fp <<<"1234567812345678 live:1" >&3
for _ in $(seq 100); do grep -q 'live:1' live && break; sleep .1; done
is "an answer is written before the next row is read" "$(status live)" "new"
run "$P" store add s night1
exits "a second writer is refused" 2
has "the message gives the reason" "$tmp/err" 'another process is writing to s; wait until it has ended'
run "$P" store check s night1 -q
exits "a reader is not" 0
fp_rows a6b9263e <<<"1234567812345679 live:2" >&3
for _ in $(seq 100); do grep -q 'live:2' live && break; sleep .1; done
exec 3>&-
wait
is "and so on, row by row" "$(status live)" "new duplicate"

# damage
cp -r demo hurt && "$P" store compact -q hurt
segment=$(ls hurt/seg-*)
printf 'x' | dd of="$segment" bs=1 seek=5000 conv=notrunc status=none
run "$P" store verify hurt
exits "verify finds damage" 1
has "and names file and offset" "$tmp/err" "^pagededup store: $segment: damaged at offset 0: "
run "$P" store check hurt demo.fp
exits "check does not answer from it" 2
has "and names it too" "$tmp/err" "$segment: damaged at offset 0: "

run "$P" store export hurt
exits "export saves the rest" 1
has "the message names the loss" "$tmp/err" "$segment: damaged at offset 0: "
is "which is a kept page" "$(comm -23 <(rows "$tmp/out" | sort) <(rows back | sort) | wc -l)" 0
for what in 'cut short' 'not there'; do
	rm -rf hurt && "$P" store init --no-key -q hurt && "$P" store add -q hurt night1 >/dev/null && "$P" store compact -q hurt
	"$P" store add -q --same-url=update hurt version >/dev/null
	if [ "$what" = 'cut short' ]; then truncate -s -1000 hurt/seg-*; else rm hurt/seg-*; fi
	run "$P" store check hurt night1
	exits "a segment that is $what: check refuses" 2
	run "$P" store export hurt
	exits "a segment that is $what: export saves the log" 1
	is "a segment that is $what: with its page" "$(column id "$tmp/out" | tr '\n' ' ')" "d.warc:20 "
done

# a full disk
awk 'BEGIN { print "#fingerprint\tid\turl"; for (i = 0; i < 60000; i++) printf "%08x%08x\tx.warc:%d\thttp://a.example/%d\n", i * 2654435761 % 4294967296, i * 40503 % 4294967296, i, i }' >many
"$P" store init --no-key -q disk -k 1
(ulimit -f 2000; trap '' XFSZ; exec "$P" store add disk many) >got 2>err
is "a full disk" "$?" 2
has "the message says so" err 'cannot write disk/.*: File too large'
run "$P" store verify disk
exits "and does no damage" 0
awk -F '\t' '$12 == "new" { print $2 }' got | sort >told
at_least "some answers were given before" "$(wc -l <told)" 1000
is "pages reported before are kept" "$(comm -23 told <("$P" store export -q disk | column id | sort) | wc -l)" 0
run "$P" store add disk many -q
exits "and the same run again is done" 0

# killed
mkdir kill
run python3 "$TOP/tests/store_kill.py" "$P" kill 20
exits "killed 20 times" 0
has "and all records are kept" "$tmp/out" '^2[0-9] killed \(.*\), [0-9]+ reported, all kept$'
# Own ids and URLs.
tide='The tide mill at Pellow Creek grinds again after eighty quiet years and the people of the village came to see it turn'
printf '{"id":"%s","url":"%s","text":"%s"}\n' first http://a.example/ "$tide" second http://b.example/ "$tide" >own.jsonl
"$P" store init -q --no-key own
"$P" fp -q own.jsonl | "$P" store add -q own >own.answers
is "answers name the documents' own ids" "$(column user_id own.answers | paste -sd' ')" "first second"
is "and those of the stored page" "$(column dup_of_user_id own.answers | paste -sd' ')" "- first"
is "with its URL" "$(column dup_of_url own.answers | paste -sd' ')" "- http://a.example/"
tap_done
