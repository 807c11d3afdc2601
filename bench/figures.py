# SPDX-License-Identifier: MIT
"""Figures of whole commands with their defaults, compared with the table in the docs.

A table in the docs is enclosed by two marks.  Its first column names the figure, and its second has the value.  A measured
figure is wrong if it differs from the table by more than a third.  CPU seconds are first scaled by the yardstick, a fixed
piece of work that is measured here and was measured for the table, because machines differ; ratios and megabytes are not
scaled.  Elapsed time is only printed, because it depends on the load.  CPU seconds are also only printed if this processor has
other vector instructions than the table's: matching depends on them and the yardstick does not.

UPDATE=1 writes the table in the docs instead.  SMALL=1 uses a hundredth of the rows and compares nothing; it tests this
script.  LONG=1 adds figures that take an hour and 40 GB of disk.  A figure that is not measured keeps its row.
"""
import gzip, json, os, platform, re, shutil, statistics, subprocess, sys

from common import BUILD, CORPORA, DUMP, PROGRAM, TOP, floor_seconds, output, run

DOCS = os.path.join(TOP, 'docs', 'performance.md')
THIRD = 4 / 3
SMALL = 100 if os.environ.get('SMALL') else 1
LONG = bool(os.environ.get('LONG'))
SITES = os.path.join(CORPORA, 'sites', 'sites-dev.warc.gz')
VECTORS = {'avx512_vpopcntdq': 'AVX-512', 'avx2': 'AVX2'}	# the name in Linux, and the name in the table
TIMES = {'s': 'CPU s', 'x': 'ratio', 'MB': 'MB', '/s': 'a CPU s', 'elapsed': 's elapsed'}


class Table:
    """The measured rows, each with the row of the docs."""

    def __init__(self, mark):
        self.begin, self.end = f'<!-- {mark}: written by a run -->\n', f'<!-- end of {mark} -->\n'
        with open(DOCS, encoding='utf-8') as f:
            self.text = f.read()
        at, to = self.text.find(self.begin), self.text.find(self.end)
        if at < 0 or to < at:
            sys.exit(f'bench: {DOCS} has no table between "{self.begin.strip()}" and "{self.end.strip()}"')
        self.inside = slice(at + len(self.begin), to)
        self.docs, self.kept = {}, {}
        for line in self.text[self.inside].splitlines():
            cells = [c.strip() for c in line.strip('|').split('|')]
            if line.startswith('|') and len(cells) >= 2:
                number = re.match(r'[\d.,]+', cells[1])
                self.docs[cells[0]] = float(number.group().replace(',', '')) if number else None
                self.kept[cells[0]] = (cells[0], cells[1], cells[2] if len(cells) > 2 else '')
        there = re.search(r'^Machine: .*$', self.text[self.inside], re.M)
        there = next((v for v in VECTORS.values() if there and f', {v},' in there.group()), '')
        with open('/proc/cpuinfo', encoding='utf-8') as f:
            self.cpuinfo = f.read()
        self.vectors = next((v for flag, v in VECTORS.items() if f' {flag} ' in self.cpuinfo), '')
        self.same_vectors = self.vectors == there
        if not self.same_vectors:
            print(f'CPU seconds are not held against the docs: theirs are of a machine with {there or "no vectors known"}, '
                  f'this one has {self.vectors or "none"}')
        self.rows, self.wrong, self.scale = [], [], 1
        self.load = [os.getloadavg()[0]]

    def yardstick(self, name, seconds):
        """Return the scale factor for all CPU seconds."""
        if self.docs.get(name):
            self.scale = seconds / self.docs[name]
        self.add(name, seconds, 's', held=False)

    def add(self, name, value, unit, remark='', held=True):
        shown = f'{value:,.0f}' if value >= 100 else f'{value:.3g}'
        docs = self.docs.get(name)
        expected = docs and docs * {'s': self.scale, '/s': 1 / self.scale}.get(unit, 1)
        held = held and unit != 'elapsed' and (self.same_vectors or unit not in ('s', '/s') or name not in self.docs)
        said = 'not in the docs'
        if docs:
            said = f'docs {docs:g}' + (f', here {expected:.3g}' if unit in ('s', '/s') and held else '')
            off = value / expected
            if held and not 1 / THIRD <= off <= THIRD:
                said += f': WRONG, {off:.2f} times that'
                self.wrong.append(name)
        elif held:
            self.wrong.append(name)
        self.rows.append((name, f'{shown} {TIMES[unit]}', remark))
        print(f'{name}: {shown} {TIMES[unit]}{", " + remark if remark else ""} ({said})', flush=True)

    def keep(self, name, why):
        """Keep the row of the docs for a figure that is not measured now."""
        print(f'{name}: {why}', flush=True)
        if name in self.kept:
            self.rows.append(self.kept[name])
        else:
            self.rows.append((name, '-', why))

    def machine(self):
        model = re.search(r'model name\s*: (.*)', self.cpuinfo)
        simd = f', {self.vectors}' if self.vectors else ''
        memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30
        self.load.append(os.getloadavg()[0])
        return (f'Machine: {model.group(1) if model else platform.machine()}{simd}, {os.cpu_count()} cores, {memory:.0f} GiB, Linux '
                f'{platform.release().split("-")[0]}; load {self.load[0]:.1f} at the begin, {self.load[-1]:.1f} at the end.')

    def lines(self, extra=''):
        versions = output([PROGRAM, 'version']).splitlines()
        built = next((v for v in versions if v.startswith('built')), '')
        libraries = next((v for v in versions if v.startswith('libraries')), '')
        chosen = [' '.join(p) for p in re.findall(r'(libxml-2.0|libdeflate|libzstd) (\S+)', libraries)]
        return [*(f'| {name} | {value} | {remark} |' for name, value, remark in self.rows), '',
                f'{self.machine()}  {versions[0]}, {built}, {", ".join(chosen)}{extra}.']

    def close(self, head, extra=''):
        """Print the table; write it into the docs, or print the figures that differ."""
        text = '\n'.join([f'| {" | ".join(head)} |', '|---' * len(head) + '|', *self.lines(extra)]) + '\n'
        print('\n' + text, flush=True)
        if SMALL > 1:
            print('a hundredth of the rows: no figures')
        elif os.environ.get('UPDATE'):
            with open(DOCS, 'w', encoding='utf-8') as f:
                f.write(self.text[:self.inside.start] + text + self.text[self.inside.stop:])
            print(f'written into {DOCS}')
        elif self.wrong:
            sys.exit('bench: off by more than a third, or not in the docs: ' + '; '.join(self.wrong))


