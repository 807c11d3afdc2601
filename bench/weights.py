# SPDX-License-Identifier: MIT
"""Weights of shingles by their frequency in the pages or texts of a site, compared with equal weights."""
import array, collections, math, struct

from common import DUMP, PROGRAM, TRUTH, run
from pairs import Truth, figures, host, table
from sites import DUMP as SITES_DUMP, Sites
from transplants import draw

LEAST = .3	# smallest similarity of the pairs that are weighed again, by the estimate and all rules of the program
THRESHOLDS = [(.4, .6), (.5, .7), (.6, .8)]	# on two hosts, on one host


def read_shingles(path):
    """Yield the set of shingles of each page of a file (docs/format-shingles.md)."""
    data = open(path, 'rb').read()
    at = 16 + struct.unpack_from('<I', data, 12)[0]
    while True:
        pages = struct.unpack_from('<I', data, at)[0]
        if not pages:
            return
        counts = struct.unpack_from(f'<{pages}I', data, at + 16 + 8 * pages)
        at += 16 + 12 * pages
        for n in counts:
            yield frozenset(array.array('I', data[at:at + 4 * n]))
            at += 4 * n


def by_site(rows):
    """Return host -> ({shingle: pages}, {shingle: texts}, pages, texts).  Pages that share half of the shorter page are one text."""
    sites = collections.defaultdict(list)
    for row in rows.values():
        sites[host(row['url'])].append(row['shingles'])
    out = {}
    for name, pages in sites.items():
        texts = []
        for page in pages:
            text = next((t for t in texts if 2 * len(t[0] & page) >= min(len(t[0]), len(page))), None)
            if text:
                text[1].update(page)
            else:
                texts.append((page, set(page)))
        out[name] = [(collections.Counter(s for p in sets for s in p), len(sets)) for sets in (pages, [t[1] for t in texts])]
    return out


# Weight of a shingle that occurs in `seen` of `all` pages or texts.
WEIGHTS = {
    'each once': None,
    '1 - log(pages with it) / log(pages)': (0, lambda seen, all: 1 - math.log(seen) / math.log(all)),
    'none where half of the pages have it': (0, lambda seen, all: float(2 * seen <= all)),
    '1 - log(texts with it) / log(texts)': (1, lambda seen, all: 1 - math.log(seen) / math.log(all)),
    'none where half of the texts have it': (1, lambda seen, all: float(2 * seen <= all)),
    'none where three texts and a tenth have it': (1, lambda seen, all: float(seen < 3 or 10 * seen <= all)),
}


def similarity(a, b, sites, weight):
    x, y = a['shingles'], b['shingles']
    if not weight:
        return len(x & y) / len(x | y)
    which, of = weight
    site = [sites[host(p['url'])][which] for p in (a, b)]
    def weigh(shingle):
        return min([of(seen[shingle], all) for seen, all in site if shingle in seen and all > 2], default=1)
    both, either = sum(map(weigh, x & y)), sum(map(weigh, x | y))
    return both / either if either else 0


def weighed(dump, labels, tmp):
    """Print F1 for each weight.  labels: rows of a file of pairs -> their labels, and the number of true pairs."""
    with open(tmp + '/fp', 'w') as f:
        run([PROGRAM, 'fp', '-q', '--learn-boilerplate', '--shingles=' + tmp + '/shingles', dump], f)
    rows = {row['url']: row for row in table(tmp + '/fp') if row['sketch'] != '-'}
    for row, shingles in zip(rows.values(), read_shingles(tmp + '/shingles'), strict=True):
        row['shingles'] = shingles
    with open(tmp + '/pairs', 'w') as f:
        run([PROGRAM, 'match', '-q', '--all-pairs', '--candidates=both', f'--similarity={LEAST}', f'--similarity-same-host={LEAST}', tmp + '/fp'], f)
    pairs, wanted = labels(list(table(tmp + '/pairs')))
    sites = by_site(rows)
    for name, weight in WEIGHTS.items():
        found = {t: collections.Counter() for t in THRESHOLDS}
        for a, b, label in pairs:
            alike = 1 if a not in rows or b not in rows else similarity(rows[a], rows[b], sites, weight)
            for apart, same_host in THRESHOLDS:
                found[apart, same_host][label] += alike >= (same_host if host(a) == host(b) else apart)
        print(f'  {name:45}' + ', '.join('{}/{} P {:.4f} R {:.4f} F1 {:.4f}'.format(*t, *figures(n['true'], n['false'], wanted)[:3])
                                         for t, n in found.items()), flush=True)


def sites_labels(rows):
    sites = Sites()
    pairs = [(r['url_a'], r['url_b'], sites.at[r['url_a']], sites.at[r['url_b']]) for r in rows]
    return [(a, b, sites.label.get((min(i, j), max(i, j)), 'false')) for a, b, i, j in pairs
            if sites.full[i] and sites.full[j] and sites.site[i] == sites.site[j]], sum(sites.wanted().values())


def transplant_labels(path):
    truth = Truth(path)
    def labels(rows):
        pairs = [(r['url_a'], r['url_b'], truth.pair(r)) for r in rows]
        return [(a, b, 'true' if p.true else 'grey' if p.grey else 'false') for a, b, p in pairs], len(truth.wanted)
    return labels


def bench_weights(tmp):
    """shingles weighted by their frequency on their site, compared with equal weights"""
    print('-- six real sites, exact similarity at the thresholds for two hosts and one')
    weighed(SITES_DUMP, sites_labels, tmp)
    print('-- the transplant dump')
    weighed(DUMP, transplant_labels(TRUTH), tmp)
    for seed in (1, 2):
        print(f'-- a fresh draw, seed {seed}')
        weighed(draw(seed, tmp), transplant_labels(tmp + '/draw.truth.tsv'), tmp)
