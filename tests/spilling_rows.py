#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows that methods signed, more than the least memory of match holds: spilling_rows.py METHOD[,METHOD...] ROWS HEADER-OF

HEADER-OF is a file that `fp --method=METHOD,...` made.  A fifth of the rows have the values of an earlier one, some of them a
little changed.
"""
import random
import sys

methods, n, like = sys.argv[1].split(","), int(sys.argv[2]), sys.argv[3]
KEYS = ("exact", "abstract", "semantic")
ITEMS = {"keywords": 6, "segments": 10, "vsm": 24, "overlap": 20, "punctuation": 10, "links": 10}
rng = random.Random(1)
for line in open(like, encoding="utf-8"):
    if line.startswith("# pagededup"):
        print(" ".join("sketch=none" if w.startswith("sketch=") else w for w in line.split()))
print("#fingerprint\tid\turl" + "".join("\t" + m for m in methods if m != "simhash"))


def hash64():
    return "%016x" % rng.getrandbits(64)


def fresh(method):
    if method == "simhash":
        return rng.getrandbits(64)
    if method in KEYS:
        return "%032x" % rng.getrandbits(128)
    return sorted(hash64() for _ in range(ITEMS[method]))


def near(method, value):
    if method == "simhash":
        return value ^ 1 << rng.randrange(64)
    return value if method in KEYS else sorted(value[1:] + [hash64()])


def text(method, value):
    if method == "simhash":
        return "%016x" % value
    if method in KEYS:
        return value
    if method == "keywords":            # the order of weights is of the row, the words are of the key
        key = "%032x" % hash_of(value)
        return ",".join([key, key] + ["%s=%d" % (w, weight) for w, weight in zip(value, rng.choice([(9, 8, 7, 6, 5, 4), (9, 1, 9, 1, 9, 1)]))])
    return ("," if method == "vsm" else "").join(value)


def hash_of(value):
    return random.Random("".join(value)).getrandbits(128)


earlier = []
for i in range(n):
    what = rng.random() if earlier else 1
    values = rng.choice(earlier) if what < .2 else [fresh(m) for m in methods]
    if what < .1:
        values = [near(m, v) for m, v in zip(methods, values)]
    if what > .5 and len(earlier) < 20000:
        earlier.append(values)
    columns = dict(zip(methods, map(text, methods, values)))
    print(columns.pop("simhash", "-"), "x:%d" % i, "http://h%d/%d" % (i % 500, i), *columns.values(), sep="\t")
