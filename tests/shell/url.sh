#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# url: new or seen, by every mode and form, in one run and over several; parameters learnt from rows of fp; cases of other
# projects and real hrefs, when PAGEDEDUP_CORPORA names the folder that holds them.
. "$(dirname "$0")/../tap.sh"

printf '%s\n' 'http://A.org/x?b=1&a=2#top' '' 'http://a.org/%78?a=2&b=1' 'a.org/x' 'index.html' 'http://a b/' 'http://news.bbc.co.uk/1' >list
run "$P" url list
exits "a list with lines that are not URLs" 0
printf '%s\t%s\t%s\t-\t%s\n' new 'http://A.org/x?b=1&a=2#top' 'http://a.org/x?a=2&b=1' - \
	seen 'http://a.org/%78?a=2&b=1' 'http://a.org/x?a=2&b=1' - new a.org/x http://a.org/x - bad index.html - 'no scheme' \
	bad 'http://a b/' - 'an invalid character in the host' new http://news.bbc.co.uk/1 http://news.bbc.co.uk/1 - >want
same "rows name new URLs, and the mode" <(rows "$tmp/out") want
has "the header names the form" "$tmp/out" '^# pagededup urls 1 form=canonical \|$'
has "the totals are below" "$tmp/out" '^# total urls=6 new=3 seen=1 bad=2$'
has "the closing line counts" "$tmp/err" '6 URLs, 3 new, 1 seen, 2 invalid'
is "--domain fills its column" "$("$P" url -q --domain list | column domain | xargs)" "a.org a.org a.org - - bbc.co.uk"
run "$P" url --print=new --form=loose - <list
is "--print=new prints lines as they came" "$("$P" url -q --print=new <list | xargs -d '\n' echo)" "http://A.org/x?b=1&a=2#top a.org/x http://news.bbc.co.uk/1"
is "--print=seen prints the others" "$("$P" url -q --print=seen list)" 'http://a.org/%78?a=2&b=1'
empty "--print=none prints no URL" <("$P" url -q --print=none list)
is "lines may end in CR LF" "$(printf 'http://a.org/\r\nhttp://a.org/' | "$P" url -q | column status | xargs)" "new seen"
is "--base resolves" "$(echo ../y | "$P" url -q --base=http://a.org/b/c/d | column key)" http://a.org/b/y
is "--with-base resolves each" "$(printf '../y\thttp://a.org/b/c/d\nhttp://b.org/\\t\\\\x\t-\n' | "$P" url -q --with-base | column key | xargs)" \
	'http://a.org/b/y http://b.org/x'
printf 'http://%s/p?sid=1&q=%s\n' a.org 1 a.org 2 A.ORG 2 >sids
is "--drop-params" "$("$P" url -q --drop-params=SID sids | column key | uniq | xargs)" 'http://a.org/p?q=1 http://a.org/p?q=2'
is "--drop-known-params keeps similar names" \
	"$(printf 'http://a.org/?sid=7&fbclid=x\n' | "$P" url -q --drop-known-params | column key)" 'http://a.org/?sid=7'
is "--keep-fragment" "$(printf 'http://a.org/#1\nhttp://a.org/#2\n' | "$P" url -q --keep-fragment | column status | xargs)" "new new"

# --- over several runs ---
seq -f 'http://a.org/%.0f' 200 >first
seq -f 'http://a.org/%.0f' 101 300 >second
for mode in exact features site-features; do
	rm -f seen
	run "$P" url --mode=$mode --seen=seen --print=none first
	exits "$mode: a first run" 0
	cp seen before
	run "$P" url --mode=$mode --seen=seen --ask --print=none second
	has "$mode: --ask says what is new" "$tmp/err" '200 URLs, 100 new, 100 seen'
	same "$mode: and writes nothing" seen before
	run "$P" url --mode=$mode --seen=seen --print=none second
	has "$mode: the next run knows the first" "$tmp/err" '200 URLs, 100 new, 100 seen'
	run "$P" url --mode=$mode --seen=seen --print=none first second
	has "$mode: and the third both" "$tmp/err" '400 URLs, 0 new, 400 seen'
	cat first second | "$P" url -q --mode=$mode --seen=once --print=none
	same "$mode: one run and two leave the same file" seen once
	rm once
