# SPDX-License-Identifier: MIT
"""Accuracy of fp | match: on the transplant dump, on look-alike pages, against human judgement, and by setting."""
import collections, gzip, json, os, re, sys

from common import CORPORA, DUMP, PROGRAM, TOOLS, TOP, TRUTH, output, run
from pairs import Truth, score, table

# A row of the table: name, options of fp, options of match.
CONFIGURATIONS = [
    ('default', [], []),
    ('default, --no-verify', [], ['--no-verify']),
    ('default, -k 8', [], ['-k', '8']),
    ('default, -k 10', [], ['-k', '10']),
    ('default, -k 12', [], ['-k', '12']),
    ('default, -k 14', [], ['-k', '14']),
    ('--sketch=none', ['--sketch=none'], []),
    ('--bits=128', ['--bits=128'], []),
    ('--preset=paper', ['--preset=paper'], ['--preset=paper']),
    ('--preset=paper, -k 6', ['--preset=paper'], ['--preset=paper', '-k', '6']),
    ('--preset=paper, -k 10', ['--preset=paper'], ['--preset=paper', '-k', '10']),
]
# The sweep tries these changes of the signature, at these distances.
SWEEP = ['--shingle=2', '--shingle=1', '--shingle=3', '--shingle=4', '--shingle=1 --weights=set', '--weights=set', '--weights=tf',
         '--shingle=3 --weights=set', '--shingle=3 --weights=tf', '--bits=128', '--bits=256', '--stopwords=builtin', '--hidden=keep',
         '--features=title,text', '--min-terms=1', '--min-terms=32']
DISTANCES = [8, 10, 12, 14, 16]


def fp(path, options, source=DUMP):
    with open(path, 'w') as f:
        run([PROGRAM, 'fp', '-q', *options, source], f)


def match(tmp, options):
    with open(tmp + '/pairs', 'w') as f:
        run([PROGRAM, 'match', '-q', '--all-pairs', *options, tmp + '/fp'], f)
    return tmp + '/pairs'


def figure(value):
    return f'{value:.4f}'


def bench_accuracy(tmp):
    """precision, recall and F1 of fp | match --all-pairs on the transplant dump; then the default by kind of pair"""
    truth = Truth(TRUTH)
    print(f'{"":24} {"P":>6} {"R":>6} {"F1":>6}  false')
    for name, fp_options, match_options in CONFIGURATIONS:
        fp(tmp + '/fp', fp_options)
        by_kind = score(truth, truth.read(match(tmp, match_options)))
        p, r, f1, _, _, false = by_kind['all']
        print(f'{name:24} {figure(p)} {figure(r)} {figure(f1)}  {false}', flush=True)
        if name == 'default':
            default = by_kind
    for kind, (p, r, f1, hits, wanted, false) in default.items():
        print(f'default, {kind:15} {figure(p)} {figure(r)} {figure(f1)}  {hits} of {wanted}, {false} false')


# Weights of features for --preset=paper.
FEATURES = ['title,meta,text,anchor', *(f'title,meta,text:{n},anchor' for n in (5, 20, 50, 100, 1000)), 'title,meta,text:50,anchor:50',
            'title:50,meta,text,anchor', 'text']
LENGTHS = [0, 500, 1000, 2000, 4000, 8000]


def bench_paper(tmp):
    """the patent's claim by length of text and weights of features: pages with the same text within 3 bits, with --preset=paper"""
    truth = Truth(TRUTH)
    same = [key for key, pair in truth.wanted.items() if pair.level == 0]
    with open(tmp + '/text', 'w') as f:
        run([PROGRAM, 'text', '-q', '--preset=paper', DUMP], f)
    topic = {page['url']: page['text'] for page in map(json.loads, open(tmp + '/text', encoding='utf-8'))}
    alike = {key for key in same if topic[key[0]] == topic[key[1]]}
    length = lambda key: max(n for n in LENGTHS if min(int(truth.pages[url]['chars']) for url in key) >= n)
    wanted = collections.Counter(map(length, same))
    print(f'{"":28} ' + ' '.join(f'from {n}' for n in LENGTHS) + ', all, with equal topic texts; P R F1 at k = 3')
    for features in FEATURES:
        fp(tmp + '/fp', ['--preset=paper', '--features=' + features])
        fingerprint = {row['url']: row['fingerprint'] for row in table(tmp + '/fp', [])}
        near = [key for key in same if '-' not in (fingerprint[key[0]], fingerprint[key[1]])
                and bin(int(fingerprint[key[0]], 16) ^ int(fingerprint[key[1]], 16)).count('1') <= 3]
        found = collections.Counter(map(length, near))
        p, r, f1, _, _, false = score(truth, truth.read(match(tmp, ['--preset=paper'])))['all']
        print(f'{features:28} ' + ', '.join(f'{found[n]} of {wanted[n]}' for n in LENGTHS)
              + f'; {len(near)} of {len(same)}, {len(alike & set(near))} of {len(alike)}; {figure(p)} {figure(r)} {figure(f1)}, {false} false', flush=True)


