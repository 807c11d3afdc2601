# SPDX-License-Identifier: MIT
"""Each threshold of the decision (src/match/verify.def, --max-loss) on six real sites, chosen with one site left out."""
import collections, subprocess

from common import BUILD, PROGRAM, run
from pairs import table
from sites import DUMP, FEW, Sites, pipe, scored

K = '16'	# the k that match chooses for this number of pages
SHIPPED = {'least': .5, 'least_same_host': .7, 'few_terms': 50, 'some_terms': 100, 'least_few': .85, 'least_some': .75, 'least_few_of_subject': .8,
           'least_other_subject': .9, 'least_other_language_of_subject': .8, 'least_other_subject_apart': .82, 'least_named': .8, 'least_version': .8,
           'least_release': .94, 'least_contained': .9, 'part_terms': .9, 'part_similarity': .7, 'least_equal': .995, 'sure': .4,
           'sure_titled': .25}
TRIED = {'least_equal': [.9, .95, .995, 1.1], 'few_terms': [0, 30, 40, 50, 60, 80, 100], 'some_terms': [0, 50, 75, 100, 125, 150, 200], 'sure': [0, .2, .3, .4, .5, .6],
         'sure_titled': [0, .15, .25, .3, .4], 'least': [.4, .45, .5, .55, .6, .65, .7],
         'least_same_host': [.5, .55, .6, .65, .7, .75, .8, .85]}
LEAST = [.6, .65, .7, .75, .8, .82, .85, .9, .95]	# F1 on the other sites
LOSSES = [.05, .1, .15, .2, .3]


class Decider:
    """Run bench/decide on one file of rows: thresholds -> F1 of each site that has true pairs."""
    def __init__(self, sites, rows):
        self.sites, self.known = sites, {}
        self.wanted = {site: n for site, n in sites.wanted().items() if n >= FEW}
        self.process = subprocess.Popen([BUILD + '/bench/decide', K, rows], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def pairs(self, numbers):
        self.process.stdin.write(' '.join(f'{name}={value}' for name, value in numbers.items()) + '\n')
        self.process.stdin.flush()
        return [tuple(line.rstrip('\n').split('\t')) for line in iter(self.process.stdout.readline, '.\n')]

    def f1(self, numbers):
        key = tuple(sorted(numbers.items()))
        if key not in self.known:
            sites, labels = self.sites, collections.Counter()
            for a, b in self.pairs(numbers):
                i, j = sorted((sites.at[a], sites.at[b]))
                if sites.full[i] and sites.full[j] and sites.site[i] == sites.site[j]:
                    labels[sites.site[i], sites.label.get((i, j), 'false')] += 1
            self.known[key] = {site: 2 * labels[site, 'true'] / max(1, labels[site, 'true'] + labels[site, 'false'] + n)
                               for site, n in self.wanted.items()}
        return self.known[key]

    def mean(self, numbers, without=None):
        f1 = [value for site, value in self.f1(numbers).items() if site != without]
        return sum(f1) / len(f1)

    def best(self, numbers, name, without=None):
        """Return the value of one threshold that is best on all sites but one; of equal values the nearest to the default."""
        return max(TRIED.get(name, LEAST), key=lambda v: (round(self.mean({**numbers, name: v}, without), 6), -abs(v - SHIPPED[name])))


def tried(decider):
    """Fit each threshold alone; then fit all of them, one after the other."""
    print(f'  as shipped: mean F1 of sites {decider.mean({}):.4f}')
    for name, value in SHIPPED.items():
        means = {v: decider.mean({name: v}) for v in TRIED.get(name, LEAST)}
        room = [v for v, mean in means.items() if mean > max(means.values()) - .001]
        apart = {site: decider.best({}, name, site) for site in decider.wanted}
        held = sum(decider.f1({name: v})[site] for site, v in apart.items()) / len(apart)
        chosen = collections.Counter(apart.values())
        print(f'  {name:32} {value:4g}: within .001 of the best from {min(room):g} to {max(room):g}; chosen by the other sites '
              + ', '.join(f'{v:g}' + (f' ({n} times)' if n > 1 else '') for v, n in sorted(chosen.items())) + f', F1 on the sites left out {held:.4f}', flush=True)
    held = {}
    for site in decider.wanted:
        numbers = {}
        for name in SHIPPED:
            numbers[name] = decider.best(numbers, name, site)
        held[site] = decider.f1(numbers)[site]
        changed = ' '.join(f'{name}={v:g}' for name, v in numbers.items() if v != SHIPPED[name])
        print(f'  all of them without {site:20} F1 there {held[site]:.4f}, as shipped {decider.f1({})[site]:.4f}; changed: {changed or "nothing"}')
    print(f'  all of them, mean F1 on the sites left out {sum(held.values()) / len(held):.4f}', flush=True)


def losses(tmp):
    """Measure removed pages and lost text by --max-loss, for each site."""
    found = {}
    for value in LOSSES:
        verdicts = pipe([['match', '-q', tmp + '/rows'], ['cluster', '-q', f'--shingles={tmp}/shingles', f'--max-loss={value}']], tmp + '/verdicts')
        lines = [line.replace(',', '').split() for line in scored('--verdicts', verdicts).splitlines()]
        found[value] = {f[0]: (int(f[1]), float(f[2]), int(f[6]), int(f[7])) for f in lines if len(f) == 9 and f[1].isdigit() and f[0] != 'all'}
    def over(value, without=None):	# share of the removed pages that lose over .2; share of the redundant pages that are removed
        rows = [row for site, row in found[value].items() if site != without]
        return sum(r[0] * r[1] for r in rows) / max(1, sum(r[0] for r in rows)), 1 - sum(r[3] for r in rows) / max(1, sum(r[2] for r in rows))
    def best(without):
        return max((v for v in LOSSES if over(v, without)[0] <= .01), key=lambda v: (round(over(v, without)[1], 4), -v), default=LOSSES[0])
    for value in LOSSES:
        print('  --max-loss={}: {:.2%} of the pages removed lose over .2, {:.2%} of the redundant ones go'.format(value, *over(value)))
    print('  the least that removes most and lets 1 % lose over .2, without ' + ', '.join(f'{site}: {best(site)}' for site in found[LOSSES[0]]), flush=True)


def bench_numbers(tmp):
    """each threshold of the decision: its tolerance on six real sites, and the value chosen with one site left out"""
    sites = Sites()
    for name, options in (('each page alone', []), ('with learned boilerplate', ['--learn-boilerplate'])):
        print('-- ' + name)
        with open(tmp + '/rows', 'w') as f:
            run([PROGRAM, 'fp', '-q', *options, f'--shingles={tmp}/shingles', DUMP], f)
        decider = Decider(sites, tmp + '/rows')
        matched = {(r['url_a'], r['url_b']) for r in table(pipe([['match', '-q', '--all-pairs', '-k', K, tmp + '/rows']], tmp + '/pairs'), [])}
        if set(decider.pairs({})) != matched:
            raise SystemExit('bench: bench/decide and match do not decide alike')
        tried(decider)
        losses(tmp)
