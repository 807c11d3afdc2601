#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The commands to look with: text, show, compare, info, version.
. "$(dirname "$0")/../tap.sh"
cp "$demo" d.warc.gz
"$P" fp -q d.warc.gz >d.fp
pages=$(rows d.fp | wc -l)
mapfile -t ids < <(column id d.fp)
mapfile -t urls < <(column url d.fp)

# --- text ---
run "$P" text d.warc.gz
exits "text" 0
cp "$tmp/out" d.jsonl
has "text: a closing line" "$tmp/err" "^pagededup text: $pages pages"
is "text: one line a page" "$(wc -l <d.jsonl)" "$pages"
json() { python3 -c 'import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(eval(sys.argv[2]))' "$@" 2>&1; }
is "text: each line is JSON with the keys as designed, in their order" "$(json d.jsonl '{",".join(r) for r in rows}')" \
	"{'id,url,title,timestamp,text,keywords,description,anchor_text'}"
is "text: ids and URLs agree with fp" "$(json d.jsonl '"\n".join(r["id"] + "\t" + r["url"] for r in rows)')" "$(rows d.fp | cut -f 2,3)"
is "text: the bytes of text agree with fp" "$(json d.jsonl '"\n".join(str(len(r["text"].encode())) for r in rows)')" "$(column text_bytes d.fp)"
is "text: Chinese in GBK becomes UTF-8" "$(json d.jsonl 'sum("采茶人" in r["text"] for r in rows) > 1')" True
is "text: nothing in a text is an unescaped control character" "$(json d.jsonl 'any(ord(c) < 32 and c not in "\n\t" for r in rows for c in r["text"])')" False
while IFS=$'\t' read -r content sentence; do
	at_least "text: the main text of $content is there" "$(grep -cF "$sentence" d.jsonl)" "$(grep -cP "\t$content\t[01]\t" "$TOP/demo/truth.tsv")"
done < <(for a in en-battery-sorting en-night-train; do printf '%s\t%s\n' $a "$(tail -n +2 "$TOP/demo/articles/$a.txt" | grep . | sed -n 2p | cut -c 1-40)"; done)
run "$P" text --preset=paper d.warc.gz
exits "text --preset=paper" 0
is "text --preset=paper: the same number of pages" "$(wc -l <"$tmp/out")" "$pages"
# Blocks are those of explain, which prints their texts with a mark before each line.
run "$P" text --blocks d.warc.gz
exits "text --blocks" 0
cp "$tmp/out" blocks.jsonl
is "text --blocks: keys" "$(json blocks.jsonl '{",".join(r) for r in rows}')" "{'id,url,kind,text,markup,anchor_text,links'}"
is "text --blocks: the pages with blocks, in order" "$(json blocks.jsonl '"\n".join(dict.fromkeys(r["id"] for r in rows))')" \
	"$(for id in "${ids[@]}"; do "$P" explain --stage=blocks "$id" | grep -q ^block && echo "$id"; done)"
same "text --blocks: kind, links, text, anchor text and markup" <(json blocks.jsonl '"\n".join(
	"\n".join(["%s %d" % (r["kind"], r["links"])] + [m + line for m, key in (("  | ", "text"), ("  a ", "anchor_text"), ("  < ", "markup")) for line in ((r[key] or "") + "\n").split("\n")[:-1] if r[key]])
	for r in rows if r["id"] in ("'"${ids[0]}"'", "'"${ids[5]}"'"))') \
	<(for id in "${ids[0]}" "${ids[5]}"; do "$P" explain --stage=blocks --markup "$id" | sed -E 's/^block [0-9]+ ([a-z]+) .* links=([0-9]+)$/\1 \2/'; done)

# --- show ---
for stage in utf8 html blocks terms topic features signature; do
	run "$P" show --stage=$stage "${ids[5]}"
	exits "show --stage=$stage" 0
	at_least "show --stage=$stage prints something" "$(wc -l <"$tmp/out")" 5
	run "$P" show --stage=$stage "$TOP/tests/golden/en-article-html5/page.html"
	exits "show --stage=$stage of a plain file" 0
	at_least "show --stage=$stage of a plain file prints something" "$(wc -l <"$tmp/out")" 5
done
run "$P" show "${ids[5]}" && cp "$tmp/out" topic
run "$P" show --stage=topic "${ids[5]}"
same "topic is the stage without --stage" "$tmp/out" topic
run "$P" show -s terms "${ids[5]}"
is "the number of terms of the main text is the same as in fp" "$(awk '/^feature/ { on = $2 == "text"; next } on' "$tmp/out" | wc -l)" "$(column terms d.fp | sed -n 6p)"
run "$P" show -s signature --bits=128 "${ids[5]}"
has "options that shape the fingerprint count" "$tmp/out" '^fingerprint: [0-9a-f]{32}$'
run "$P" show -s signature --preset=paper "${ids[5]}"
is "show --preset=paper is fp --preset=paper" "$(awk '/^fingerprint/ { print $2 }' "$tmp/out")" \
	"$("$P" fp -q --preset=paper d.warc.gz | column fingerprint | sed -n 6p)"
