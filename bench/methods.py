# SPDX-License-Identifier: MIT
"""Every method of signing on the same pages, beside the default: pairs found, CPU and bytes; and pairs that two methods both find."""
import gzip, itertools, json, os, re, sys

from common import CORPORA, DUMP, PROGRAM, TRUTH, output, run
from pairs import Truth, figures, score, table
from sites import DUMP as SITES, PAGES as SITES_PAGES, TRUTH as SITES_TRUTH, SCORER

ECIR = os.path.join(CORPORA, 'neardup', 'ecir20-core-pairs.jsonl.gz')
N163 = os.path.join(CORPORA, 'extraction', 'n163')

# A row: what it is called, and the method with the parameters of signing and of comparing.
ROWS = [
    ('simhash', 'simhash', ''),
    ('exact, main text', 'exact', ''),
    ('exact, visible text', 'exact:of=visible', ''),
    ('exact, body', 'exact:of=body', ''),
    ('segments', 'segments', ''),
    ('segments, 5 shared', 'segments', 'shared=5:share=0'),
    ('segments, lines', 'segments:by=lines', ''),
    ('abstract (Tianwang 1)', 'abstract', ''),
    ('keywords, by weight (2)', 'keywords', 'order=weight:sigma=1'),
    ('keywords, by weight, σ (3)', 'keywords', 'order=weight'),
    ('keywords, sorted, σ (4)', 'keywords', ''),
    ('keywords, sorted (5)', 'keywords', 'sigma=1'),
    ('semantic', 'semantic', ''),
    ('vsm, words', 'vsm', ''),
    ('vsm, characters', 'vsm:of=chars', ''),
    ('overlap', 'overlap', ''),
    ('punctuation', 'punctuation', ''),
    ('punctuation, over 25 codes', 'punctuation', 'codes=25:share=0'),
]
# Pairs that both find, and pairs that one of them finds.
TOGETHER = ['simhash', 'segments', 'keywords', 'semantic', 'overlap', 'vsm', 'punctuation', 'exact']


def known_methods():
    return re.findall(r'^(\w+): ', output([PROGRAM, 'fp', '--method=help']), re.M)


def fp(method, inputs, path, *options):
    with open(path, 'w') as f:
        return run([PROGRAM, 'fp', '-q', '-j1', '--method=' + method, *options, *inputs], f)[0]


def match(method, params, rows, path):
    with open(path, 'w') as f:
        return run([PROGRAM, 'match', '-q', '-j1', '--all-pairs', f'--method={method}{":" if params else ""}{params}', rows], f)[0]


def column_bytes(path, method):
    """Bytes of a row that are the method's, on average: its column; of the fingerprint that and its sketch."""
    columns = ['fingerprint', 'sketch'] if method == 'simhash' else [method]
    n = total = 0
    for row in table(path, []):
        n += 1
        total += sum(len(row[c].encode()) for c in columns)
    return total / n


def site_figures(pairs):
    text = output([sys.executable, SCORER, SITES_TRUTH, SITES_PAGES, '--pairs', pairs])
    line = lambda name: re.search(rf'^{name} +([\d.]+) +([\d.]+) +([\d.]+)', text, re.M).groups()
    return (*map(float, line('all')), float(line('mean of sites')[2]))


class Judged:
    """The pairs that people judged: near-duplicates are those of grade 2 and 3."""
    def __init__(self, tmp):
        self.label, texts = {}, {}
        for line in gzip.open(ECIR, 'rt', encoding='utf-8'):
            pair = json.loads(line)
            self.label[Truth.key('urn:' + pair['a'], 'urn:' + pair['b'])] = int(pair['label']) >= 2
            texts.update({pair['a']: pair['text_a'], pair['b']: pair['text_b']})
        self.path = tmp + '/judged.jsonl'
        with open(self.path, 'w', encoding='utf-8') as f:
            for name, text in texts.items():
                f.write(json.dumps({'url': 'urn:' + name, 'text': text}) + '\n')

    def figures(self, pairs):
        found = {Truth.key(row['url_a'], row['url_b']) for row in table(pairs, [])}
        hits = sum(self.label.get(key, False) for key in found)
        return figures(hits, sum(key in self.label for key in found) - hits, sum(self.label.values()))


def figure(x):
    return f'{x:.3f}'.lstrip('0') if x < 1 else '1.000'


def three(p, r, f1):
    return f'{figure(p)} {figure(r)} {figure(f1)}'


def pages_of(path):
    return sum(1 for _ in table(path, []))


