#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print pages of many hosts as JSONL, to measure the memory of learning.

usage: many_pages.py PAGES HOSTS LINES
Each page has LINES lines of its own and a third as many of its host; hosts take turns."""
import random, sys

pages, hosts, lines = map(int, sys.argv[1:])
r = random.Random(1)
words = [''.join(r.choice('abcdefghijklmnopqrstuvwxyz') for _ in range(r.randrange(2, 9))) for _ in range(5000)]
pool = [' '.join(r.choice(words) for _ in range(12)) for _ in range(20000)]
for n in range(pages):
    host = n % hosts
    own = ''.join(f'<p>{n} {pool[(n * 7919 + i * 104729) % 20000]}, {i}.' for i in range(lines))
    common = ''.join(f'<li class=c{i}>{pool[(host * 31 + i) % 20000]} {host}' for i in range(lines // 3))
    sys.stdout.write(f'{{"url":"http://host{host}.example/{n}","html":"<body><ul>{common}</ul><div class=text>{own}</div>"}}\n')
