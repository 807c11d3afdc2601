#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Overlap of keywords: the set of a page, the match of two sets, and the error that the source names: pages of one
# topic.
. "$(dirname "$0")/../tap.sh"

pages() { while IFS=$'\t' read -r name html; do printf '{"url":"http://%s.example/","html":"%s"}\n' "$name" "$html"; done; }
items() { rows "$1" | awk -F '\t' -v url="http://$2.example/" '$3 == url { print $NF }' | fold -w16 | sed '/^$/d' | sort; } # FILE PAGE
words() { for w; do items words.fp "$w"; done | sort; } # the items of pages whose title is this word

text='The mill has a stone. The river flows past the barn, not the stone. One wheel drives the stone. An axle turns the wheel.'
{
	for w in mill wheel stone axle river barn; do printf '%s\t<title>%s</title><p>Nothing</p>\n' $w $w; done
	printf 'page\t<title>The mill and the wheel</title><p>%s</p>\n' "$text"
	printf 'heading\t<h1>Mill, wheel</h1><p>%s</p><h2>River</h2>\n' "$text"
	printf 'none\t<p>%s</p>\n' "$text"
	printf 'cn\t<title>磨坊</title><p>磨坊的水车。河流经过谷仓。</p>\n'
	printf 'tw\t<title>磨坊</title><p>磨坊的水車。另一條河流。</p>\n'
} | pages >pages.jsonl
sign() { "$P" fp -q --stubs=match --method="overlap:n=$1" pages.jsonl; }
sign 0 >words.fp
same "n=0: the title's keywords, no stop words" <(items words.fp page) <(words mill wheel)
sign 1 >one.fp
same "n=1: and the term that shares most sentences with one of them" <(items one.fp page) <(words mill wheel stone)
sign 100 >all.fp
is "not pages that share no term" "$(items all.fp page | comm -12 - <(words river barn))" ""
same "all that do" <(items all.fp page | comm -12 - <(words mill wheel stone axle)) <(words mill wheel stone axle)
same "without <title> the first heading is one" <(items all.fp heading) <(items all.fp page)
is "without both there are no keywords" "$(items all.fp none)" -
same "Chinese sentences, in either script" <(items all.fp cn) <(items all.fp tw)

# --- items beyond the cap are counted and reported ---
stat() { python3 -c 'import json, sys; s = json.load(open("stats.json"))["methods"]["overlap"]; print(s["pages"], s["capped"])'; }
run "$P" fp --stubs=match --method=overlap:n=2 --stats=stats.json pages.jsonl
has "n=2: two pages have four" "$tmp/err" '^pagededup fp: overlap: only the n terms most related to the title were used on 2 pages$'
is "as --stats says" "$(stat)" "10 2"
related() { sign 10000 | rows /dev/stdin | awk -F '\t' -v n="$1" '$NF != "-" && length($NF) / 16 > n' | wc -l; }
is "n=3: only pages with over three terms in addition to two of the title" "$("$P" fp -q --stubs=match --method=overlap:n=3 --stats=stats.json pages.jsonl >out.fp; stat)" "10 $(related 5)"
is "n=4: no page" "$("$P" fp -q --stubs=match --method=overlap:n=4 --stats=stats.json pages.jsonl >out.fp; stat)" "10 0"
run "$P" fp --stubs=match --method=overlap --stats=stats.json pages.jsonl
hasnt "n=100: no page is capped, no message" "$tmp/err" 'were taken'
is "or counted" "$(stat)" "10 0"

{
	printf 'mill\t<title>mill</title><p>Nothing</p>\nwheel\t<title>wheel</title><p>Nothing</p>\n'
	printf 'once\t<title>mill</title><p>The mill axle, axle and axle. The mill wheel. Our mill wheel.</p>\n'
} | pages >pages.jsonl
sign 0 >words.fp
sign 1 >one.fp
same "a term counts once in a sentence" <(items one.fp once) <(words mill wheel)

# --- when sets match ---
{
	printf 'ten\t<title>a1 a2 a3 a4 a5 a6 a7 a8 a9 a10</title><p>x</p>\n'
	printf 'eight\t<title>a1 a2 a3 a4 a5 a6 a7 a8 b1 b2 b3 b4</title><p>x</p>\n'
	printf 'nine\t<title>a1 a2 a3 a4 a5 a6 a7 a8 a9 c1 c2 c3</title><p>x</p>\n'
} | pages >pages.jsonl
sign 0 >share.fp
matched() { "$P" match -q --all-pairs --method="overlap:$1" share.fp | rows /dev/stdin | awk -F '\t' '{ gsub(/http:\/\/|\.example\//, ""); printf "%s-%s ", $6, $7 }'; }
is "exactly .8 of the smaller set is not over .8" "$(matched shared=1:share=.8)" "ten-nine "
is "over .79 it is" "$(matched shared=1:share=.79)" "ten-eight ten-nine "
is "nine are shared, and ten are required" "$(matched shared=10:share=.5)" ""
is "nine are" "$(matched shared=9:share=.5)" "ten-nine "

# --- its error ---
topic() { # NAME TEXT: under the title of one event
	printf '%s\t<title>Flood in Harbor County: the mill bridge is closed</title><p>%s</p>\n' "$1" "$2"
}
{
	topic monday 'The flood reached Harbor County on Monday. The mill bridge in Harbor County is closed since the flood. Nobody was hurt.'
	topic friday 'On Friday the county said that the mill bridge stays closed: the flood took a pier. Harbor engineers hope for June.'
} | pages >pages.jsonl
"$P" fp -q --method=simhash,overlap:n=5 pages.jsonl >topic.fp
is "two reports of one event are one page to it" "$("$P" match -q --method=overlap:shared=5:share=.5 topic.fp | rows /dev/stdin | wc -l)" 1
is "not to the default" "$("$P" match -q --method=simhash topic.fp | rows /dev/stdin | wc -l)" 0
n163=${PAGEDEDUP_CORPORA:-}/extraction/n163
if [ -d "$n163" ]; then
	"$P" fp -q --method=overlap:n=10 "$n163" >n163.fp
	found() { "$P" match -q --all-pairs --method="overlap:shared=1:share=$1" n163.fp | rows /dev/stdin | wc -l; }
	at_least "articles of one site that are all different: pairs over a fifth" "$(found .2)" 50
	is "no pair over half" "$(found .5)" 0
else
	skip "articles of one site" "needs PAGEDEDUP_CORPORA"
fi
tap_done
