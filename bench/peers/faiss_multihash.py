#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A peer of match: faiss.  Its binary multi-hash index contains all keys, and each key is searched in it.

usage: faiss_multihash.py ROWS OUT K BITS

It has 64 / BITS tables of BITS bits, and flips as many bits in each as the pigeonhole principle requires, so that it finds
every pair.  bench/peers/run describes the output.  OUT gets rows of id, id, distance.
"""
import json, sys, time

import faiss
import numpy

AT_ONCE = 10000


def read(path):
    keys, ids = [], []
    with open(path, encoding='utf-8') as rows:
        for row in rows:
            if not row.startswith('#'):
                key, page, _ = row.split('\t', 2)
                keys.append(int(key, 16))
                ids.append(page)
    return numpy.array(keys, dtype='>u8').view('u1').reshape(-1, 8), ids


def pairs(keys, k, bits):
    tables = 64 // bits
    index = faiss.IndexBinaryMultiHash(64, tables, bits)
    index.nflip = -(-(k + 1) // tables) - 1
    index.add(keys)
    for start in range(0, len(keys), AT_ONCE):
        limits, distances, places = index.range_search(keys[start:start + AT_ONCE], k + 1)
        of = numpy.repeat(numpy.arange(start, start + len(limits) - 1), numpy.diff(limits.astype('i8')))
        once = places > of
        yield from zip(of[once].tolist(), places[once].tolist(), distances[once].astype(int).tolist())


def main():
    path, result, k, bits = sys.argv[1:]
    keys, ids = read(path)
    faiss.omp_set_num_threads(1)
    started, n = time.process_time(), 0
    with open(result, 'w', encoding='utf-8') as out:
        for a, b, distance in pairs(keys, int(k), int(bits)):
            out.write(f'{ids[a]}\t{ids[b]}\t{distance}\n')
            n += 1
    print(json.dumps({'cpu_seconds': time.process_time() - started, 'pairs': n}))


main()
