#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Find all pairs of fp rows by one method, by brute force: brute_methods.py METHOD[:PARAMETER=VALUE...] FP

Print "id_a<TAB>id_b" in the order of match, for methods with keys, keywords, sets or vectors as values."""
import math
import sys
from operator import mul

DEFAULTS = {
    "segments": {"shared": 3, "share": 0.75},
    "keywords": {"order": "sorted", "sigma": 0.02},
    "overlap": {"shared": 15, "share": 0.9},
    "links": {"shared": 10, "share": 0.5, "need": "either"},
    "punctuation": {"codes": 2, "share": 0.7},
    "vsm": {},
}


def read(path, column, o):
    names, rows = None, []
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        line = line.rstrip("\n")
        if line.startswith("# "):
            if column == "vsm":             # the parameters of the value decide on the default
                o.setdefault("cosine", 0.999 if "vsm:of=chars" in line else 0.95)
            continue
        if line.startswith("#"):
            names = line[1:].split("\t")
            continue
        fields = dict(zip(names, line.split("\t")))
        if fields[column] != "-":
            rows.append((fields["id"], fields[column]))
    return rows


def items(text):
    out = {}
    for item in text.split(","):
        name, _, weight = item.partition("=")
        out[int(name, 16)] = float(weight or 1)
    return out


def value(method, text):
    if method in ("exact", "abstract", "semantic"):
        return text
    if method == "keywords":
        by_weight, in_order, rest = text.split(",", 2)
        return {"weight": by_weight, "sorted": in_order}, items(rest)
    if method == "vsm":
        v = items(text)
        return v, math.sqrt(dot(v, v))
    return {text[i:i + 16] for i in range(0, len(text), 16)}


def dot(a, b):
    both = a.keys() & b.keys()
    return sum(map(mul, map(a.get, both), map(b.get, both)))


def matches(method, o, a, b):
    if isinstance(a, str):
        return a == b
    if method == "keywords":
        norm = dot(a[1], a[1]) + dot(b[1], b[1])
        return a[0][o["order"]] == b[0][o["order"]] and (
            o["sigma"] >= 1 or (norm - 2 * dot(a[1], b[1])) / norm < o["sigma"])
    if method == "vsm":
        return dot(a[0], b[0]) / (a[1] * b[1]) > o["cosine"]
    fewer, shared = min(len(a), len(b)), len(a & b)
    least = 1
    if method == "segments":
        least = min(o["shared"], fewer)
    if method == "overlap":
        least = o["shared"]
    if method == "punctuation":
        least = o["codes"] + 1
    if method == "links":
        least = o["shared"] + 1
        if o["need"] == "either":
            return shared >= least or shared > o["share"] * fewer
    return shared >= least and (not o["share"] or shared > o["share"] * fewer)


def key(page):
    file, _, offset = page.rpartition(":")
    return (file, int(offset)) if file and offset.isdigit() else (page, 0)


def main():
    method, *params = sys.argv[1].split(":")
    o = dict(DEFAULTS.get(method, {}))
    for p in params:
        name, _, text = p.partition("=")
        o[name] = float(text) if text.replace(".", "").isdigit() else text
    rows = sorted(read(sys.argv[2], method, o), key=lambda r: key(r[0]))
    rows = [(page, value(method, text)) for page, text in rows]
    for i, (a, x) in enumerate(rows):
        for b, y in rows[i + 1:]:
            if matches(method, o, x, y):
                print(a, b, sep="\t")


main()
