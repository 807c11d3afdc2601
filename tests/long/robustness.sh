#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pages and dumps that broke other programs, with address and undefined-behaviour sanitizers: each file is read to its end,
# by both presets, whole, without its end, and with some bits turned over.
. "$(dirname "$0")/../tap.sh"
if [ -z "${PAGEDEDUP_CORPORA:-}" ] || [ ! -d "$PAGEDEDUP_CORPORA/robustness" ]; then
	skip "robustness" "PAGEDEDUP_CORPORA names no folder with robustness/"
	tap_done
fi
if (cd "$TOP" && ${MAKE:-make} -s --no-print-directory -j"$(nproc)" B=build/san-address-undefined SAN=address,undefined \
	build/san-address-undefined/pagededup) >"$tmp/make" 2>&1; then
	P=$TOP/build/san-address-undefined/pagededup
	pass "the program with sanitizers"
else skip "the program with sanitizers" "it cannot be built here: $(tail -1 "$tmp/make")"; fi

cat >damage.py <<'E2'
import os, random, sys
# Copies of all files: the first half of each, and each with one bit in 500 bytes turned over.
for folder in sys.argv[1:]:
    for path, _, names in os.walk(folder):
        for name in names:
            b = bytearray(open(os.path.join(path, name), 'rb').read(1 << 20))
            to = os.path.join('damaged', os.path.relpath(os.path.join(path, name), os.path.dirname(folder)).replace('/', '_'))
            open(to + '.half', 'wb').write(b[:len(b) // 2])
            rng = random.Random(name)
            for _ in range(1 + len(b) // 500 if b else 0):
                b[rng.randrange(len(b))] ^= 1 << rng.randrange(8)
            open(to + '.bits', 'wb').write(b)
E2
mkdir damaged && python3 damage.py "$PAGEDEDUP_CORPORA/robustness" "$PAGEDEDUP_CORPORA/warc"
for folder in "$PAGEDEDUP_CORPORA/robustness" "$PAGEDEDUP_CORPORA/warc" damaged; do
	for preset in default paper; do
		run timeout 500 "$P" fp --preset=$preset "$folder"
		# 1: something was damaged, and said so.
		if [ "$code" -le 1 ]; then pass "$(basename "$folder"), $preset"
		else fail "$(basename "$folder"), $preset: exit code $code" "$(grep -aE 'ERROR|runtime error|pagededup' "$tmp/err" | tail -5)"; fi
		at_least "$(basename "$folder"), $preset: rows" "$(rows "$tmp/out" | wc -l)" 40
	done
done
tap_done
