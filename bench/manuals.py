# SPDX-License-Identifier: MIT
"""Cosines at scale: each section of the installed manual pages is a page."""
import glob, gzip, json, os, re, subprocess, sys

from common import PROGRAM, TOP, run

SECTIONS, BRUTE = 100000, 2000
# Method with its parameters, and the least cosine; empty: the default.
WAYS = [('vsm', ''), ('vsm:of=chars', '')]
FONTS = re.compile(r'\\f(?:\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[&/,^|%:]|\\n\[[^]]*\]')
CHARS = re.compile(r'\\\(..|\\\[[^]]*\]')


def plain(line):
    """Return the approximate text of a source line: keep arguments of macros, remove names of macros and fonts."""
    line = re.sub(r'^[.\'][A-Za-z]+ ?', '', FONTS.sub('', line)).replace('\\-', '-').replace('\\e', '\\')
    return '' if line.startswith(('.', "'")) else CHARS.sub(' ', line).strip('"')


def sections():
    """Return (name, text) of each section, ordered by file name."""
    for path in sorted(glob.glob('/usr/share/man/man[1-8]/*')):
        if os.path.islink(path):
            continue
        with (gzip.open if path.endswith('.gz') else open)(path, 'rt', encoding='utf-8', errors='replace') as f:
            parts = re.split(r'(?m)^\.S[Hh][ \t]*', f.read())[1:]
        for i, part in enumerate(parts):
            text = '\n'.join(filter(None, map(plain, part.splitlines()[1:])))
            if len(text) >= 100:
                yield f'{os.path.basename(path)}/{i}', text


def write(path, wanted):
    n = size = 0
    with open(path, 'w', encoding='utf-8') as f:
        for name, text in sections():
            f.write(json.dumps({'url': 'urn:' + name, 'text': text}, ensure_ascii=False) + '\n')
            n, size = n + 1, size + len(text.encode())
            if n == wanted:
                break
    return n, size


def pairs(path):
    return [line.split('\t')[:2] for line in open(path, encoding='utf-8') if not line.startswith('#')]


def brute(signed, method, tmp):
    """Return whether the pairs of the first rows are equal to brute force."""
    with open(signed, encoding='utf-8') as rows, open(tmp + '/first.fp', 'w', encoding='utf-8') as f:
        n = 0
        for row in rows:
            n += not row.startswith('#')
            if n > BRUTE:
                break
            f.write(row)
    with open(tmp + '/first', 'w') as f:
        run([PROGRAM, 'match', '-q', '--all-pairs', '--method=' + method, tmp + '/first.fp'], f)
    want = subprocess.run([sys.executable, TOP + '/tests/brute_methods.py', method, tmp + '/first.fp'], stdout=subprocess.PIPE, text=True)
    want = [line.split('\t') for line in want.stdout.splitlines()]
    return len(want), want == pairs(tmp + '/first')


def bench_manuals(tmp):
    """vectors of words and of characters: CPU and memory of signing and matching 100,000 sections of manual pages"""
    n, size = write(tmp + '/manuals.jsonl', SECTIONS)
    print(f'{n} sections, {size / 1e6:.0f} MB of text')
    for signs, compares in WAYS:
        method = signs.split(':')[0] + (':' if compares else '') + compares
        with open(tmp + '/manuals.fp', 'w') as f:
            signed, _, sign_peak = run([PROGRAM, 'fp', '-q', '-j1', '--method=' + signs, tmp + '/manuals.jsonl'], f)
        with open(tmp + '/manuals', 'w') as f:
            matched, _, peak = run([PROGRAM, 'match', '-q', '-j1', '--method=' + method, tmp + '/manuals.fp'], f)
        found = len(pairs(tmp + '/manuals'))
        many, same = brute(tmp + '/manuals.fp', method, tmp)
        print(f'{signs} {compares}: fp {signed:.1f} s of CPU, {sign_peak:.0f} MB; match {matched:.1f} s, {peak:.0f} MB, {found} pairs; of the first '
              f'{BRUTE} {many} pairs, {"the same as" if same else "NOT the same as"} brute force', flush=True)
