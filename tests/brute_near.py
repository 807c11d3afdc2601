#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Brute force for pairs within K bits and in scope that join two clusters of PAIRS.

usage: brute_near.py K SCOPE PAIRS FP [AGAINST]     ids of such pairs; PAIRS are clustered by connected components
       brute_near.py --list K NEW STORED            each new fingerprint, and the stored ones within K bits"""
import sys

def read(path):
    rows = (line.split('\t') for line in open(path) if line[0] != '#')
    return [(int(f[0], 16), f[1], f[2].split('/')[2]) for f in rows]

if sys.argv[1] == '--list':
    new, old = (sorted({line.split('\t')[0] for line in open(path) if line[0] not in '#-'}) for path in sys.argv[3:])
    for x in new:
        near = [y for y in old if bin(int(x, 16) ^ int(y, 16)).count('1') <= int(sys.argv[2])]
        if near:
            print(x, ' '.join(near), sep='\t')
    sys.exit()
k, scope, pairs = int(sys.argv[1]), sys.argv[2], sys.argv[3]
a = read(sys.argv[4])
b = read(sys.argv[5]) if len(sys.argv) > 5 else None
first = {row[1]: row[1] for row in a + (b or [])}

def cluster(i):
    while first[i] != i:
        first[i] = first[first[i]]
        i = first[i]
    return i

for line in open(pairs):
    if line[0] != '#':
        x, y = line.split('\t')[:2]
        first[cluster(x)] = cluster(y)
for i, x in enumerate(a):
    for y in b if b is not None else a[i + 1:]:
        if bin(x[0] ^ y[0]).count('1') <= k and (scope == 'all' or (x[2] == y[2]) == (scope == 'same-host')):
            if cluster(x[1]) != cluster(y[1]):
                print(x[1], y[1], sep='\t')
