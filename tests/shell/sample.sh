#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sample: the drawn pairs, the page for labelling, foreign text in it, the table that it saves and eval reads.
. "$(dirname "$0")/../tap.sh"
sample() { run "$P" sample -q "$@"; }
drawn() { grep -o 'data-ids="[^"]*" data-rest="[^"]*"' "$1" | sed 's/^data-ids="//; s/" data-rest="/\t/; s/"$//'; }
"$P" fp -q "$demo" | "$P" match -q -k 16 >p.tsv
sample -n 30 p.tsv
exits "sample" 0
cp "$tmp/out" one.html
is "the requested number of pairs" "$(drawn one.html | wc -l)" 30
is "each once, each of the list" "$(drawn one.html | cut -f 1-3,5,6 | LC_ALL=C sort -u | LC_ALL=C comm -13 <(rows p.tsv | cut -f 1-3,6,7 | LC_ALL=C sort) - | wc -l) $(drawn one.html | sort -u | wc -l)" "0 30"
is "weights: sampled pairs represent all pairs of their distance" \
	"$(drawn one.html | awk -F '\t' '{ w[$3] += $4 } END { for (d in w) printf "%s %d\n", d, w[d] + .5 }' | sort)" \
	"$(rows p.tsv | cut -f 3 | sort | uniq -c | awk '{ print $2, $1 }' | sort)"
is "distances get the same number of pairs, if they have enough" "$(drawn one.html | cut -f 3 | sort | uniq -c | awk '{ print $2, $1 }' | sort |
	join - <(rows p.tsv | cut -f 3 | sort | uniq -c | awk '{ print $2, $1 }' | sort) | awk '$2 < $3 { if (!least || $2 < least) least = $2 } $2 > most { most = $2 } END { print (least && most - least > 1) ? "uneven" : "even" }')" even
{ head -2 p.tsv; rows p.tsv | shuf --random-source=<(yes); rows p.tsv | head -9; } >s.tsv
sample -n 30 p.tsv && cp "$tmp/out" again.html
same "the same pairs, the same sample" again.html one.html
{ head -2 p.tsv; rows p.tsv | shuf --random-source=<(yes); } >s.tsv
sample -n 30 s.tsv
same "for any order" "$tmp/out" one.html
sample -n 30 --seed=7 p.tsv
is "another seed, others" "$(drawn "$tmp/out" | cmp -s - <(drawn one.html) && echo same)" ""
sample -n 10000 -k 3 p.tsv
is "-k: no pairs beyond" "$(drawn "$tmp/out" | wc -l)" "$(rows p.tsv | awk -F '\t' '$3 == "-" || $3 <= 3' | wc -l)"
run_in p.tsv "$P" sample -n 5 -o l.html
exits "from standard input into a file" 0
has "the closing line gives the next step" "$tmp/err" '^pagededup sample: 5 of [0-9]+ pairs; open in a browser: l.html$'
hasnt "nothing is loaded from outside" one.html '<(script|link|img|iframe|style)[^>]+(src|href)|@import|url\('
hasnt "the distance is not shown" <(sed 's/data-rest="[^"]*"//; /^#id_a/d' one.html) '[Dd]istance'

# --- foreign text ---
mkdir h && cat >h/a.html <<'END'
<html><head><title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; "quoted" 'too'</title></head><body>
<p>The &lt;b&gt;tide mill&lt;/b&gt; at Pellow Creek &amp;amp; its wheel grind again, after eighty quiet years, says the miller.</p>
<p>A word &#x202E;turned round&#x202C; and one &#x200F;marked, a &#x200B;gap, and a soft&#xAD;hyphen in one line of it.</p>
<p>]]&gt; &lt;!-- &lt;/section&gt; &lt;/main&gt; &lt;script src=//evil.example/x.js&gt;&lt;/script&gt; and some more words for the text.</p></body></html>
END
sed 's/some more words/other words/' h/a.html >"h/b\"><script>alert(2)<&.html"
"$P" fp -q h | "$P" match -q -k 16 >h.tsv
sample h.tsv
exits "pages with markup in title, text and name" 0
cp "$tmp/out" h.html
is "one script, ours" "$(grep -c '<script' h.html) $(grep -c "^'use strict'" h.html)" "1 1"
is "no tag of theirs" "$(grep -o '<[a-z][a-z0-9]*' h.html | sort -u | tr '\n' ' ')" \
	"<article <body <button <del <div <fieldset <h1 <h2 <h3 <head <html <input <ins <kbd <label <legend <main <meta <nav <noscript <p <script <section <span <style <title "
