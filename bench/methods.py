# SPDX-License-Identifier: MIT
"""All signature methods on the same pages, compared with the default: pairs, CPU and bytes; and pairs that two methods find."""
import gzip, itertools, json, os, re, subprocess, sys

from common import CORPORA, DUMP, PROGRAM, TRUTH, output, run
from pairs import Truth, figures, score, table
from sites import DUMP as SITES, PAGES as SITES_PAGES, TRUTH as SITES_TRUTH, SCORER

ECIR = os.path.join(CORPORA, 'neardup', 'ecir20-core-pairs.jsonl.gz')
N163 = os.path.join(CORPORA, 'extraction', 'n163')

# A row: its name, and the method with the parameters of fp and of match.
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
    ('links', 'links', ''),
    ("links of the main text, nine in ten", 'links:of=text', 'share=.9:shared=3:need=both'),
]
# Pairs that both methods find, and pairs that at least one finds.
TOGETHER = ['simhash', 'segments', 'keywords', 'semantic', 'overlap', 'vsm', 'punctuation', 'exact']


def known_methods():
    return re.findall(r'^(\w+): ', output([PROGRAM, 'fp', '--method=help']), re.M)


def fp(method, inputs, path, *options):
    with open(path, 'w') as f:
        return run([PROGRAM, 'fp', '-q', '-j1', '--method=' + method, *options, *inputs], f)[0]


def match(method, params, rows, path):
    with open(path, 'w') as f:
        return run([PROGRAM, 'match', '-q', '-j1', '--all-pairs', f'--method={method}{":" if params else ""}{params}', rows], f)[0]


def instructions(path, *args, only=()):
    """Count the instructions of a command, or of these functions and their callees; its output is written to `path`.  Unlike
    seconds, instructions are the same in every run, even on a busy machine."""
    tool = ['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null'] # the faster of the two
    if only:
        tool = ['--tool=callgrind', '--callgrind-out-file=/dev/null', *('--toggle-collect=' + f for f in only)]
    with open(path, 'w') as f:
        text = subprocess.run(['valgrind', *tool, PROGRAM, *args], stdout=f, stderr=subprocess.PIPE, text=True, check=False).stderr
    counted = re.search(r'I +refs: +([\d,]+)', text)
    return int(counted.group(1).replace(',', '')) if counted else sys.exit('bench: valgrind counts no instructions: ' + text)


def part_of_dump(rows, step, path):
    """Write the first page of DUMP to PATH.one, and every n-th page to PATH.some; return the difference in pages."""
    data, starts = open(DUMP, 'rb').read(), [int(row['id'].rsplit(':', 1)[1]) for row in table(rows)]
    members = list(zip(starts, starts[1:] + [len(data)]))
    for name, chosen in (('.one', members[:1]), ('.some', members[::step])):
        with open(path + name, 'wb') as f:
            for start, end in chosen:
                f.write(data[start:end])
    return len(members[::step]) - 1


def column_bytes(path, method):
    """Return the mean number of bytes of the method's column in a row; for the fingerprint, of fingerprint and sketch."""
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
    """Return the pairs that people judged; grades 2 and 3 are near-duplicates."""
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
    """Group the rows into few runs of fp: each run has each method at most once."""
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
    """all signature methods: P, R, F1 on transplant-dev, sites-dev and ecir20, pairs on n163; CPU and bytes per page"""
    known, truth, judged = known_methods(), Truth(TRUTH), Judged(tmp)
    rows, pairs, alone = sign_all(tmp, known), tmp + '/pairs', tmp + '/fp'
    seconds = min(fp('simhash', [DUMP], alone) for _ in range(7))
    n, part = pages_of(alone), tmp + '/part'
    more = part_of_dump(alone, 12, part)

    def sign(signs, only=()):
        """Return thousands of instructions per page, without the start of the program."""
        one, some = (instructions(alone, 'fp', '-q', '-j1', '--method=' + signs, part + which, only=only) for which in ('.one', '.some'))
        return (some - one) / more / 1000

    base = sign('simhash')
    print(f'fp: {base:.0f} thousand instructions and {1e6 * seconds / n:.0f} µs of CPU a page')
    print('method | transplant P R F1 | en zh F1 | R by edit 0 1 2 | sites P R F1 | mean | ecir20 P R F1 | n163 | thousand instructions a page: '
          'signing (simhash in fp, others added to it), matching | bytes')
    signing = {signs: sign('simhash,' + signs) - base for signs in dict.fromkeys(signs for _, signs, _ in ROWS)
               if signs != 'simhash' and signs.split(':')[0] in known}
    signing['simhash'] = sign('simhash', ('pd_sign', 'pd_sketch'))
    for name, signs, compares in ROWS:
        method = signs.split(':')[0]
        if method not in known:
            print(f'{name} | not in this build')
            continue
        signed, rule = rows[signs, 'transplant'], f'--method={method}{":" if compares else ""}{compares}'
        joined = instructions(pairs, 'match', '-q', '-j1', '--all-pairs', rule, signed) / n / 1000
        s = score(truth, truth.read(pairs))
        edits = ' '.join(figure(s[f'level {i}'][1]) for i in range(3))
        match(method, compares, rows[signs, 'sites'], pairs)
        *site, mean = site_figures(pairs)
        match(method, compares, rows[signs, 'ecir20'], pairs)
        ecir = judged.figures(pairs)
        match(method, compares, rows[signs, 'n163'], pairs)
        print(f'{name} | {three(*s["all"][:3])} | {figure(s["lang en"][2])} {figure(s["lang zh"][2])} | {edits} | {three(*site)} | {figure(mean)} | {three(*ecir)} | '
              f'{pages_of(pairs)} | {signing[signs]:.0f}, {joined:.0f} | {column_bytes(signed, method):.0f}', flush=True)
    together(tmp, [m for m in TOGETHER if m in known], truth, rows)
    removals(tmp, [m for m in TOGETHER if m in known], rows)


