# SPDX-License-Identifier: MIT
"""Gain and cost of learning site boilerplate."""
import gzip, json, os, statistics, sys

from accuracy import fp
from common import CORPORA, DUMP, PROGRAM, RUNS, TOOLS, TRUTH, floor_seconds, output, run, score
from pairs import host, table


def recalls(pairs):
    """Return the recall of all near-duplicates, of pairs inside one host, and of pairs with a text under 400 characters."""
    known, groups = {row['url']: row for row in table(TRUTH)}, {}
    for url, page in known.items():
        if int(page['level']) <= 2:
            groups.setdefault(page['content'], []).append(url)
    found = {frozenset((row['url_a'], row['url_b'])) for row in table(pairs, [])}
    true = [(a, b) for group in groups.values() for i, a in enumerate(group) for b in group[i + 1:]]
    kinds = {'all': true, 'inside a host': [p for p in true if host(p[0]) == host(p[1])],
             'under 400 characters': [p for p in true if min(int(known[url]['chars']) for url in p) < 400]}
    return {kind: (sum(frozenset(p) in found for p in all), len(all)) for kind, all in kinds.items()}


def pages_of_one_site(path):
    """Write n163 as JSONL with the host of its pages: 33 look-alike pages without a near-duplicate."""
    folder = os.path.join(CORPORA, 'extraction', 'n163', 'html')
    with open(path, 'w') as f:
        for name in sorted(os.listdir(folder)):
            html = gzip.open(os.path.join(folder, name)).read().decode('gb18030', 'replace')
            f.write(json.dumps({'url': 'http://news.example/' + name, 'html': html}) + '\n')


def bench_boilerplate(tmp):
    """site boilerplate removed: pairs, main text and look-alike pages of the transplant dump, and the cost of learning"""
    texts = os.path.join(CORPORA, 'neardup', 'transplant-dev.texts.jsonl.gz')
    run([PROGRAM, 'boilerplate', '-q', DUMP, '-o', tmp + '/site.bp'])
    pages_of_one_site(tmp + '/one.jsonl')
    run([PROGRAM, 'boilerplate', '-q', tmp + '/one.jsonl', '-o', tmp + '/one.bp'])
    for name, learned, one in (('page alone', [], []), ('learned', ['--boilerplate=' + tmp + '/site.bp'], ['--boilerplate=' + tmp + '/one.bp'])):
        fp(tmp + '/fp', learned)
        for k in ([], ['--no-verify', '-k', '8'], ['--no-verify', '-k', '10'], ['--no-verify', '-k', '12']):
            with open(tmp + '/pairs', 'w') as f:
                run([PROGRAM, 'match', '-q', '--all-pairs', *k, tmp + '/fp'], f)
            p, r, f1 = score('--pairs', tmp + '/pairs')
            found = ', '.join(f'{kind} {a} of {b}' for kind, (a, b) in recalls(tmp + '/pairs').items())
            print(f'{name:10} {" ".join(k) or "default":20} P {p} R {r} F1 {f1}; {found}')
        with open(tmp + '/text', 'w') as f:
            run([PROGRAM, 'text', '-q', *learned, DUMP], f)
        print(f'{name:10} main text  ' + output([sys.executable, os.path.join(TOOLS, 'extract_score.py'), texts, tmp + '/text']).splitlines()[0])
        with open(tmp + '/fp', 'w') as f:
            run([PROGRAM, 'fp', '-q', *one, tmp + '/one.jsonl'], f)
        with open(tmp + '/pairs', 'w') as f:
            run([PROGRAM, 'match', '-q', '--all-pairs', tmp + '/fp'], f)
        print(f'{name:10} pairs among 33 look-alike pages of one site: {sum(1 for _ in table(tmp + "/pairs", []))}')
    ratios = []
    for _ in range(RUNS):
        floor = floor_seconds(DUMP)
        ratios.append(run([PROGRAM, 'fp', '-q', '-j1', '--learn-boilerplate', DUMP])[0] / floor)
    print(f'fp --learn-boilerplate: {statistics.median(ratios):.2f} times the floor (of {RUNS} runs {min(ratios):.2f} to {max(ratios):.2f})')
