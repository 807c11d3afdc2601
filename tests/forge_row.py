#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: forge_row.py ROWS [WORDS]: a page of nonsense words with nearly the sketch and the fingerprint of the first page in ROWS.

In: rows that `fp` made without a key (64 bits, sketch 128x4x3).  Out: HTML on standard output, figures on standard error.
The forger knows only the program and the victim's page.  A sketch is 128 bins, and in each 4 bits of the least hash:
append words with a shingle that wins a bin with the victim's bits and does not change other bins.  Choose the word with the
shingle of two terms that moves most bits of the simhash towards the victim's.
"""
import ctypes
import random
import sys

MASK = (1 << 64) - 1
FACTOR, STEP_BIN = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93	# src/sign/sketch.c
LOW = (1 << 54) - 1
BINS, BITS = 128, 4
POOL, LOOKED_AT = 1500, 24

xxhash = ctypes.CDLL('libxxhash.so.0').XXH3_64bits
xxhash.restype, xxhash.argtypes = ctypes.c_uint64, (ctypes.c_char_p, ctypes.c_size_t)
evaluated = 0


def hash64(word):
    global evaluated
    evaluated += 1
    return xxhash(word, len(word))


def mix(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


def read_victim(path):
    columns = []
    with open(path, encoding='utf-8') as rows:
        for line in rows:
            line = line.rstrip('\n')
            if line.startswith('#fingerprint\t'):
                columns = line[1:].split('\t')
            elif not line.startswith('#'):
                row = dict(zip(columns, line.split('\t')))
                sketch = ''.join(row['sketch'][i:i + 16][::-1] for i in range(0, 128, 16))
                return int(row['fingerprint'], 16), [int(digit, 16) for digit in sketch]
    sys.exit(f'{path}: no row')


class Forger:
    def __init__(self, fingerprint, sketch):
        self.fingerprint, self.sketch = fingerprint, sketch
        rng = random.Random(1)
        words = {''.join(rng.choice(pair) for pair in ('bdfgklmnprstvz', 'aeiou') * 3) for _ in range(POOL)}
        self.pool = [(hash64(word.encode()), word.encode()) for word in sorted(words)]
        self.least, self.right = [MASK] * BINS, [False] * BINS
        self.counters = [0] * 64
        self.words, self.hashes = [], []

    def moves(self):
        """Words that win a bin, and words that change none."""
        wins, harmless = [], []
        base = (self.hashes[-2] * FACTOR + self.hashes[-1]) * FACTOR & MASK
        for term, word in self.pool:
            shingle = mix(base + term & MASK)
            at, least = (shingle >> 32) * BINS >> 32, shingle & LOW
            if least >= self.least[at]:
                harmless.append((term, word, at, least, False))
            elif mix(least + at * STEP_BIN & MASK) >> 64 - BITS == self.sketch[at]:
                wins.append((term, word, at, least, True))
        wins = [move for move in wins if not self.right[move[2]]]
        wins.sort(key=lambda move: move[3])
        return wins[:LOOKED_AT], harmless[:LOOKED_AT]

    def gain(self, word):
        pair = hash64(self.words[-1] + b' ' + word)
        agreeing, total = ~(pair ^ self.fingerprint), 0
        for i, counter in enumerate(self.counters):
            if counter < 4:
                total += 1 if agreeing >> i & 1 else -1
        return total

    def append(self, move):
        term, word, at, least, wins = move
        if self.words:
            agreeing = ~(hash64(self.words[-1] + b' ' + word) ^ self.fingerprint)
            for i in range(64):
                self.counters[i] += 1 if agreeing >> i & 1 else -1
        self.words.append(word)
        self.hashes.append(term)
        if wins:
            self.least[at], self.right[at] = least, True

    def run(self, n):
        for term, word in self.pool[:2]:
            self.append((term, word, 0, 0, False))
        while len(self.words) < n:
            wins, harmless = self.moves()
            moves = wins or harmless
            if not moves:	# any word loses a bin, which can be won again
                self.words.pop(), self.hashes.pop()
                self.append(random.Random(len(self.words)).choice(self.pool) + (0, 0, False))
                continue
            self.append(max(moves, key=lambda move: self.gain(move[1])))


def main():
    forger = Forger(*read_victim(sys.argv[1]))
    forger.run(int(sys.argv[2]) if len(sys.argv) > 2 else 425)
    wrong = sum(counter < 0 for counter in forger.counters)
    print(f'{len(forger.words)} words, {sum(forger.right)} of {BINS} bins, about {wrong} bits, {evaluated} hashes', file=sys.stderr)
    text = ' '.join(word.decode() for word in forger.words)
    print(f'<!DOCTYPE html>\n<title>{forger.words[0].decode()}</title>\n<p>{text}.</p>')


if __name__ == '__main__':
    main()
