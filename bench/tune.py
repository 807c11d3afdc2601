# SPDX-License-Identifier: MIT
"""Simulated users of `tune`, on collections with truth: does the promised bound hold, and how many labels does it need?"""
import gzip, json, os, re, subprocess

from common import CORPORA, PROGRAM, output, run
from pairs import table
from sites import Sites, files

USERS, LOOK, PATIENCE = 100, 25, 400
MAX_WRONG = ['1%', '3%']


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


def settings(folder, labels, max_wrong):
    """Return whether the limit of the run is accepted, and the removals that the best settings permit; None: there are none."""
    tuned = labels + '.verdicts'
    process = subprocess.run([PROGRAM, 'tune', '-q', '--run=' + folder, '--max-wrong=' + max_wrong, '--labels=' + labels,
                              '--write-verdicts=' + tuned], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    whole = bool(re.search(r'^# as in the run .* accepted$', process.stdout, re.M))
    return whole, table(tuned, []) if process.returncode == 0 else None


def bench_tune(tmp):
    """simulated users of tune: how often the promise holds, and how many labels it needs"""
    print('collection   limit  removals  wrong   users for whom the promise holds   labels: mean, no setting accepted after %d; mean share removed' % PATIENCE)
    for name, (dump, is_wrong) in (('sites', truth_of_sites('sites')), ('sites2', truth_of_sites('sites2')),
                                   ('transplant', truth_of_transplants())):
        folder, labels = os.path.join(tmp, name), os.path.join(tmp, name + '.labels')
        run([PROGRAM, 'dedup', '-q', '--dry-run', '-o', folder, dump])
        removed = [row for row in table(os.path.join(folder, 'verdicts.tsv'), []) if row['is_duplicate'] == '1']
        url = {row['id']: row['url'] for row in table(os.path.join(folder, 'verdicts.tsv'), [])}
        wrong = {row['id']: is_wrong(row['url'], url[row['dup_of']]) for row in removed}
        for max_wrong in MAX_WRONG:
            limit, holds, needed, gave_up, share = float(max_wrong[:-1]) / 100, 0, 0, 0, 0
            for user in range(USERS):
                drawn = [line.split('\t') for line in output([PROGRAM, 'tune', '-q', '--run=' + folder, '--list', f'--seed={user}',
                                                              '-n', str(PATIENCE)]).splitlines()]
                head, rows = drawn[:2], drawn[2:]
                whole, tuned, n = False, None, 0
                while not whole and n < len(rows):
                    n = min(n + LOOK, len(rows))
                    with open(labels, 'w', encoding='utf-8') as f:
                        for row in head:
                            print('\t'.join(row), file=f)
                        for row in rows[:n]:
                            print('\t'.join(['different' if wrong[row[1]] else 'duplicate'] + row[1:]), file=f)
                    whole, tuned = settings(folder, labels, max_wrong)
                needed += n
                gave_up += tuned is None
                within = [row['id'] for row in tuned or [] if row['is_duplicate'] == '1']
                share += len(within) / len(removed) / USERS
                holds += sum(wrong[page] for page in within) <= limit * len(within)
            print(f'{name:12} {max_wrong:>5} {len(removed):9} {sum(wrong.values()) / len(removed):6.2%} {holds:10} of {USERS} '
                  f'{needed / USERS:24.0f}, {gave_up} {share:12.1%}')
