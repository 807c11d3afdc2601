#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# explain: its options and operands select a stage of a page, a pair, or a verdict; and old names of commands.
. "$(dirname "$0")/../tap.sh"
cp "$demo" d.warc.gz
"$P" dedup -q -o run/ d.warc.gz
"$P" fp -q d.warc.gz >d.fp
"$P" match -q d.fp >pairs.tsv
"$P" cluster -q pairs.tsv >verdicts.tsv
a=d.warc.gz:278 b=d.warc.gz:2824 url=$(rows d.fp | awk -F '\t' '$2 == "d.warc.gz:278" { print $3 }')
equal() { # NAME OLD NEW: the same exit status, output and messages
	run "$P" $2
	cp "$tmp/out" old.out && cp "$tmp/err" old.err
	local old=$code
	run "$P" $3
	is "$1: exit status" "$code" "$old"
	same "$1: output" "$tmp/out" old.out
	sed -i -E 's/, [0-9.]+ s$//' old.err "$tmp/err"
	same "$1: messages" "$tmp/err" old.err
}
equal "a page: its main text" "show $a" "explain $a"
printf '<div><p>%s <a href="/x">more</a></p></div><h1>Title <b>one</b></h1>' "$(printf 'word%.0s ' {1..30})" >block.html
"$P" explain --stage=blocks --markup block.html >"$tmp/out"
has "--markup: a block with its tags" "$tmp/out" '^  < <div><p>word .* <a href="/x">more</a></p></div>$'
has "and a title block" "$tmp/out" '^  < <h1>Title <b>one</b></h1>$'
run "$P" explain --stage=topic --markup block.html
exits "--markup needs blocks" 2
equal "a stage of a page" "show -s blocks $a" "explain --stage=blocks $a"
equal "a page by its URL" "show --url=$url d.warc.gz" "explain --url=$url d.warc.gz"
equal "a page with the settings of a run" "show --run=run $a" "explain --run=run --stage=topic $a"
equal "two pages" "compare $a $b" "explain $a $b"
equal "two pages with the settings of a run" "compare --run=run $a $b" "explain --run=run $a $b"
equal "two pages and a preset" "compare --preset=paper --url=$url --url=$url d.warc.gz" "explain --preset=paper --url=$url --url=$url d.warc.gz"
equal "a verdict" "why --verdicts=verdicts.tsv $a" "explain --verdicts=verdicts.tsv $a"
equal "a verdict and pairs, as JSON" "why -V verdicts.tsv -P pairs.tsv --format=jsonl $a" "explain -V verdicts.tsv -P pairs.tsv --format=jsonl $a"
equal "a verdict of a run" "why --run=run --url=$url" "explain --run=run --url=$url"
equal "ranks" "rank -q d.warc.gz" "link --rank -q d.warc.gz"
equal "sites" "sites d.warc.gz" "url --learn-sites d.warc.gz"
equal "parameters" "info --preset=paper" "version --params --preset=paper"
equal "self-test" "selftest --long" "version --selftest --long"
echo d.warc.gz >paths
for name in map "task map"; do "$P" $name --job=fp -- -q --bits=128 <paths >"${name// /-}" 2>&1; done
same "a map task" map task-map
for name in reduce "task reduce"; do "$P" $name --job=cluster --step=edges <paths >"${name// /-}" 2>&1; done
same "a reduce task" reduce task-reduce
while IFS='|' read -r arguments message; do
	run "$P" $arguments
	exits "$arguments: misuse" 2
	has "$arguments: message" "$tmp/err" "$message"
done <<'E'
explain|missing operand PAGE
explain a b c|explain takes at most two pages
explain --stage=topic a b|a stage is shown for one page
explain --stage=topic -V v a|explain PAGE does not take --verdicts
explain --pairs=p a|missing required option --verdicts=FILE, or --run=DIR
explain --format=jsonl a|explain PAGE does not take --format
explain --color=never -V v a|explain --verdicts does not take --color
explain --url=a --url=b --url=c d|at most twice
show -V v a|explain PAGE does not take --verdicts
compare a|missing operands: two pages
why a|missing required option --verdicts=FILE
link --damping=.5 d.warc.gz|link without --rank does not take --damping
rank --adverts=f d.warc.gz|link --rank does not take --adverts
url --files-from=f|url without --learn-sites does not take --files-from
sites --seen=f d.warc.gz|url --learn-sites does not take --seen
version --bits=128|does not take --bits
version --params --selftest|version --params does not take --selftest
selftest --licenses|version --selftest does not take --licenses
task --job=fp|missing operand: map or reduce
task map|missing required option --job=NAME
task reduce --job=fp|--job=fp has no reduce task
task map --bucket=5 --job=join|task map does not take --bucket
map --bucket=5 --job=join|task map does not take --bucket
store check s --bits=64|store check does not take --bits
E
tap_done
