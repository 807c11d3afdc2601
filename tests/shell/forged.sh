#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Forged pages: nonsense words whose hashes are those of another page's terms.  Anyone who has the program can compute them; dedup removes no page because of one.
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
has "compare reports it" <("$P" compare pages/victim.html pages/forged.html) '^similarity: 100\.0% by the sketches, 0\.0% exactly '
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

# --- methods without a fingerprint ---
# vsm compares the words by their hashes.  --keep-rows writes rows for other runs, which are not keyed.
run "$P" dedup -q --method=vsm --keep-rows pages -o vsm-rows
is "vsm confuses the page with the other by its public hashes" "$(ls vsm-rows/pages | wc -l)" 1
run "$P" dedup -q --method=vsm pages -o vsm
is "vsm: both are kept by the hashes of the run" "$(ls vsm/pages)" "$(ls pages)"
for method in exact exact:hash=rabin64 segments overlap vsm punctuation links semantic simhash,exact,overlap; do
	"$P" dedup -q --method=$method --keep-rows "$demo" -o public 2>/dev/null
	"$P" dedup -q --method=$method "$demo" -o secret 2>/dev/null
	same "$method: the same verdicts for any secret and without one" secret/verdicts.tsv public/verdicts.tsv
	at_least "$method: there are verdicts" "$(rows secret/verdicts.tsv | wc -l)" 5
	rm -rf public secret
done
# A run that is resumed makes no rows for others of rows with its secret.
run "$P" dedup -q --method=exact pages --left-out=/dev/full -o resumed
exits "a run that cannot end" 2
run "$P" dedup -q --method=exact --keep-rows --resume pages -o resumed
exits "--keep-rows cannot be added to it" 2
run "$P" dedup -q --method=exact --resume pages -o resumed
exits "without --keep-rows it ends" 0

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

# --- a host with the hash of another ---
# Six pages of the forged host repeat the victim's lines.  If these were boilerplate of the victim's host, the rest of its page
# would be the text of the third host's page.
cat >hosts.py <<'E2'
import json, random, sys
r = random.Random(1)
def word(): return "".join(r.choice("abcdefghijklmnoprstuvw") for _ in range(r.randint(3, 9)))
def text(n): return [" ".join(word() for _ in range(25)).capitalize() + ", as they say." for _ in range(n)]
def page(url, lines):
    print(json.dumps({"url": url, "html": "<title>News</title><body>" + "".join(f"<p>{line}</p>" for line in lines)}))
story, release = text(4), text(4)
page("http://victim.example/story", story + release)
page("http://press.example/", release + text(1))
for i in range(40): page(f"http://{sys.argv[1]}/{i}", story + text(12))
E2
host=$("$forge" host victim.example)
is "a valid name: it has no label of over 63 letters" "$(tr . '\n' <<<"$host" | awk '{ n++; if (length > 63) long++ } END { print n, long + 0 }')" "4 0"
python3 hosts.py "$host" >hosts.jsonl
python3 hosts.py other.example >honest.jsonl
run "$P" dedup hosts.jsonl -o kept
exits "dedup with pages of that host" 0
has "the victim is kept" kept/hosts.jsonl '^{"url": "http://victim.example/story"'
grep victim hosts.jsonl >alone.jsonl
"$P" boilerplate -q hosts.jsonl -o hosts.bp
"$P" boilerplate --print hosts.bp >hosts.txt
has "the forged host repeats the lines" hosts.txt "^$host	32	4	"
has "the victim's host does not" hosts.txt '^victim\.example	1	0	0$'
is "the victim keeps its text" "$("$P" fp -q --boilerplate=hosts.bp alone.jsonl | column text_digest)" "$("$P" fp -q alone.jsonl | column text_digest)"
is "learned as with a host of another hash" "$("$P" fp -q --learn-boilerplate hosts.jsonl | column text_digest)" "$("$P" fp -q --learn-boilerplate honest.jsonl | column text_digest)"
for j in 1 5; do
	shuf --random-source=<(yes $j) hosts.jsonl | "$P" boilerplate -q -j$j - -o other.bp
	same "the same table from another order, with $j threads" hosts.bp other.bp
done
split -n l/2 hosts.jsonl hosts.part.
for f in hosts.part.*; do "$P" boilerplate -q "$f" -o "$f.bp"; done
"$P" boilerplate -q --merge hosts.part.*.bp -o other.bp
same "and from tables of its parts" hosts.bp other.bp
"$P" boilerplate -q alone.jsonl -o alone.bp
"$P" boilerplate -q --update=alone.bp hosts.jsonl -o other.bp
same "and from an update of the victim's table" hosts.bp other.bp

# --- a rank for a page whose id has the hash of another id ---
name=$("$forge" host victim.example | tr -d '\n')
cp pages/victim.html "$name"
printf '# pagededup ranks 1 | end=total\n#id\turl\tpage_rank\tdomain_rank\tsignature\tquality\nvictim.example\t-\t1\t1\t1\t7\n# total pages=1\n' >ranks
run "$P" fp -q --ranks=ranks "$name"
exits "fp with ranks" 0
is "the rank of another page is not its own" "$(column quality "$tmp/out")" -
cp pages/victim.html victim.example
is "the page itself has it" "$("$P" fp -q --ranks=ranks victim.example | column quality)" 7

# --- a key ---
echo 000102030405060708090a0b0c0d0e0f >key && chmod 600 key
"$P" fp -q --shingles=plain.shingles "$demo" | "$P" match -q >plain.pairs
"$P" fp -q --key=key --shingles=keyed.shingles "$demo" | "$P" match -q >keyed.pairs
"$P" cluster -q --shingles=plain.shingles plain.pairs >plain.v
run "$P" cluster --shingles=keyed.shingles keyed.pairs
exits "cluster with shingles of fp --key" 0
hasnt "it compares texts" "$tmp/err" 'by sketches only'
some() { LC_ALL=C head -c 9000 "$1" | tail -c 700 | cksum; } # FILE: of some shingles
is "they have other hashes" "$([ "$(some plain.shingles)" = "$(some keyed.shingles)" ] || echo other)" other

# --- files of shingles of 32 bits ---
{ printf '\x89PDS\r\n\x1a\n\x01\0\0\0\x03\0\0\0k=v'; head -c 16 /dev/zero; } >old.shingles
run "$P" cluster -q --shingles=old.shingles short.pairs
exits "version 1" 2
has "version 1: the remedy" "$tmp/err" "old.shingles has version 1, which cannot be read; write it again with 'pagededup fp --shingles'"
tap_done
