#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files of options: --config and --print-config give the same result as the command line; errors name file and line.
. "$(dirname "$0")/../tap.sh"
cp "$demo" d.warc.gz
"$P" fp -q d.warc.gz >d.fp

cat >pagededup.toml <<'END'
# Settings of this crawl.
similar = "95%"      # of the text
verify = true
distance = 12
keep = 'longest'     # only `cluster` has it
END
run "$P" match -q --similar=95% --verify -k 12 d.fp
cp "$tmp/out" typed
run "$P" match -q --config=pagededup.toml d.fp
exits "options of a file" 0
same "the same pairs as with typed options" "$tmp/out" typed
run "$P" match -q d.fp
is "the options have an effect" "$(cmp -s "$tmp/out" typed && echo none)" ""
run "$P" match -q d.fp --config pagededup.toml -k 3
has "the command line takes precedence" "$tmp/out" ' k=3 '
run "$P" cluster -q --config=pagededup.toml typed
has "another command takes its own options" "$tmp/out" 'keep=longest'
run "$P" match --config=pagededup.toml -k 3 --against=old.fp --against='a "b"' --print-config
exits "--print-config" 0
is "--print-config: all given options, in the form of a file" "$(cat "$tmp/out")" 'distance = 3
similar = "95%"
verify = true
against = ["old.fp", "a \"b\""]'
cp "$tmp/out" printed.toml
run "$P" match --config=printed.toml --print-config
same "which is read back" "$tmp/out" printed.toml
run "$P" store init kept --config=pagededup.toml
exits "an action takes only its own options" 0
run "$P" dedup -q --config=pagededup.toml d.warc.gz -o out
exits "dedup with a file of options" 0
has "the journal has them" out/.dedup/journal 'similar=95%25'
run "$P" dedup -q --resume d.warc.gz -o out
has "--resume misses them" "$tmp/err" 'had other options'

bad() { # NAME MESSAGE TEXT
	printf '# one\n%s\n' "$3" >bad.toml
	run "$P" match --config=bad.toml d.fp
	exits "$1" 2
	has "$1: the message" "$tmp/err" "^pagededup match: bad.toml:2: $2"
}
bad "an unknown option" "unknown option 'similer'; did you mean 'similar'\?" 'similer = "9%"'
bad "the name of another program" "unknown option 'threads'; did you mean 'jobs'\?" 'threads = 2'
bad "a value out of range" "--distance takes a whole number from 0 to 64, not '65'" 'distance = 65'
bad "an unknown choice" "--plan takes one of auto, .*, not 'best'" 'plan = "best"'
bad "a value without quotes" "the value is not a string in quotes, a number, true or false" 'similar = 90%'
bad "a string without an end" 'a string has no end; add "' 'similar = "90%'
bad "a list without an end" 'a list has no end; add \]' 'against = ["a", "b"'
bad "a list for one value" "'similar' takes one value, not a list" 'similar = ["9%"]'
bad "a flag with a value" "'verify' is true or false" 'verify = 1'
bad "a value that is no value" "'distance' needs a value, not true or false" 'distance = true'
bad "text after the value" "text after the value" 'distance = 3 4'
bad "a table" "not a line 'name = value'; tables in brackets are not supported" '[match]'
bad "no =" "no = after the name" 'distance 3'
bad "a file in a file" "unknown option 'config'" 'config = "other.toml"'
printf 'distance = 3\ndistance = 4\n' >bad.toml
run "$P" match --config=bad.toml d.fp
has "an option twice" "$tmp/err" "bad.toml:2: 'distance' is given twice"
run "$P" match --config=none.toml d.fp
exits "a missing file" 2
has "a missing file: the message" "$tmp/err" "none.toml"
tap_done
