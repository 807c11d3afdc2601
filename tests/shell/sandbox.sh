#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The sandbox: calls that a parser of pages never needs fail from within it, the program works as without it, and what it is off for is said.
. "$(dirname "$0")/../tap.sh"
shim=$(cd "$TOP" && realpath "${B:-build}/tests/forbidden.so")
cd "$tmp" || exit 2
is "--no-sandbox is an option of every command" "$(for c in $("$P" help --all | awk '/^  [a-z]/ { print $1 }'); do
	"$P" "$c" --no-sandbox --help >/dev/null 2>&1 || echo "$c"; done)" ""
has "help --all names it" <("$P" help --all) '--no-sandbox'
run "$P" version
state=$(sed -n 's/^sandbox: //p' "$tmp/out")
has "version says whether there is one" "$tmp/out" '^sandbox: (on|off: .*)$'
cp "$demo" demo.warc.gz
if [ "$state" != on ]; then
	run "$P" fp --sandbox demo.warc.gz
	exits "a sandbox that is not there is refused if it is required" 2
	has "the message gives the reason" "$tmp/err" '--sandbox: .*; omit --sandbox to run without'
	run "$P" fp -q demo.warc.gz
	exits "and is nothing otherwise" 0
	skip "calls are refused" "$state"
	tap_done
fi
refused="execve fork socket-inet socket-unix socket-netlink socketpair ptrace process_vm_readv kill-parent mount unshare chroot setuid bpf perf_event_open
keyctl memory-to-write-and-execute memory-made-executable type-into-terminal"
refused=$(tr '\n' ' ' <<<"$refused" | sed 's/ $//')
for options in "" "-j4" "--sandbox"; do
	rm -f log
	run env LD_PRELOAD="$shim" PD_FORBIDDEN_LOG=log "$P" fp -q $options demo.warc.gz
	exits "fp $options with a hostile parser" 0
	cp "$tmp/out" hostile.fp
	is "fp $options: these calls are refused" "$(awk -F '\t' '$2 == "EPERM" { print $1 }' log | tr '\n' ' ' | sed 's/ $//')" "$refused"
	is "fp $options: io_uring is not there" "$(sed -n 's/^io_uring_setup\t//p' log)" ENOSYS
	is "fp $options: what it needs is allowed" "$(grep -c '^allowed: .*	done$' log) of $(grep -c '^allowed' log)" "4 of 4"
	"$P" fp -q --no-sandbox demo.warc.gz >plain.fp
	is "fp $options: the same rows as without" "$(cmp hostile.fp plain.fp 2>&1)" ""
done
# Every command that parses pages is in it, and none without.
row=$("$P" fp -q demo.warc.gz | awk -F '\t' '!/^#/ { print $2; exit }')
while read -r command; do
	rm -rf log made
	run env LD_PRELOAD="$shim" PD_FORBIDDEN_LOG=log "$P" $command
	is "${command%% *}: sockets are refused" "$(sed -n 's/^socket-inet\t//p' log 2>/dev/null)" EPERM
	rm -rf log made
	run env LD_PRELOAD="$shim" PD_FORBIDDEN_LOG=log "$P" $command --no-sandbox
	is "${command%% *} --no-sandbox: they are not" "$(sed -n 's/^socket-inet\t//p' log 2>/dev/null)" done
done <<EOF
fp demo.warc.gz
text demo.warc.gz
dedup -o made demo.warc.gz
boilerplate -o made demo.warc.gz
link demo.warc.gz
show $row
compare $row $row
estimate demo.warc.gz
selftest
EOF
rm -f log
echo demo.warc.gz >list
env LD_PRELOAD="$shim" PD_FORBIDDEN_LOG=log "$P" map --job=fp <list >/dev/null 2>&1
is "map starts programs (--fetch), so it has no sandbox" "$(sed -n 's/^socket-inet\t//p' log 2>/dev/null)" done
echo "$tmp/demo.warc.gz" >list
rm -f log
env LD_PRELOAD="$shim" PD_FORBIDDEN_LOG=log "$P" map --job=fp --sandbox <list >/dev/null 2>&1
is "unless it is required" "$(sed -n 's/^socket-inet\t//p' log 2>/dev/null)" EPERM
# All kinds of inputs and outputs work inside the sandbox.
"$P" fp -q --no-sandbox demo.warc.gz >plain.fp
is "standard input, standard output" "$("$P" fp -q - <demo.warc.gz | grep -vc '^#')" "$(grep -vc '^#' plain.fp)"
is "a pipe" "$("$P" fp -q demo.warc.gz | "$P" match -q | "$P" cluster -q | cksum)" \
	"$("$P" fp -q --no-sandbox demo.warc.gz | "$P" match -q --no-sandbox | "$P" cluster -q --no-sandbox | cksum)"
is "/dev/stdout" "$("$P" fp -q -o /dev/stdout demo.warc.gz | cmp - plain.fp)" ""
is "/dev/fd" "$("$P" fp -q -o /dev/fd/3 demo.warc.gz 3>fd.fp; cmp fd.fp plain.fp)" ""
mkdir tmp
run env TMPDIR="$tmp/tmp" "$P" dedup -q -o folder demo.warc.gz
exits "a new folder, temporary files in TMPDIR" 0
run "$P" store init -q kept
"$P" fp -q --key=kept/key demo.warc.gz >keyed.fp
run "$P" store add -q kept keyed.fp
exits "a store" 0
tap_done
