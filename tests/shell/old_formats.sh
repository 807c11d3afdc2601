#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files of older versions (tests/data/old) are read, and a damaged one is refused; store_golden.sh does this for stores.
. "$(dirname "$0")/../tap.sh"
old=$TOP/tests/data/old
# Copy a file with one bit changed.
damage() { # FILE COPY OFFSET
	python3 -c 'import sys
b = bytearray(open(sys.argv[1], "rb").read())
b[int(sys.argv[3])] ^= 16
open(sys.argv[2], "wb").write(b)' "$@"
}

for mode in exact features site-features; do
	seen() { run "$P" url --mode=$mode $([ $mode = exact ] || echo --count=10 --error=.01) --print=none --seen="$1" "$old/urls"; }
	cp "$old/$mode-1.seen" mine
	seen mine
	has "seen URLs 1, $mode: all are known" "$tmp/err" '3 URLs, 0 new, 3 seen'
	seen new
	same "seen URLs 1, $mode: the file is as a new one then" mine new
	for at in 8 13 20 40 50 -1; do
		damage "$old/$mode-1.seen" hurt $at
		seen hurt
		exits "seen URLs 1, $mode: a bit changed at $at" 2
	done
	rm new
done

run "$P" match -q "$old/demo-3.keys"
same "key file 3: its pairs" "$tmp/out" "$old/demo-3.pairs"
"$P" match -q --save=new.keys "$old/demo-3.keys" 2>"$tmp/err"
run "$P" match -q new.keys
same "key file 3: its pairs when it is saved again" "$tmp/out" "$old/demo-3.pairs"
for at in 8 12 20 30 60 299 310 -1; do
	damage "$old/demo-3.keys" hurt $at
	run "$P" match -q hurt
	exits "key file 3: a bit changed at $at" 2
done

"$P" dict -q -o new.dict "$old/words.txt"
run "$P" fp -q --dict=new.dict --shingle=1 "$demo"
cp "$tmp/out" want
run "$P" fp -q --dict="$old/words-3.dict" --shingle=1 "$demo"
same "dictionary 3: rows are as with a new one of the same words" "$tmp/out" want
for at in 8 12 20 30 60 100 300 -1; do
	damage "$old/words-3.dict" hurt $at
	run "$P" fp -q --dict=hurt "$demo"
	exits "dictionary 3: a bit changed at $at" 2
done

# Four pages; the first is an excerpt of the second.  Only the lists of a block have checksums.
texts() { run "$P" cluster -q --keep=least-loss --shingles="$1" "$old/pages.pairs"; }
cp "$old/pages.jsonl" .
"$P" fp -q --shingles=new.shingles pages.jsonl | "$P" match -q | "$P" cluster -q --keep=least-loss --shingles=new.shingles >want
texts "$old/pages-2.shingles"
has "shingles 2: the texts are compared" "$tmp/out" 'of its text'
is "shingles 2: the verdicts are the same as with a new file, except the digest of the settings" "$(rows "$tmp/out" | cut -f -16)" "$(rows want | cut -f -16)"
for at in 8 12 232 240 250 300 320; do
	damage "$old/pages-2.shingles" hurt $at
	texts hurt
	exits "shingles 2: a bit changed at $at" 2
done

run "$P" boilerplate --print "$old/site-1.bp"
is "boilerplate 1: its lines" "$(sed 1d "$tmp/out")" "$(sed 1d "$old/site.print")"
run "$P" boilerplate --merge "$old/site-1.bp" "$old/site-1.bp" -o merged.bp
exits "boilerplate 1: it is merged" 0
run "$P" boilerplate --print merged.bp
is "boilerplate 1: its lines when it is merged" "$(sed 1d "$tmp/out")" "$(sed 1d "$old/site.print")"
for at in 0 8 24 30 33 41 50 64 90 110 140 -1; do
	damage "$old/site-1.bp" hurt $at
	run "$P" boilerplate --print hurt
	exits "boilerplate 1: a bit changed at $at" 2
done

tap_done
