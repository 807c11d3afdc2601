#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Vectors of words and of characters: the counted items, the condition of a match, from HTML to pairs; compared with
# brute force on real text.
. "$(dirname "$0")/../tap.sh"
pages() { while IFS=$'\t' read -r name html; do printf '{"url":"http://%s.example/","html":"%s"}\n' "$name" "$html"; done; }
value() { rows "$1" | awk -F '\t' -v url="http://$2.example/" '$3 == url { print $NF }'; } # FILE PAGE
weights() { value "$1" "$2" | tr ',' '\n' | sed 's/^[0-9a-f]*$/&=1/; s/.*=//' | sort -n | tr '\n' ' '; }
sign() { "$P" fp -q --stubs=match --method="$1" pages.jsonl; }
matched() { "$P" match -q --all-pairs --method="$1" "$2" | rows /dev/stdin | awk -F '\t' '{ gsub(/http:\/\/|\.example\//, ""); printf "%s-%s ", $6, $7 }'; }

pages >pages.jsonl <<'E'
one	<p>The mill, the wheel and the mill. A Wheel turns; the MILL stands.</p>
moved	<p>A wheel turns; the mill stands. The mill and the wheel, the mill.</p>
more	<p>The mill, the wheel and the mill. A wheel turns; the mill stands beside rivers.</p>
other	<p>Rivers freeze in winter, boats wait.</p>
E
sign vsm >words.fp
is "frequency of each word, in any case, without stop words" "$(weights words.fp one)" "1 1 2 3 "
is "their order counts for nothing" "$(value words.fp moved)" "$(value words.fp one)"
sign vsm:stop=keep >stop.fp
is "stop=keep: stop words too" "$(weights stop.fp one)" "1 1 1 1 2 3 4 "
# one . more = 15 of lengths sqrt(15) and sqrt(16 or 17); "beside" is a stop word or not.
cosine=$("$P" match -q --all-pairs --method=vsm:cosine=.5 words.fp | rows /dev/stdin | awk -F '\t' '$7 ~ /more/ { print $4; exit }')
is "the cosine is in the pair" "$cosine" "$(awk -v n="$(weights words.fp more | awk '{ for (i = 1; i <= NF; i++) s += $i * $i; print s }')" 'BEGIN { printf "%.3f", sqrt(15 / n) }')"
is "over the threshold" "$(matched "vsm:cosine=$(awk -v c="$cosine" 'BEGIN { print c - .002 }')" words.fp)" "one-moved one-more moved-more "
is "not over it" "$(matched "vsm:cosine=$(awk -v c="$cosine" 'BEGIN { print c + .002 }')" words.fp)" "one-moved "

pages >pages.jsonl <<'E'
cn	<p>天气真好，天气！</p>
turned	<p>好天，真气天气。</p>
tw	<p>天氣真好，天氣！</p>
latin	<p>AaB 1 - b</p>
E
sign vsm:of=chars >chars.fp
is "characters: ideographs, no marks" "$(weights chars.fp cn)" "1 1 2 2 "
is "in any order" "$(value chars.fp turned)" "$(value chars.fp cn)"
is "letters and digits, folded" "$(weights chars.fp latin)" "1 2 2 "
sign vsm >cn.fp
is "words of either script are the same" "$(value cn.fp tw)" "$(value cn.fp cn)"

# --- defaults depend on the counted items ---
rule() { "$P" match -q "${@:2}" "$1" | grep -o 'cosine=[0-9.]*' | head -1; } # FILE OPTION...
is "words: over .95" "$(rule words.fp --method=vsm)" cosine=0.95
is "characters: over .999" "$(rule chars.fp --method=vsm)" cosine=0.999
is "match without --method, too" "$(rule words.fp) $(rule chars.fp)" "cosine=0.95 cosine=0.999"
is "the given value counts" "$(rule chars.fp --method=vsm:cosine=.9)" cosine=0.9
# 20 and 1 of two letters, 20 and 2: a cosine of .9989
{
	printf 'once\t<p>%sbbb</p>\n' "$(printf 'aaa %.0s' {1..20})"
	printf 'twice\t<p>%sbbb bbb</p>\n' "$(printf 'aaa %.0s' {1..20})"
} | pages >pages.jsonl
sign vsm:of=chars >near.fp
is "a cosine of .9989 is not over .999" "$(matched vsm near.fp)/$(matched vsm:cosine=.998 near.fp)" "/once-twice "
said() { "$P" compare --method="$1" $(column id near.fp) | sed -n 's/^vsm: //p' | cut -d, -f1; }
is "compare has the same defaults" "$(said vsm)/$(said vsm:of=chars)/$(said vsm:of=chars:cosine=.998)" "match/no match/match"

# --- real text: exactly the pairs of brute force ---
transplants=${PAGEDEDUP_CORPORA:-}/neardup/transplant-dev.warc.gz sites=${PAGEDEDUP_CORPORA:-}/sites/sites-dev.warc.gz
part() { grep '^#' a.fp | head -2; rows a.fp | head -"$1"; [ ! -f b.fp ] || rows b.fp | head -"$1"; } # ROWS of each
if [ -f "$transplants" ] && [ -f "$sites" ]; then
	for of in words chars; do
		"$P" fp -q --method=vsm:of=$of "$transplants" >a.fp
		"$P" fp -q --method=vsm:of=$of "$sites" >b.fp
		part 700 >real.fp
		python3 "$TOP/tests/brute_methods.py" vsm real.fp >want
		"$P" match -q --all-pairs real.fp | rows /dev/stdin | cut -f1,2 >found
		same "1,400 pages, $of: those of brute force" found want
		at_least "there are some" "$(wc -l <want)" 250
	done
	"$P" fp -q --method=vsm "$transplants" >a.fp
	rm b.fp
	part 850 >real.fp
	python3 "$TOP/tests/brute_methods.py" vsm:cosine=.6 real.fp >want
	"$P" match -q --all-pairs --method=vsm:cosine=.6 real.fp | rows /dev/stdin | cut -f1,2 >found
	same "a cosine over .6: the pairs of brute force" found want
	at_least "there are some" "$(wc -l <want)" 250
else
	skip "real text" "needs PAGEDEDUP_CORPORA"
fi
while IFS=$'\t' read -r method message; do
	run "$P" match --method="$method" words.fp
	exits "$method cannot be" 2
	has "which is said: $message" "$tmp/err" "$message"
done <<'E'
vsm:cosine=1.5	cosine takes a number from 0 to 0.9999
vsm:of=chars	of is for 'fp --method', which signs
E
tap_done
