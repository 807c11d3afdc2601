#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn ecir20-core-pairs.jsonl.gz into texts.jsonl, labels-2.tsv and labels-3.tsv.  Duplicates are pairs that people
judged at least 2 (nearly equivalent) or 3 (equivalent).

usage: ecir.py PAIRS.jsonl.gz FOLDER"""
import gzip, json, sys

texts, judged = {}, []
for line in gzip.open(sys.argv[1], 'rt', encoding='utf-8'):
    pair = json.loads(line)
    for end in 'ab':
        texts[pair[end]] = pair['text_' + end]
    judged.append((pair['a'], pair['b'], int(pair['label'])))
with open(sys.argv[2] + '/texts.jsonl', 'w', encoding='utf-8') as f:
    for name, text in texts.items():
        f.write(json.dumps({'url': 'urn:' + name, 'text': text}) + '\n')
for least in 2, 3:
    with open(f'{sys.argv[2]}/labels-{least}.tsv', 'w', encoding='utf-8') as f:
        f.write('#url_a\turl_b\tlabel\tjudged\n')
        for a, b, label in judged:
            f.write(f'urn:{a}\turn:{b}\t{"duplicate" if label >= least else "different"}\t{label}\n')
