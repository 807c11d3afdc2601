# SPDX-License-Identifier: MIT
"""Simulated users of `tune`, on collections with truth: does the promised bound hold, and how many labels does it need?"""
import collections, gzip, json, os, random, re, subprocess
from urllib.parse import urlsplit

from common import CORPORA, PROGRAM, run
from pairs import table
from sites import Sites, files


def grams(text):
    words = re.findall(r'[\u4e00-\u9fff]|\w+', text.lower())
    return {tuple(words[i:i + 5]) for i in range(len(words) - 4)}


def truth_of_sites(name):
    """Return whether removing one page for the other loses over a fifth of its correct text."""
    at = Sites(name).at
    loss = {}
    for line in gzip.open(files(name)[2], 'rt', encoding='utf-8'):
        row = line.rstrip('\n').split('\t')
        if row[0].isdigit():
            a, b = int(row[0]), int(row[1])
            loss[a, b], loss[b, a] = 1 - float(row[3]), 1 - float(row[4])
    return files(name)[0], lambda page, keep: loss.get((at[page], at[keep]), 1) > .2


def truth_of_transplants():
    base = os.path.join(CORPORA, 'neardup', 'transplant-dev')
    texts = {}
    for line in gzip.open(base + '.texts.jsonl.gz', 'rt', encoding='utf-8'):
        row = json.loads(line)
        texts[row['url']] = grams(row['text'])
    return base + '.warc.gz', lambda page, keep: len(texts[page] - texts[keep]) > .2 * len(texts[page])


def tune(folder, max_wrong, *options):
    process = subprocess.run([PROGRAM, 'tune', '--run=' + folder, '--max-wrong=' + max_wrong, *options], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False)
    more = re.search(r'if none is wrong, (\d+) (?:more )?label', process.stderr)
    return process, int(more[1]) if more else 0


class User:
    """A simulated user: labels as many removals as `tune` says are enough, and goes on if some of them are wrong."""
    def __init__(self, folder, wrong, max_wrong, budget, seed, errors):
        self.folder, self.wrong, self.max_wrong, self.errors = folder, wrong, max_wrong, errors
        self.options = [f'--seed={seed}', f'--number={budget}']
        self.random = random.Random(seed)
        self.files = [f'{folder}.{person}' for person in (['ann', 'bob', 'judge'] if errors else ['ann'])]
        self.labels, self.removed, self.holds = 0, 0, True
        self.given = ['--labels=' + path for path in self.files[:2]] + ['--override=' + path for path in self.files[2:]]
        for path in self.files:
            with open(path, 'w', encoding='utf-8') as f:
                f.write('# pagededup labels 1 |\n#label\tid_a\tid_b\turl_a\turl_b\n')
        while self.labels < budget and self.label(budget):
            self.accept()

    def label(self, budget):
        more = [*self.given, '--more'] if self.labels else []
        process, needed = tune(self.folder, self.max_wrong, '--list', *self.options, *more)
        rows = [line.split('\t') for line in process.stdout.splitlines() if not line.startswith('#')]
        if not needed or self.labels + needed > budget and self.removed:
            return False
        rows = rows[:min(needed, budget - self.labels)]
        for row in rows:
            truth = self.wrong[row[1]]
            answers = [truth != (self.random.random() < self.errors) for _ in self.files[:2]]
            answers += [truth] if len(set(answers)) > 1 else []
            for path, answer in zip(self.files, answers):
                with open(path, 'a', encoding='utf-8') as f:
                    print('\t'.join(['different' if answer else 'duplicate'] + row[1:]), file=f)
        self.labels += len(rows)
        return bool(rows)

    def accept(self):
        """Keep the settings that remove most of all that were ever accepted."""
        tuned = self.folder + '.tuned'
        process, _ = tune(self.folder, self.max_wrong, *self.options, *self.given, '--write-verdicts=' + tuned)
        if process.returncode == 0:
            removed = [row['id'] for row in table(tuned, []) if row['is_duplicate'] == '1']
            self.removed = max(self.removed, len(removed))
            self.holds &= sum(self.wrong[page] for page in removed) <= float(self.max_wrong[:-1]) / 100 * len(removed)


