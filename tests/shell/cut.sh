#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A page of which a part was not read is kept: its rest may be on no other page.
. "$(dirname "$0")/../tap.sh"
cat >pages.py <<'END'
"""usage: pages.py NAME SEED RUNS BLOCKS: NAME.html begins as all such pages do, then has RUNS short runs, then BLOCKS of its own."""
import random, sys
def blocks(seed, n):
    r = random.Random(seed)
    return '\n'.join('<p>' + ' '.join('w%05x' % r.randrange(1 << 20) for _ in range(60)) + '</p>' for _ in range(n))
name, seed, runs, own = sys.argv[1], *map(int, sys.argv[2:])
open(name + '.html', 'w').write('<html lang=en><title>Tides</title><body><h1>Tides</h1>' + blocks(0, 100) + '<p>x' * runs + blocks(seed, own) + '</body></html>')
END
compared() { # NAME FP-OPTION...: of a.html and b.html nothing is removed
	local name=$1; shift
	run "$P" fp "$@" a.html b.html
	exits "$name: fp" 0
	has "$name: it says so" "$tmp/err" ', 2 too long to be compared \(see --max-page\)'
	is "$name: nothing to match by" "$(column fingerprint "$tmp/out" | tr '\n' ' ')$(column text_digest "$tmp/out" | tr '\n' ' ')$(column sketch "$tmp/out" | tr '\n' ' ')" '- - - - - - '
	is "$name: flags" "$(column flags "$tmp/out" | grep -c ',cut,\|,cut$')$(column flags "$tmp/out" | grep -c short)" 20
	is "$name: no pair" "$("$P" match -q "$tmp/out" | rows | wc -l)" 0
}
for page in a:1 b:2; do python3 pages.py ${page%:*} ${page#*:} 0 300; done
compared "longer than --max-page" --max-page=40K
compared "and with --stubs=match" --max-page=40K --stubs=match
compared "by other methods too" --max-page=40K --method=simhash,exact,segments
is "read to their ends they are not a pair" "$("$P" fp -q a.html b.html | "$P" match -q | rows | wc -l)" 0
cp a.html c.html
is "and a copy is one" "$("$P" fp -q a.html c.html | "$P" match -q | rows | wc -l)" 1
"$P" fp -q a.html c.html >rows.fp
run "$P" fp -q --max-page=40K --stats=stats.json a.html c.html
has "--stats counts them" stats.json '"cut": *2'
for how in '' --no-boilerplate; do
	run "$P" dedup -q --max-page=40K $how a.html b.html -o "out$how"
	is "dedup${how:+ $how}: both are kept" "$(ls "out$how" | grep -c '^[ab].html')" 2
done
run "$P" dedup -q a.html c.html -o whole
is "dedup: a copy is removed" "$(ls whole | grep -c '^[ac].html')" 1

# --- more runs of text than are kept ---
for page in a:1 b:2; do python3 pages.py ${page%:*} ${page#*:} 524288 100; done
compared "more than 524,288 runs"
run "$P" dedup -q a.html b.html -o runs
is "dedup: both are kept" "$(ls runs | grep -c '^[ab].html')" 2
python3 pages.py a 1 524088 50
is "their number is the number of kept pages" "$("$P" fp -q a.html | column flags | grep -c cut)" 0
tap_done
