#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How the program and the library are linked: read-only tables of addresses, bound at the start; a program at random addresses; stack
# protectors, checks of buffer sizes; no stack that is executable, no folder of the builder's to look for libraries in.
. "$(dirname "$0")/../tap.sh"
command -v readelf >/dev/null || { skip "hardening" "readelf is not installed"; tap_done; }
case ${B:-build} in
*san-* | *cover*) skip "hardening" "sanitizers have checks of their own"; tap_done ;;
esac
lib=$(cd "$TOP" && realpath "${B:-build}")
if strings -a "$lib/flags" | grep -q -- '-O0'; then skip "hardening" "built without optimisation"; tap_done; fi
cd "$tmp" || exit 2
for file in pagededup libpagededup.so; do
	readelf -lW "$lib/$file" >segments
	readelf -dW "$lib/$file" >dynamic
	readelf -W --dyn-syms "$lib/$file" >symbols
	has "$file: read-only after relocation" segments GNU_RELRO
	has "$file: all symbols bound at the start" dynamic 'BIND_NOW|FLAGS.*NOW'
	has "$file: the stack is not executable" segments 'GNU_STACK.* RW '
	is "$file: no segment is written and executed" "$(awk '$1 == "LOAD" && /RWE/' segments)" ""
	has "$file: stack protectors" symbols __stack_chk_fail
	if [ -e /etc/alpine-release ] || readelf -dW "$lib/$file" | grep -q musl; then skip "$file: buffer sizes are checked" "musl has no such checks"
	else has "$file: buffer sizes are checked" symbols '__(memcpy|snprintf|vsnprintf|printf|fprintf)_chk'; fi
	is "$file: libraries are looked for in the system's folders alone" "$(grep -E 'RPATH|RUNPATH' dynamic)" ""
done
has "pagededup: at random addresses" <(readelf -hW "$lib/pagededup") 'DYN '
has "pagededup: a program" <(readelf -dW "$lib/pagededup") 'FLAGS_1.*PIE'
tap_done
