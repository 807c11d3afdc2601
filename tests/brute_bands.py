#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Brute force for `match --candidates=bands`: make rows with sketches, and find their pairs by comparing all with all.

usage: brute_bands.py rows N SEED [HOSTS]            fp rows: groups of rows that share parts of a sketch and a fingerprint
       brute_bands.py pairs FP WIDTH REACH [SCOPE]   id_a, id_b of all pairs that share a band of WIDTH minima, differ in at
                                                     most REACH bits, and have a similarity of a half by their sketches
       brute_bands.py alone FP SCOPE PAIRS           ids that have such a pair in scope, without regard to bands, and are in no
                                                     pair of PAIRS
       brute_bands.py apart FP SCOPE PAIRS           such pairs whose pages are in two clusters (connected components) of PAIRS"""
import math, random, sys

MINIMA = 128
LOWEST = int('1' * MINIMA, 16)

def host(url):
    return url.split('/')[2]

def rows(n, seed, hosts):
    rnd, bases = random.Random(seed), []
    for i in range(n):
        if rnd.random() < .02 or not bases:
            bases.append((rnd.getrandbits(64), [rnd.randrange(16) for _ in range(MINIMA)]))
        print_, minima = bases[rnd.randrange(len(bases))]
        share = rnd.choice([0, .02, .1, .2, .3, .45])
        minima = [rnd.randrange(16) if rnd.random() < share else m for m in minima]
        for bit in rnd.sample(range(64), rnd.randrange(0, 1 + int(40 * share))):
            print_ ^= 1 << bit
        # Words are printed with their highest digit, the last of their minima, first.
        sketch = ''.join(''.join('%x' % m for m in reversed(minima[w:w + 16])) for w in range(0, MINIMA, 16))
        yield ['%016x' % print_, 'x.warc:%d' % i, 'http://h%d.example/%d' % (i if hosts == 0 else rnd.randrange(hosts), i), sketch]

def read(path):
    out = []
    for line in open(path):
        if not line.startswith('#'):
            f = line.rstrip('\n').split('\t')
            s = f[3] if len(f) == 4 else f[13]
            minima = [int(c, 16) for w in range(0, MINIMA, 16) for c in reversed(s[w:w + 16])]
            out.append((f[1], int(f[0], 16), minima, host(f[2]), int(s, 16)))
    return sorted(out, key=lambda r: int(r[0].split(':')[1]))

def alike(a, b, least=.5):
    # One bit for each minimum of four that differs.
    d = a[4] ^ b[4]
    d |= d >> 2
    d |= d >> 1
    agreeing = 1 - bin(d & LOWEST).count('1') / MINIMA
    return (agreeing - 1 / 16) / (1 - 1 / 16) >= least - 1e-9

def in_scope(a, b, scope):
    return scope == 'all' or (a[3] == b[3]) == (scope == 'same-host')

def least_of(a, b):
    return .7 if a[3] == b[3] else .5

def shares_band(a, b, width):
    return any(a[2][i:i + width] == b[2][i:i + width] for i in range(0, MINIMA // width * width, width))

def all_pairs(rows, reach, scope):
    for i, a in enumerate(rows):
        for b in rows[i + 1:]:
            if bin(a[1] ^ b[1]).count('1') <= reach and in_scope(a, b, scope) and alike(a, b, least_of(a, b)):
                yield a, b

if sys.argv[1] == 'rows':
    made = list(rows(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 0))
    print('#fingerprint\tid\turl\tsketch')
    for row in made:
        print('\t'.join(row))
elif sys.argv[1] == 'pairs':
    width = int(sys.argv[3])
    for a, b in all_pairs(read(sys.argv[2]), int(sys.argv[4]), sys.argv[5] if len(sys.argv) > 5 else 'all'):
        if shares_band(a, b, width) or a[1] == b[1]:
            print(a[0], b[0], sep='\t')
elif sys.argv[1] == 'apart':
    rows = read(sys.argv[2])
    first = {r[0]: r[0] for r in rows}
    def cluster(i):
        while first[i] != i:
            first[i] = first[first[i]]
            i = first[i]
        return i
    for line in open(sys.argv[4]):
        if line[0] != '#':
            a, b = line.split('\t')[:2]
            first[cluster(a)] = cluster(b)
    for a, b in all_pairs(rows, 64, sys.argv[3]):
        if cluster(a[0]) != cluster(b[0]):
            print(a[0], b[0], sep='\t')
else:
    found = {i for line in open(sys.argv[4]) if line[0] != '#' for i in line.split('\t')[:2]}
    wanted = {r[0] for pair in all_pairs(read(sys.argv[2]), 64, sys.argv[3]) for r in pair}
    print(*sorted(wanted - found), sep='\n', end='\n' if wanted - found else '')
