#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Forged pages: nonsense words whose hashes are those of another page's terms.  Whoever knows the program can compute them; dedup
# removes no page for one.
. "$(dirname "$0")/../tap.sh"
forge="$(cd "$TOP" && realpath "${B:-build}/tests/forge")"

# --- the sketch of the page, a fingerprint near its own, none of its text ---
text="The council met on Tuesday evening to discuss the new bridge over the river. Residents of the old harbour asked for a wider path for bicycles, and the engineer promised to show another drawing before the summer. A vote is planned for the second week of September."
mkdir pages
echo "<html><title>News</title><body><p>$text</p></body></html>" >pages/victim.html
tr -cs 'A-Za-z' ' ' <<<"$text" | tr A-Z a-z | "$forge" >forged.txt 2>forged.cost
has "about a million hash evaluations forge a page" forged.cost '^47 words, [0-3] bits from the fingerprint, 10[0-9]{5} hash evaluations$'
echo "<html><title>News</title><body><p>$(cat forged.txt)</p></body></html>" >pages/forged.html
"$P" fp -q pages >pages.fp
is "its sketch is that of the page" "$(column sketch pages.fp | sort -u | wc -l)" 1
is "its text is another" "$(column text_digest pages.fp | sort -u | wc -l)" 2
has "compare says so" <("$P" compare pages/victim.html pages/forged.html) '^similarity: 1\.000 by the sketches, 0\.000 exactly '
"$P" match -q pages.fp >pages.pairs
is "match pairs them" "$(rows pages.pairs | wc -l)" 1
for i in 1 2 3; do
	run "$P" dedup pages -o out$i
	exits "dedup, secret $i" 0
	is "both are kept, secret $i" "$(ls out$i/pages)" "$(ls pages)"
	has "and the last one is counted, secret $i" "$tmp/err" ' 0 duplicates, kept 1 near-duplicate whose removal would lose over 15% of their text'
	absent "the secret does not outlive the run, secret $i" "out$i/.dedup/secret"
done
is "the same for any secret" "$(cd out1 && sha1sum report.html stats.json verdicts.tsv)" "$(cd out2 && sha1sum report.html stats.json verdicts.tsv)"

# --- the digest of a text that is another ---
# Short pages have no fingerprint: they are paired by the digests of their texts, which are changed here in the rows.
printf '{"url": "http://%s.example/", "text": "%s"}\n' a 'one two three' b 'four five six' c 'one two three' >short.jsonl
"$P" fp -q --shingles=short.shingles short.jsonl >short.fp
digest=$(column text_digest short.fp | head -n 1)
awk -F '\t' -v OFS='\t' -v digest="$digest" '!/^#/ { $6 = digest } { print }' short.fp | "$P" match -q >short.pairs
is "three pages with one digest" "$(rows short.pairs | wc -l)" 2
run "$P" cluster -q --shingles=short.shingles short.pairs
is "only the copy is removed" "$(rows "$tmp/out" | awk -F '\t' '$4 == 1 { print $3 }')" http://c.example/
has "all of its text is kept" "$tmp/out" '	same text	-	0\.000	-	'

# --- a key ---
echo 000102030405060708090a0b0c0d0e0f >key && chmod 600 key
"$P" fp -q --shingles=plain.shingles "$demo" | "$P" match -q >plain.pairs
"$P" fp -q --key=key --shingles=keyed.shingles "$demo" | "$P" match -q >keyed.pairs
"$P" cluster -q --shingles=plain.shingles plain.pairs >plain.v
run "$P" cluster --shingles=keyed.shingles keyed.pairs
exits "cluster with shingles of fp --key" 0
hasnt "it compares texts" "$tmp/err" 'by sketches only'
last() { LC_ALL=C tail -c 800 "$1" | head -c 700 | cksum; } # FILE: of its last shingles
is "they have other hashes" "$([ "$(last plain.shingles)" = "$(last keyed.shingles)" ] || echo other)" other

# --- files of shingles of 32 bits ---
{ printf '\x89PDS\r\n\x1a\n\x01\0\0\0\x03\0\0\0k=v'; head -c 16 /dev/zero; } >old.shingles
run "$P" cluster -q --shingles=old.shingles short.pairs
exits "version 1" 2
has "version 1: what to do" "$tmp/err" "old.shingles has version 1 of the format, and this program reads version 2: write it again with 'pagededup fp --shingles'"
tap_done
