#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tianwang's algorithms 2 to 5: keywords, their weights, and four ways to compare them; each finds all pairs of the
# stricter ones.
. "$(dirname "$0")/../tap.sh"

pages() { while IFS=$'\t' read -r name html; do printf '{"url":"http://%s.example/","html":"%s"}\n' "$name" "$html"; done; }
times() { for ((i = 0; i < $2; i++)); do printf '%s ' "$1"; done; } # WORD N
field() { rows "$1" | awk -F '\t' -v url="http://$2.example/" '$3 == url { print $NF }'; } # FILE PAGE: its keywords
part() { field "$1" "$2" | cut -d, -f"$3"; }
md5() { printf %s "$1" | md5sum | cut -c1-32; }
second=keywords:order=weight:sigma=1 third=keywords:order=weight fourth=keywords:order=sorted fifth=keywords:order=sorted:sigma=1
matched() { # FP METHOD: pairs of hosts
	"$P" match -q --all-pairs --method="$2" "$1" | rows /dev/stdin |
		awk -F '\t' '{ gsub(/http:\/\/|\.example\//, ""); printf "%s%s-%s", n++ ? " " : "", $6, $7 }'
}

# --- the documents' examples, from HTML ---
pages >pages.jsonl <<E
ab	<p>$(times mill 3) $(times wheel 2) once</p>
ba	<p>$(times mill 2) $(times wheel 3) once</p>
twice	<p>$(times mill 6) $(times wheel 4) once</p>
E
"$P" fp -q --stubs=match --method=keywords:n=2 pages.jsonl >two.fp
is "MD5 of the keywords by falling weight, nothing between them" "$(part two.fp ab 1) $(part two.fp ba 1)" "$(md5 millwheel) $(md5 wheelmill)"
is "and of the same sorted" "$(part two.fp ab 2) $(part two.fp ba 2)" "$(md5 millwheel) $(md5 millwheel)"
is "second: {a 3, b 2} and {a 2, b 3} do not match" "$(matched two.fp $second)" "ab-twice"
is "fifth: they do" "$(matched two.fp $fifth)" "ab-ba ab-twice ba-twice"
is "SIM of them is 1/13" "$("$P" match -q --all-pairs --method=$fifth two.fp | rows /dev/stdin | head -1 | cut -f4)" 0.923
is "fourth: sigma over 1/13" "$(matched two.fp $fourth:sigma=.0770)" "ab-ba"
is "fourth: sigma under 1/13" "$(matched two.fp $fourth:sigma=.0769)" ""
is "third: twice the weights are .2 apart" "$(matched two.fp $third:sigma=.199)|$(matched two.fp $third:sigma=.201)" "|ab-twice"
pages >pages.jsonl <<E
barn	<p>$(times mill 3) $(times wheel 2) barn stone</p>
river	<p>$(times mill 3) $(times wheel 2) river flood</p>
boat	<p>$(times boat 3) $(times oar 2) river flood</p>
E
"$P" fp -q --stubs=match --method=keywords:n=2 pages.jsonl >rest.fp
run "$P" compare --method=keywords:n=2 $(column id rest.fp | head -2)
has "SIM of equal weights is 0" "$tmp/out" '^keywords: match, similarity 100\.0%$'
run "$P" compare --method=keywords:n=2 $(column id rest.fp | tail -2)
has "SIM without common words is 1, even if the pages share other text" "$tmp/out" '^keywords: no match, other keys, similarity 0\.0%$'
is "SIM is of the keywords, not of all words" "$("$P" match -q --all-pairs --method=$third rest.fp | rows /dev/stdin | cut -f4)" 1.000

pages >pages.jsonl <<E
n	<p>$(times mill 5) $(times wheel 4) $(times stone 3) $(times river 2) barn</p>
swapped	<p>$(times mill 5) $(times wheel 4) $(times stone 2) $(times river 3) barn</p>
tie	<p>$(times mill 5) $(times wheel 5) $(times stone 5) the the the the the the the</p>
E
"$P" fp -q --stubs=match --method=keywords:n=3 pages.jsonl >three.fp
is "keywords n and n + 1 are exchanged: the pair is not found" "$(matched three.fp $fifth)" "n-tie"
is "words of equal weight are sorted by code point, and stop words are excluded" "$(part three.fp tie 1)" "$(md5 millstonewheel)"
"$P" fp -q --stubs=match --method=keywords:n=4 pages.jsonl >four.fp
is "not where both are in the list" "$(matched four.fp $fifth | tr ' ' '\n' | head -1)" "n-swapped"
run "$P" fp --stubs=match --method=keywords:n=5 pages.jsonl
exits "n larger than a page" 0
has "the message says so" "$tmp/err" 'keywords: 1 page with fewer keywords than requested; all of them were used'
is "and all records are kept" "$(part "$tmp/out" tie 1)" "$(md5 millstonewheel)"