run "$P" show -s signature --preset=paper --shingle=2 --hash=xxh3 "${ids[5]}" && cp "$tmp/out" want
run "$P" show -s signature --shingle=2 --hash=xxh3 --preset=paper "${ids[5]}"
same "other options override a preset at any position" "$tmp/out" want
run "$P" show -s utf8 "${ids[34]}"
has "utf8 says how the charset was decided" <(head -1 "$tmp/out") '^# charset [a-z0-9-]+, decided by (bom|http|meta|xml|detected|default)'
run "$P" show "--url=${urls[5]}" d.warc.gz && cp "$tmp/out" by-url
exits "show --url with one hit" 0
same "show --url shows the page of that URL" by-url topic
cat d.warc.gz d.warc.gz >two.warc.gz
run "$P" show "--url=${urls[5]}" two.warc.gz
exits "show --url with two hits" 2
empty "show --url with two hits prints no page" "$tmp/out"
is "show --url with two hits lists both ids" "$(grep -oE 'two\.warc\.gz:[0-9]+' "$tmp/err")" \
	"$(column id <("$P" fp -q two.warc.gz) | awk -v n="$pages" 'NR % n == 6')"
run "$P" show --url=http://nowhere.example/ d.warc.gz
exits "show --url with no hit" 2
has "show --url with no hit names the URL" "$tmp/err" 'http://nowhere\.example/'
run_in d.warc.gz "$P" show "--url=${urls[5]}" -
echo "# show --url on standard input: exit $code, $(head -1 "$tmp/err")"
run "$P" show "--url=${urls[5]}" d.warc.gz two.warc.gz
is "show --url looks in every input" "$code $(grep -c 'warc\.gz:[0-9]' "$tmp/err")" "2 3"

# --- compare ---
a=${ids[0]} b=${ids[2]}
"$P" match -q -k 16 --all-pairs d.fp >pairs.tsv
distance=$(rows pairs.tsv | awk -F '\t' -v a="$a" -v b="$b" '$1 == a && $2 == b { print $3 }')
run "$P" compare "$a" "$b"
exits "compare" 0
has "compare: the distance is match's" "$tmp/out" "^distance: $distance of 64 bits"
has "compare: similarity" "$tmp/out" '^similarity: [0-9]+\.[0-9]%'
has "compare: lines" "$tmp/out" '^lines of main text: [0-9]+ shared'
has "compare names both pages" "$tmp/out" "^b: $b"
run "$P" compare "$a" "$a"
has "compare a page with itself: distance 0" "$tmp/out" '^distance: 0 '
has "compare a page with itself: same text" "$tmp/out" '^same text: yes'
has "compare a page with itself: similarity 1" "$tmp/out" '^similarity: 100\.0%'
run "$P" compare "--url=${urls[0]}" "--url=${urls[2]}" d.warc.gz
exits "compare by URL" 0
has "compare by URL: the same" "$tmp/out" "^distance: $distance of 64 bits"
run "$P" compare "--url=${urls[0]}" "--url=http://nowhere.example/" d.warc.gz
exits "compare with a URL that is not there" 2
run "$P" compare "$TOP/tests/golden/en-article-html5/page.html" "$TOP/tests/golden/en-empty/page.html"
exits "compare of two files, one without a fingerprint" 0
hasnt "compare without a fingerprint gives no distance" "$tmp/out" '^distance: [0-9]'

# --- info, version ---
run "$P" info
exits "info" 0
has "info prints the dictionary's checksum" "$tmp/out" '^dictionary +[0-9a-f]{16}, [0-9]{6,} words'
is "info's checksum is in the header of fp" "$(awk '/^dictionary/ { sub(/,/, ""); print $2 }' "$tmp/out")" \
	"$(sed -n '1s/.* dict=\([0-9a-f]*\).*/\1/p' d.fp)"
is "info prints the parameters' hash" "$(awk '/^params/ { print $2 }' "$tmp/out")" "$(column params d.fp | head -1)"
is "info --preset=paper has another" "$("$P" info --preset=paper | awk '/^params/ { print $2 }')" \
	"$("$P" fp -q --preset=paper d.warc.gz | column params | sort -u)"
for o in --bits=128 --shingle=3 --weights=set --hash=rabin --features=title,text --min-terms=9 --topic=paper --segment=forward; do
	run "$P" info $o
	is "$o gives another hash of parameters" "$(awk '/^params/ { print $2 }' "$tmp/out" | grep -vc "^$(column params d.fp | head -1)\$")" 1
done
printf 'the\nand\n' >stop.txt
run "$P" info --stopwords=stop.txt
hasnt "another list of stop words gives another hash of parameters" "$tmp/out" "^params +$(column params d.fp | head -1)"
run "$P" version
exits "version" 0
has "version" "$tmp/out" '^pagededup [0-9]+\.[0-9]+\.[0-9]+$'
has "version: compiler" "$tmp/out" '^built with .*(gcc|GCC|[Cc]lang)'
for l in libxml-2.0 cmph libxxhash uchardet libdeflate zlib jansson; do has "version: $l" "$tmp/out" "$l [0-9]"; done
tap_done
