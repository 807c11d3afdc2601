#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A store keeps the bits and keys of any method, and answers as brute force over the rows would.
. "$(dirname "$0")/../tap.sh"
all=simhash,exact,abstract,keywords,semantic
"$P" fp -q --method=$all,segments "$demo" >demo.fp
rows demo.fp | awk 'NR % 2' | cat <(grep '^#' demo.fp | grep -v '^# total' | sed 's| end=total||') - >odd.fp
rows demo.fp | awk 'NR % 2 == 0' | cat <(grep '^#' demo.fp | grep -v '^# total' | sed 's| end=total||') - >even.fp
"$P" store init --no-key -q full
run "$P" store add full odd.fp
exits "add: the methods of the first rows" 0
run "$P" store info full
has "are kept, except methods that compare items" "$tmp/out" '^methods	simhash,exact:of=text:hash=xxh3,abstract:size=512:charset=gb18030,keywords:n=6,semantic:'

# With replace all odd pages would not stay, so they are kept one by one: k 0 and no method finds none.
"$P" store init --no-key -q -k 12 odd
"$P" store add -q odd odd.fp --method=exact --require=all >/dev/null
"$P" store export -q odd >odd.kept
for method in simhash exact abstract keywords keywords:order=weight keywords:sigma=1 keywords:order=weight:sigma=1 semantic; do
	run "$P" store check odd even.fp --method=$method
	exits "check --method=$method" 0
	rows "$tmp/out" | awk -F '\t' '$13 != "-" { n = split($13, m, ","); for (i = 1; i <= n; i++) { sub(/:[^:]*$/, "", m[i]); print $2 "\t" m[i] } }' | sort >got
	"$P" match -q -k 12 --all-pairs --method=$method --against odd.kept even.fp | rows /dev/stdin | cut -f1,2 |
		awk -F '\t' 'NR == FNR { kept[$1] = 1; next } { print ($1 in kept ? $2 "\t" $1 : $1 "\t" $2) }' <(column id odd.kept) - | sort >want
	at_least "--method=$method: matches in the demo" "$(wc -l <want)" 2
	same "--method=$method: the matches of match --against" got want
done
run "$P" store check odd even.fp --require=any
any=$(rows "$tmp/out" | cut -f12 | grep -c duplicate)
"$P" store check -q odd even.fp --method=keywords >by_key
has "reasons name the method" by_key '	the same key, found by keywords	duplicate	'
has "all of them" "$tmp/out" '	same fingerprint.*, found by simhash,exact,(abstract,)?keywords,semantic	duplicate	'
run "$P" store check odd even.fp
half=$(rows "$tmp/out" | cut -f12 | grep -c duplicate)
has "the header says how many" "$tmp/out" ' methods=simhash,exact.*,keywords:n=6:order=sorted:sigma=0.02,semantic:[^ ]* require=3 '
run "$P" store check odd even.fp --require=all
all_five=$(rows "$tmp/out" | cut -f12 | grep -c duplicate)
is "any finds more than over half, and this more than all" "$((any > half && half > all_five && all_five > 0))" 1
run "$P" store check odd even.fp --method=exact,keywords --require=2
is "two of two" "$(rows "$tmp/out" | cut -f12 | grep -c duplicate)" \
	"$("$P" match -q --all-pairs --method=exact,keywords --against odd.kept even.fp | rows /dev/stdin | awk -F '\t' '$5 == "exact,keywords" { print $1; print $2 }' | grep -cxFf <(column id even.fp))"

# In segments as in the log, removed, exported.
cp -r odd compacted && "$P" store compact -q compacted
for require in any 2 all; do
	same "--require=$require: the same from a segment" <("$P" store check -q compacted even.fp --require=$require) <("$P" store check -q odd even.fp --require=$require)
