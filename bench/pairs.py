# SPDX-License-Identifier: MIT
"""Compare the pairs of match with a truth file: precision, recall and F1, in total and by kind of pair.

A truth file has a line for each page: url, content, level, template, lang, chars.  Two pages with the same content are
near-duplicates if both levels are at most 2 (up to 3 % of the words edited); pairs with higher levels are not counted.
"""
import itertools
from urllib.parse import urlsplit

SHORT, LONG = 400, 2000


def table(path, names=None):
    """Return the rows of a TSV file as dicts.  Column names are in the line that begins with one #, or in the first line."""
    for line in open(path, encoding='utf-8'):
        row = line.rstrip('\n').split('\t')
        if line.startswith('# '):
            continue
        if names is None or line.startswith('#'):
            names = [row[0].lstrip('#'), *row[1:]]
        else:
            yield dict(zip(names, row))


def host(url):
    return urlsplit(url).netloc


class Pair:
    """Return whether two pages of the truth are near-duplicates, and the kind of the pair."""

    def __init__(self, a, b):
        self.level = max(int(a['level']), int(b['level']))
        self.true = a['content'] == b['content'] and self.level <= 2
        self.grey = a['content'] == b['content'] and not self.true
        self.same_host = host(a['url']) == host(b['url'])
        chars = min(int(a['chars']), int(b['chars']))
        self.kinds = ['all', 'lang ' + a['lang'], 'same host' if self.same_host else 'other hosts',
                      f'under {SHORT} chars' if chars < SHORT else f'over {LONG} chars' if chars > LONG else f'{SHORT} to {LONG}']
        if self.true:
            self.kinds.append(f'level {self.level}')


class Truth:
    def __init__(self, path):
        self.pages = {row['url']: row for row in table(path)}
        by_content = {}
        for row in self.pages.values():
            by_content.setdefault(row['content'], []).append(row)
        self.wanted = {}
        for rows in by_content.values():
            for a, b in itertools.combinations(rows, 2):
                pair = Pair(a, b)
                if pair.true:
                    self.wanted[self.key(a['url'], b['url'])] = pair

    @staticmethod
    def key(a, b):
        return (a, b) if a < b else (b, a)

    def read(self, path):
        """Return {key: (Pair, distance, similarity)} of an output file of match; the similarity is None if it is unknown."""
        found = {}
        for row in table(path, []):
            distance = 0 if row['distance'] == '-' else int(row['distance'])
            similarity = None if row['similarity'] == '-' else float(row['similarity'])
            found[self.key(row['url_a'], row['url_b'])] = self.pair(row), distance, similarity
        return found

    def pair(self, row):
        return Pair(self.pages[row['url_a']], self.pages[row['url_b']])


def figures(hits, false, wanted):
    precision = hits / (hits + false) if hits + false else 0
    recall = hits / wanted if wanted else 0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0


def count(pairs, kind):
    return sum(kind in pair.kinds for pair in pairs)


def score(truth, found):
    """Return {kind: (P, R, F1, hits, true pairs, false pairs)} for the pairs in `found`."""
    hits = [pair for pair, *_ in found.values() if pair.true]
    false = [pair for pair, *_ in found.values() if not pair.true and not pair.grey]
    kinds = sorted({kind for pair in truth.wanted.values() for kind in pair.kinds})
    out = {}
    for kind in kinds:
        h, f, w = count(hits, kind), count(false, kind), count(truth.wanted.values(), kind)
        out[kind] = (*figures(h, f, w), h, w, f)
    return out
