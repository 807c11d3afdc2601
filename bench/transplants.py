# SPDX-License-Identifier: MIT
"""Ten random collections of real pages inside the templates of other pages (transplant.py and its docs are with the corpora)."""
import os, subprocess

from common import CORPORA, TOOLS, python_with_lxml, run
from copies import found, mean_and_least
from pairs import Truth, score
from sites import TEXT_RULES, weighed

DOCS = os.path.join(CORPORA, 'neardup', 'dev-docs.jsonl.xz')
SEEDS = range(1, 11)


def draw(seed, tmp):
    """Make a dump; its truth is tmp/draw.truth.tsv."""
    subprocess.run([python_with_lxml(), os.path.join(TOOLS, 'transplant.py'), '--docs', DOCS, '--out', tmp + '/draw', '--variants', '3',
                    '--templates', '60', '--seed', str(seed), '--live'], check=True, stderr=subprocess.DEVNULL)
    return tmp + '/draw.warc.gz'


def measured(program, options, dump, truth, tmp):
    with open(tmp + '/fp', 'w') as f:
        run([*program, 'fp', '-q', *options, dump], f)
    return score(truth, truth.read(found(tmp + '/fp', [], tmp + '/pairs')))['all']


def bench_transplants(tmp):
    """F1 of pairs on ten collections of transplant.py, without and with learned boilerplate: mean and minimum (needs lxml)"""
    ways = {'each page alone': ([], []), 'with learned boilerplate': (['--learn-boilerplate'], [])}
    ways.update((f'{name}, all but: {rule}', (options, [rule])) for name, (options, _) in list(ways.items()) for rule in TEXT_RULES)
    scores = {name: [] for name in ways}
    for seed in SEEDS:
        dump = draw(seed, tmp)
        truth = Truth(tmp + '/draw.truth.tsv')
        for name, (options, off) in ways.items():
            p, r, f1, hits, wanted, false = measured(weighed(off), options, dump, truth, tmp)
            scores[name].append((f1, p, r))
            if not off:
                print(f'seed {seed}, {name}: P {p:.4f} R {r:.4f} F1 {f1:.4f}, {false} false', flush=True)
    for name, values in scores.items():
        print(f'{name}, mean and least: F1 {mean_and_least([s[0] for s in values])}, P {mean_and_least([s[1] for s in values])}, '
              f'R {mean_and_least([s[2] for s in values])}')
