#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command's --help against its man page: the same options, both ways, and the same synopsis.
. "$(dirname "$0")/../tap.sh"
man=$TOP/docs/man
plain() { sed -E 's/\\f[A-Z]//g; s/\\-/-/g; s/\\&//g; s/\\\(aq/'"'"'/g; s/\\ / /g; s/\\e/\\/g' "$@"; }
# A macro's words as text: .BR joins them without a space, a quoted word keeps its spaces.
joined() {
	plain | awk '{
		line = $0; alternate = sub(/^\.(BR|BI|RB|IR|RI|IB) +/, "", line); if (!alternate) sub(/^\.(B|I) +/, "", line)
		out = ""; quoted = 0
		for (i = 1; i <= length(line); i++) {
			c = substr(line, i, 1)
			if (c == "\"") quoted = !quoted
			else if (c == " " && !quoted && alternate) continue
			else out = out c
		}
		print out }'
}
man_options() { # the lines after .TP in OPTIONS, up to the next section
	awk '/^\.SH/ { on = /OPTIONS/ } on && tag { print; tag = 0 } on && /^\.T[PQ]/ { tag = 1 }' "$1" | joined | tidy
}
help_options() { sed -nE 's/^ {2,6}(-.*)$/\1/p' "$1" | sed -E 's/ {2,}.*//' | tidy; }
# "-k, --distance=N" -> "--distance -k =N"; [no-] is kept.
tidy() {
	sed -E 's/, +/,/g; s/ +$//' | awk '{
		letter = name = value = ""
		n = split($0, part, ",")
		for (i = 1; i <= n; i++) {
			p = part[i]
			if (match(p, /=.*/)) { value = substr(p, RSTART); p = substr(p, 1, RSTART - 1) }
			if (p ~ /^--/) name = p; else letter = p
		}
		print name, letter, value }' | LC_ALL=C sort
}
man_synopsis() { awk '/^\.SH/ { on = /SYNOPSIS/; next } on' "$1" | joined | grep -v '^\.' | tr '\n' ' ' | tr -s ' ' | sed 's/ $//'; }
help_synopsis() { sed -n '1s/^usage: //p' "$1"; }

commands=$("$P" help --all | awk '/^  [a-z]/ { print $1 }')
at_least "commands found" "$(wc -w <<<"$commands")" 9
for c in $commands; do
	"$P" "$c" --help=all >help
	"$P" "$c" --help >short
	page=$man/pagededup-$c.1
	if [ ! -f "$page" ]; then fail "$c has a man page" "missing: docs/man/pagededup-$c.1"; continue; fi
	help_options help >from-help
	man_options "$page" >from-man
	at_least "$c: options found in --help" "$(wc -l <from-help)" 1
	same "$c: man page and --help list the same options" from-man from-help
	is "$c: and the same synopsis" "$(man_synopsis "$page" | tr -s ' ')" "$(help_synopsis help | sed 's/ *$//')"
	has "$c: the man page has a name line" <(plain "$page") "^pagededup-$c - ."
	has "$c: the man page tells exit codes" "$page" '^\.SH "?EXIT STATUS'
	is "$c: no line of --help is wider than 100 columns" "$(awk 'length > 100' help)" ""
	has "$c: --help has an example" short '^example: pagededup '
	at_least "$c: --help fits a screen of 42 lines" "$((42 - $(wc -l <short)))" 0
	is "$c: --help has nothing that --help=all has not" "$(grep -vxF -f help short | grep -v 'show this help')" ""
	is "$c: --help says how many more there are" "$(sed -n 's/.*show this help.*(\([0-9]*\) more)/\1/p' short)" \
		"$(n=$(($(help_options help | wc -l) - $(help_options short | wc -l))); [ $n = 0 ] || echo $n)"
	if [ "$c" != help ] && [ "$c" != version ]; then has "$c: the man page has an example" "$page" '^\.SH "?EXAMPLE'; fi
	for o in $(awk '{ print $1 }' from-help | sed 's/\[no-\]//; s/\[$//'); do
		hasnt "$c $o is an option" <("$P" "$c" "$o" --help 2>&1) 'unknown option'
	done
	if command -v mandoc >/dev/null; then is "$c: mandoc finds no error" "$(mandoc -T lint -W error "$page" 2>&1 | head -3)" ""
	else skip "$c: mandoc finds no error" "no mandoc"; fi
