#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Placeholder pages are flagged, counted, and match nothing; --stubs=match lets them match.
. "$(dirname "$0")/../tap.sh"

page() { printf '{"url":"http://%s.example/%s","html":"%s"}\n' "$1" "$2" "$3"; }
text='<p>The mill stood empty for forty years before the county bought it, and nobody knew what to do with the wheel.</p><p>Two brothers from the next valley offered to repair it without pay if they were allowed to grind their own corn.</p>'
{
	for i in 1 2 3; do
		page shop old$i '<title>Moved</title><meta http-equiv=refresh content=0;url=/new><p>This page is now somewhere else, and you will find it there in a moment.'
		page shop gone$i '<title>Page not found | Shop</title><h1>Not found</h1><p>The page that you wanted is not here any more, try the search or go back home.'
		page shop in$i '<title>Sign in</title><h1>Sign in</h1><p>Enter your name and your password to go on to the page that you wanted to see.'
		page app$i view$i '<title>Ledger</title><div id=app></div>'
		page shop mill$i "<title>The mill</title><h1>The mill</h1>$text"
	done
} >pages.jsonl

run "$P" fp pages.jsonl
exits "fp" 0
cp "$tmp/out" pages.fp
has "the closing line counts them by kind" "$tmp/err" \
	'15 pages, 12 cannot match \(3 redirects, 3 error pages, 3 access walls, 3 without text\)'
for flag in redirect error-page access-wall no-text; do
	is "rows are flagged $flag" "$(column flags pages.fp | grep -c "\b$flag\b")" 3
done
is "they have no fingerprint, text digest or sketch" \
	"$(paste <(column fingerprint pages.fp) <(column text_digest pages.fp) <(column sketch pages.fp) | grep -c -x -e $'-\t-\t-')" 12
run "$P" match --all-pairs pages.fp
is "nothing matches them" "$(rows "$tmp/out" | wc -l)" 3
run "$P" fp --stats=stats.json pages.jsonl
has "--stats counts them" stats.json '"not_matched": *\{"redirect": *3, *"error-page": *3, *"access-wall": *3, *"no-text": *3\}'
run "$P" fp --stubs=match pages.jsonl
cp "$tmp/out" matched.fp
is "--stubs=match flags them" "$(column flags matched.fp | grep -c -e redirect -e error-page -e access-wall -e no-text)" 12
run "$P" match --all-pairs matched.fp
is "and has them matched, as any other page" "$(rows "$tmp/out" | grep -c -e /gone -e /in)" 6
run "$P" match pages.fp matched.fp
exits "rows of both kinds cannot be matched" 2
has "the message says so" "$tmp/err" 'stubs: skip and match'
"$P" fp --learn-boilerplate -j3 pages.jsonl >learned.fp 2>/dev/null
is "the same where sites are learned" "$(column fingerprint learned.fp | grep -c -x -e -)" 12
# A text long enough for a fingerprint that is all title: it is a page, also if no fingerprint is requested.
same "all kinds are flagged the same without fingerprints" <(column flags pages.fp) <("$P" fp -q --method=exact pages.jsonl | column flags)
page shop said '<title>The mill stood empty for forty years before the county bought it</title><p>The mill stood empty for forty years before the county bought it' >title.jsonl
for method in simhash exact exact:of=visible segments simhash,exact; do
	hasnt "a title that is said again is text: $method" <("$P" fp -q --method=$method title.jsonl | column flags) no-text
done
tap_done
