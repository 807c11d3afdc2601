# SPDX-License-Identifier: MIT
"""Speed of the segmentation of Chinese text into words."""
import gzip, json, os, re, statistics

from common import BUILD, CORPORA, RUNS, TRUTH, output
from pairs import table


def truth():
    return {row['url']: row for row in table(TRUTH)}


def chinese_text(path):
    """Return the main texts of the Chinese pages without repetitions."""
    known, seen = truth(), set()
    with open(path, 'w', encoding='utf-8') as out:
        for line in gzip.open(os.path.join(CORPORA, 'neardup', 'transplant-dev.texts.jsonl.gz'), 'rt', encoding='utf-8'):
            page = json.loads(line)
            content = known[page['url']]['content']
            if known[page['url']]['lang'] == 'zh' and content not in seen:
                seen.add(content)
                out.write(page['text'] + '\n')
        for line in open(os.path.join(CORPORA, 'extraction', 'cwced', 'gold.jsonl'), encoding='utf-8'):
            out.write(json.loads(line)['text'] + '\n')


def segment(path):
    """Return the output of bench/segment for 20 passes over a file."""
    return output([BUILD + '/bench/segment', '--repeat', '20', path])


def bench_segment(tmp):
    """segmentation of Chinese text: MB of UTF-8 per CPU second"""
    chinese_text(tmp + '/zh')
    runs = [segment(tmp + '/zh') for _ in range(RUNS)]
    speeds = sorted(float(re.search(r'([\d.]+) MB/s', text).group(1)) for text in runs)
    print(f'{statistics.median(speeds):.0f} MB/s (of {RUNS} runs {speeds[0]:.0f} to {speeds[-1]:.0f}); {runs[0].strip()}')