done
run "$P" url --seen=seen first
exits "another mode than the file's is refused" 2
has "and the message names both" "$tmp/err" 'seen was made with parameters other than those of this run: mode: site-features and exact'
# Features defined by patterns, each with its own filter; the file also contains the URLs.
printf '# of a shop\nid   [?&]id=([0-9]+)\nkind \\.([a-z]+)(\\?|$)\n' >patterns
"$P" url -q --mode=features --features=site --patterns=patterns --seen=shop --keep=shop.urls --print=rows - >rows.1 <<END
http://a.org/x.html?id=1
http://a.org/y/z.html?a=b&id=1
http://a.org/x.html?id=2
http://a.org/x.php?id=2
http://a.org/none
http://a.org/other
END
is "--patterns: new if a value is" "$(column status rows.1 | xargs)" "new seen new new new seen"
is "--keep: the new URLs" "$(sed 's|http://a.org/||' shop.urls | xargs)" "x.html?id=1 x.html?id=2 x.php?id=2 none"
printf 'http://A.org/x.php?id=3#f\nhttp://a.org/x.php?id=2\nno\n' | "$P" url -q --mode=features --features=site --patterns=patterns --seen=shop --keep=shop.urls --print=none
is "--keep: a second run adds its new ones, absolute" "$(tail -n +5 shop.urls)" "http://a.org/x.php?id=3#f"
cp shop.urls kept.before
run "$P" url --mode=features --features=site --patterns=patterns --seen=shop --keep=shop.urls -o /dev/full first
exits "--keep: a run that fails" 2
same "--keep: and leaves the URLs as they were" shop.urls kept.before
printf 'other [?&]id=([0-9]+)\nkind \\.([a-z]+)(\\?|$)\n' >patterns.2
run "$P" url --mode=features --features=site --patterns=patterns.2 --seen=shop first
exits "--patterns: others are refused" 2
has "--patterns: the message names them" "$tmp/err" 'patterns: id,kind:[0-9a-f]* and other,kind:'
run "$P" url --mode=features --features=site --seen=shop first
exits "--patterns: none are refused" 2
for line in 'id' 'id [' ''; do
	echo "$line" >patterns.bad
	run "$P" url --mode=features --patterns=patterns.bad first
	exits "--patterns: '$line' is refused" 2
	has "--patterns: '$line': the file is named" "$tmp/err" 'patterns.bad'
done
for i in {1..13}; do echo "n$i x"; done >patterns.bad
run "$P" url --mode=features --patterns=patterns.bad first
has "--patterns: too many" "$tmp/err" 'patterns.bad:13: more than 12 patterns'
run "$P" url --patterns=patterns first
exits "--patterns needs a mode with features" 2
run "$P" url --keep=k first
exits "--keep needs --seen" 2
"$P" url -q --seen=exact --print=none first
for options in --form=loose --drop-params=a --keep-fragment; do
	run "$P" url $options --seen=exact first
	exits "$options, which the file has not, is refused" 2
done
cp exact whole
for at in 0 9 20 50 100 -1; do
	python3 - "$at" <<'END'
import sys
b = bytearray(open("whole", "rb").read())
b[int(sys.argv[1])] ^= 1
open("exact", "wb").write(b)
END
	cp exact hurt
	run "$P" url --seen=exact first
	exits "a bit changed at $at" 2
	has "the message names the file" "$tmp/err" '^pagededup url: exact:? '
	same "the file does not change" exact hurt