def median_of(n, measure):
    return statistics.median(measure() for _ in range(n))


def cpu(*args, out=None):
    return run([PROGRAM, *args], out or subprocess.DEVNULL)[0]


def made(path, *args):
    """Write the output of a generator to a file."""
    with open(path, 'w', encoding='utf-8') as f:
        run([f'{BUILD}/bench/{args[0]}', *map(str, args[1:])], f)
    return path


def beside(n, ours, theirs):
    """Return the medians of n turns: ours, theirs, and the ratio."""
    turns = [(ours(), theirs()) for _ in range(n)]
    return statistics.median(a for a, _ in turns), statistics.median(b for _, b in turns), statistics.median(a / b for a, b in turns)


def pages(t, tmp):
    fp = ('fp', '-q', '-j1')
    ours, floor, ratio = beside(3, lambda: cpu(*fp, DUMP), lambda: floor_seconds(DUMP))
    t.yardstick('the floor: libxml2 alone over the pages of the transplant dump', floor)
    t.add('`fp`, transplant dump', ours, 's', '1,684 pages, 28 MB of gzip')
    t.add('`fp` against the floor', ratio, 'x')
    ours, _, ratio = beside(3, lambda: cpu(*fp, '--learn-boilerplate', DUMP), lambda: cpu(*fp, DUMP))
    t.add('`fp --learn-boilerplate` against `fp`', ratio, 'x')
    ours, _, ratio = beside(3, lambda: cpu(*fp, SITES), lambda: floor_seconds(SITES))
    t.add('`fp`, six manuals', ours, 's', '3,435 pages')
    t.add('`fp`, six manuals, against the floor', ratio, 'x')
    pipe = f'"{PROGRAM}" fp -q -j1 "{DUMP}" | "{PROGRAM}" match -q -j1 | "{PROGRAM}" cluster -q'
    t.add('`fp`, `match`, `cluster`, transplant dump', median_of(3, lambda: run(['sh', '-c', pipe])[0]), 's')
    one, _, ratio = beside(3, lambda: run([PROGRAM, *fp, DUMP])[1], lambda: run([PROGRAM, 'fp', '-q', '-j2', DUMP])[1])
    t.add('`fp -j1` over `fp -j2`', ratio, 'elapsed', 'times as long')


