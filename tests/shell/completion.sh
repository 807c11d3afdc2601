#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Completions name every command and each long option of its --help; and the shell at hand can read them.
. "$(dirname "$0")/../tap.sh"
commands=$("$P" help --all | awk '/^  [a-z]/ { print $1 }')
for shell in bash zsh fish; do
	run "$P" completion $shell
	exits "completion $shell" 0
	cp "$tmp/out" script.$shell
	for c in $commands; do
		has "$shell: $c" script.$shell "\\b$c\\b"
		"$P" "$c" --help=all | grep -oE -- '--(\[no-\])?[a-z][a-z-]+[= ]' | sed -E 's/--(\[no-\])?//; s/[= ]$//' | sort -u >options
		is "$shell: the options of $c" "$(while read -r o; do grep -qwF -- "$o" script.$shell || echo "$o"; done <options)" ""
	done
	if ! command -v $shell >/dev/null; then skip "$shell reads it" "no $shell"; continue; fi
	run $shell -n script.$shell
	exits "$shell reads it" 0
done
# Print the completions of bash.
offer() { # WORD…: the last is being typed
	bash -c '. ./script.bash; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); f=$(complete -p pagededup | sed -E "s/.*-F ([^ ]+).*/\1/")
		$f pagededup "${@: -1}" "${@: -2:1}"; printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}
has "bash offers a command" <(offer pagededup clu) '^cluster ?$'
has "bash offers an option" <(offer pagededup match --sc) '^--scope'
is "bash offers the actions of store" "$(offer pagededup store '' | tr '\n' ' ')" "init add check remove compact verify info export "
is "by its first letters" "$(offer pagededup store co | tr '\n' ' ')" "compact "
has "options of store too" <(offer pagededup store --by) '^--by-url'
is "no further argument after the action" "$(offer pagededup store add '' | tr -d '\n')" ""
is "and the shells that it knows itself" "$(offer pagededup completion '' | tr '\n' ' ')" "bash zsh fish "
has "zsh has them, too" script.zsh "store:store\) words='init add check remove compact verify info export'"
has "and fish" script.fish "from store; and not .* -a 'init add check remove compact verify info export'\$"
run "$P" completion tcsh
exits "another shell is refused" 2
tap_done