has "their markup is text" h.html '&lt;script src=//evil.example/x.js&gt;'
has "marks that turn the direction are shown" h.html '<span class="mark">U\+202E</span>turned round<span class="mark">U\+202C</span>'
has "also text without width" h.html '<span class="mark">U\+200B</span>gap'
is "and are not there themselves" "$(grep -cP '\x{202E}|\x{202C}|\x{200F}|\x{200B}|\x{AD}' h.html)" 0
has "words of only one text are marked" h.html '<del>some more </del>'
has "and of the other" h.html '<ins>other </ins>'
is "the page is well-formed where it counts: every section closed" "$(grep -c '<section' h.html) $(grep -c '</section>' h.html)" "1 1"
if command -v python3 >/dev/null && python3 -c 'import html.parser' 2>/dev/null; then
	is "an HTML parser finds every end" "$(python3 - h.html <<'END'
import html.parser, sys
class Check(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attrs):
        if tag not in ('meta', 'input'): self.open.append(tag)
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag: print('unexpected', tag, self.getpos())
c = Check(); c.feed(open(sys.argv[1], encoding='utf-8').read()); print(c.open)
END
)" "[]"
fi
# A long text is cut between characters, and says so.
mkdir long && { echo '<title>long</title>'; for i in $(seq 900); do echo "<p>Ein schöner langer Absatz Nummer $i über die Größe der Mühle.</p>"; done; } >long/a.html
sed 's/Nummer 7 /Nummer sieben /' long/a.html >long/b.html
"$P" fp -q long | "$P" match -q >long.tsv
sample long.tsv
has "a long text is cut" "$tmp/out" '\[… [0-9]+ bytes more, not compared here\]'
is "between characters" "$(iconv -f utf-8 -t utf-8 <"$tmp/out" | cmp - "$tmp/out")" ""

# --- the table ---
if command -v node >/dev/null; then
	# Duplicate, different, unsure, next, and back to relabel the second.
	node "$TOP/tests/label_page.js" one.html dnujkkkds >saved
	is "keys label, move and save" "$(tail -1 saved)" "shown 3 of 30, 3 labelled"
	# Label three, change the second, and take two labels back: of the change, and of the third.
	node "$TOP/tests/label_page.js" one.html dnukkdzzs >undone
	is "Z takes labels back" "$(tail -1 undone) $(rows <(sed '$d' undone) | cut -f 3 | tr '\n' ' ')" "shown 3 of 30, 2 labelled duplicate different "
	sed '$d' saved >labels.tsv
	is "the table" "$(rows labels.tsv)" "$(drawn one.html | head -3 | awk -F '\t' -v OFS='\t' '{ l = NR == 3 ? "unsure" : "duplicate"; print $1, $2, l, $3, $4, $5, $6 }')"
	run "$P" eval labels.tsv --pairs=p.tsv --format=tsv
	exits "eval reads it" 0
	is "every labelled duplicate is in the pairs" "$(rows "$tmp/out" | cut -f 6)" 1.000000
	node "$TOP/tests/label_page.js" h.html ds | sed '$d' >labels.tsv
	run "$P" eval labels.tsv --pairs=h.tsv --format=tsv
	is "names with markup are read back unchanged" "$(rows "$tmp/out" | cut -f 12,13)" "$(printf '1\t1')"
else
	skip "the page's own script" "no node"
fi

# --- invalid calls ---
printf '%s\nnone.html\t%s\t3\t-\tsimhash\t-\t-\t-\t-\t-\t-\t-\t-\n' "$old_pairs_columns" "$(rows p.tsv | head -1 | cut -f 1)" >gone.tsv
rows p.tsv | head -1 >>gone.tsv
sample gone.tsv
exits "a page that does not exist" 1
has "the message names it" "$tmp/err" 'none\.html.*; the pair is skipped'
is "the others are there" "$(drawn "$tmp/out" | wc -l)" 1
head -2 gone.tsv >all-gone.tsv
sample -o new.html all-gone.tsv
exits "no page at all" 2
absent "leaves no file" "new.html*"
sample /dev/null
exits "no pairs" 2
sample "$tmp/w/p.tsv" -o p.tsv
exits "over its own input" 2
sample -n 0 p.tsv
exits "no number" 2
tap_done
