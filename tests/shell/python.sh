#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Python package: build a wheel, install it into a separate environment, and compare it with the command.  The
# environment is kept in build/python; without it and without a network, the test is skipped.
. "$(dirname "$0")/../tap.sh"

lib=$(cd "$B" && pwd)
case $lib in *san-*)
	skip "the Python package" "Python is built without sanitizers"
	tap_done ;;
esac
env=$lib/python
others='pandas duckdb datasets pyspark datatrove[io] mypy twine'	# each has a test that is skipped without it
if [ "$(cat "$env/ready" 2>/dev/null)" != "$others" ]; then
	rm -rf "$env"
	if ! "${PYTHON:-python3}" -m venv "$env" >"$tmp/venv" 2>&1; then
		skip "the Python package" "no environment could be made: $(tail -1 "$tmp/venv" | cut -c1-80)"
		tap_done
	fi
	if ! timeout 900 "$env/bin/pip" install -q 'cffi>=1.15' 'setuptools>=77' wheel pyarrow numpy >"$tmp/pip" 2>&1; then
		rm -rf "$env"
		skip "the Python package" "cffi, pyarrow and numpy could not be installed"
		tap_done
	fi
	for package in $others; do timeout 900 "$env/bin/pip" install -q "$package" >>"$tmp/pip" 2>&1; done
	echo "$others" >"$env/ready"
fi
mkdir -p "$tmp/source"
cp -r "$TOP"/{Makefile,VERSION,LICENSE,THIRD-PARTY,python,include,tools} "$tmp/source/"
rm -rf "$tmp/source/python/build" "$tmp/source/python/pagededup/_bin" "$tmp/source/python/"*.egg-info
make_wheel() {
	rm -rf "$tmp/wheels"
	run env -u MAKEFLAGS -u MAKELEVEL PATH="$env/bin:$PATH" PIP_NO_BUILD_ISOLATION=false make --no-print-directory -s -C "$tmp/source" -o "$lib/pagededup" -o "$lib/libpagededup.a" \
		B="$lib" PYTHON="$env/bin/python" WHEELS="$tmp/wheels" one-wheel
}
make_wheel
exits "the wheel is built" 0
[ $code = 0 ] || diag "$(tail -3 "$tmp/err")"
wheel=$(ls "$tmp/wheels" 2>/dev/null)
is "one wheel serves every Python from 3.9 on" "$(grep -cE '^pagededup-[0-9.]+-cp39-abi3-linux' <<<"$wheel")" 1
# The files of a wheel for another C library are newer than the sources.
left=$(find "$tmp/source/python" \( -name '_native*.so' -o -path '*/_bin/pagededup' \))
at_least "building leaves an extension and a command" "$(wc -l <<<"$left")" 2
while read -r file; do echo "for another C library" >"$file"; done <<<"$left"
make_wheel
exits "it is built again" 0
is "it has no files of earlier builds" "$(cd "$tmp" && python3 -m zipfile -e "wheels/$wheel" again && grep -lrx "for another C library" again)" ""
# --- from the source ---
pip_in() { # FOLDER NAME=VALUE…: pip builds the package of the folder
	run env -u MAKEFLAGS -u MAKELEVEL -C "$tmp" "${@:2}" "$env/bin/pip" wheel -q --no-build-isolation --no-deps -w "$tmp/from-source" "$1"
}
pip_in "$tmp/source/python" PKG_CONFIG_LIBDIR=/nonexistent
exits "pip without the libraries" 1
has "it lists them" "$tmp/err" '^ *libxml2-dev +parsing HTML$'
has "it says how to install them" "$tmp/err" 'Install them with: sudo apt-get install .*libxml2-dev'
hasnt "there is no traceback" "$tmp/err" 'Traceback'
mkdir -p "$tmp/source/build" "$tmp/bin"
cp -p "$lib/libpagededup.a" "$lib/pagededup" "$tmp/source/build"
touch "$tmp/source/build"/*
printf '#!/bin/sh\necho make >>"%s"\nexit 1\n' "$tmp/made" >"$tmp/bin/make"
chmod +x "$tmp/bin/make"
pip_in "$tmp/source/python" PATH="$tmp/bin:$PATH"
exits "pip after make" 0
[ $code = 0 ] || diag "$(tail -3 "$tmp/err")"
is "the program is not built again" "$(cat "$tmp/made" 2>&1)" "cat: $tmp/made: No such file or directory"
touch "$tmp/source/VERSION"
pip_in "$tmp/source/python" PATH="$tmp/bin:$PATH"
is "if a source is newer, it is" "$code $(cat "$tmp/made" 2>&1)" "1 make"
if [ -r /usr/lib/python3/dist-packages/jieba/dict.txt ]; then
	for i in 1 2; do
		run env -u MAKEFLAGS -u MAKELEVEL SOURCE_DATE_EPOCH=1700000000 make --no-print-directory -s -C "$TOP" B="$tmp/sdist-$i" PYTHON="$env/bin/python" WHEELS="$tmp/sdist-$i" sdist
		exits "make sdist" 0
	done
	archive=$tmp/sdist-1/pagededup-$(cat "$TOP/VERSION").tar.gz
	same "it has the same bytes each time" "$tmp"/sdist-?/*.tar.gz
	is "it contains what the build reads" "$(tar -tzf "$archive" | grep -cE '^[^/]*/(source/(Makefile|src/main\.c|tests/golden/en-article-html5/page\.html|jieba/dict\.txt)|exports\.map|LICENSE)$')" 6
	if [ -x "$env/bin/twine" ]; then
		run "$env/bin/twine" check --strict "$archive" "$tmp/wheels/$wheel"
		exits "twine has no complaints" 0
	else
		skip "twine" "it is not installed"
	fi