done

# The first screen, and dedup for a first user, fit a terminal of 80 columns and 24 lines, one of them with the prompt.
"$P" help >screen
"$P" help --all >all
"$P" dedup --help >dedup
for screen in screen dedup; do
	at_least "$screen: at most 23 lines" "$((23 - $(wc -l <$screen)))" 0
	is "$screen: no line is wider than 80 columns" "$(awk 'length > 80' $screen)" ""
done
is "help --all: no line is wider than 80 columns" "$(awk 'length > 80' all)" ""
is "the first screen has nothing that help --all has not" "$(grep '^ ' screen | grep -vxF -f all)" ""
for group in $(grep -E '^[A-Z].*:$' all | tr ' ' _); do
	is "$group: pagededup.1 lists the same commands" \
		"$(awk -v g=".SS $(tr _ ' ' <<<"${group%:}")" '/^\.SS/ { on = $0 == g } on' "$man/pagededup.1" | sed -nE 's/^\.BR pagededup\\-([a-z]+) .*/\1/p' | grep -vx "hadoop\|slurm")" \
		"$(awk -v g="$(tr _ ' ' <<<"$group")" '/^[A-Z]/ { on = $0 == g } on && /^  / { print $1 }' all)"
done
for old in $(awk '/^\.SS Old names/ { on = 1; next } /^\.S/ { on = 0 } on' "$man/pagededup.1" | grep -oE '\\fB[a-z]+\\fR[ ,]' | grep -oE '[a-z]{3,}'); do
	exits "$old still works: $("$P" "$old" --help >old 2>&1; code=$?; echo $code)" 0
done

# Other programs of the package: the same checks, if they apply.
for c in hadoop slurm; do
	"$TOP/engines/$c/pagededup-$c" --help >help
	page=$man/pagededup-$c.1
	help_options help >from-help
	man_options "$page" >from-man
	at_least "pagededup-$c: options found in --help" "$(wc -l <from-help)" 1
	same "pagededup-$c: man page and --help list the same options" from-man from-help
	is "pagededup-$c: and the same synopsis" "$(man_synopsis "$page")" "$(sed -n '/^usage: /,/^[A-Z]/{ s/^usage: //; s/^  *//; /^pagededup/p }' help | tr '\n' ' ' | sed 's/ $//')"
	has "pagededup-$c: the man page has a name line" <(plain "$page") "^pagededup-$c - ."
	for section in 'EXIT STATUS' EXAMPLE; do has "pagededup-$c: the man page has $section" "$page" "^\.SH $section"; done
	has "pagededup-$c: --help has an example" help '^example: pagededup-'
	is "pagededup-$c: no line of --help is wider than 100 columns" "$(awk 'length > 100' help)" ""
	for o in $(awk '{ print $1 ($2 ~ /^=/ ? "=1" : "") }' from-help); do
		hasnt "pagededup-$c $o is an option" <("$TOP/engines/$c/pagededup-$c" "$o" --help 2>&1) 'no option'
	done
	if command -v mandoc >/dev/null; then is "pagededup-$c: mandoc finds no error" "$(mandoc -T lint -W error "$page" 2>&1 | head -3)" ""
	else skip "pagededup-$c: mandoc finds no error" "no mandoc"; fi
	commands="$commands $c"
done
for page in "$man"/pagededup-*.1; do
	c=$(basename "$page" .1) && c=${c#pagededup-}
	has "the man page of $c is of a command" <(echo " "$commands" ") " $c "
	has "pagededup.1 names $c" <(plain "$man/pagededup.1") "\\b(pagededup-)?$c\\b"
done
tap_done
