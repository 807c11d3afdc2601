#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Find the labelled pairs of tests/data/classes, by class.

usage: bench/classes.py     prints the table of docs/accuracy.md; needs no collections
"""
import collections, os, tempfile

from common import PROGRAM, TOP, run
from pairs import table

PAGES = os.path.join(TOP, 'tests', 'data', 'classes')
SETTINGS = [([], []), (['--preset=paper'], ['--plan=paper', '-k', '3'])]
# The classes in the words of the patents, the first four from CN101645082 and the others from CN101226533.
CLASSES = {
    'same': 'content and layout the same',
    'other-layout': 'content the same, another layout',
    'part': 'important content the same in part, layout the same',
    'part-other-layout': 'important content the same in part, another layout',
    'identical': 'the same text on the screen',
    'other-title': 'the same body, another title',
    'other-surroundings': 'the same body, other surroundings',
}


def text_of(url):
    """Return the name of the text of a page, which its copies share."""
    return url.rsplit('/', 1)[1]


def found(tmp, signs, matches):
    """Return all pairs of URLs that the program finds."""
    rows, pairs = tmp + '/fp', tmp + '/pairs'
    with open(rows, 'w') as f:
        run([PROGRAM, 'fp', '-q', *signs, PAGES], f)
    with open(pairs, 'w') as f:
        run([PROGRAM, 'match', '-q', '--all-pairs', *matches, rows], f)
    return {frozenset((row['url_a'], row['url_b'])) for row in table(pairs, [])}


def bench_classes(tmp):
    """pages of the seven classes of duplicates of the patents, labelled in tests/data/classes"""
    labels = list(table(os.path.join(PAGES, 'labels.tsv')))
    wanted = collections.Counter(row['class'] for row in labels)
    hits, false = [], []
    for signs, matches in SETTINGS:
        pairs = found(tmp, signs, matches)
        hits.append(collections.Counter(row['class'] for row in labels if frozenset((row['page'], row['duplicate'])) in pairs))
        false.append(sum(len({text_of(url) for url in pair}) > 1 for pair in pairs))
    for name, words in CLASSES.items():
        print(f'| {words} | {wanted[name]} | {hits[0][name]} | {hits[1][name]} |')
    print(f'| pairs of different texts | | {false[0]} | {false[1]} |')


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        bench_classes(folder)