def bench_methods(tmp):
    """every method of signing: P, R, F1 on transplant-dev, sites-dev and ecir20, pairs on n163; CPU and bytes a page"""
    known, truth, judged = known_methods(), Truth(TRUTH), Judged(tmp)
    rows, pairs = tmp + '/fp', tmp + '/pairs'
    base = min(fp('exact:of=body', [DUMP], rows) for _ in range(3))
    print(f'fp --method=exact:of=body: {1000 * base / pages_of(rows):.2f} ms a page')
    print('method | transplant P R F1 | zh F1 | R by edit 0 1 2 | sites P R F1 | mean | ecir20 P R F1 | n163 | fp µs, match µs a page | bytes')
    for name, signs, compares in ROWS:
        method = signs.split(':')[0]
        if method not in known:
            print(f'{name} | not in this build')
            continue
        cpu = min(fp(signs, [DUMP], rows) for _ in range(3))
        n, size = pages_of(rows), column_bytes(rows, method)
        joined = min(match(method, compares, rows, pairs) for _ in range(3))
        s = score(truth, truth.read(pairs))
        edits = ' '.join(figure(s[f'level {i}'][1]) for i in range(3))
        fp(signs, [SITES], rows)
        match(method, compares, rows, pairs)
        *site, mean = site_figures(pairs)
        fp(signs, [judged.path], rows)
        match(method, compares, rows, pairs)
        ecir = judged.figures(pairs)
        fp(signs, [N163], rows)
        match(method, compares, rows, pairs)
        print(f'{name} | {three(*s["all"][:3])} | {figure(s["lang zh"][2])} | {edits} | {three(*site)} | {figure(mean)} | {three(*ecir)} | '
              f'{pages_of(pairs)} | {1e6 * (cpu - base) / n:.0f}, {1e6 * joined / n:.0f} | {size:.0f}', flush=True)
    together(tmp, [m for m in TOGETHER if m in known], truth)
    removals(tmp, [m for m in TOGETHER if m in known])


def together(tmp, methods, truth):
    """Pairs that two methods both find, and that at least one does, from one pass with all of them."""
    found = {}
    for what, dump in (('transplant', DUMP), ('sites', SITES)):
        fp(','.join(methods), [dump], tmp + '/all')
        with open(tmp + '/pairs', 'w') as f:
            run([PROGRAM, 'match', '-q', '--all-pairs', tmp + '/all'], f)
        found[what] = [line.rstrip('\n').split('\t') for line in open(tmp + '/pairs', encoding='utf-8') if not line.startswith('# ')]
    print('pairs found by | transplant P R F1 | sites P R F1 | mean')
    for a, b in [('simhash', 'simhash')] + list(itertools.combinations(methods, 2)):
        for how, want in (('and', lambda x: a in x and b in x), ('or', lambda x: a in x or b in x)):
            if a == b and how == 'or':
                continue
            line = f'{a} {how} {b}' if a != b else a
            for what in ('transplant', 'sites'):
                with open(tmp + '/some', 'w', encoding='utf-8') as f:
                    for row in found[what]:
                        by = row[4].replace('text_digest', 'simhash').split(',')
                        if row[0].startswith('#') or want(by):
                            f.write('\t'.join(row) + '\n')
                if what == 'transplant':
                    line += ' | ' + three(*score(truth, truth.read(tmp + '/some'))['all'][:3])
                else:
                    *site, mean = site_figures(tmp + '/some')
                    line += f' | {three(*site)} | {figure(mean)}'
            print(line, flush=True)


def removals(tmp, methods):
    """What a clean-up of the sites removes, by the default and where another method has to agree, or may find pairs too."""
    print('clean-up by | removed | loss > .2, > .5 | of 831 redundant left')
    for name, signs, require in [('the default', None, None)] + [
            (f'simhash {how} {m}', f'simhash,{m}', rule) for m in methods if m != 'simhash' for how, rule in (('and', 'all'), ('or', 'any'))]:
        rows, pairs, verdicts = tmp + '/fp', tmp + '/pairs', tmp + '/verdicts'
        for command, path in ((['fp', '-q', *([f'--method={signs}'] if signs else []), SITES], rows), (['match', '-q', rows], pairs),
                              (['cluster', '-q', *([f'--require={require}'] if require else []), pairs], verdicts)):
            with open(path, 'w') as f:
                run([PROGRAM, *command], f)
        text = output([sys.executable, SCORER, SITES_TRUTH, SITES_PAGES, '--verdicts', verdicts])
        removed, over2, over5, _, _, _, left = re.search(r'^all +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+), (\d+)', text, re.M).groups()
        print(f'{name} | {removed} | {100 * float(over2):.2f} %, {100 * float(over5):.2f} % | {left}', flush=True)