def bench_lookalikes(tmp):
    """pairs among 33 different articles of one site; every pair is a mistake"""
    for options in [[], ['-k', '16'], ['-k', '16', '--no-verify']]:
        fp(tmp + '/fp', [], os.path.join(CORPORA, 'extraction', 'n163'))
        found = list(table(match(tmp, options), []))
        print(f'{" ".join(options) or "default"}: {len(found)} pairs')


def auc(scores, positive):
    """Return the share of (positive, negative) pairs in which the positive has the higher score; a tie counts half."""
    good = [s for s, p in zip(scores, positive) if p]
    bad = [s for s, p in zip(scores, positive) if not p]
    return sum((g > b) + (g == b) / 2 for g in good for b in bad) / (len(good) * len(bad))


def judged(tmp):
    """Return the pairs that people judged; write their texts as JSONL for fp."""
    path = os.path.join(CORPORA, 'neardup', 'ecir20-core-pairs.jsonl.gz')
    pairs = [json.loads(line) for line in gzip.open(path, 'rt', encoding='utf-8')]
    with open(tmp + '/judged.jsonl', 'w', encoding='utf-8') as f:
        for i, pair in enumerate(pairs):
            for end in 'ab':
                f.write(json.dumps({'name': f'{i}{end}', 'where': f'http://{i}{end}.example/', 'words': pair['text_' + end]}) + '\n')
    return pairs


def bench_judged(tmp):
    """area under the ROC curve of `similarity` for pairs that people judged near-duplicates (grades 2 and 3), and that of S3"""
    pairs = judged(tmp)
    positive = [int(pair['label']) >= 2 for pair in pairs]
    print(f'S3 of the collection: {auc([json.loads(pair["s3"])["s3Score"] for pair in pairs], positive):.4f}')
    for kind in ('128x4x3', '64x4x5', '64x4x3', '512x1x3'):
        both = [compared(tmp, i, kind) for i in range(len(pairs))]
        print(f'sketch {kind}: {auc([s for s, _ in both], positive):.4f}; without the error of the estimate '
              f'{auc([s for _, s in both], positive):.4f}', flush=True)


def compared(tmp, i, kind):
    """Return the similarity of pair i as estimated by its sketches, and the true similarity."""
    fields = ['--field-id=name', '--field-url=where', '--field-text=words', '--sketch=' + kind]
    urls = [f'--url=http://{i}{end}.example/' for end in 'ab']
    text = output([PROGRAM, 'compare', *fields, *urls, tmp + '/judged.jsonl'])
    return tuple(map(float, re.search(r'^similarity: ([\d.]+) by the sketches, ([\d.]+) exactly', text, re.M).groups()))


def bench_extraction(tmp):
    """main text F1 on the extraction corpora"""
    for preset in ('paper', 'default'):
        for name in ('aeb', 'wcxb', 'cwced'):
            folder = os.path.join(CORPORA, 'extraction', name)
            with open(tmp + '/text', 'w') as f:
                run([PROGRAM, 'text', '-q', '--preset=' + preset, os.path.join(folder, 'html')], f)
            text = output([sys.executable, os.path.join(TOOLS, 'extract_score.py'), folder + '/gold.jsonl', tmp + '/text'])
            print(f'{preset:8} {name:6} ' + text.splitlines()[0])


def bench_sweep(tmp):
    """F1 on the transplant dump with one setting of the signature changed at a time, with and without verification"""
    truth = Truth(TRUTH)
    print(f'{"":28}' + ''.join(f'k = {k:<4} ' for k in DISTANCES) + ' without a second look')
    for options in SWEEP:
        fp(tmp + '/fp', options.split())
        factor = {'--bits=128': 2, '--bits=256': 4}.get(options, 1)
        line = ''
        for verify in ([], ['--no-verify']):
            for k in DISTANCES:
                f1 = score(truth, truth.read(match(tmp, ['-k', str(k * factor), *verify])))['all'][2]
                line += f'{figure(f1)}   '
            line += ' '
        print(f'{options:28}{line}', flush=True)


def bench_kinds(tmp):
    """kinds of the pages of wcxb: labels by hand (tools/wcxb-kinds.tsv) against the kind that the program finds"""
    with open(os.path.join(TOP, 'tools', 'wcxb-kinds.tsv'), encoding='utf-8') as f:
        read = dict(line.split() for line in f if not line.startswith('#'))
    folder = os.path.join(CORPORA, 'extraction', 'wcxb', 'html')
    both = collections.Counter()
    for name in sorted(os.listdir(folder)):
        text = output([PROGRAM, 'show', '--stage=topic', os.path.join(folder, name)])
        both[read.get(name.split('.')[0], 'article'), re.search(r'^kind: (.*)', text, re.M)[1]] += 1
    found = sorted({k for _, k in both})
    print(f'{"":16}' + ''.join(f'{k:>15}' for k in found))
    for kind in sorted({k for k, _ in both}):
        print(f'{kind:16}' + ''.join(f'{both[kind, k]:15}' for k in found))