# Limit, labels at most, share of errors of each of two people, options of dedup.
CASES = [('1%', 150, 0, []), ('1%', 400, 0, []), ('3%', 150, 0, []), ('3%', 150, .05, []), ('3%', 150, 0, ['--max-loss=25%'])]


def collections_with_truth():
    return (('sites', truth_of_sites('sites')), ('sites2', truth_of_sites('sites2')), ('transplant', truth_of_transplants()))


def removals(folder, dump, is_wrong, options):
    """Run dedup once; return the rows of removed pages, and whether each of these pages is wrongly removed."""
    if not os.path.isdir(folder):
        run([PROGRAM, 'dedup', '-q', '--dry-run', *options, '-o', folder, dump])
    rows = list(table(os.path.join(folder, 'verdicts.tsv'), []))
    url = {row['id']: row['url'] for row in rows}
    removed = [row for row in rows if row['is_duplicate'] == '1']
    return removed, {row['id']: is_wrong(row['url'], url[row['dup_of']]) for row in removed}


KINDS = {
    'API references': ['numpy.org', 'docs.scipy.org', 'www.boost.org', 'boost.docs-mirror.example', 'kafka.apache.org'],
    'manuals': ['www.debian.org', 'd-i.debian.org', 'debian-handbook.info', 'docs.python.org', 'python.docs-mirror.example',
                'www.postgresql.org', 'docs.gimp.org', 'www.sqlite.org'],
    'states of an application': ['petclinic.example'],
    'forum threads': ['2049bbs.github.io'],
}


def bench_wrong(tmp):
    """wrong removals of the default settings by kind of page, as tune prints them before there are labels"""
    kind_of = {host: kind for kind, hosts in KINDS.items() for host in hosts}
    count = collections.defaultdict(lambda: [0, 0])
    for name, (dump, is_wrong) in collections_with_truth():
        removed, wrong = removals(os.path.join(tmp, name), dump, is_wrong, [])
        for row in removed:
            for kind in 'all', 'articles inside other templates' if name == 'transplant' else kind_of[urlsplit(row['url']).netloc]:
                count[kind][0] += 1
                count[kind][1] += wrong[row['id']]
    for kind, (n, bad) in sorted(count.items()):
        print(f'{kind:32} {n:5} removals, {bad} wrong ({bad / n:.2%})')


def bench_tune(tmp):
    """simulated users of tune: how often the promise holds, how many labels it needs, and how much is removed"""
    users = int(os.environ.get('TUNE_USERS', '50'))
    print(f'{users} users for each line')
    print('collection   run          removals differ  wrong  limit  labels at most  people err  promise holds  labels, mean  '
          'nothing accepted  removed, mean  all removed')
    for name, (dump, is_wrong) in collections_with_truth():
        for max_wrong, budget, errors, options in CASES:
            folder = os.path.join(tmp, name + ''.join(options))
            removed, wrong = removals(folder, dump, is_wrong, options)
            # As in tune: these need no label.
            differ = sum(not (float(row['loss']) <= 0 and (row['distance'] == '-' or row['similarity'] == '1.000')) for row in removed)
            done = [User(folder, wrong, max_wrong, budget, seed, errors) for seed in range(users)]
            def mean(value):
                return sum(value(user) for user in done) / users
            print(f'{name:12} {" ".join(options) or "default":14} {len(removed):6} {differ / len(removed):6.0%} '
                  f'{sum(wrong.values()) / len(removed):6.2%} {max_wrong:>6} {budget:15} {errors:11.0%} {mean(lambda u: u.holds):14.1%} '
                  f'{mean(lambda u: u.labels):13.0f} {mean(lambda u: not u.removed):17.1%} '
                  f'{mean(lambda u: u.removed / len(removed)):14.1%} {mean(lambda u: u.removed == len(removed)):12.1%}', flush=True)
