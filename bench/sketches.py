# SPDX-License-Identifier: MIT
"""Choice of the sketch and of the similarity: F1 by kind of sketch, and thresholds fitted on some hosts, tested on others."""
import math

from common import DUMP, PROGRAM, TRUTH, run
from pairs import Truth, figures, host

# Thresholds to try.
THRESHOLDS = [i / 20 for i in range(2, 17)]
KINDS = ['16x4x5', '32x2x5', '32x4x5', '128x1x5', '64x2x5', '16x8x5',
         '64x4x5', '256x1x5', '128x2x5', '32x8x5', '64x4x3', '64x4x4', '64x4x8', '128x2x3',
         '512x1x5', '256x2x5', '128x4x5', '64x8x5', '128x4x3']


def candidates(truth, kind, tmp, options=()):
    """Return all pairs within k = 16 with the similarity by sketches of this kind."""
    with open(tmp + '/sketch.fp', 'w') as f:
        run([PROGRAM, 'fp', '-q', '--sketch=' + kind, *options, DUMP], f)
    with open(tmp + '/sketch.pairs', 'w') as f:
        run([PROGRAM, 'match', '-q', '--all-pairs', '-k', '16', '--similarity=0', '--similarity-same-host=0', tmp + '/sketch.fp'], f)
    return truth.read(tmp + '/sketch.pairs')


def kept(found, other, same):
    """Return the pairs that reach these two thresholds."""
    return [p for p, _, s in found.values() if s is None or s >= (same if p.same_host else other)]


def f1(truth, found, other, same):
    pairs = kept(found, other, same)
    hits = sum(p.true for p in pairs)
    return figures(hits, sum(not p.true and not p.grey for p in pairs), len(truth.wanted))


def chance(kind, threshold):
    """Return the probability that two texts without common shingles reach the threshold."""
    minima, bits, _ = map(int, kind.split('x'))
    p = 2.0 ** -bits
    least = math.ceil(minima * (threshold * (1 - p) + p) - 1e-9)
    return sum(math.comb(minima, i) * p ** i * (1 - p) ** (minima - i) for i in range(least, minima + 1))


def room(truth, found, same_host):
    """Return the thresholds, in steps of .05, whose F1 is within .001 of the best; the other threshold is .5 or .3."""
    tried = {t: f1(truth, found, .3 if same_host else t, t if same_host else .5)[2] for t in THRESHOLDS}
    good = [t for t in THRESHOLDS if tried[t] >= max(tried.values()) - .001]
    return max(tried.values()), f'{good[0]:.2f} to {good[-1]:.2f}'


def bench_sketches(tmp):
    """F1 by kind of sketch (minima x bits x terms), k = 16, at the best thresholds, and the tolerance of these"""
    truth = Truth(TRUTH)
    print(f'{"kind":9} {"bits":>4} {"F1":>6}  {"good other hosts":17} {"good same host":15} chance pairs at .3, of 10^6')
    for kind in KINDS:
        found = candidates(truth, kind, tmp)
        best, other = room(truth, found, False)
        _, same = room(truth, found, True)
        minima, bits, _ = map(int, kind.split('x'))
        print(f'{kind:9} {minima * bits:4} {best:6.4f}  {other:17} {same:15} {1e6 * chance(kind, .3):.2g}', flush=True)


def folds(truth, n=5):
    """Divide the hosts into n groups by the order of their names."""
    hosts = sorted({host(url) for url in truth.pages})
    return [set(hosts[i::n]) for i in range(n)]


def side(key, hosts):
    """Return the number of pages of a pair on these hosts: 0, 1 or 2."""
    return sum(host(url) in hosts for url in key)


def fit(truth, found):
    """Return the two thresholds with the best F1; of a range of equal values, the middle."""
    best = max(f1(truth, found, t, u)[2] for t in THRESHOLDS for u in THRESHOLDS)
    good = [(t, u) for t in THRESHOLDS for u in THRESHOLDS if f1(truth, found, t, u)[2] >= best - 1e-9]
    others, same = sorted({t for t, _ in good}), sorted({u for _, u in good})
    return others[len(others) // 2], same[len(same) // 2]


class Part:
    """Return the pairs of a truth whose pages are all on some hosts, or all on other hosts."""

    def __init__(self, truth, hosts, inside):
        self.wanted = {k: p for k, p in truth.wanted.items() if side(k, hosts) == (2 if inside else 0)}


def bench_thresholds(tmp):
    """the two thresholds of similarity, fitted on four fifths of the hosts and tested on the others; and the default"""
    truth = Truth(TRUTH)
    for name, options in (('main text', []), ('main text of the paper', ['--topic=paper'])):
        found = candidates(truth, '128x4x3', tmp, options)
        for hosts in folds(truth):
            learn = {k: v for k, v in found.items() if side(k, hosts) == 0}
            test = {k: v for k, v in found.items() if side(k, hosts) == 2}
            other, same = fit(Part(truth, hosts, False), learn)
            there = Part(truth, hosts, True)
            p, r, f = f1(there, test, other, same)
            dp, dr, df = f1(there, test, .5, .7)
            print(f'{name}: fitted {other:.2f} and {same:.2f}: P {p:.4f} R {r:.4f} F1 {f:.4f}; default: P {dp:.4f} R {dr:.4f} F1 {df:.4f}')
        print(f'{name}: all hosts: fitted {fit(truth, found)}, default F1 {f1(truth, found, .5, .7)[2]:.4f}', flush=True)
