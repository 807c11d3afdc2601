#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The semantic fingerprint: the documents' examples from HTML to key, synonyms, user words, and invalid settings.
. "$(dirname "$0")/../tap.sh"

pages() { while IFS=$'\t' read -r name html; do printf '{"url":"http://%s.example/","html":"%s"}\n' "$name" "$html"; done; }
key() { rows "$1" | awk -F '\t' -v url="http://$2.example/" '$3 == url { print $NF }'; } # FILE PAGE
sign() { "$P" fp -q --stubs=match "$@" pages.jsonl; }

# --- keywords in any order ---
pages >pages.jsonl <<'E'
one	<p>罗玉凤 征婚 北大 清华 硕士</p>
two	<p>硕士，清华。罗玉凤：北大、征婚！</p>
title	<title>罗玉凤 征婚</title><p>硕士 北大 清华</p>
tw	<p>羅玉鳳 徵婚 北大 清華 碩士</p>
E
printf '罗玉凤 nr\n' >user.txt
sign --method=semantic:n=5 --user-dict=user.txt >named.fp
is "北大征婚清华硕士罗玉凤 in one order" "$(key named.fp one)" cacf022e4b673b2c7d92d76b3abc60d3
is "in another" "$(key named.fp two)" cacf022e4b673b2c7d92d76b3abc60d3
is "some of it in the title" "$(key named.fp title)" cacf022e4b673b2c7d92d76b3abc60d3
sign --method=semantic:n=5 >plain.fp
is "without the user's word the name is cut" "$(key plain.fp one | grep -c cacf022e)" 0
is "the word is a term of the fingerprint too" "$(column terms named.fp | head -1) $(column terms plain.fp | head -1)" "5 7"
has "the parameters say so" named.fp ' user_dict=[0-9a-f]{8} '
run "$P" match named.fp plain.fp
exits "and rows without it are not joined" 2
has "the message says so" "$tmp/err" 'user_dict'
is "--stage=semantic: the joined keywords, which are hashed" "$("$P" explain --stage=semantic --method=semantic:n=5 --user-dict=user.txt pages.jsonl:0)" 北大征婚清华硕士罗玉凤
is "without --method with the defaults" "$("$P" explain --stage=semantic --user-dict=user.txt pages.jsonl:0)" 北大征婚清华硕士罗玉凤
is "it is the text of the digest" "$("$P" explain --stage=semantic --method=semantic:n=3 pages.jsonl:0 | tr -d '\n' | md5sum | cut -c1-32)" \
	"$("$P" fp -q --method=semantic:n=3 pages.jsonl | rows | sed -n 1p | awk -F '\t' '{ print $NF }')"
echo '{"html":"<title>wheel</title><p>barn, mill</p>"}' >words.jsonl
is "the last word of the title is not joined to the text" "$("$P" explain --stage=semantic --method=semantic:n=4 words.jsonl:0)" barnmillwheel
printf '羅玉鳳 3 nr\n' >tw.txt
same "in traditional characters, with a frequency: the same words" <(sign --method=semantic:n=5 --user-dict=tw.txt) named.fp
sign --method=semantic:n=5:hash=xxh3 --user-dict=user.txt >xxh3.fp
is "64 bits of XXH3" "$(key xxh3.fp one | grep -cE '^[0-9a-f]{16}$') $(key xxh3.fp one)" "1 $(key xxh3.fp two)"

# --- the paragraph of the document, its sentences in another order ---
pages >pages.jsonl <<'E'
paragraph	<p>昨日,省城渊明北路一名17岁的少年在6楼晾毛巾时失足坠楼,摔在楼下的一辆面包车上。面包车受冲击变形时吸收了巨大的反作用力能量,从而“救”了少年一命。目前,伤者尚无生命危险。据一位目击者介绍,事故发生在下午2时40分许,当时这名在某美发店工作的少年正站在阳台上晾毛巾,因雨天阳台湿滑而不小心摔下。 记者来到抢救伤者的医院了解到,这名少年名叫李嘉诚,今年17岁,系丰城市人。李嘉诚受伤后,他表姐已赶到医院陪护。据医生介绍,伤者主要伤在头部,具体伤情还有待进一步检查。</p>
turned	<p>据医生介绍,伤者主要伤在头部,具体伤情还有待进一步检查。李嘉诚受伤后,他表姐已赶到医院陪护。记者来到抢救伤者的医院了解到,这名少年名叫李嘉诚,今年17岁,系丰城市人。据一位目击者介绍,事故发生在下午2时40分许,当时这名在某美发店工作的少年正站在阳台上晾毛巾,因雨天阳台湿滑而不小心摔下。目前,伤者尚无生命危险。面包车受冲击变形时吸收了巨大的反作用力能量,从而“救”了少年一命。昨日,省城渊明北路一名17岁的少年在6楼晾毛巾时失足坠楼,摔在楼下的一辆面包车上。</p>
other	<p>昨日,省城一名17岁的学生在河边钓鱼时失足落水。目前,学生尚无生命危险。据一位目击者介绍,事故发生在下午2时40分许,当时河岸湿滑。记者来到医院了解到,这名学生今年17岁,具体情况还有待进一步检查。</p>
E
sign --method=semantic >paragraph.fp
is "the paragraph on 渊明北路 and its sentences in another order" "$(key paragraph.fp turned)" "$(key paragraph.fp paragraph)"
is "another accident is another page" "$("$P" match -q --all-pairs paragraph.fp | rows /dev/stdin | wc -l)" 1

