#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dense fp rows for matching: dense_rows.py KIND ROWS [HOSTS [TOGETHER]].

ball     distinct fingerprints with up to four flipped bits of one; no sketches
touching two such balls with centres eight bits apart that share only two pages, and twenty pages that are near one page only
texts    as ball, with sketches that differ in a twentieth of their minima
twins    as ball, with sketches that agree only in pairs of rows 2 i and 2 i + 1
sketches fingerprints with up to ten flipped bits of one, with one sketch
pair     two fingerprints near each other; no sketches
parts    two fingerprints near each other, with sketches that agree only in pairs, as in twins
subjects one fingerprint and one sketch, on one host, with few terms and one title; the two rows of a pair have the same heading
template as subjects, with sketches that differ in a twentieth of their minima, and in a fiftieth inside a pair

The rows are not ordered by id.  Each row has its own host, or HOSTS hosts take turns, with TOGETHER (1) rows each."""
import random, sys

kind, n = sys.argv[1], int(sys.argv[2])
hosts, together = (int(v) for v in (sys.argv[3:] + ['0', '1'][len(sys.argv) - 3:])[:2])
draw = random.Random(n)
MINIMA, centre = 128, 0x9e3779b97f4a7c15
base = [draw.randrange(16) for _ in range(MINIMA)]

def fingerprint(i):
    if kind == 'sketches':
        v = centre
        for bit in draw.sample(range(64), 10):
            v ^= 1 << bit
        return v
    if kind in of_host:
        return centre
    if kind in ('parts', 'pair'):
        return centre ^ i // 2 % 2
    if kind == 'touching':
        return touching(i)
    while True:
        v = centre
        for bit in draw.sample(range(64), 4):
            v ^= 1 << bit
        if v not in seen:
            seen.add(v)
            return v

def touching(i):
    if i < 2:
        v = centre ^ (0xf if i == 0 else 0xfff)
    elif i < 22:
        v = centre ^ 0xf << 2 * i
        if i % 2 == 0:
            v ^= sum(1 << bit for bit in draw.sample([bit for bit in range(64) if not 0xf << 2 * i >> bit & 1], 8))
    else:
        while True:
            v = centre ^ (0xffff if i % 2 else 0)
            for bit in draw.sample(range(64), 4):
                v ^= 1 << bit
            if v not in seen and bin(v ^ centre ^ 0xf).count('1') > 1:
                break
    seen.add(v)
    return v

def some_of(minima, share):
    return [draw.randrange(16) if draw.random() < share else m for m in minima]

def sketch(i):
    if kind in ('ball', 'pair', 'touching'):
        return '-'
    if kind == 'texts':
        v = some_of(base, .05)
    elif kind in ('sketches', 'subjects'):
        v = base
    elif kind == 'template':
        own = random.Random(i // 2)
        v = some_of([own.randrange(16) if own.random() < .05 else m for m in base], .02)
    else:
        own = random.Random(i // 2)
        v = some_of([own.randrange(16) for _ in range(MINIMA)], .03)
    return ''.join('%x' % m for m in v)

seen, rows, of_host = set(), [], ('subjects', 'template')
for i in range(n):
    host = 0 if kind in of_host else i // together % hosts if hosts else i
    about = ['20', '%08x%08x' % (i // 2 + 2, 1)] if kind in of_host else ['-', '-']
    fields = ['%016x' % fingerprint(i), 'x.warc:%d' % i, 'http://h%d.example/%d' % (host, i)] + ['-'] * 5 + about[:1] + [str(1000 + i * 7919 % n)] + ['-'] * 3
    rows.append('\t'.join(fields + [sketch(i), '-', '-'] + (about[1:] if kind in of_host else [])))
draw.shuffle(rows)
print('\n'.join(rows))
