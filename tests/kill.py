#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kill commands that write files at random moments (SIGKILL), and check the files each time.  A file under its final name
is the output of an undisturbed run, or the earlier file; no temporary file of the run remains; and an undisturbed run
afterwards gives the same files.  `dedup` is resumed (--resume) after each kill until it ends.  `tests/store_kill.py`
does the same for `store`.

usage: kill.py PAGEDEDUP FOLDER KILLS DUMP [JOB]...
Prints "JOB: KILLS killed, RUNS runs, all whole" for each job"""
import os, random, shutil, subprocess, sys, time

PROGRAM, FOLDER, KILLS, DUMP = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), os.path.abspath(sys.argv[4])
random.seed(KILLS)
GIVEN = os.path.join(FOLDER, 'given')


def plain(*command):
    with open(os.path.join(FOLDER, 'said'), 'wb') as f:
        if subprocess.run([PROGRAM, *command], cwd=GIVEN, stdout=f, stderr=subprocess.STDOUT).returncode:
            sys.exit(' '.join(command) + ': ' + open(f.name).read())


def split(lines):
    """The lines of one dump each that `map --job=apply --step=rewrite` is given, from rows of verdicts and names of dumps."""
    for side in 'map', 'reduce':
        lines = subprocess.run([PROGRAM, side, '--job=apply', '--step=split'], cwd=GIVEN, input=lines, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=True, text=True).stdout
        lines = ''.join(sorted(lines.splitlines(True)))
    with open(os.path.join(GIVEN, 'dumps'), 'w') as f:
        f.write(lines)


def make_inputs(jobs):
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(GIVEN)
    for name in 'one', 'two':
        shutil.copy(DUMP, os.path.join(GIVEN, name + '.warc.gz'))
    plain('fp', '-q', '-o', 'rows', 'one.warc.gz', 'two.warc.gz')
    plain('match', '-q', '-o', 'pairs', 'rows')
    plain('cluster', '-q', '-o', 'verdicts', 'pairs')
    plain('apply', '-q', '-V', 'verdicts', '--rewrite-revisits', '-o', 'revisits.warc.gz', 'one.warc.gz')
    plain('boilerplate', '-q', '-o', 'one.bp', 'one.warc.gz')
    with open(os.path.join(GIVEN, 'words'), 'w') as f:
        f.writelines(f'{chr(0x4e00 + i % 3000)}{chr(0x4e00 + i // 3000)} {i % 97 + 1} n\n' for i in range(60000))
    with open(os.path.join(GIVEN, 'rows')) as f:
        ids = [line.split('\t')[1] for line in f if line[0] != '#']
    with open(os.path.join(GIVEN, 'truth'), 'w') as f:
        f.write('id\tcontent\n')
        f.writelines(f'{page}\t{i // 2}\n' for i, page in enumerate(ids))
    with open(os.path.join(GIVEN, 'verdicts')) as f:
        split(f.read() + 'one.warc.gz\ntwo.warc.gz\n')
    with open(os.path.join(GIVEN, 'urls'), 'w') as f:
        f.writelines(f'http://host{random.randrange(2000)}.example/{random.randrange(300)}?a={i % 7}\n' for i in range(200000))
    if not jobs or 'match-spills' in jobs:
        keys = []
        with open(os.path.join(GIVEN, 'big'), 'w') as f:
            f.write('# pagededup fp 1 version=3 bits=64 | sketch=none\n#fingerprint\tid\turl\n')
            for i in range(600000):
                what = random.random() if i else 1
                keys.append(random.choice(keys) ^ (what < .1) << random.randrange(64) if what < .2 else random.getrandbits(64))
                f.write(f'{keys[-1]:016x}\tx:{i}\thttp://h{i % 500}/{i}\n')


def tree(folder):
    """Return the files under their final names."""
    found = {}
    for at, folders, names in os.walk(folder):
        if '.dedup' in folders:
            folders.remove('.dedup')        # the journal, until the run is through
        for name in names:
            if '.part' not in name:
                with open(os.path.join(at, name), 'rb') as f:
                    found[os.path.relpath(os.path.join(at, name), folder)] = f.read()
    return found


class Job:
    """over: an earlier file may have the name of the output."""
    def __init__(self, *command, resume=False, stdin=os.devnull, over=True):
        self.command, self.resume, self.stdin, self.over = command, resume, stdin, over

    def start(self, out, tmp, resume):
        env = {**os.environ, 'TMPDIR': tmp}
        more = ['--resume'] if resume else []
        command = [c.replace('OUT', out) for c in self.command]
        with open(os.path.join(GIVEN, self.stdin)) as given:
            return subprocess.Popen([PROGRAM, *command, *more], cwd=GIVEN, env=env, stdin=given,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


JOBS = {
    'fp': Job('fp', '-q', 'one.warc.gz', 'two.warc.gz', '-o', 'OUT/new'),
    'fp-learn': Job('fp', '-q', '-j1', '--learn-boilerplate', '--save-boilerplate=OUT/boilerplate', '--left-out=OUT/left', 'one.warc.gz', '-o', 'OUT/new'),
    'match-spills': Job('match', '-q', '-j1', '-k', '3', '--scope=other-hosts', '--memory=34M', 'big', '-o', 'OUT/new'),
    'match': Job('match', '-q', '--all-pairs', 'rows', '-o', 'OUT/new'),
    'match-save': Job('match', '-q', '--save=OUT/new', 'rows'),
    'cluster': Job('cluster', '-q', 'pairs', '-o', 'OUT/new'),
    'apply': Job('apply', '-q', '-V', 'verdicts', 'one.warc.gz', 'two.warc.gz', '--cdxj=OUT/index', '-o', 'OUT/d/'),
    'url-seen': Job('url', '-q', '--seen=OUT/seen', 'urls', '-o', 'OUT/new'),
    'url-learn': Job('url', '-q', '--learn-params', '--least=1', 'rows', '-o', 'OUT/new'),
    'text': Job('text', '-q', 'one.warc.gz', '-o', 'OUT/new'),
    'fp-methods': Job('fp', '-q', '--method=exact,segments,abstract,keywords', '--shingles=OUT/shingles', 'one.warc.gz', '-o', 'OUT/new'),
    'boilerplate': Job('boilerplate', '-q', 'one.warc.gz', 'two.warc.gz', '-o', 'OUT/new'),
    'boilerplate-update': Job('boilerplate', '-q', '--update=one.bp', 'two.warc.gz', '-o', 'OUT/new'),
    'link': Job('link', '-q', 'one.warc.gz', '-o', 'OUT/new'),
    'rank': Job('rank', '-q', 'one.warc.gz', '-o', 'OUT/new'),
    'sites': Job('sites', '-q', '--by=pages', 'one.warc.gz', 'two.warc.gz', '-o', 'OUT/new'),
    'dict': Job('dict', '-q', '-o', 'OUT/new', 'words'),
    'dict-idf': Job('dict', '-q', '-o', 'OUT/new', '--idf-from=one.warc.gz'),
    'eval': Job('eval', '-q', '--pairs=pairs', 'truth', '-o', 'OUT/new'),
    'sample': Job('sample', '-q', 'pairs', '-o', 'OUT/new'),
    'apply-restore': Job('apply', '-q', '--restore', '--originals=.', 'revisits.warc.gz', '-o', 'OUT/new', over=False),
    'map-rewrite': Job('map', '--job=apply', '--step=rewrite', '-o', 'OUT/d', stdin='dumps'),
    'report': Job('report', '-q', '-V', 'verdicts', '-P', 'pairs', 'one.warc.gz', 'two.warc.gz', '-o', 'OUT/new'),
    'dedup': Job('dedup', '-q', 'one.warc.gz', 'two.warc.gz', '--keep-rows', '-o', 'OUT/d', resume=True),
}


def check_temporary(name, tmp):
    if os.listdir(tmp):
        sys.exit(f'{name}: left among the temporary files: {os.listdir(tmp)}')


def kill_job(name, job):
    out, tmp = os.path.join(FOLDER, name), os.path.join(FOLDER, 'tmp')
    shutil.rmtree(tmp, ignore_errors=True)
    os.makedirs(tmp)
    os.makedirs(out)
    began = time.monotonic()
    _, err = job.start(out, tmp, False).communicate()
    took = time.monotonic() - began
    want = tree(out)
    if not want or any(not line.startswith(b'reporter:counter:') for line in err.splitlines()):
        sys.exit(f'{name}: undisturbed: {err.decode()}')
    killed = runs = 0
    old = {'new': b'old\n'} if 'new' in want and job.over else {}

    def empty():
        shutil.rmtree(out)
        os.makedirs(out)
        for file, data in old.items():
            with open(os.path.join(out, file), 'wb') as f:
                f.write(data)

    empty()
    began_anew = True
    while killed < KILLS:
        process = job.start(out, tmp, job.resume and not began_anew)
        # Sometimes let a resumed run end, so that most kills hit a run that was killed once or twice.
        if not job.resume or began_anew or random.random() < .6:
            time.sleep(random.random() * took * 1.1)
            process.kill()
        _, err = process.communicate()
        runs += 1
        if process.returncode not in (0, -9):
            sys.exit(f'{name}: exit {process.returncode}: {err.decode()}')
        killed += process.returncode == -9
        got = tree(out)
        bad = [f for f in got if got[f] != want.get(f) and got[f] != old.get(f)]
        if bad or (process.returncode == 0 and got != want):
            sys.exit(f'{name}: after {killed} kills, exit {process.returncode}: neither old nor whole: {bad}; {sorted(got)}')
        check_temporary(name, tmp)
        began_anew = process.returncode == 0 or (not job.resume and got == want)
        # URLs that were seen are known to the next run as well.
        if began_anew:
            empty()
    process = job.start(out, tmp, job.resume and not began_anew)
    _, err = process.communicate()
    if process.returncode or tree(out) != want:
        sys.exit(f'{name}: let through after {killed} kills: exit {process.returncode}, other files: {err.decode()}')
    shutil.rmtree(out)
    print(f'{name}: {killed} killed, {runs} runs, all whole', flush=True)


chosen = sys.argv[5:]
make_inputs(chosen)
for name in chosen or JOBS:
    kill_job(name, JOBS[name])
