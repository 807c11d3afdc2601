#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A page of nonsense that the program takes for another page (tests/forge_row.py): docs/security.md.  Without a key it removes the other page;
# with a key, the same page has no effect.
. "$(dirname "$0")/../tap.sh"

cat >victim.html <<'END'
<!DOCTYPE html><title>A walk along the river</title>
<h1>A walk along the river</h1>
<p>We left the village before sunrise, when the fog was still on the meadows and nobody was about but the miller's dog. The path follows the
bank for two hours; it passes three wooden bridges, an orchard, and the ruin of a tollhouse in which bats now sleep.</p>
<p>After the second bridge the valley narrows. The water is quick here, brown from the peat, and in April it carries whole branches down from
the forest. A fisherman told us that otters have returned, four of them at least, and that he counts their tracks every Sunday after mass.</p>
<p>We ate bread and cheese on a flat stone above the rapids, watched a heron that did not move for half an hour, and turned back when the church
bells across the water began to ring. The whole walk takes five hours at an easy pace, and there is a bus from the upper village at four.</p>
END
mkdir pages
sed 's/easy pace/brisk pace/' victim.html >pages/walk.html
"$P" fp -q victim.html >victim.fp
if ! python3 "$TOP/tests/forge_row.py" victim.fp >forged.html 2>forged.err; then
	skip "a forged page" "$(tail -n 1 forged.err)"	# ctypes finds no libxxhash
	tap_done
	exit
fi
cp victim.html forged.html pages
removed() { rows "$1" | awk -F '\t' '$4 == 1 { print $2 " by " $5 }' | sort; } # VERDICTS

# --- the attack, without a key ---
has "a forged page agrees in nearly all bins" forged.err '^425 words, 1[12][0-9] of 128 bins'
"$P" fp -q pages >plain.fp
"$P" match -q plain.fp | "$P" cluster -q >verdicts.tsv
is "without a key it removes the page and its copies" "$(removed verdicts.tsv)" "pages/victim.html by pages/forged.html
pages/walk.html by pages/forged.html"
"$P" fp -q forged.html >forged.fp
"$P" store init -q --no-key open && "$P" store add -q open forged.fp >/dev/null
is "and poisons a store" "$("$P" store check -q open victim.fp | rows /dev/stdin | cut -f 5,12)" "forged.html	duplicate"
"$P" fp -q --shingles=pages.pds pages >with.fp
"$P" match -q with.fp | "$P" cluster -q --shingles=pages.pds >verdicts.tsv
is "if cluster compares the texts, it keeps the page" "$(removed verdicts.tsv | grep -c forged)" 0
"$P" dedup -q pages -o plain-out >/dev/null 2>&1
is "and so does dedup" "$(removed plain-out/verdicts.tsv | grep -c forged)" 0

# --- the same page, with a key ---
echo 000102030405060708090a0b0c0d0e0f >key && chmod 600 key
run "$P" fp --key=key pages
exits "fp takes a key" 0
cp "$tmp/out" keyed.fp
"$P" match -q keyed.fp | "$P" cluster -q >verdicts.tsv
is "with a key the forged page removes nothing, and copies are still found" "$(removed verdicts.tsv)" "pages/walk.html by pages/victim.html"
is "fp gives the same bytes for any number of threads" "$("$P" fp -q -j 1 --key=key pages | cksum)" "$("$P" fp -q -j 4 --key=key pages | cksum)"
has "the header names the key" keyed.fp ' key=[0-9a-f]{16} probe='
hasnt "and does not reveal it" keyed.fp '0001020304050607|0706050403020100'
# These values are in stores: another value needs another version of the fingerprint.
is "a keyed row has not changed" "$(rows keyed.fp | awk -F '\t' '$2 == "pages/victim.html" { print $1, $6, substr($14, 1, 32), $17 }')" "7873c1744a6de322 01854fe65f5e536afc3823bf9c4aaea6 24e3ecb10700d7a44c072f94e8298992 a0e5785ba0e5785b"
for bits in 128 256; do
	"$P" fp -q --key=key --bits=$bits victim.html | rows /dev/stdin | cut -f 1
done >wide
is "wider fingerprints are keyed, too" "$(cat wide)" "28afae081df27ac987fe8f2b9bba329f
28afae081df27ac987fe8f2b9bba329f220394b999c3ad47da31e090781ab8fd"
is "no value is that of a page without a key" "$("$P" fp -q victim.html --method=simhash,exact,segments,overlap,vsm,punctuation,semantic:hash=xxh3 >plain; "$P" fp -q --key=key \
	victim.html --method=simhash,exact,segments,overlap,vsm,punctuation,semantic:hash=xxh3 >keyed; awk -F '\t' '/^#fingerprint/ { split($0, name) }
	!/^#/ { for (i = 1; i <= NF; i++) if (NR == FNR) was[i] = $i; else if (i != 17 && $i == was[i] && length($i) >= 16 && $i !~ /-/) print name[i] }' plain keyed)" \
	"content_digest"