else
	skip "make sdist" "the word list is not installed"
fi

for file in _native.abi3.so _bin/pagededup; do
	readelf -dW "$tmp/again/pagededup/$file" >"$tmp/dynamic"
	has "$file: all symbols are bound at the start" "$tmp/dynamic" 'BIND_NOW|FLAGS.*NOW'
	hasnt "$file: it looks for libraries in no folder of the builder's" "$tmp/dynamic" 'RPATH|RUNPATH'
	has "$file: stack protectors" <(readelf -W --dyn-syms "$tmp/again/pagededup/$file") __stack_chk_fail
done
run "$env/bin/pip" install -q --no-deps --force-reinstall "$tmp/wheels/$wheel"
exits "and installed" 0
cd "$tmp" || exit 2
dump=$TOP/demo/demo.warc.gz
[ -z "${PAGEDEDUP_CORPORA:-}" ] || dump=$PAGEDEDUP_CORPORA/neardup/transplant-dev.warc.gz
PAGEDEDUP=$P timeout 900 "$env/bin/python" "$TOP/python/tests/test_pagededup.py" "$dump" >"$tmp/tap" 2>"$tmp/err"
relay python "$tmp/tap"
is "python: nothing was printed as an error" "$(grep -v Warning "$tmp/err" | head -3)" ""
PAGEDEDUP=$P timeout 900 "$env/bin/python" "$TOP/python/tests/test_misuse.py" >"$tmp/tap" 2>"$tmp/err"
relay misuse "$tmp/tap"
has "help() reads" <("$env/bin/python" -c 'import pagededup; help(pagededup)') 'sign_batch'
cp "$TOP/demo/demo.warc.gz" crawl.warc.gz
code_of() { awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' "$1"; }	# the lines of Python that a page of the docs shows
code_of "$TOP/README.md" >readme.py
run "$env/bin/python" readme.py
exits "the README's lines run" 0
is "and print each duplicate, and a page" "$(grep -c ' is a duplicate: ' "$tmp/out") $(tail -1 "$tmp/out" | sed 's/^[0-9]* //')" \
	"$("$P" fp -q crawl.warc.gz | "$P" match -q | "$P" cluster -q --keep=newest,longest | awk -F '\t' '!/^#/ && $4 == 1 { n++ } END { print n }') $(
	sed -n 's/^page = signer.sign("<p>\(.*\)")$/\1/p' readme.py)"
{
	echo 'htmls, urls = zip(*(("<p>the mill at %d turns its wheel again after %d quiet years" % (i % 9, i % 9), "http://h.example/%d" % i) for i in range(20)))'
	echo 'texts = list(htmls)'
	code_of "$TOP/python/README.md"
	echo 'print(verdicts.num_rows)'
} >short.py
run "$env/bin/python" short.py
is "the examples of the package's page, too" "$(tail -1 "$tmp/out")" 20
# The notebook, cell by cell.
run env -C "$TOP/docs/examples" "$env/bin/python" -c 'import json, sys
names = {}
for cell in json.load(open("dedup.ipynb"))["cells"]:
    if cell["cell_type"] == "code":
        *lines, last = "".join(cell["source"]).splitlines()
        exec("\n".join(lines), names)
        print(repr(eval(last, names)).splitlines()[0])'
if "$env/bin/python" -c 'import pandas' 2>/dev/null; then
	exits "the notebook runs" 0
	has "it finds the duplicates of the demo" "$tmp/out" "^<pagededup.Result: [0-9]+ of 90 pages \([0-9]+ %\) are near-duplicates"
	is "it shows a value in each cell" "$(wc -l <"$tmp/out")" 6
else
	skip "the notebook runs" "pandas is not installed"
fi
if [ -x "$env/bin/mypy" ]; then
	run "$env/bin/mypy" --strict --disable-error-code=import-untyped --cache-dir="$tmp/mypy" "$tmp/source/python/pagededup" readme.py
	exits "its types are sound, also in code that uses it" 0
	echo 'pagededup.match(table).distances' >>readme.py
	run "$env/bin/mypy" --disable-error-code=import-untyped --cache-dir="$tmp/mypy" readme.py
	exits "missing names are type errors" 1
else
	skip "types" "mypy is not installed"
fi
is "types are marked" "$("$env/bin/python" -c 'import pagededup, os; print(os.path.exists(os.path.join(os.path.dirname(pagededup.__file__), "py.typed")))')" True
tap_done
