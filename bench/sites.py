# SPDX-License-Identifier: MIT
"""Real sites, with truth: what fp | match finds, and what a clean-up would take with it."""
import collections, gzip, os, re, subprocess, sys

from common import CORPORA, PROGRAM, TOOLS, output, run
from pairs import table

SITES = os.path.join(CORPORA, 'sites')
DUMP = os.path.join(SITES, 'sites-dev.warc.gz')
PAGES = os.path.join(SITES, 'sites-dev.pages.tsv')
TRUTH = os.path.join(SITES, 'sites-dev.truth.tsv.gz')
SCORER = os.path.join(TOOLS, 'score_sites.py')
THRESHOLDS = [.5, .55, .6, .65, .7, .75, .8, .85, .9]
FEW = 20	# true pairs: a site with fewer has no F1 worth naming


def pipe(commands, path):
    """Writes what the last of the commands prints."""
    before = None
    for command in commands[:-1]:
        process = subprocess.Popen([PROGRAM, *command], stdin=before, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        before = process.stdout
    with open(path, 'w') as f:
        run([PROGRAM, *commands[-1]], f, stdin=before)
    return path


def scored(what, path):
    return output([sys.executable, SCORER, TRUTH, PAGES, what, path])


class Sites:
    """Pages by address, and the pairs that are true or grey; every other pair is false."""
    def __init__(self):
        pages = [line.rstrip('\n').split('\t') for line in open(PAGES, encoding='utf-8')][1:]
        self.at = {row[0]: i for i, row in enumerate(pages)}
        self.site = [row[1] for row in pages]
        self.full = [row[6] == 'full' for row in pages]
        self.label = {}
        for line in gzip.open(TRUTH, 'rt', encoding='utf-8'):
            row = line.rstrip('\n').split('\t')
            if row[0].isdigit():
                self.label[int(row[0]), int(row[1])] = row[5]

    def pairs(self, path):
        """Pairs of full pages inside a site: site, similarity, label."""
        for row in table(path, []):
            a, b = sorted((self.at[row['url_a']], self.at[row['url_b']]))
            if self.full[a] and self.full[b] and self.site[a] == self.site[b]:
                yield self.site[a], float(row['similarity']), self.label.get((a, b), 'false')

    def wanted(self):
        return collections.Counter(self.site[a] for (a, b), label in self.label.items()
                                   if label == 'true' and self.full[a] and self.full[b] and self.site[a] == self.site[b])


def by_threshold(sites, path):
    """F1 of each site with true pairs, at each threshold."""
    wanted = sites.wanted()
    found = collections.defaultdict(list)
    for site, similarity, label in sites.pairs(path):
        found[site].append((similarity, label))
    def f1(site, least):
        labels = collections.Counter(label for similarity, label in found[site] if similarity >= least)
        return 2 * labels['true'] / max(1, labels['true'] + labels['false'] + wanted[site])
    return {site: [f1(site, t) for t in THRESHOLDS] for site in wanted if wanted[site] >= FEW}


def leave_one_out(f1):
    """For each site the threshold that is best on the others, and what that gives here."""
    for site, values in sorted(f1.items()):
        others = [sum(f1[o][i] for o in f1 if o != site) for i in range(len(THRESHOLDS))]
        best = max(range(len(THRESHOLDS)), key=lambda i: others[i])
        print(f'  {site:22} {THRESHOLDS[best]:.2f} by the others: F1 {values[best]:.4f} here')


def bench_sites(tmp):
    """six real sites: pairs found and what a clean-up takes with it, a page alone, with what sites repeat, and dedup"""
    if not os.path.exists(SCORER) or not os.path.exists(DUMP):
        sys.exit('bench: no ' + (SCORER if os.path.exists(DUMP) else DUMP))
    sites = Sites()
    for name, options in (('a page alone', []), ('with what sites repeat', ['--learn-boilerplate'])):
        rows = pipe([['fp', '-q', *options, DUMP]], tmp + '/fp')
        print(f'-- {name}: fp {" ".join(options)} | match')
        print(scored('--pairs', pipe([['match', '-q', '--all-pairs', rows]], tmp + '/pairs')))
        print(scored('--verdicts', pipe([['match', '-q', rows], ['cluster', '-q']], tmp + '/verdicts')), flush=True)
        least = [f'--similarity={THRESHOLDS[0]}', f'--similarity-same-host={THRESHOLDS[0]}']
        f1 = by_threshold(sites, pipe([['match', '-q', '--all-pairs', *least, rows]], tmp + '/pairs'))
        print('F1 by one threshold for all hosts: ' + ', '.join(
            f'{t:.2f} {sum(v[i] for v in f1.values()) / len(f1):.4f}' for i, t in enumerate(THRESHOLDS)))
        leave_one_out(f1)
    run([PROGRAM, 'dedup', '-q', DUMP, '-o', tmp + '/sites'])
    verdicts = next(os.path.join(tmp, 'sites', f) for f in os.listdir(tmp + '/sites') if re.search('verdicts', f))
    print('-- dedup')
    print(scored('--verdicts', verdicts))
