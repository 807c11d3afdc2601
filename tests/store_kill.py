#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills `pagededup store add` and `store compact` at random moments, on one store that grows on, and looks each time:
nothing is damaged, and every page that was reported as kept is kept.  At the end every row is added once more, undisturbed:
what is kept then is what a store that was never disturbed keeps.

usage: store_kill.py PAGEDEDUP FOLDER KILLS [SEED]        Prints "KILLS killed, PAGES reported, all kept"
"""
import os, random, subprocess, sys, time

PROGRAM, FOLDER, KILLS = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
STORE = os.path.join(FOLDER, 'store')
ROWS = 5000


def store(action, *more, at=STORE, stdout=subprocess.DEVNULL):
    return subprocess.Popen([PROGRAM, 'store', action, at, '-q', *more], stdout=stdout, stderr=subprocess.PIPE)


def finish(process, what):
    _, err = process.communicate()
    if process.returncode:
        sys.exit(f'{what}: exit {process.returncode}: {err.decode()}')


def write_rows(path, start):
    """Keys of 64 bits, a third of them near an earlier one."""
    keys = []
    with open(path, 'w') as f:
        f.write('#fingerprint\tid\turl\n')
        for i in range(start, start + ROWS):
            if keys and random.random() < .33:
                key = random.choice(keys) ^ 1 << random.randrange(64) ^ 1 << random.randrange(64)
            else:
                key = random.getrandbits(64)
            keys.append(key)
            f.write(f'{key:016x}\tnight.warc:{i}\thttp://host.example/{i}\n')


def kill_after(process, most):
    time.sleep(random.random() * most)
    process.kill()
    process.communicate()
    return process.returncode == -9


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


def add(rows, at=STORE, most=None):
    out = os.path.join(FOLDER, 'answers')
    with open(out, 'w') as f:
        process = store('add', rows, at=at, stdout=f)
        if most is None:
            finish(process, 'add')
            killed = False
        else:
            killed = kill_after(process, most)
    return killed, {row[1] for row in lines(out) if row[11] == 'new'}


def main():
    finish(store('init', '-k', '3'), 'init')
    calm = os.path.join(FOLDER, 'calm')
    finish(store('init', '-k', '3', at=calm), 'init')
    reported, killed, batches, took = set(), 0, [], .2
    while killed < KILLS:
        rows = os.path.join(FOLDER, f'rows-{len(batches)}')
        write_rows(rows, len(batches) * ROWS)
        batches.append(rows)
        start = time.monotonic()
        add(rows, at=calm)
        took = time.monotonic() - start
        for _ in range(6):
            was_killed, new = add(rows, most=took * 1.2)
            killed += was_killed
            reported |= new
            if random.random() < .3:
                killed += kill_after(store('compact'), took)
            finish(store('verify'), f'verify after {killed} kills')
            missing = reported - exported()
            if missing:
                sys.exit(f'after {killed} kills: {len(missing)} pages that were reported as kept are not, as {min(missing)}')
        reported |= add(rows)[1]
    for rows in batches:
        add(rows)
    if exported() != exported(at=calm):
        sys.exit('what is kept is not what an undisturbed store keeps')
    print(f'{killed} killed, {len(reported)} reported, all kept')


main()