# --- idf ---
pages >pages.jsonl <<E
cn	<p>磨坊的水车，的磨坊水车，磨坊。经济经济经济经济。</p>
one	<p>$(times mill 3) $(times wheel 2)</p>
two	<p>$(times mill 2) $(times stone 9)</p>
tw	<p>經濟</p>
E
"$P" fp -q --stubs=match --method=keywords:n=1 pages.jsonl >dict.fp
has "the header says which table" dict.fp ' methods=keywords:n=1 idf=dict end=total$'
is "the dictionary's: 磨坊 is rarer than 经济" "$(part dict.fp cn 1)" "$(md5 磨坊)"
run "$P" dict --idf-from=pages.jsonl -o pages.idf
exits "dict --idf-from" 0
same "counts pages with a word, in either script, not its occurrences" <(grep -E '^(mill|wheel|经济) ' pages.idf) \
	<(printf 'mill 0.916291\nwheel 1.609438\n经济 0.916291\n')
"$P" dict -q -j3 --idf-from=pages.jsonl -o threads.idf
same "the same for three threads" threads.idf pages.idf
same "sorted" pages.idf <(sort pages.idf)
cp pages.jsonl more.jsonl
"$P" dict -q --idf-from=pages.jsonl -o twice.idf more.jsonl
is "of two dumps" "$(grep '^mill ' twice.idf)" "mill 0.810930"
printf 'mill 1\nwheel 1.6\nstone .1\n' >small.idf
"$P" fp -q --stubs=match --method=keywords:n=1 --idf=small.idf pages.jsonl >small.fp
is "fp --idf: rare words weigh more" "$(part small.fp one 1) $(part small.fp two 1)" "$(md5 wheel) $(md5 mill)"
is "weights are tf times idf" "$(field small.fp one | grep -o '=[0-9.]*')" "=3.2"
is "a word that the table lacks has its median" "$(field small.fp cn | grep -o '=[0-9.]*')" "=4"
run "$P" match dict.fp small.fp
exits "rows weighed by other tables are not joined" 2
has "the message says so" "$tmp/err" "small.fp: 'keywords' signed its rows with another table \(idf=[0-9a-f]{8}\) than the rows before \(idf=dict\)"
while IFS=$'\t' read -r line message; do
	printf "mill 1\n$line\n" >bad.idf
	run "$P" fp --method=keywords --idf=bad.idf -o out.fp pages.jsonl
	exits "an idf file with '$line'" 2
	has "the message says so" "$tmp/err" "bad.idf:2: $message"
	absent "nothing is written" out.fp
done <<'E'
wheel 0	an idf must be over 0
wheel -1	an idf must be over 0
wheel nan	the idf is not a number
wheel inf	the idf is not a number
wheel 1x	the idf is not a number
wheel	not 'word idf'
wheel 1 2	not 'word idf'
\xff 1	the line is not UTF-8
E
: >empty.idf
run "$P" fp --method=keywords --idf=empty.idf pages.jsonl
exits "an empty one" 2
has "the message says so" "$tmp/err" 'empty.idf has no words'
run "$P" fp --method=exact --idf=small.idf pages.jsonl
exits "--idf without a method that weighs words" 2
has "the message says so" "$tmp/err" 'idf needs a --method that weighs words'
run "$P" dict --idf-from=pages.jsonl
exits "dict --idf-from without -o" 2
{ cat pages.jsonl; echo '{"url":'; } >broken.jsonl
run "$P" dict --idf-from=broken.jsonl -o broken.idf
exits "dict --idf-from of a dump with a damaged record" 1
has "the message names it" "$tmp/err" 'broken.jsonl:'
same "counts the others" broken.idf pages.idf
run "$P" dict --idf-from=pages.jsonl -o nowhere/pages.idf
exits "where the table cannot be written" 2
run_full() { "$P" dict --idf-from=pages.jsonl -o - >/dev/full 2>"$tmp/err"; code=$?; }
run_full
exits "or the disk is full" 2
run "$P" dict --idf=small.idf --idf-from=pages.jsonl -o x
exits "dict with both" 2
run "$P" dict --dict=x words -o x
exits "dict --dict without --idf-from" 2

# --- each way holds the stricter ones, pair by pair ---
holds() { # WHAT DUMP
	local m a b
	"$P" fp -q --method=keywords "$2" >all.fp
	for m in second third fourth fifth; do "$P" match -q --all-pairs --method="${!m}" all.fp | rows /dev/stdin | cut -f1,2 | sort >$m.pairs; done
	at_least "$1: third finds pairs" "$(wc -l <third.pairs)" 3
	while read -r a b; do is "$1: what $a finds $b finds" "$(comm -23 $a.pairs $b.pairs | head -3)" ""; done <<'E'
third second
second fifth
third fourth
fourth fifth
E
	is "$1: third finds what second and fourth both find" "$(comm -12 second.pairs fourth.pairs | cmp - third.pairs 2>&1)" ""
}
holds demo "$demo"
for m in keywords keywords:sigma=1 keywords:order=weight keywords:order=weight:sigma=1; do
	python3 "$TOP/tests/brute_methods.py" "$m" all.fp >brute
	"$P" match -q --all-pairs --method="$m" all.fp >found
	same "$m: the pairs of brute force" <(rows found | cut -f1,2) brute
done
for dump in neardup/transplant-dev sites/sites-dev; do
	if [ -e "${PAGEDEDUP_CORPORA:-}/$dump.warc.gz" ]; then holds "$dump" "$PAGEDEDUP_CORPORA/$dump.warc.gz"
	else skip "$dump" "needs PAGEDEDUP_CORPORA"; fi
done
tap_done