done
head -c 1000 whole >exact
run "$P" url --seen=exact first
has "a truncated file is reported" "$tmp/err" 'exact: damaged at offset .*: it is truncated'
run "$P" url --seen=exact --ask absent
exits "no such input" 2
run "$P" url --seen=nowhere --ask first
has "--ask needs an existing file" "$tmp/err" 'cannot open nowhere: No such file'
run "$P" url --ask first
exits "--ask without --seen is misuse" 2
run "$P" url --seen=first first
exits "the file of seen URLs is not an input" 2
run "$P" url --form=standard --drop-params=a first
exits "the standard form leaves nothing out" 2
run "$P" url --base=nothing first
has "an invalid base is reported" "$tmp/err" '--base=nothing is not a URL: no scheme'
run "$P" url --features=site,path first
exits "an unknown feature is misuse" 2
if [ -w /dev/full ]; then
	run bash -c "'$P' url first >/dev/full"
	exits "a full disk" 2
else skip "a full disk" "no /dev/full"; fi
cp whole seen.before
run "$P" url -q --seen=whole -o /dev/full second
[ "$code" = 2 ] && same "after a failure what was seen stays as it was" whole seen.before

# --- parameters, learnt ---
for page in 1 2 3; do
	for sid in a b c; do
		printf '{"url":"http://h.example/p?id=%s&s=%s","text":"Page %s tells of the tide mill, of its wheel and of the %s men who keep it.","n":1}\n' $page $sid $page $page
	done
done >pages.jsonl
"$P" fp -q pages.jsonl >pages.fp
run "$P" url --learn-params pages.fp
exits "--learn-params" 0
cp "$tmp/out" params
is "learns parameters that change no page" "$(rows params | cut -f 1,2,7 | xargs -d '\n' echo)" "h.example	id	0 h.example	s	1"
has "the message says so" "$tmp/err" '9 pages, 2 parameters .* 1 of them'
printf 'http://%s.example/p?id=%s&s=%s\n' h 1 x h 1 y h 2 x g 1 x g 1 y >list
is "--params removes it only on its host" "$("$P" url -q --params=params list | column status | xargs)" "new seen new new new"
is "a table in another order is the same" "$({ grep '^#' params; rows params | tac; } >p2; "$P" url -q --params=params list --seen=s1 >/dev/null
	"$P" url -q --params=p2 list --seen=s1 --print=new)" ""
echo 'h.example	x' >broken
run "$P" url --params=broken list
exits "an invalid table is refused" 2
has "the message names the command that writes such a file" "$tmp/err" "broken holds no params rows: 'pagededup url --learn-params' writes them"

# --- cases of other projects ---
corpora=${PAGEDEDUP_CORPORA:-}
if [ -d "$corpora/urls" ]; then
	python3 "$TOP/tests/urls.py" "$P" "$corpora" "$TOP/tests/data/urls/exceptions.tsv" >cases
	at_least "cases of other projects" "$(sed -nE 's/^([0-9]+) cases.*/\1/p' cases)" 7800
	is "each has the expected form, or is an exception with a reason" "$(grep -v '^[0-9]* cases' cases)" ""
	zcat "$corpora/urls/hrefs-dev.txt.gz" >hrefs
	run "$P" url --count=86818 --print=new hrefs
	cp "$tmp/out" new
	has "real hrefs" "$tmp/err" '86942 URLs, 85793 new, 1140 seen, 9 invalid'
	empty "new URLs are not new to a later set" <(cat hrefs new | "$P" url -q --print=new | tail -n +85794)
	for mode in features site-features; do
		"$P" url -q --mode=$mode --count=86818 hrefs | rows >rows
		"$P" url -q hrefs | rows | paste - rows | awk -F '\t' '$1 == "seen" && $6 == "new"' >missed
		empty "$mode: what was there before is always seen" missed
	done
else
	for name in "cases of other projects" "real hrefs" "features on real hrefs"; do skip "$name" "PAGEDEDUP_CORPORA is not set"; done
fi
tap_done
