#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kill `pagededup store add` and `compact` on a store of keys at random moments: the store is undamaged, every key that was
reported as new is remembered, and the final answers are the same as from an undisturbed store.

usage: store_keys_kill.py PAGEDEDUP FOLDER KILLS lmdb|bloom
Prints "KILLS killed, KEYS reported, all seen"
"""
import os, random, shutil, subprocess, sys, time

PROGRAM, FOLDER, KILLS, KIND = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
random.seed(7)
STORE, HEADER = os.path.join(FOLDER, 'keys'), '# pagededup fp 1 bits=64 | sketch=none methods=exact:of=text:hash=md5\n#fingerprint\tid\texact\n'


def store(action, *more, at=STORE, stdout=subprocess.DEVNULL):
    return subprocess.Popen([PROGRAM, 'store', action, at, '-q', *more], stdout=stdout, stderr=subprocess.PIPE)


def finish(process, what, *codes):
    out, err = process.communicate()
    if process.returncode not in (0, *codes):
        sys.exit(f'{what}: exit {process.returncode}: {err.decode()}')
    return out.decode() if out else ''


def make_batch(name, n):
    path = os.path.join(FOLDER, name)
    with open(path, 'w') as f:
        f.write(HEADER)
        for i in range(n):
            f.write(f'-\t{name}:{i}\t{random.randrange(1 << 20):032x}\n')
    return path


def init(at):
    options = ['--keys=' + KIND] + (['--count=200000', '--error=.0001'] if KIND == 'bloom' else [])
    finish(store('init', '--no-key', *options, at=at), 'init')


def whole_lines(path):
    return [line.decode().split('\t') for line in open(path, 'rb').read().split(b'\n')[:-1] if not line.startswith(b'#')]


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
init(STORE)
killed, batch, reported, keys_of, took = 0, 0, set(), {}, .05
while killed < KILLS:
    batch += 1
    path = make_batch(f'b{batch}', random.choice([500, 3000, 9000]))
    keys_of.update({row[1]: row[2] for row in whole_lines(path)})
    through = False
    while not through:
        answers = os.path.join(FOLDER, 'answers')
        started = time.monotonic()
        with open(answers, 'wb') as f:
            process = store('compact') if random.random() < .2 else store('add', path, stdout=f)
            compacts = process.args[2] == 'compact'
            if killed < KILLS and random.random() < .8:
                time.sleep(random.random() * took)
                process.kill()
        _, err = process.communicate()
        if process.returncode == 0:
            took = max(.02, time.monotonic() - started)
            through = not compacts
        elif process.returncode == -9:
            killed += 1
        else:
            sys.exit(f'exit {process.returncode}: {err.decode()}')
        reported |= {keys_of[row[1]] for row in whole_lines(answers) if len(row) > 11 and row[11] == 'new'}
        finish(store('verify'), 'verify')
questions = os.path.join(FOLDER, 'questions')
with open(questions, 'w') as f:
    f.write(HEADER + ''.join(f'-\tq:{i}\t{key}\n' for i, key in enumerate(sorted(reported))))
answers = os.path.join(FOLDER, 'answers')
with open(answers, 'wb') as f:
    finish(store('check', questions, stdout=f), 'check')
lost = sum(row[11] != 'duplicate' for row in whole_lines(answers))
if lost:
    sys.exit(f'{lost} keys lost')
# Undisturbed, the same batches.
calm = os.path.join(FOLDER, 'calm')
init(calm)
for i in range(1, batch + 1):
    finish(store('add', os.path.join(FOLDER, f'b{i}'), at=calm), 'add')
fresh = make_batch('fresh', 3000)
said = []
for at in (STORE, calm):
    finish(store('compact', at=at), 'compact')
    with open(answers, 'wb') as f:
        finish(store('check', fresh, at=at, stdout=f), 'check')
    said.append([(row[1], row[3], row[4]) for row in whole_lines(answers)])
if said[0] != said[1]:
    sys.exit('another answer than the answer of an undisturbed store')
print(f'{killed} killed, {len(reported)} reported, all seen')
