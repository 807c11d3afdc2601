# SPDX-License-Identifier: MIT
"""Fresh draws of real pages under other pages' chrome (transplant.py beside the corpora, with its docs): ten seeds."""
import os, subprocess, sys

from common import CORPORA, PROGRAM, TOOLS, run
from copies import found, mean_and_least
from pairs import Truth, score

DOCS = os.path.join(CORPORA, 'neardup', 'dev-docs.jsonl.xz')
SEEDS = range(1, 11)


def draw(seed, tmp):
    """A dump; its truth is tmp/draw.truth.tsv.  Any Python that has lxml will do, so the system's is tried as well."""
    command = [os.path.join(TOOLS, 'transplant.py'), '--docs', DOCS, '--out', tmp + '/draw', '--variants', '3', '--templates', '60',
               '--seed', str(seed), '--live']
    for python in (sys.executable, '/usr/bin/python3'):
        if subprocess.run([python, '-c', 'import lxml'], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            subprocess.run([python, *command], check=True, stderr=subprocess.DEVNULL)
            return tmp + '/draw.warc.gz'
    sys.exit('bench: fresh draws need lxml: apt-get install python3-lxml')


def bench_transplants(tmp):
    """F1 of pairs on ten fresh draws of transplant.py, a page alone and with what sites repeat: mean and least (needs lxml)"""
    all_scores = {'a page alone': [], 'with what sites repeat': []}
    for seed in SEEDS:
        dump = draw(seed, tmp)
        truth = Truth(tmp + '/draw.truth.tsv')
        for (name, scores), options in zip(all_scores.items(), ([], ['--learn-boilerplate'])):
            with open(tmp + '/fp', 'w') as f:
                run([PROGRAM, 'fp', '-q', *options, dump], f)
            p, r, f1, hits, wanted, false = score(truth, truth.read(found(tmp + '/fp', [], tmp + '/pairs')))['all']
            print(f'seed {seed}, {name}: P {p:.4f} R {r:.4f} F1 {f1:.4f}, {false} false', flush=True)
            scores.append((f1, p, r))
    for name, scores in all_scores.items():
        print(f'{name}, mean and least: F1 {mean_and_least([s[0] for s in scores])}, P {mean_and_least([s[1] for s in scores])}, '
              f'R {mean_and_least([s[2] for s in scores])}')