done
run "$P" store verify compacted
exits "verify" 0
"$P" store export -q compacted >again.fp
same "export: the rows with their values" <(rows again.fp | cut -f1,2,6,18-) <(rows odd.kept | cut -f1,2,6,18-)
"$P" store init --no-key -q copy && "$P" store add -q copy again.fp --method=exact --require=all >/dev/null
same "which another store accepts" <("$P" store export -q copy | rows /dev/stdin) <(rows again.fp)
"$P" store check -q compacted even.fp --method=exact >before
id=$(rows before | awk -F '\t' '$12 == "duplicate" { print $5; exit }')
"$P" store remove -q compacted "$id"
is "a removed page is not found by its key" "$("$P" store check -q compacted even.fp --method=exact | rows /dev/stdin | cut -f13 | grep -cF "$id")" 0
"$P" store add -q compacted even.fp --method=keywords --on-duplicate=replace >replaced
has "replaced pages are removed" replaced '	the same key, found by keywords	replaced	-	-	'

# Keys without a fingerprint.
"$P" fp -q --method=exact,semantic "$demo" >keys.fp
"$P" store init --no-key -q keys --method=exact
run "$P" store add keys keys.fp
exits "a store of one method's keys" 0
is "keeps each key once" "$("$P" store export -q keys | column exact | grep -vx -- - | sort | uniq -d | wc -l)" 0
is "a page without a signature" "$(rows "$tmp/out" | grep -c '	new	')" \
	"$(($(column exact keys.fp | grep -vx -- - | sort -u | wc -l) + $(column exact keys.fp | grep -cx -- -)))"

# Suspects.
words() { seq -s ' ' -f "$1%g" "$2"; }
for t in one two; do printf '{"url": "http://h.example/%s", "html": "<title>%s</title><h1>%s</h1><p>%s %s</p>"}\n' $t $t $t "$(words w 60)" "$(words $t 5)"; done >alike.jsonl
"$P" fp -q alike.jsonl >alike.fp
"$P" store init --no-key -q alike -k 16
run "$P" store add alike alike.fp
is "a page that is only like a kept one is new, and its suspect" "$(rows "$tmp/out" | cut -f12,14 | sed 's/[0-9.]*%/S/' | tail -n 1)" "new	other-subject, similarity S: alike.jsonl:0"

# --- refused ---
refuse() { # NAME MESSAGE ARGUMENT...
	run "$P" store "${@:3}"
	exits "$1" 2
	has "$1: the message gives the reason" "$tmp/err" "$2"
}
refuse "a method that compares items" "a store cannot keep 'segments': it compares items" init new --method=simhash,segments
refuse "no such method" "unknown method 'sim'" init new --method=sim
refuse "another list for one that is there" "odd is already a store, with other parameters \(methods: simhash,exact.* and exact:of=text:hash=xxh3\)" init odd -k 12 --method=exact
"$P" fp -q "$demo" >plain.fp
refuse "rows without its methods" "plain.fp: its rows were not signed by 'exact', which the store odd keeps" add odd plain.fp
"$P" fp -q --method=simhash,exact:hash=md5,abstract,keywords,semantic "$demo" >md5.fp
refuse "with other parameters" "md5.fp: 'exact' signed its rows with other parameters than those of the store odd" check odd md5.fp
echo 'word 2' >words.idf
"$P" fp -q --idf=words.idf --method=$all "$demo" >idf.fp
refuse "with another table" "idf.fp: made with other parameters than the store odd \(idf: dict and [0-9a-f]{8}\)" check odd idf.fp
"$P" fp -q --method=segments "$demo" >items.fp
"$P" store init --no-key -q fresh
refuse "nothing that it can keep" "items.fp: signed by 'segments', but a store keeps bits and keys" add fresh items.fp
refuse "a query by a method that it does not keep" "the store keys does not keep 'semantic'" check keys keys.fp --method=semantic
refuse "more than are queried" "--require=2: the store keys has 1 method" check keys keys.fp --require=2
refuse "names to require" "--require takes any, all or a number here" check keys keys.fp --require=exact
refuse "--method with other actions" "store info does not take --method" info keys --method=exact
same "the store is as it was" <("$P" store export -q odd) odd.kept
sed '1,2d' keys.fp | cut -f1-17 | cat <(grep '^# pagededup' keys.fp) <(grep '^#[^ ]' keys.fp | cut -f1-17) - >cut.fp
refuse "rows without the column" "cut.fp:[0-9]+: a row without the column 'exact', which the store keys keeps" check keys cut.fp
tap_done
