#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rules of eval in a simple form, for comparison with the program.

usage: brute_eval.py make SEED DIR          DIR/truth.tsv, labels.tsv, pairs.tsv, clusters.tsv
       brute_eval.py pages|labels TRUTH pairs|clusters FILE TRUE_LEVEL BY...
prints "by value precision recall f1 found_true true false" with six decimals, "-" for a missing value, then "unknown N"
"""
import collections, itertools, random, sys

def table(path):
    lines = [l.rstrip('\n') for l in open(path, encoding='utf-8') if not l.startswith('# ')]
    names = lines[0].lstrip('#').split('\t')
    return [dict(zip(names, l.split('\t'))) for l in lines[1:]]

def make(seed, d):
    r = random.Random(seed)
    urls = ['http://h%d.example/%s' % (r.randrange(4), ''.join(r.choice('abé') for _ in range(r.randrange(1, 6)))) for _ in range(60)]
    urls = sorted(set(urls))
    r.shuffle(urls)
    truth = urls[:40]
    with open(d + '/truth.tsv', 'w', encoding='utf-8') as f:
        f.write('url\tcontent\tlevel\ttemplate\tlang\n')
        for u in truth: f.write('%s\tc%d\t%d\tt%d\t%s\n' % (u, r.randrange(9), r.randrange(5), r.randrange(3), r.choice(['en', 'zh'])))
    found = [(r.choice(urls), r.choice(urls)) for _ in range(150)]
    with open(d + '/pairs.tsv', 'w', encoding='utf-8') as f:
        f.write('# pagededup pairs 1 k=8 |\n#id_a\tid_b\tdistance\turl_a\turl_b\n')
        for i, (a, b) in enumerate(found): f.write('d:%d\te:%d\t3\t%s\t%s\n' % (i, i, a, b))
    with open(d + '/clusters.tsv', 'w', encoding='utf-8') as f:
        f.write('#cluster_id\tid\turl\n')
        for i, u in enumerate(r.sample(urls, len(urls))): f.write('%d\td:%d\t%s\n' % (r.randrange(8), i, u))
    with open(d + '/labels.tsv', 'w', encoding='utf-8') as f:
        f.write('# pagededup labels 1 |\n#url_a\turl_b\tlabel\tdistance\tweight\tlang\n')
        some = set()
        for _ in range(300):
            a, b = r.sample(truth, 2)
            if (a, b) in some or (b, a) in some: continue
            some.add((a, b))
            f.write('%s\t%s\t%s\t%d\t%g\t%s\n' % (a, b, r.choice(['duplicate', 'different', 'unsure', '1', '0', 'YES', 'no', '?']), r.randrange(9),
                                                  r.choice([1, 1, 2.5, 17]), r.choice(['en', 'zh'])))

def found_in(kind, path):
    if kind == 'pairs':
        return [(r['url_a'], r['url_b']) for r in table(path)]
    clusters = collections.defaultdict(set)
    for r in table(path): clusters[r['cluster_id']].add(r['url'])
    return [p for c in clusters.values() for p in itertools.combinations(sorted(c), 2)]

def score(form, truth, kind, path, top, by):
    rows, unknown, known = table(truth), 0, set()
    if form == 'pages':
        page = {}
        for r in rows: page.setdefault(r['url'], r)
        def judge(a, b):
            if page[a]['content'] != page[b]['content']: return 'no', 1
            return ('yes' if max(int(page[a]['level']), int(page[b]['level'])) <= top else 'grey'), 1
        def group(a, b, column):
            if column == 'level': return str(max(int(page[a]['level']), int(page[b]['level'])))
            return page[a][column]
        universe = {p: judge(*p) for p in itertools.combinations(sorted(page), 2)}
        names = set(page)
    else:
        words = {'duplicate': 'yes', '1': 'yes', 'yes': 'yes', 'different': 'no', '0': 'no', 'no': 'no', 'unsure': 'grey', '?': 'grey'}
        row = {tuple(sorted((r['url_a'], r['url_b']))): r for r in rows}
        universe = {p: (words[r['label'].lower()], float(r['weight'])) for p, r in row.items()}
        names = {u for p in row for u in p}
        def group(a, b, column): return row[a, b][column]
    for a, b in found_in(kind, path):
        if a not in names or b not in names: unknown += 1
        elif a != b: known.add(tuple(sorted((a, b))))
    for p in list(known):
        if p not in universe:
            known.remove(p)
            unknown += 1
    hits, wanted, wrong = (collections.Counter() for _ in range(3))
    for p, (verdict, weight) in universe.items():
        for key in [('all', '-')] + [(c, group(*p, c)) for c in by]:
            if verdict == 'yes':
                wanted[key] += weight
                if p in known: hits[key] += weight
            elif verdict == 'no' and p in known and not (form == 'pages' and key[0] == 'level'): wrong[key] += weight
    keys = [('all', '-')] + sorted({k for k in set(wanted) | set(wrong) if k[0] != 'all'}, key=lambda k: (by.index(k[0]), k[1].encode()))
    for key in keys:
        tp, w, fp = hits[key], wanted[key], wrong[key]
        p = tp / (tp + fp) if tp + fp else 0; r = tp / w if w else 0; f = 2 * p * r / (p + r) if p + r else 0
        level = form == 'pages' and key[0] == 'level'
        count = lambda v: '%d' % v if v == int(v) else '%.2f' % v
        print('\t'.join([*key, '-' if level else '%.6f' % p, '%.6f' % r, '-' if level else '%.6f' % f, count(tp), count(w), '-' if level else count(fp)]))
    print('unknown', unknown)

if sys.argv[1] == 'make': make(int(sys.argv[2]), sys.argv[3])
else: score(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), sys.argv[6:])
