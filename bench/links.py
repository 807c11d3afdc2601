# SPDX-License-Identifier: MIT
"""Links: pairs found on real sites, ranks compared with another implementation, and the cost."""
import glob, json, os, random, shutil, statistics, subprocess, sys

from common import BUILD, PROGRAM, RUNS, TOP, output, run
from pairs import table
from sites import DUMP, scored

SIGNED = ['links', 'links:navigation=keep', 'links:own=path', 'links:own=full', 'links:own=full:navigation=keep', 'links:of=text']
MATCHED = ['links', 'links:shared=20:share=.7', 'links:need=both', 'links:share=.9:shared=5:need=both', 'links:share=.9:shared=3:need=both']
RULES = ['adverts', 'body', 'types', 'domains', 'anchors', 'anchors=.9', 'weighted', 'weighted=70', 'difference', 'difference=1', 'count', 'count=4']
SIGNATURES = ['signature', 'signature=.01', 'signature=.001']


def to(path, args):
    with open(path, 'w') as f:
        run([PROGRAM, *args], f)
    return path


def line_of(path):
    text = scored('--pairs', path)
    return next(line for line in text.splitlines() if line.startswith('all'))


def bench_sets(tmp):
    for signed in SIGNED:
        rows = to(tmp + '/fp', ['fp', '-q', '--method=' + signed, DUMP])
        for matched in MATCHED:
            print(f'{signed:32} {matched:36}', line_of(to(tmp + '/pairs', ['match', '-q', '--all-pairs', '--method=' + matched, rows])))


def bench_rules(tmp):
    rows = to(tmp + '/fp', ['fp', '-q', '--method=links', DUMP])
    links = to(tmp + '/links', ['link', '-q', DUMP])
    for rule in RULES:
        print(f'--rule={rule:14}', line_of(to(tmp + '/pairs', ['match', '-q', '--all-pairs', '--rule=' + rule, '--links=' + links, rows])))
    ranks = to(tmp + '/ranks', ['rank', '-q', DUMP])
    for rule in SIGNATURES:
        print(f'--rule={rule:14}', line_of(to(tmp + '/pairs', ['match', '-q', '--all-pairs', '--rule=' + rule, '--ranks=' + ranks, rows])))


def guides(tmp):
    """Store Debian's installation guides for two architectures as two hosts of a mirror on disk; None if unavailable."""
    for machine in ('amd64', 'i386'):
        package = 'installation-guide-' + machine
        if not glob.glob(f'{tmp}/{package}_*.deb'):
            subprocess.run(['apt-get', 'download', package], cwd=tmp, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        found = glob.glob(f'{tmp}/{package}_*.deb')
        if not found:
            return None
        subprocess.run(['dpkg-deb', '-x', found[0], f'{tmp}/deb-{machine}'], check=True)
        root = f'{tmp}/mirror/{machine}.example'
        os.makedirs(root)
        for path in glob.glob(f'{tmp}/deb-{machine}/usr/share/doc/{package}/*/*.html*'):
            if path.endswith('.gz'):
                subprocess.run(['gunzip', path], check=True)
                path = path[:-3]
            folder = f'{root}/{os.path.basename(os.path.dirname(path))}'
            os.makedirs(folder, exist_ok=True)
            shutil.copy(path, folder)
    return tmp + '/mirror'


def bench_guides(tmp):
    """a pair is correct if it is the same page of both guides in the same language"""
    mirror = guides(tmp)
    if not mirror:
        print('installation guides: not to be had here')
        return
    pages = [p for p in glob.glob(mirror + '/amd64.example/*/*.html') if os.path.exists(p.replace('/amd64.', '/i386.'))]
    name = lambda url: url.split('.example/', 1)[-1]
    for signed in ('simhash', 'links', 'links:navigation=keep', 'links:own=full', 'links:of=text'):
        rows = to(tmp + '/fp', ['fp', '-q', '--method=' + signed, mirror])
        pairs = [(row['url_a'], row['url_b']) for row in table(to(tmp + '/pairs', ['match', '-q', '--all-pairs', rows]), [])]
        across = [(a, b) for a, b in pairs if ('amd64.' in a) != ('amd64.' in b)]
        right = sum(name(a) == name(b) for a, b in across)
        print(f'guides, {signed:24} of {len(pages)} pages in both {right} found; {len(across) - right} other pairs between the guides, '
              f'{len(pairs) - len(across)} inside one')


def bench_ranks(tmp, n=10000):
    draw = random.Random(7)
    with open(tmp + '/graph.jsonl', 'w') as f:
        for i in range(n):
            body = ''.join(f'<a href="http://h{t % 200}.example/{t}">w</a>' for t in (int(n * draw.random() ** 3) for _ in range(draw.randrange(40))))
            f.write(json.dumps({'url': f'http://h{i % 200}.example/{i}', 'html': f'<p>page {i}</p>{body}'}) + '\n')
    ranks, links = to(tmp + '/ranks', ['rank', '-q', tmp + '/graph.jsonl']), to(tmp + '/links', ['link', '-q', tmp + '/graph.jsonl'])
    for python in {sys.executable, '/usr/bin/python3'}:
        print(f'ranks of {n} pages, apart by at most a share of', output([python, TOP + '/tests/pagerank.py', ranks, links]).strip())


def bench_cost(tmp):
    pages = sum(1 for _ in table(to(tmp + '/fp', ['fp', '-q', DUMP]), []))
    for args in (['fp'], ['fp', '--method=simhash,links'], ['fp', '--method=links'], ['link'], ['rank']):
        seconds = statistics.median(run([PROGRAM, *args, '-q', '-j1', DUMP])[0] for _ in range(RUNS))
        print(f'{" ".join(args):28} {1e3 * seconds / pages:.3f} ms of CPU a page')
    for memory in (4096, 1024):
        cpu, elapsed, peak = run([BUILD + '/bench/ranks', '1000000', '50', str(memory)])
        print(f'ranks of 1,000,000 pages with 50,000,000 links, within {memory} MB: {peak:.0f} MB at the peak, {cpu:.0f} s of CPU, {elapsed:.0f} s')


def bench_links(tmp):
    """pairs by shared links and by rules for links; the installation guides; ranks; CPU per page; memory at a million pages"""
    for part in (bench_sets, bench_rules, bench_guides, bench_ranks, bench_cost):
        folder = f'{tmp}/{part.__name__}'
        os.makedirs(folder)
        part(folder)