# --- rows with other keys ---
echo f0e0d0c0b0a090807060504030201000 >other && chmod 600 other
"$P" fp -q --key=other victim.html >other.fp
run "$P" match keyed.fp other.fp
exits "rows with other keys are refused" 2
has "the message gives the reason" "$tmp/err" 'key: [0-9a-f]{16} and [0-9a-f]{16}: their secret keys differ; make both again with the same `--key`'
run "$P" match keyed.fp victim.fp
exits "rows without a key as well" 2
has "the message gives the reason" "$tmp/err" 'one was made with a secret key, the other without'
run "$P" match --save=keyed.pdk keyed.fp
run "$P" match keyed.pdk other.fp
exits "a file of keys keeps the id" 2
has "the message says so" "$tmp/err" 'their secret keys differ'
run "$P" fp --key=victim.html victim.html
exits "an invalid key is refused" 2
has "the message gives the reason" "$tmp/err" 'victim.html: not a key; make one with'
run "$P" fp --key=missing victim.html
exits "also a missing key" 2
run "$P" fp --key=key --hash=rabin victim.html
exits "rabin takes no key" 2
has "the message gives the reason" "$tmp/err" 'the hash rabin takes no key'
run "$P" fp --key=key --method=exact:hash=rabin64 victim.html
exits "in a method, too" 2
chmod 644 other
run "$P" fp --key=other victim.html
exits "a key that others can read is used" 0
has "with a note" "$tmp/err" "other: other users can read this key; run 'chmod 600 other'"

# --- a store has a key ---
run "$P" store init kept
exits "init makes a key" 0
has "and describes its use" "$tmp/err" "it has a key; make its rows with 'pagededup fp --key=kept/key'"
is "that only the owner can read" "$(stat -c %a kept/key)" 600
has "of 32 hex digits" kept/key '^[0-9a-f]{32}$'
run "$P" store init kept
exits "a second init changes nothing" 0
"$P" store init -q another
is "each store has a different one" "$(cat kept/key another/key | sort -u | wc -l)" 2
run "$P" store add kept victim.fp
exits "rows without a key are refused" 2
has "with the command that makes them" "$tmp/err" "victim.fp: its rows were made without a key, and the store kept has the key kept/key: make them with 'pagededup fp --key=kept/key'"
run "$P" store check kept other.fp
has "rows with another key are refused" "$tmp/err" "other.fp: its rows were made with another key"
rows victim.fp >headless.fp
run "$P" store add kept headless.fp
exits "rows without it are refused" 2
has "the message gives the reason" "$tmp/err" 'no header names the key of this row'
"$P" fp -q --key=kept/key forged.html | "$P" store add -q kept >/dev/null
is "a forged page does not poison it" "$("$P" fp -q --key=kept/key victim.html | "$P" store add -q kept | rows /dev/stdin | cut -f 5,12)" "-	new"
is "and the copies are still found" "$("$P" fp -q --key=kept/key pages/walk.html | "$P" store check -q kept | rows /dev/stdin | cut -f 5,12)" "victim.html	duplicate"
rows <("$P" fp -q --key=kept/key pages/walk.html) >headless.fp
is "rows without a header name the key by their parameters" "$("$P" store check -q kept headless.fp | rows /dev/stdin | cut -f 5,12)" "victim.html	duplicate"
"$P" store init -q --key=kept/key second
is "a key can be taken along" "$(cat second/key)" "$(cat kept/key)"
is "with the rows" "$("$P" store export -q kept | "$P" store add -q second | rows /dev/stdin | cut -f 12 | sort -u)" new
run "$P" store init --key=key second
exits "another key than the store has is refused" 2
has "the message gives the reason" "$tmp/err" 'second has another key, second/key'
run "$P" store init --no-key second
exits "no key, too" 2
run "$P" store init --key=key open
exits "and a key for a store without one" 2
has "the message gives the reason" "$tmp/err" 'open is already a store, without a key'
run "$P" store init open
exits "a store without a key does not change" 0
run "$P" store init --key=key --no-key neither
exits "both make no sense" 2
run "$P" store add --key=key kept victim.fp
exits "only init takes a key" 2
mkdir copied && cp key copied && "$P" store init -q copied
is "a key that is in the folder is used" "$(cat copied/key)" "$(cat key)"
echo nonsense >kept/key
run "$P" store add kept victim.fp
exits "a damaged key is an error" 2
has "the message gives the reason" "$tmp/err" 'kept/key: damaged: a key is 32 hex digits; copy the key from a backup'
run "$P" store verify kept
exits "that verify finds" 1
cp second/key kept/key
rm second/key
run "$P" store add second victim.fp
exits "without the file the manifest knows the key" 2
has "the message gives the reason" "$tmp/err" 'one was made with a secret key, the other without'

# --- dedup against the rows of an earlier run ---
mkdir tonight && cp victim.html tonight
"$P" dedup -q --against=forged.fp tonight -o open-out >/dev/null 2>&1
is "without a key a forged page of an earlier run removes the page" "$(removed open-out/verdicts.tsv)" "tonight/victim.html by forged.html"
"$P" fp -q --key=key forged.html >earlier.fp
run "$P" dedup --against=earlier.fp tonight -o refused
exits "rows with a key need the key" 2
has "the message gives the reason" "$tmp/err" 'one was made with a secret key, the other without'
run "$P" dedup --key=key --against=earlier.fp tonight -o keyed-out
exits "with the key" 0
is "the page is kept" "$(removed keyed-out/verdicts.tsv)" ""
"$P" fp -q --key=key pages/walk.html >earlier.fp
"$P" dedup -q --key=key --against=earlier.fp tonight -o copy-out >/dev/null 2>&1
is "and a copy of an earlier page is removed" "$(removed copy-out/verdicts.tsv)" "tonight/victim.html by pages/walk.html"
tap_done
