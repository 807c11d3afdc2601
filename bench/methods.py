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
    ('vsm, characters, cosine .999', 'vsm:of=chars', 'cosine=.999'),
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


def passes(rows):
    """The rows' ways of signing in as few runs of fp as there are variants of one method: every run has each method once."""
    runs = []
    for signs in dict.fromkeys(signs for _, signs, _ in rows):
        free = next((r for r in runs if signs.split(':')[0] not in [m.split(':')[0] for m in r]), None)
        if free is None:
            runs.append(free := [])
        free.append(signs)
    return runs


def sign_all(tmp, known):
    """signs -> rows, for each set of pages."""
    rows = {}
    sets = {'transplant': DUMP, 'sites': SITES, 'ecir20': Judged(tmp).path, 'n163': N163}
    for i, run_of in enumerate(passes([r for r in ROWS if r[1].split(':')[0] in known])):
        for name, inputs in sets.items():
            fp(','.join(run_of), [inputs], f'{tmp}/{name}.{i}')
            rows.update({(signs, name): f'{tmp}/{name}.{i}' for signs in run_of})
    return rows


def bench_methods(tmp):
    """every method of signing: P, R, F1 on transplant-dev, sites-dev and ecir20, pairs on n163; CPU and bytes a page"""
    known, truth, judged = known_methods(), Truth(TRUTH), Judged(tmp)
    rows, pairs, alone = sign_all(tmp, known), tmp + '/pairs', tmp + '/fp'
    base = min(fp('exact:of=body', [DUMP], alone) for _ in range(3))
    print(f'fp --method=exact:of=body: {1000 * base / pages_of(alone):.2f} ms a page')
    print('method | transplant P R F1 | zh F1 | R by edit 0 1 2 | sites P R F1 | mean | ecir20 P R F1 | n163 | fp µs, match µs a page | bytes')
    for name, signs, compares in ROWS:
        method = signs.split(':')[0]
        if method not in known:
            print(f'{name} | not in this build')
            continue
        cpu = min(fp(signs, [DUMP], alone) for _ in range(3))
        n, size = pages_of(alone), column_bytes(alone, method)
        joined = min(match(method, compares, alone, pairs) for _ in range(3))
        s = score(truth, truth.read(pairs))
        edits = ' '.join(figure(s[f'level {i}'][1]) for i in range(3))
        match(method, compares, rows[signs, 'sites'], pairs)
        *site, mean = site_figures(pairs)
        match(method, compares, rows[signs, 'ecir20'], pairs)
        ecir = judged.figures(pairs)
        match(method, compares, rows[signs, 'n163'], pairs)
        print(f'{name} | {three(*s["all"][:3])} | {figure(s["lang zh"][2])} | {edits} | {three(*site)} | {figure(mean)} | {three(*ecir)} | '
              f'{pages_of(pairs)} | {1e6 * (cpu - base) / n:.0f}, {1e6 * joined / n:.0f} | {size:.0f}', flush=True)
    together(tmp, [m for m in TOGETHER if m in known], truth, rows)
    removals(tmp, [m for m in TOGETHER if m in known], rows)


def triples(methods):
    """The fingerprint and two others: `cluster` asks for two of them."""
    return [('simhash', a, b) for a, b in itertools.combinations([m for m in methods if m not in ('simhash', 'semantic', 'overlap')], 2)]


def together(tmp, methods, truth, rows):
    """Pairs that two methods both find, and that at least one does, from one pass with all of them."""
    found = {}
    for what in ('transplant', 'sites'):
        with open(tmp + '/pairs', 'w') as f:
            run([PROGRAM, 'match', '-q', '--all-pairs', '--method=' + ','.join(methods), rows['simhash', what]], f)
        found[what] = [line.rstrip('\n').split('\t') for line in open(tmp + '/pairs', encoding='utf-8') if not line.startswith('# ')]
    print('pairs found by | transplant P R F1 | sites P R F1 | mean')
    for some in [('simhash',)] + list(itertools.combinations(methods, 2)) + triples(methods):
        for how, least in ((('and', 2), ('or', 1)) if len(some) == 2 else (('two of', min(2, len(some))),)):
            want = lambda x: sum(m in x for m in some) >= least
            line = f'{some[0]} {how} {some[1]}' if len(some) == 2 else 'two of ' + ', '.join(some) if len(some) == 3 else some[0]
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


def removals(tmp, methods, signed):
    """What a clean-up of the sites removes, by the default and where another method has to agree, or may find pairs too."""
    print('clean-up by | removed | loss > .2, > .5 | of 831 redundant left')
    for name, signs, require in [('the default', None, None)] + [
            (f'simhash {how} {m}', f'simhash,{m}', rule) for m in methods if m != 'simhash' for how, rule in (('and', 'all'), ('or', 'any'))] + [
            ('two of ' + ', '.join(some), ','.join(some), None) for some in triples(methods)]:
        pairs, verdicts = tmp + '/pairs', tmp + '/verdicts'
        for command, path in ((['match', '-q', '--method=' + (signs or 'simhash'), signed['simhash', 'sites']], pairs),
                              (['cluster', '-q', *([f'--require={require}'] if require else []), pairs], verdicts)):
            with open(path, 'w') as f:
                run([PROGRAM, *command], f)
        text = output([sys.executable, SCORER, SITES_TRUTH, SITES_PAGES, '--verdicts', verdicts])
        removed, over2, over5, _, _, _, left = re.search(r'^all +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+), (\d+)', text, re.M).groups()
        print(f'{name} | {removed} | {100 * float(over2):.2f} %, {100 * float(over5):.2f} % | {left}', flush=True)
