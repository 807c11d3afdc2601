#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Plain text, {"id", "text"} a line, as other programs that remove near-duplicates test themselves: windows of 300 characters of one text that
# begin a few characters apart (datatrove), and very short texts that are there twice (text-dedup).
. "$(dirname "$0")/../tap.sh"
cat >make.py <<'PY'
import json, random
random.seed(3)
words = ["".join(random.choice("bcdfglmnprstv") + random.choice("aeiou") for _ in range(random.randint(1, 4))) for _ in range(300)]
text = " ".join(random.choice(words) for _ in range(3000))
def put(name, value):
    out.write(json.dumps({"id": name, "text": value}) + "\n")
for length in 300, 1500:
    with open("windows.%d.jsonl" % length, "w") as out:
        for cluster, begins in enumerate([[0, 20, 50], [400, 420], [800, 810, 820, 840, 860], [1205, 1215, 1225, 1245], [1600], [2000]]):
            for at in begins:
                at *= length // 300
                put("%d.%d" % (cluster, at), text[at:at + length])
with open("short.jsonl", "w") as out:
    for t in ["The quick brown fox jumps over the lazy dog"] * 2 + ["This is a test"] * 2 + ["This is another test", "a < b", "a > b"]:
        put(t, t)
PY
python3 make.py
cat >joined.py <<'PY'
import json, sys
dump, pairs, at, name = sys.argv[1], sys.argv[2], 0, {}
for line in open(dump, "rb"):
    name["%s:%d" % (dump, at)] = json.loads(line)["id"]
    at += len(line)
pairs = [line.rstrip("\n").split("\t") for line in open(pairs) if not line.startswith("#") or line.startswith("# suspect")]
pairs = [[name[i] for i in p if i in name] for p in pairs]
print("between clusters", sum(a.split(".")[0] != b.split(".")[0] for a, b in pairs))
paired = {i for p in pairs for i in p}
print("alone", *(i for i in sorted(name.values()) if i not in paired))
PY
removed() { "$P" fp -q "$1" | "$P" match -q | "$P" cluster -q >v && "$P" apply -q -V v "$1" -o left && comm -23 <(sort "$1") <(sort left) | sed 's/{"id": "\([^"]*\)".*/\1/'; } # DUMP
for length in 300 1500; do
	"$P" fp -q "windows.$length.jsonl" | "$P" match -q >pairs
	is "windows of $length characters that overlap are found, and no others" "$(python3 joined.py "windows.$length.jsonl" pairs | paste -sd ' ')" \
		"between clusters 0 alone 4.$((1600 * length / 300)) 5.$((2000 * length / 300))"
done
at_least "some texts of 1500 words are removed" "$(removed windows.1500.jsonl | wc -l)" 6
is "one of two equal texts is removed, even if short, and nothing more" "$("$P" fp -q short.jsonl | "$P" match -q | "$P" cluster -q | rows | awk -F '\t' '$4 == 1' | wc -l)" 2
tap_done