def responses(dump):
    """Return the bodies of the pages of a dump, unchanged."""
    with gzip.open(dump) as f:
        while f.readline():
            header = dict(line.strip().split(b': ', 1) for line in iter(f.readline, b'\r\n'))
            block = f.read(int(header[b'Content-Length']) + 4)[:-4]
            if header[b'WARC-Type'] == b'response':
                yield block.split(b'\r\n\r\n', 1)[1]


def files(t, tmp):
    """Write the pages of both dumps as files, five hundred per folder, and compare with dumps of the same number of bytes."""
    n, size, root = 50000 // SMALL, 0, tmp + '/files'
    bodies = [*responses(DUMP), *responses(SITES)]
    for i in range(n):
        if i % 500 == 0:
            os.makedirs(f'{root}/{i // 500}')
        with open(f'{root}/{i // 500}/{i}.html', 'wb') as f:
            size += f.write(bodies[i % len(bodies)])
    share = size / sum(map(len, bodies))
    ours, _, ratio = beside(1 if SMALL == 1 else 3, lambda: cpu('fp', '-q', '-j1', root), lambda: share * cpu('fp', '-q', '-j1', DUMP, SITES))
    t.add('`fp`, 50,000 HTML files', ours, 's', f'{size / 1e6:,.0f} MB, {size / 1e6 / ours:.0f} MB a CPU s')
    t.add('`fp`, 50,000 HTML files, against the same pages in dumps', ratio, 'x')
    shutil.rmtree(root)


def dedups(t, tmp):
    at = iter(range(100))
    t.add('`dedup`, transplant dump', median_of(3, lambda: cpu('dedup', '-q', DUMP, '-o', f'{tmp}/dedup{next(at)}')), 's')


