#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print line coverage by folder of src/ from the counts of gcov, and the functions that no test enters.

usage: tools/coverage.py BUILD-FOLDER   (made with COVER=1, after the tests ran)
"""
import json
import os
import subprocess
import sys
from collections import defaultdict

lines = defaultdict(dict)  # source -> line -> times
functions = defaultdict(dict)  # source -> name -> (times, lines)
notes = [os.path.join(d, f) for d, _, fs in os.walk(os.path.join(sys.argv[1], "obj", "src")) for f in fs if f.endswith(".gcno")]
if not notes:
    sys.exit("no .gcno file under " + sys.argv[1] + "/obj/src: build with COVER=1")
for note in sorted(notes):
    out = subprocess.run(["gcov", "--json-format", "--stdout", note], check=True, capture_output=True).stdout
    for report in out.decode().splitlines():
        for f in json.loads(report)["files"]:
            name = f["file"]
            if not name.startswith("src/"):
                continue
            for line in f["lines"]:
                n = line["line_number"]
                lines[name][n] = max(lines[name].get(n, 0), line["count"])
            for fn in f["functions"]:
                old = functions[name].get(fn["name"], (0, 0))
                functions[name][fn["name"]] = (max(old[0], fn["execution_count"]), fn["end_line"] - fn["start_line"] + 1)

folders = defaultdict(lambda: [0, 0])
for name, counts in lines.items():
    folder = os.path.dirname(name)
    for key in (folder, "total"):
        folders[key][0] += len(counts)
        folders[key][1] += sum(c > 0 for c in counts.values())
print(f"{'folder':<12} {'lines':>6} {'run':>6} {'%':>6}")
for key in sorted(folders, key=lambda k: (k == "total", k)):
    n, ran = folders[key]
    print(f"{key:<12} {n:>6} {ran:>6} {100 * ran / n:>6.1f}")
idle = [(n, name, fn) for name in functions for fn, (times, n) in functions[name].items() if not times]
print("\nfunctions that no test enters:")
for n, name, fn in sorted(idle, reverse=True):
    print(f"{n:>4} lines  {name}: {fn}")
