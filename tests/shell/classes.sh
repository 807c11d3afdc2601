#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pages of the classes of duplicates that patents CN101645082 and CN101226533 name: the labels are complete, and the
# figures by class are those of docs/accuracy.md.
. "$(dirname "$0")/../tap.sh"
pages=$TOP/tests/data/classes
at_least "there are pages" "$(find "$pages" -name '*.html' | wc -l)" 40
is "each labelled page exists" "$(tail -n +2 "$pages/labels.tsv" | cut -f 2,3 | tr '\t' '\n' | sort -u | while read -r url; do [ -f "$pages/${url#http://}" ] || echo "$url"; done)" ""
is "seven classes have the same number of pairs" "$(tail -n +2 "$pages/labels.tsv" | cut -f 1 | sort | uniq -c | awk '{ print $1 }' | xargs)" "8 8 8 8 8 8 8"
B=$B python3 "$TOP/bench/classes.py" >figures 2>err
at_least "there are figures" "$(wc -l <figures)" 8
is "docs/accuracy.md has the figures of bench/classes.py" "$(grep -vxFf "$TOP/docs/accuracy.md" figures)" ""
# All copies of a whole text, under any title, in any layout and surroundings.
is "the default finds each copy of a whole text" "$(awk -F ' *[|] *' '$2 !~ /in part|different texts/ && $3 != $4' figures)" ""
is "and pairs no different texts, nor does the preset" "$(awk -F ' *[|] *' '/different texts/ { print $4 + $5 }' figures)" 0
tap_done
