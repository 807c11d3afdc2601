#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kill `pagededup store add`, `compact` and `remove` at random moments, and check the store each time: the store is undamaged,
it contains every page that was reported as kept (or its replacement), and it does not contain pages that were reported as
removed. Each round adds some batches to a new store, repeats each batch until it succeeds, and ends with adding every row once
more: then the stored pages are the same as in an undisturbed store.  Half of the kills happen at any moment of a run, the
others soon after a file appeared in the folder, so that segments, lists and manifests are hit while they are written. The
numbers are printed.

usage: store_kill.py PAGEDEDUP FOLDER KILLS [SEED]
Prints "KILLS killed (…), PAGES reported, all kept"
"""
import collections, os, random, subprocess, sys, time

PROGRAM, FOLDER, KILLS = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
STORE, CALM = os.path.join(FOLDER, 'store'), os.path.join(FOLDER, 'calm')
SIZES = [3000, 5000, 20000, 3000, 5000, 50000] if KILLS > 100 else [3000, 5000]   # rows of a batch
BATCHES, TRIES = 6, 7


def store(action, *more, at=STORE, stdout=subprocess.DEVNULL):
    return subprocess.Popen([PROGRAM, 'store', action, at, '-q', *more], stdout=stdout, stderr=subprocess.PIPE)


def finish(process, what, *codes):
    _, err = process.communicate()
    if process.returncode not in (0, *codes):
        sys.exit(f'{what}: exit {process.returncode}: {err.decode()}')


def near(key, bits):
    for _ in range(bits):
        key ^= 1 << random.randrange(64)
    return key


class Batch:
    """Rows with keys of 64 bits.  skip: a third of them near an earlier one.  replace: clusters, all pages of one within the
    distance of each other, so that exactly one page of each is kept.  Some pages of either are to be removed again."""

    def __init__(self, name, replace):
        self.name, self.replace, self.took = name, replace, .2
        self.path, self.ids = os.path.join(FOLDER, 'rows-' + name), os.path.join(FOLDER, 'ids-' + name)
        self.cluster, self.removed = {}, []
        n, keys = random.choice(SIZES), []
        with open(self.path, 'w') as f:
            f.write('#fingerprint\tid\turl\n')
            for i in range(n):
                page = f'{name}.warc:{i}'
                if replace and keys and random.random() < .5:
                    c = random.randrange(len(keys))
                    key = near(keys[c], 1)
                elif not replace and keys and random.random() < .33:
                    c, key = i, near(random.choice(keys), 2)
                else:
                    c, key = len(keys), random.getrandbits(64)
                    keys.append(key)
                self.cluster[page] = c
                f.write(f'{key:016x}\t{page}\thttp://host.example/{i}\n')
            for i in range(50):
                page = f'{name}.warc:gone-{i}'
                self.removed.append(page)
                f.write(f'{random.getrandbits(64):016x}\t{page}\thttp://gone.example/{i}\n')
        with open(self.ids, 'w') as f:
            f.write(''.join(page + '\n' for page in self.removed))

    def options(self):
        return ['--on-duplicate=replace'] if self.replace else []


def lines(path):
    """Whole lines: the last may be cut."""
    for line in open(path, 'rb').read().split(b'\n')[:-1]:
        if not line.startswith(b'#'):
            yield line.decode().split('\t')


def exported(at=STORE):
    path = os.path.join(FOLDER, 'export')
    with open(path, 'w') as f:
        finish(store('export', at=at, stdout=f), 'export')
    return {row[1] for row in lines(path)}


def files():
    return set(os.listdir(STORE))


class Killer:
    def __init__(self):
        self.killed, self.left = collections.Counter(), collections.Counter()

    def total(self):
        return sum(self.killed.values())

    def kill(self, process, what, took):
        before = files()
        if random.random() < .5:
            time.sleep(random.random() * took * 1.2)
        else:
            wait = random.choice([0, 0, .001, .004, .02, .1])
            while process.poll() is None and files() <= before:
                pass
            time.sleep(random.random() * wait)
        process.kill()
        process.communicate()
        if process.returncode == -9:
            self.killed[what] += 1
            self.look()

    def look(self):
        """Files that the manifest does not name: a change was in progress."""
        named = {'manifest', 'lock'}
        for line in open(os.path.join(STORE, 'manifest')):
            word, _, value = line.partition(' ')
            if word in ('log', 'gone', 'segment'):
                named.add(('seg' if word == 'segment' else word) + '-' + value.split()[0])
        for kind in {name.split('-')[0] for name in files() - named}:
            self.left[kind] += 1

    def __str__(self):
        return ', '.join(f'{n} {what}' for what, n in sorted(self.killed.items())) + '; left unfinished: ' + \
            (', '.join(f'{n} {what}' for what, n in sorted(self.left.items())) or 'nothing')


def add(batch, at=STORE, killer=None):
    """The pages that were reported as new."""
    out = os.path.join(FOLDER, 'answers')
    with open(out, 'w') as f:
        process = store('add', *batch.options(), batch.path, at=at, stdout=f)
        if killer:
            killer.kill(process, 'add', batch.took)
        else:
            finish(process, 'add')
    return {row[1] for row in lines(out) if row[11] == 'new'}


class Expected:
    """The reported pages, and the conditions that the store must therefore meet."""

    def __init__(self, killer):
        self.killer, self.pages, self.clusters, self.removed = killer, set(), set(), set()

    def reported(self, batch, new):
        for page in new:
            if batch.replace and page in batch.cluster:
                self.clusters.add((batch.name, batch.cluster[page]))
            else:
                self.pages.add(page)

    def remove(self, batch, done):
        self.pages.difference_update(batch.removed)
        if done:
            self.removed.update(batch.removed)

    def added_again(self, batch):
        self.removed.difference_update(batch.removed)

    def look(self, batches):
        when = f'after {self.killer.total()} kills'
        finish(store('verify'), 'verify ' + when)
        kept = exported()
        missing, back = self.pages - kept, self.removed & kept
        if missing:
            sys.exit(f'{when}: {len(missing)} pages that were reported as kept are not, as {min(missing)}')
        if back:
            sys.exit(f'{when}: {len(back)} pages that were removed are kept, as {min(back)}')
        held = collections.Counter((b.name, b.cluster[p]) for b in batches if b.replace for p in kept & b.cluster.keys())
        for cluster in self.clusters:
            if held[cluster] != 1:
                sys.exit(f'{when}: of cluster {cluster} {held[cluster]} pages are kept')


def compact_killed(killer):
    start = time.monotonic()
    finish(store('compact', at=CALM), 'compact')
    killer.kill(store('compact'), 'compact', time.monotonic() - start)


def remove(batch, at=STORE):
    with open(batch.ids) as ids:
        return subprocess.Popen([PROGRAM, 'store', 'remove', at, '-q'], stdin=ids, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def one_batch(batch, batches, killer, expected):
    start = time.monotonic()
    add(batch, at=CALM)
    batch.took = time.monotonic() - start
    expected.added_again(batch)
    for _ in range(TRIES):
        expected.reported(batch, add(batch, killer=killer))
        if random.random() < .3:
            compact_killed(killer)
        expected.look(batches)
    expected.reported(batch, add(batch))
    expected.remove(batch, False)
    killer.kill(remove(batch), 'remove', .05)
    expected.look(batches)
    finish(remove(batch), 'remove', 1)
    finish(remove(batch, CALM), 'remove', 1)
    expected.remove(batch, True)


def clear(folder):
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))


def one_round(number, killer):
    expected, batches = Expected(killer), []
    for folder in (STORE, CALM):
        clear(folder)
        finish(store('init', '--no-key', '-k', '3', at=folder), 'init')
    while len(batches) < BATCHES and killer.total() < KILLS:
        batches.append(Batch(f'{number}-{len(batches)}', len(batches) % 3 == 2))
        one_batch(batches[-1], batches, killer, expected)
    for batch in batches:
        add(batch)
        add(batch, at=CALM)
    if exported() != exported(at=CALM):
        sys.exit('the kept pages differ from an undisturbed store')
    for batch in batches:
        os.unlink(batch.path)
        os.unlink(batch.ids)
    return len(expected.pages) + len(expected.clusters)


def main():
    killer, reported, rounds = Killer(), 0, 0
    while killer.total() < KILLS:
        reported += one_round(rounds, killer)
        rounds += 1
        print(f'# {killer}', file=sys.stderr, flush=True)
    print(f'{killer.total()} killed ({killer}), {reported} reported, all kept')


main()
