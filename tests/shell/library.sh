#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The library and the program: the examples give the output of the command, from C and C++, with either library; the ABI
# is that of the version.
. "$(dirname "$0")/../tap.sh"

cc=${CC:-cc} cxx=${CXX:-c++}
lib=$(cd "$B" && pwd)
flags=(-g -Wall -Wextra -Werror -I"$TOP/include" "$lib/libpagededup.so" -Wl,-rpath,"$lib" -pthread)
case $lib in *san-*)
	skip "the library" "programs of others are built without sanitizers"
	tap_done ;;
esac
cd "$tmp" || exit 2
for example in sign dedup kept; do
	is "docs/examples/$example.c compiles without a warning" "$("$cc" -std=c11 -o $example "$TOP/docs/examples/$example.c" "${flags[@]}" 2>&1)" ""
done
is "docs/examples/workers.cc compiles without a warning" "$("$cxx" -std=c++11 -o workers "$TOP/docs/examples/workers.cc" "${flags[@]}" 2>&1)" ""
is "the header compiles separately as C++98 and as C99" "$(for std in c++98 c99; do
	printf '#include <pagededup.h>\nint main() { return 0; }\n' | "$cc" -x "$([ $std = c99 ] && echo c || echo c++)" -std=$std -Wall -Wextra -Werror -pedantic-errors \
		-I"$TOP/include" -fsyntax-only - 2>&1; done)" ""

page=$TOP/tests/golden/en-article-html5/page.html
is "sign: the fingerprint of fp" "$(./sign "$page" | cut -f 1)" "$("$P" fp -q "$page" | grep -v '^#' | cut -f 1)"
is "workers: two fingerprints" "$(./workers | grep -cE '^[0-9a-f]{16}$')" 2

# Rows, pairs and verdicts, byte for byte.
dumps=("$TOP/demo/demo.warc.gz")
[ -z "${PAGEDEDUP_CORPORA:-}" ] || dumps+=("$PAGEDEDUP_CORPORA/neardup/transplant-dev.warc.gz")
for dump in "${dumps[@]}"; do
	[ -e "$dump" ] || continue
	name=$(basename "$dump")
	"$P" fp -q "$dump" >rows
	"$P" match -q rows | "$P" cluster -q --keep=longest | grep -v '^#' >want
	./dedup "$dump" >got 2>dedup.err
	at_least "$name: verdicts" "$(wc -l <want)" 5
	is "$name: verdicts are those of fp | match | cluster" "$(cmp want got 2>&1; cat dedup.err)" ""
	rm -rf kept.c kept.l
	"$P" store init --no-key -q kept.c
	"$P" store add -q kept.c rows | awk -F '\t' '!/^#/ { print $12 "\t" $2 }' >want
	./kept kept.l "$dump" >got 2>&1
	is "$name: the store answers as the command's" "$(cmp want got 2>&1)" ""
	is "$name: the store that the library made is one of the command's" "$("$P" store verify kept.l 2>&1 | grep -c 'no damage')" 1
done

is "every function of the header is documented, separately or with the previous one" "$(awk '/^PAGEDEDUP_API/ && before !~ /\*\/$|;$/ { print } { before = $0 }' "$TOP/include/pagededup.h")" ""

# The man page of section 3 is made from the header.
"$TOP/tools/man3" "$TOP/include/pagededup.h" 1.2.3 man3
is "each function has a man page" "$(grep -oE '\bpagededup_[a-z_]+\(' <(grep '^PAGEDEDUP_API' "$TOP/include/pagededup.h") | tr -d '(' | while read -r name; do
	[ "$(cat "man3/$name.3")" = ".so man3/pagededup.3" ] && grep -q "\b$name(" man3/pagededup.3 || echo "$name"; done)" ""
has "with the comment of the header" man3/pagededup.3 '^NULL is ignored|NULL is ignored\.'
if command -v mandoc >/dev/null; then is "mandoc accepts it" "$(mandoc -T lint -W warning man3/pagededup.3 2>&1 | head -3)" ""
else skip "mandoc accepts the man page of section 3" "no mandoc"; fi

# Either of these changes for a reason, which NEWS.md tells: then the version changes, too.
python3 "$TOP/tests/abi.py" "$TOP/include/pagededup.h" >abi.c
is "abi.c compiles" "$("$cc" -I"$TOP/include" -o abi abi.c 2>&1)" ""
is "structs, values and functions agree with tests/data/abi.txt" "$(./abi | diff "$TOP/tests/data/abi.txt" -)" ""
symbols=$(nm -D --defined-only "$lib/libpagededup.so" | awk 'NF == 3 && $2 == "T" { print $3 }' | sort)
is "symbols have a version" "$(grep -v '@@PAGEDEDUP_0.2$' <<<"$symbols")" ""
is "the library's soname" "$(readelf -d "$lib/libpagededup.so" | grep -o 'libpagededup\.so\.[0-9.]*')" libpagededup.so.0.2
tap_done