def matched(t, name, n, *args, memory=False):
    """Measure the whole command; return the median of several runs."""
    took = sorted(run([PROGRAM, 'match', '-q', '-j1', *args]) for _ in range(n))[n // 2]
    t.add(name, took[0], 's')
    if memory:
        t.add(name + ', resident', took[2], 'MB')


def rows(t, tmp):
    real = made(tmp + '/real6', 'twins', 10**6 // SMALL, 1)
    matched(t, '`match`, 10⁶ real rows', 3, real)
    matched(t, '`match -k 3`, 10⁶ real rows', 3, '-k3', real)
    os.unlink(real)
    real = made(tmp + '/real7', 'twins', 10**7 // SMALL, 1)
    matched(t, '`match`, 10⁷ real rows', 1, real, memory=True)
    matched(t, '`match --candidates=bands`, 10⁷ real rows', 1, '--candidates=bands', real)
    matched(t, '`match -k 3`, 10⁷ real rows', 1, '-k3', real)
    os.unlink(real)


def keys(t, tmp):
    """Measure the steps on fingerprints alone, in memory."""
    stats = tmp + '/stats'
    text = made(tmp + '/keys6', 'keys', 10**6 // SMALL, 64, 1, '--planted', 10, '--maxd', 8)
    for k in (3, 8, 12):
        def beyond():
            run([PROGRAM, 'match', '-q', '-j1', '--no-verify', f'-k{k}', '--stats', stats, text])
            took = json.load(open(stats, encoding='utf-8'))
            return took['cpu_seconds'] - took['cpu_seconds_by_phase']['read']
        t.add(f'`match -k {k} --no-verify`, 10⁶ fingerprints, beyond reading', median_of(3, beyond), 's')
    os.unlink(text)
    text, saved = made(tmp + '/keys7', 'keys', 10**7 // SMALL, 64, 1, '--planted', 10, '--maxd', 8), tmp + '/keys7.pdk'
    matched(t, '`match -k 3`, 10⁷ fingerprints as text', 1, '-k3', text, memory=True)
    run([PROGRAM, 'match', '-q', text, '--save', saved])
    os.unlink(text)
    matched(t, '`match -k 3`, 10⁷ fingerprints, key file', 1, '-k3', saved, memory=True)
    os.unlink(saved)


def hundred_million(t, tmp):
    """Measure elapsed seconds of the largest inputs on two threads."""
    names = ['`match -k 3 -j2`, 10⁸ fingerprints as text', '`match -k 3 -j2`, 10⁸ fingerprints, key file']
    if not LONG:
        for name in names:
            if name in t.kept:
                t.keep(name, 'only with LONG=1')
        return
    text, saved = tmp + '/keys8', tmp + '/keys8.pdk'
    made(text, 'keys', 10**8 // SMALL, 64, 1, '--planted', 10, '--maxd', 8)
    for name, path in zip(names, (text, saved)):
        if path == saved:
            run([PROGRAM, 'match', '-q', '--tmp-dir', tmp, text, '--save', saved])
            os.unlink(text)
        _, took, peak = run([PROGRAM, 'match', '-q', '-j2', '-k3', '--tmp-dir', tmp, path])
        t.add(name, took, 'elapsed', f'{peak:,.0f} MB resident')
    os.unlink(saved)


def clusters(t, tmp):
    pairs = made(tmp + '/pairs', 'pairs', 10**7 // SMALL)
    took, _, peak = run([PROGRAM, 'cluster', '-q', '--tmp-dir', tmp, '-o', tmp + '/verdicts', pairs])
    t.add('`cluster`, 10⁷ pairs of 8.8 × 10⁶ pages', took, 's', 'a file of 3 GB')
    t.add('`cluster`, 10⁷ pairs, resident', peak, 'MB')
    os.unlink(pairs)
    os.unlink(tmp + '/verdicts')


def stores(t, tmp, feed, questions):
    n, store = 10**7 // SMALL, tmp + '/store'
    run([PROGRAM, 'store', 'init', '-q', '--no-key', '-k', '3', store])
    took, _, _ = feed([f'{BUILD}/bench/keys', str(n), '64', '1', '--planted', '10', '--maxd', '8'], store, '--no-verify')
    t.add('`store add`, 10⁷ fingerprints', n / took, '/s')
    questions('keys', n, n // 10, tmp + '/ask')
    asked = n / 10 / median_of(3, lambda: cpu('store', 'check', '-q', '--no-verify', store, tmp + '/ask'))
    t.add('`store check`, 10⁶ of 10⁷ kept, k = 3', asked, '/s')
    for many, k in ((50000, 8), (20000, 12)):
        with open(tmp + '/ask', encoding='utf-8') as f, open(tmp + '/some', 'w', encoding='utf-8') as to:
            to.writelines(line for i, line in enumerate(f) if i <= many)
        with open(tmp + '/some', encoding='utf-8') as f:
            said = subprocess.run([BUILD + '/bench/store', store, str(k)], stdin=f, stdout=subprocess.PIPE, text=True, check=True).stdout
        t.add(f'bulk queries, 10⁷ kept, k = {k}', float(re.search(r'in bulk: (\d+)', said).group(1)), '/s')


def clean_dumps(t, tmp):
    big = tmp + '/big.warc.gz'
    with open(DUMP, 'rb') as f, open(big, 'wb') as to:
        data = f.read()
        for _ in range(10):
            to.write(data)
    ours, _, ratio = beside(3, lambda: cpu('apply', '-q', '-V', '/dev/null', big, '-o', tmp + '/clean'),
                            lambda: run(['cp', '--reflink=never', big, tmp + '/copy'])[0])
    t.add('`apply`, nothing removed, against `cp`', ratio, 'x', '285 MB')
    for name in (big, tmp + '/clean', tmp + '/copy'):
        os.unlink(name)


def figures(tmp, feed, questions):
    t = Table('figures')
    pages(t, tmp)
    files(t, tmp)
    dedups(t, tmp)
    rows(t, tmp)
    keys(t, tmp)
    hundred_million(t, tmp)
    clusters(t, tmp)
    stores(t, tmp, feed, questions)
    clean_dumps(t, tmp)
    t.close(['work, on one thread', 'figure', ''])
