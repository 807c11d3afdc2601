#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows that one method signed, more than the least memory of match holds: spilling_rows.py METHOD ROWS HEADER-OF

METHOD is simhash, exact, keywords, segments or vsm, one for each kind of value; HEADER-OF a file that `fp --method=METHOD` made.
A fifth of the rows have the value of an earlier one, some of them a little changed.
"""
import random
import sys

method, n, like = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rng = random.Random(1)
for line in open(like, encoding="utf-8"):
    if line.startswith("# pagededup"):
        print(" ".join("sketch=none" if w.startswith("sketch=") else w for w in line.split()))
print("#fingerprint\tid\turl" + ("" if method == "simhash" else "\t" + method))


def hash64():
    return "%016x" % rng.getrandbits(64)


def fresh():
    if method == "simhash":
        return rng.getrandbits(64)
    if method == "exact":
        return "%032x" % rng.getrandbits(128)
    return sorted(hash64() for _ in range({"keywords": 6, "segments": 10, "vsm": 24}[method]))


def near(value):
    if method == "simhash":
        return value ^ 1 << rng.randrange(64)
    return value if method == "exact" else sorted(value[1:] + [hash64()])


def text(value):
    if method == "simhash":
        return "%016x" % value
    if method == "exact":
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
    value = rng.choice(earlier) if what < .2 else fresh()
    if what < .1:
        value = near(value)
    if what > .5 and len(earlier) < 20000:
        earlier.append(value)
    print("%s\tx:%d\thttp://h%d/%d%s" % (text(value) if method == "simhash" else "-", i, i % 500, i, "" if method == "simhash" else "\t" + text(value)))
