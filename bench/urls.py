# SPDX-License-Identifier: MIT
"""URLs seen or new: the errors of each mode on real links, and the speed."""
import gzip, os, statistics

from common import CORPORA, PROGRAM, RUNS, output, run

MODES = [('exact, standard form', ['--form=standard']), ('exact, canonical form', []), ('exact, loose form', ['--form=loose']),
         ('features', ['--mode=features']), ('features, MD5', ['--mode=features', '--hash=md5']),
         ('features, --formula=features', ['--mode=features', '--formula=features']), ('site-features', ['--mode=site-features'])]
REPEAT = 30


def statuses(path, options):
    """Return for each line whether it was new, seen or bad."""
    return [line[:line.index('\t')] for line in output([PROGRAM, 'url', '-q', '--count=86818', *options, path]).splitlines()
            if not line.startswith('#')]


def bench_urls(tmp):
    """links that a mode calls seen although their canonical form is new; URLs per second on one core"""
    path, long, distinct = tmp + '/hrefs', tmp + '/long', tmp + '/distinct'
    text = gzip.open(os.path.join(CORPORA, 'urls', 'hrefs-dev.txt.gz'), 'rb').read()
    open(path, 'wb').write(text)
    truth = statuses(path, [])
    for name, options in MODES:
        got = statuses(path, options)
        wrong = sum(a == 'seen' and b == 'new' for a, b in zip(got, truth))
        missed = sum(a == 'new' and b == 'seen' for a, b in zip(got, truth))
        print(f'{name:30} new {got.count("new"):6} seen {got.count("seen"):6} bad {got.count("bad")}, '
              f'wrongly seen {wrong} ({100 * wrong / truth.count("new"):.1f} %), seen and not found {missed}')
    lines = text.splitlines()
    open(long, 'wb').write(text * REPEAT)
    with open(distinct, 'wb') as f:
        for i in range(REPEAT):
            f.writelines(line + b'%d\n' % i for line in lines)
    for name, file, options in [('exact, each %d times' % REPEAT, long, ['--print=new']), ('exact', distinct, ['--print=new']), ('exact, rows', distinct, []),
                                ('exact, loose form', distinct, ['--form=loose', '--print=new'])] + \
                               [(name, distinct, [*options, '--print=new']) for name, options in MODES[3:]]:
        seconds = statistics.median(run([PROGRAM, 'url', '-q', *options, file])[0] for _ in range(RUNS))
        print(f'{name:30} {REPEAT * len(lines) / seconds / 1e6:.2f} million URLs a second')