# Variants from which the defaults were chosen: parameters of fp, then parameters of match.
CHOICES = [
    *((f'keywords:n={n}', how) for n in (3, 5, 6, 8, 10, 20) for how in ('sigma=1', 'sigma=.02')),
    *((f'segments:bytes=0:n={n}', f'share={s}') for n, shares in ((1, (.5, .7, .8, .9)), (2, (.5, .7)), (3, (.7,))) for s in shares),
    *(('segments', f'share={s}') for s in (.7, .75, .8)),
    ('segments:bytes=20', 'share=.75'),
    *(('segments:by=lines:bytes=0', f'share={s}') for s in (.5, .7)),
    *((f'semantic{how}', '') for how in (':n=5', '', ':n=8', ':n=10', ':names=1:nouns=1', ':names=3')),
    *((f'overlap:n={n}', f'share={s}:shared={k}') for n, s, k in ((10, .8, 1), (10, .8, 10), (40, .8, 1), (40, .8, 10), (100, .9, 15), (100, .95, 15),
                                                                 (200, .85, 15))),
    *(('punctuation', f'codes={c}:share={s}') for c, s in ((25, 0), (2, .5), (2, .7), (4, .6))),
    *(('vsm', f'cosine={c}') for c in (.9, .95, .98)),
    *(('vsm:of=chars', f'cosine={c}') for c in (.99, .995, .998, .999, .9995)),
]


def bench_choices(tmp):
    """methods with other parameters than the defaults: P, R, F1 on transplant-dev and sites-dev"""
    truth, sets, pairs = Truth(TRUTH), {'transplant': DUMP, 'sites': SITES}, tmp + '/pairs'

    def say(name, signed, compares):
        method, line = name.split(':')[0], f'{name} {compares}'
        match(method, compares, signed['transplant'], pairs)
        line += ' | ' + three(*score(truth, truth.read(pairs))['all'][:3])
        match(method, compares, signed['sites'], pairs)
        print(line + ' | ' + three(*site_figures(pairs)[:3]), flush=True)

    for run_of in passes([('', signs, '') for signs, _ in CHOICES]):
        signed = {name: f'{tmp}/{name}' for name in sets}
        for name, dump in sets.items():
            fp(','.join(run_of), [dump], signed[name])
        for signs, compares in CHOICES:
            if signs in run_of:
                say(signs, signed, compares)
    for name, dump in sets.items():
        run([PROGRAM, 'dict', '-q', '--idf-from=' + dump, '-o', f'{tmp}/{name}.idf'])
    for n in (5, 6, 8):
        for name, dump in sets.items():
            fp(f'keywords:n={n}', [dump], signed[name], f'--idf={tmp}/{name}.idf')
        say(f'keywords:n={n}, idf of the dump', signed, '')
    for n in (0, 3, 10, 100):
        fp(f'overlap:n={n}', [N163], tmp + '/n163')
        found = []
        for share in (.1, .2, .3, .4, .5):
            match('overlap', f'shared=1:share={share}', tmp + '/n163', pairs)
            found.append(pages_of(pairs))
        print(f'overlap:n={n}, pairs of n163 over .1 ... .5: {found}', flush=True)


def triples(methods):
    """The fingerprint and two other methods; `cluster` requires two of the three."""
    return [('simhash', a, b) for a, b in itertools.combinations([m for m in methods if m not in ('simhash', 'semantic', 'overlap')], 2)]


def together(tmp, methods, truth, rows):
    """Return pairs that two methods both find, and pairs that at least one finds, from one pass with all of them."""
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
    """Measure the removed pages of the sites: by the default, if another method must agree, and if it adds pairs."""
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
