# SPDX-License-Identifier: MIT
"""Real sites with truth: pairs of fp | match, and the text that is lost by removing pages."""
import collections, gzip, json, os, re, subprocess, sys

from common import BUILD, CORPORA, PROGRAM, TOOLS, output, python_with_lxml, run
from gold import words
from pairs import table

SETS = ['sites', 'sites2']


def files(name):
    """Return the dump, the pages and the truth of a collection."""
    base = os.path.join(CORPORA, name, name + '-dev')
    return base + '.warc.gz', base + '.pages.tsv', base + '.truth.tsv.gz'


DUMP, PAGES, TRUTH = files('sites')
SCORER = os.path.join(TOOLS, 'score_sites.py')
THRESHOLDS = [.5, .55, .6, .65, .7, .75, .8, .85, .9]
FEW = 20	# true pairs: F1 of a site with fewer pairs is not meaningful


def pipe(commands, path):
    """Run a pipe of commands; write the output of the last one to a file."""
    before = None
    for command in commands[:-1]:
        process = subprocess.Popen([PROGRAM, *command], stdin=before, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        before = process.stdout
    with open(path, 'w') as f:
        run([PROGRAM, *commands[-1]], f, stdin=before)
    return path


def scored(what, path, name='sites'):
    return output([sys.executable, SCORER, files(name)[2], files(name)[1], what, path])


class Sites:
    """Return the pages by URL, and the pairs that are true or uncertain; every other pair is false."""
    def __init__(self, name='sites'):
        self.name = name
        pages = [line.rstrip('\n').split('\t') for line in open(files(name)[1], encoding='utf-8')][1:]
        self.at = {row[0]: i for i, row in enumerate(pages)}
        self.site = [row[1] for row in pages]
        self.full = [row[6] == 'full' for row in pages]
        self.label = {}
        for line in gzip.open(files(name)[2], 'rt', encoding='utf-8'):
            row = line.rstrip('\n').split('\t')
            if row[0].isdigit():
                self.label[int(row[0]), int(row[1])] = row[5]

    def pairs(self, path):
        """Return the pairs of full pages inside a site: site, similarity, label."""
        for row in table(path, []):
            a, b = sorted((self.at[row['url_a']], self.at[row['url_b']]))
            if self.full[a] and self.full[b] and self.site[a] == self.site[b]:
                yield self.site[a], float(row['similarity']), self.label.get((a, b), 'false')

    def wanted(self):
        return collections.Counter(self.site[a] for (a, b), label in self.label.items()
                                   if label == 'true' and self.full[a] and self.full[b] and self.site[a] == self.site[b])


def by_threshold(sites, path):
    """Return F1 of each site with true pairs, at each threshold."""
    wanted = sites.wanted()
    found = collections.defaultdict(list)
    for site, similarity, label in sites.pairs(path):
        found[site].append((similarity, label))
    def f1(site, least):
        labels = collections.Counter(label for similarity, label in found[site] if similarity >= least)
        return 2 * labels['true'] / max(1, labels['true'] + labels['false'] + wanted[site])
    return {site: [f1(site, t) for t in THRESHOLDS] for site in wanted if wanted[site] >= FEW}


def leave_one_out(f1):
    """Return for each site the threshold that is best on the other sites, and its result on this site."""
    for site, values in sorted(f1.items()):
        others = [sum(f1[o][i] for o in f1 if o != site) for i in range(len(THRESHOLDS))]
        best = max(range(len(THRESHOLDS)), key=lambda i: others[i])
        print(f'  {site:22} {THRESHOLDS[best]:.2f} by the others: F1 {values[best]:.4f} here')


# Each rule of the main text and of the decision, and the way to disable it.  If a column is blank, its rules do not apply.
# build/bench/pagededup reads weights of src/topic/weights.def from the environment.
TEXT_RULES = {
    'boxes named comments are dropped if a text flow remains': {'weights': 'one_flow=0'},
    'a control that contains paragraphs is text': {'weights': 'control_prose=1e9'},
    'legal lines are not prose': {'weights': 'notices=0 foot_rest=1e9'},
    'pages of manuals, pages without prose, notes': {'weights': 'kind_code=2 kind_prose=0 kind_terms=2 region_prose=0 note_prose=2'},
}
RULES = {
    **TEXT_RULES,
    'placeholder pages do not match': {'fp': ['--stubs=match']},
    'similarity .5, on one host .7, instead of .4 and .5': {'match': ['--similarity=.4', '--similarity-same-host=.5']},
    'short texts need a higher similarity': {'blank': ['terms']},
    'so do pages with different titles and headings': {'blank': ['subject']},
    'so do pages in different languages': {'blank': ['languages']},
    'so do pages with a doubtful main text': {'blank': ['confidence']},
    'texts are compared before a page is removed': {'cluster': ['--max-loss=1']},
}


def weighed(off):
    """Return the command that runs the program without these rules of the main text."""
    weights = ' '.join(RULES[rule]['weights'] for rule in off if 'weights' in RULES[rule])
    return ['env', 'PAGEDEDUP_WEIGHTS=' + weights, BUILD + '/bench/pagededup'] if weights else [PROGRAM]


def score_text(gold, off):
    """Return F1 of words by site, each page read alone, and the recall of the correct words."""
    sums = collections.defaultdict(list)
    for line in output([*weighed(off), 'text', '-q', DUMP]).splitlines():
        page = json.loads(line)
        if page['url'] in gold:
            site, known = gold[page['url']]
            found = collections.Counter(words(page['text']))
            hits, n_known, n_found = (known & found).total(), known.total(), found.total()
            sums[site].append((2 * hits / (n_known + n_found), hits / n_found if n_found else 0, hits / n_known))
    return {site: [sum(column) / len(v) for column in zip(*v)] for site, v in sums.items()}


def measure_texts(tmp):
    """six real sites: precision and recall of the words of the main text, also without each rule (needs lxml)"""
    with open(tmp + '/gold', 'w') as f:
        subprocess.run([python_with_lxml(), os.path.join(os.path.dirname(__file__), 'gold.py'), DUMP, PAGES], stdout=f, check=True)
    sites, gold = Sites(), {}
    for line in open(tmp + '/gold', encoding='utf-8'):
        page = json.loads(line)
        i = sites.at[page['url']]
        if sites.full[i]:
            gold[page['url']] = sites.site[i], collections.Counter(page['text'].split())
    pages = collections.Counter(sites.site[i] for i, full in enumerate(sites.full) if full)
    known = collections.Counter(site for site, _ in gold.values())
    now = score_text(gold, [])
    for site, (f1, p, r) in sorted(now.items()):
        print(f'  {site:22} known {known[site]} of {pages[site]}: words F1 {f1:.4f}, P {p:.4f}, R {r:.4f}')
    def mean(figures):
        return ', '.join(f'{name} {sum(v[i] for v in figures.values()) / len(figures):.4f}' for i, name in enumerate(('F1', 'P', 'R')))
    print(f'  {"mean of sites":62}{mean(now)}')
    print(f'  {"none of the rules below":62}{mean(score_text(gold, TEXT_RULES))}')
    for rule in TEXT_RULES:
        print(f'  {"only: " + rule:62}{mean(score_text(gold, [r for r in TEXT_RULES if r != rule]))}', flush=True)
        print(f'  {"all but: " + rule:62}{mean(score_text(gold, [rule]))}', flush=True)


def blanked(path, columns, out):
    """Write the rows with these columns blank."""
    with open(path, encoding='utf-8') as f, open(out, 'w', encoding='utf-8') as to:
        at = []
        for line in f:
            fields = line.rstrip('\n').split('\t')
            if line.startswith('#') and not line.startswith('# '):
                at = [i for i, name in enumerate(fields) if name in columns]
            elif not line.startswith('#'):
                for i in at:
                    fields[i] = '-'
            to.write('\t'.join(fields) + '\n')
    return out


def measured(tmp, learned, off):
    """Return a line of figures with these rules disabled."""
    def options(kind):
        return [o for rule in off for o in RULES[rule].get(kind, [])]
    program = weighed(off)
    base = f'{tmp}/rows-{learned}-{"".join(options("fp"))}{"".join(program[1:-1])}'
    if not os.path.exists(base):
        with open(base, 'w') as f:
            run([*program, 'fp', '-q', *options('fp'), *(['--learn-boilerplate'] if learned else []), f'--shingles={base}.shingles', DUMP], f)
    rows = blanked(base, options('blank'), tmp + '/blanked')
    pairs = scored('--pairs', pipe([['match', '-q', '--all-pairs', *options('match'), rows]], tmp + '/pairs'))
    verdicts = scored('--verdicts', pipe([['match', '-q', *options('match'), rows],
                                          ['cluster', '-q', f'--shingles={base}.shingles', *options('cluster')]], tmp + '/verdicts'))
    def fields(text, name):
        return next(line for line in text.splitlines() if line.startswith(name))[len(name):].split()
    every, removed = fields(pairs, 'all '), fields(verdicts, 'all ')
    return (f'P {every[0]} R {every[1]} F1 {every[2]}, mean of sites {fields(pairs, "mean of sites")[2]}, thin P {fields(pairs, "thin pages")[0]}; '
            f'removed {removed[0]}, loss over .2 {float(removed[1]):.2%}, over .5 {float(removed[2]):.2%}')


def measure_rules(tmp):
    """six real sites: the gain of each rule of main text and decision alone, and the loss without it"""
    for learned in (False, True):
        print('-- with learned boilerplate' if learned else '-- each page alone')
        print(f'  {"none of them":62}' + measured(tmp, learned, list(RULES)))
        for rule in RULES:
            print(f'  {"only: " + rule:62}' + measured(tmp, learned, [r for r in RULES if r != rule]), flush=True)
        for rule in RULES:
            print(f'  {"all but: " + rule:62}' + measured(tmp, learned, [rule]), flush=True)
        print(f'  {"all of them":62}' + measured(tmp, learned, []), flush=True)


def measure_set(tmp, name):
    """Print the tables of a collection."""
    dump, sites = files(name)[0], Sites(name)
    for what, options in (('each page alone', []), ('with learned boilerplate', ['--learn-boilerplate'])):
        rows = pipe([['fp', '-q', *options, dump]], tmp + '/fp')
        print(f'-- {name}, {what}: fp {" ".join(options)} | match')
        print(scored('--pairs', pipe([['match', '-q', '--all-pairs', rows]], tmp + '/pairs'), name))
        print(scored('--verdicts', pipe([['match', '-q', rows], ['cluster', '-q']], tmp + '/verdicts'), name), flush=True)
        least = [f'--similarity={THRESHOLDS[0]}', f'--similarity-same-host={THRESHOLDS[0]}']
        f1 = by_threshold(sites, pipe([['match', '-q', '--all-pairs', *least, rows]], tmp + '/pairs'))
        print('F1 by one threshold for all hosts: ' + ', '.join(
            f'{t:.2f} {sum(v[i] for v in f1.values()) / len(f1):.4f}' for i, t in enumerate(THRESHOLDS)))
        leave_one_out(f1)
    out = f'{tmp}/{name}'
    run([PROGRAM, 'dedup', '-q', dump, '-o', out])
    verdicts = next(os.path.join(out, f) for f in os.listdir(out) if re.search('verdicts', f))
    print(f'-- {name}, dedup')
    print(scored('--verdicts', verdicts, name), flush=True)


def bench_texts(tmp):
    """six real sites: words of the main text, and the gain of each rule of main text and decision"""
    measure_texts(tmp)
    measure_rules(tmp)