# --- classes ---
pages >pages.jsonl <<'E'
class	<p>北京 北京 看见 看见 看见 石头 石头</p>
E
printf '北京 1\n看见 1\n石头 1\n' >flat.idf
first() { sign --method="semantic:n=1:$1" --idf=flat.idf >class.fp; key class.fp class; }
md5() { printf %s "$1" | md5sum | cut -c1-32; }
is "without classes the most frequent term" "$(first names=1:nouns=1)" "$(md5 看见)"
is "a name of a place has more weight" "$(first names=2:nouns=1)" "$(md5 北京)"
is "and so does another noun" "$(first names=1:nouns=2)" "$(md5 石头)"
is "by default names before other nouns" "$(first names=2:nouns=1.9)" "$(md5 北京)"

# --- synonyms ---
pages >pages.jsonl <<'E'
from	<p>开业之初,比这还要多的质疑的声音环绕在北京华联决策者的周围</p>
to	<p>开业之初,比这还要多的质疑的声音环绕在华联商厦决策者的周围</p>
market	<p>開業之初,比這還要多的質疑的聲音環繞在華聯超市決策者的周圍</p>
latin	<p>The lorry stood in the yard, and the lorryman slept in the lorry.</p>
truck	<p>The truck stood in the yard, and the lorryman slept in the truck.</p>
man	<p>The truck stood in the yard, and the truckman slept in the truck.</p>
E
printf '华联商厦 北京华联 华联超市\ntruck Lorry\n' >synonyms.txt
sign --method=semantic:n=20 >without.fp
differs() { if [ "$2" != "$3" ]; then pass "$1"; else fail "$1" "$2"; fi; }
differs "北京华联 and 华联商厦 are two without a list" "$(key without.fp from)" "$(key without.fp to)"
sign --method=semantic:n=20 --synonyms=synonyms.txt >with.fp
is "with it they are one" "$(key with.fp from)" "$(key with.fp to)"
is "华联超市 too, in traditional characters" "$(key with.fp market)" "$(key with.fp to)"
is "the text with the base word does not change" "$(key with.fp to)" "$(key without.fp to)"
is "whole words of other scripts, in any case" "$(key with.fp latin)" "$(key with.fp truck)"
differs "not a part of one" "$(key with.fp latin)" "$(key with.fp man)"
run "$P" match with.fp without.fp
exits "rows with and without a list are not joined" 2
has "the message says so" "$tmp/err" "without.fp: 'semantic' signed its rows with another table \(synonyms=none\) than the rows before \(synonyms=[0-9a-f]{8}\)"
while IFS='|' read -r lines message; do
	printf "$lines" >bad.txt
	run "$P" fp --method=semantic --synonyms=bad.txt -o out.fp pages.jsonl
	exits "a list of synonyms: $lines" 2
	case $message in bad.txt*) ;; *) message="bad.txt:$message" ;; esac
	has "the message says so" "$tmp/err" "$message"
	absent "nothing is written" out.fp
done <<'E'
甲 乙\n乙 甲\n|2: '乙' is a base word here, but is replaced itself on line 1
甲 乙\n乙 丙\n丙 甲\n|2: '乙' is a base word here, but is replaced itself on line 1
甲 乙\n丙 甲\n|2: '甲' is replaced here, but is a base word on line 1
甲 乙\n丙 乙\n|2: '乙' is replaced by another word on line 1
甲 乙\n\n丙 丁\n|2: an empty line
甲 甲\n|1: the base word is one of the words that it replaces
发 發\n|1: the base word is one of the words that it replaces
甲\n|1: a base word without words that it replaces
甲 \xff\n|1: the line is not UTF-8
|bad.txt has no words
E
while IFS='|' read -r lines message; do
	printf "$lines" >bad.txt
	run "$P" fp --user-dict=bad.txt -o out.fp pages.jsonl
	exits "a user's words: $lines" 2
	case $message in bad.txt*) ;; *) message="bad.txt:$message" ;; esac
	has "the message says so" "$tmp/err" "$message"
done <<'E'
罗玉凤 nr\nLondon ns\n|2: a word with other characters than Chinese ones
罗玉凤 3 nr x\n|1: the line has more than word, frequency and part of speech
罗玉凤 person\n|1: the part of speech has over four bytes
罗玉凤 nr\n\xff\n|2: the line is not UTF-8
\n\n|bad.txt has no words
E
run "$P" fp --method=keywords --synonyms=synonyms.txt pages.jsonl
exits "--synonyms without a method that replaces them" 2
run "$P" dict --idf-from=pages.jsonl --user-dict=user.txt -o user.idf
exits "dict --idf-from cuts a user's words too" 0
run "$P" fp --method=semantic:n=500 --stubs=match pages.jsonl
has "the message counts pages with fewer than n terms" "$tmp/err" 'semantic: 6 pages with fewer terms than requested'
tap_done
