#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Messages on the screen: a missing or extra operand or option is named together with the remedy; help describes options
# in the words of the field.
. "$(dirname "$0")/../tap.sh"
cp "$demo" d.warc.gz
"$P" fp -q d.warc.gz >d.fp
"$P" match -q d.fp >pairs.tsv
"$P" cluster -q pairs.tsv >v.tsv

while IFS='|' read -r arguments message; do
	[ -n "$arguments" ] || continue
	eval "run \"\$P\" $arguments"
	exits "$arguments" 2
	has "$arguments: $message" "$tmp/err" "^pagededup.*: $message\$"
	has "$arguments: where help is" "$tmp/err" "^Try 'pagededup.*--help'"
done <<'E2'
eval|missing operand TRUTH
eval d.warc.gz|missing required option: one of --pairs=FILE, --clusters=FILE and --sweep
dedup|missing required option -o DIR
dedup d.warc.gz|missing required option -o DIR
dedup -o out|dedup needs input files, because it reads them twice; it cannot read standard input
dedup -o out -|dedup needs input files, because it reads them twice; it cannot read standard input
apply d.warc.gz|missing required option --verdicts=FILE
report d.warc.gz|missing required option --verdicts=FILE
why|missing operand PAGE, or option --url=URL
why d.warc.gz:278|missing required option --verdicts=FILE, or --run=DIR
show|missing operand PAGE: the id of a page, or the path of an HTML file
compare|missing operands: two pages, or --url twice and the INPUT to search
dict|missing required option -o FILE, the file to write
dict -o words.dict|missing operand WORDS, the list of words
boilerplate --merge -o site.bp|missing operand: --merge needs the tables to merge
boilerplate --print|--print needs one operand, the table to print
completion|missing operand: bash, zsh or fish
completion tcsh|unknown shell 'tcsh': give bash, zsh or fish
completion bash zsh|extra operand 'zsh': completion takes one shell
store|missing action: init, add, check, remove, compact, verify, info or export
store add|add: missing operand DIR, the store's folder
store info s t|extra operand 't': 'store info' takes none after DIR
help fp match|extra operand 'match': help takes one COMMAND
version now|extra operand 'now': version takes none
dict -o words.dict a b|extra operand 'b': dict takes one list of words
show a b|extra operand 'b': a stage is shown for one page
compare a b c|extra operand 'c': explain takes at most two pages
show --url=http://h/|missing operand INPUT: the dumps to search for the URL
why a -V v.tsv --run=out|--run and --verdicts cannot be combined
eval t --pairs=pairs.tsv --sweep|--pairs, --clusters and --sweep cannot be combined
store qqqqqqqq s|unknown action 'qqqqqqqq': it is one of init, add, check, remove, compact, verify, info and export
--frob|unknown option --frob; a command comes first
why a b --verdicts=v.tsv|too many operands: a verdict is explained for one page, by its id or by --url
apply -V v.tsv d.warc.gz d.fp -o one|-o must name a folder for several inputs; add a slash, as in -o one/
E2

# Errors in the middle of the data: the mistake and its consequence.
awk -F '\t' -v OFS='\t' '/^#/ { print; next } ++n == 1 { $3 = "x" } { print }' pairs.tsv >bad.tsv
run "$P" cluster bad.tsv
exits "an invalid distance" 1
has "is named with file and line" "$tmp/err" '^pagededup cluster: bad\.tsv:3: invalid distance; row skipped$'
if command -v lzip >/dev/null; then
	lzip -c d.warc.gz >d.warc.lz
	run bash -c "'$P' fp <d.warc.lz"
	has "lzip on standard input" "$tmp/err" '^pagededup fp: -: lzip is not supported; try: lzip -dc \| pagededup fp$'
	run "$P" fp d.warc.lz
	has "lzip in a file" "$tmp/err" '^pagededup fp: d\.warc\.lz: lzip is not supported; try: lzip -dc d\.warc\.lz \| pagededup fp$'
	run "$P" dedup d.warc.lz -o unpacked/
	exits "dedup of lzip" 2
	has "dedup reads no pipe, and does not advise one" "$tmp/err" \
		'^pagededup dedup: d\.warc\.lz: lzip is not supported; unpack it first: lzip -d d\.warc\.lz$'
	hasnt "nowhere" "$tmp/err" 'lzip -dc'
fi
printf '{"url":"http://h/a","content":"words %s"}\n' 1 2 3 >j.jsonl
run "$P" fp j.jsonl
has "JSON Lines with other fields" "$tmp/err" \
	'^pagededup fp: j\.jsonl: no field "text" or "html" \(found: url, content\); use --field-text=content$'
run "$P" cluster d.fp
has "rows of another kind: the command that writes the right rows" "$tmp/err" "^pagededup cluster: d\.fp holds fp rows, not the pairs rows that 'pagededup match' writes\$"

# The words of --help.
while IFS='|' read -r command text; do
	has "$command --help: $text" <("$P" $command --help=all) "$text"
done <<'E2'
dedup|resume the interrupted run in DIR
match|verify pairs by similarity, estimated from sketches
cluster|star \(default\): within reach of the page kept; connected: components
fp|default, or paper: settings of patent CN101645082
E2
for c in $("$P" help | awk '/^  [a-z]/ { print $1 }'); do
	hasnt "$c --help: no house words" <("$P" "$c" --help=all) \
		'the documents|closing line|second look|look(s|ed)? at|speaks|crowd|slurp|brok(e|en) off|\bgone\b|\bM[0-9]+\b'
	hasnt "$c: nor in its man page" "$TOP/docs/man/pagededup-$c.1" \
		'the documents|closing line|second look|looks? at|looked at|speaks|crowd|slurp|brok(e|en) off|\bM[0-9]+\b'
done
tap_done
