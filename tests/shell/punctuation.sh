#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Codes at punctuation marks: the characters of a code in both scripts, and the number and share of equal codes that
# make two pages match.
. "$(dirname "$0")/../tap.sh"
pages() { while IFS=$'\t' read -r name html; do printf '{"url":"http://%s.example/","html":"%s"}\n' "$name" "$html"; done; }
codes() { rows "$1" | awk -F '\t' -v url="http://$2.example/" '$3 == url { print $NF }' | fold -w16 | sed '/^-*$/d' | sort; } # FILE PAGE
sign() { "$P" fp -q --stubs=match --method="$1" pages.jsonl; }
shared() { comm -12 <(codes "$1" "$2" | uniq) <(codes "$1" "$3" | uniq) | wc -l; }

# --- codes ---
pages >pages.jsonl <<'E'
page	<p>Alpha bravo charlie delta echo foxtrot, golf hotel india juliet kilo lima; mike november.</p>
far	<p>Other bravo charlie delta echo foxtrot, golf hotel india juliet kilo lima; mike november.</p>
near	<p>Alpha bravo charlie delta echo foxtrot, other hotel india juliet kilo lima; mike november.</p>
mark	<p>Alpha bravo charlie delta echo foxtrot! golf hotel india juliet kilo lima: mike november?</p>
stop	<p>Alpha bravo charlie delta echo foxtrot, golf hotel the india juliet kilo lima; mike november.</p>
place	<p>Alpha bravo charlie delta echo foxtrot golf, hotel india juliet kilo lima; mike november.</p>
number	<p>Alpha 3.14 bravo 10:30 charlie example.org delta</p>
run	<p>Alpha bravo?! Charlie delta ...</p>
E
sign punctuation >codes.fp
is "three marks, three codes" "$(codes codes.fp page | wc -l)" 3
is "the sixth term before a mark does not count" "$(shared codes.fp page far)" 3
is "the first after it does, and is more than five before the next" "$(shared codes.fp page near)" 2
is "it does not matter which mark it is" "$(shared codes.fp page mark)" 3
is "its position matters" "$(shared codes.fp page place)" 2
is "a dot or colon inside a number or a name does not count" "$(codes codes.fp number | wc -l)" 0
is "several in a row are one" "$(codes codes.fp run | wc -l)" 2
# Terms are counted with stop words: the windows around a stop word end one term earlier, and the window of the last
# mark does not contain it.
is "an inserted stop word moves the codes around it" "$(shared codes.fp page stop)" 1
pages >pages.jsonl <<'E'
end	<p>Alpha bravo charlie delta echo.</p>
after	<p>Alpha bravo charlie delta echo. the of</p>
begin	<p>. Alpha bravo charlie delta echo</p>
middle	<p>Alpha bravo. The charlie delta echo of the</p>
stops	<p>the of. in the</p>
stop2	<p>the. of in the</p>
E
sign punctuation >place.fp
is "terms equal, content equal: stop words after the mark" "$(shared place.fp end after)" 1
is "the position of the mark does not matter among equal content terms" "$(shared place.fp end begin) $(shared place.fp end middle)" "1 1"
is "a code of only stop words has all of them" "$(shared place.fp stops stop2) $(codes place.fp stops | wc -l)" "1 1"
sign punctuation:of=terms >place.fp
is "of=terms: stop words count, the position of the mark does not" "$(shared place.fp end after) $(shared place.fp end begin)" "0 1"
pages >pages.jsonl <<'E'
page	<p>Alpha bravo charlie delta echo foxtrot, golf hotel india juliet kilo lima; mike november.</p>
stop	<p>Alpha bravo charlie delta echo foxtrot, golf hotel the india juliet kilo lima; mike november.</p>
E
sign punctuation:c=2 >two.fp
is "c=2: no code has it" "$(shared two.fp page stop)" 3

# --- equal, or equal in content terms: the document's example, where 啊 is a stop word ---
pages >pages.jsonl <<'E'
with	<p>天气真好啊，我们明天去公园。</p>
without	<p>天气真好，我们明天去公园。</p>
western	<p>天气真好啊, 我们明天去公园.</p>
other	<p>天气不好啊，我们明天去公园。</p>
E
sign punctuation >cn.fp
is "equal in content terms, except at the mark with one more term" "$(shared cn.fp with without) $(codes cn.fp with | wc -l)" "1 2"
is "Western and Chinese marks are the same" "$(shared cn.fp with western)" "$(codes cn.fp with | wc -l)"
sign punctuation:of=terms >terms.fp
is "of=terms: not equal" "$(shared terms.fp with without)" 0
is "another word never is" "$(shared cn.fp with other)" "$(shared terms.fp with other)"
run "$P" show --stage=features --method=punctuation pages.jsonl:0
has "show prints the parts of a code" "$tmp/out" '^punctuation	[0-9a-f]{16}	.* \| '

# --- the number, and the document's objection to it: 20 codes are never found, 500 are found by 26 ---
sentences() { for i in $(seq "$2" "$3"); do printf 'x%s%d y%s%d z%s%d. ' "$1" "$i" "$1" "$i" "$1" "$i"; done; } # WORD FROM TO
{
	printf 'short\t<p>%s</p>\n' "$(sentences a 1 20)"
	printf 'same\t<p>%s</p>\n' "$(sentences a 1 20)"
	printf 'long\t<p>%s</p>\n' "$(sentences b 1 500)"
	printf 'different\t<p>%s</p>\n' "$(sentences c 1 250; sentences b 101 127; sentences d 1 223)"
	printf 'less\t<p>%s</p>\n' "$(sentences c 501 750; sentences b 101 126; sentences d 501 724)"
} | pages >pages.jsonl
sign punctuation:c=2 >count.fp
is "20 codes" "$(codes count.fp short | wc -l)" 20
is "500 codes" "$(codes count.fp different | wc -l)" 500
# A run of 27 sentences has 26 codes that see nothing outside of it.
is "26 are shared" "$(shared count.fp long different)" 26
is "25 are shared" "$(shared count.fp long less)" 25
matched() { "$P" match -q --all-pairs "$@" count.fp | rows /dev/stdin | awk -F '\t' '{ gsub(/http:\/\/|\.example\//, ""); printf "%s-%s ", $6, $7 }'; }
is "over 25: a page of 20 is not found, two different ones of 500 are, not by 25" "$(matched --method=punctuation:codes=25:share=0)" "long-different "
is "as the paper's preset requires" "$(matched --method=punctuation --preset=paper)" "long-different "
is "by the share of the shorter page it is the other way" "$(matched --method=punctuation)" "short-same "
is "20 are more than 19, not more than 20" "$(matched --method=punctuation:codes=20:share=.5)/$(matched --method=punctuation:codes=19:share=.5)" "/short-same "
while IFS=$'\t' read -r method message; do
	run "$P" fp --method="$method" "$demo"
	exits "$method cannot be" 2
	has "which is said: $message" "$tmp/err" "$message"
done <<'E'
punctuation:c=0	c takes a whole number from 1 to 1000
punctuation:codes=25	codes is for 'match --method', which compares
E
tap_done
