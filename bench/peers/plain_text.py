#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plain text beside others: the documents of a training corpus, {"id", "text"} a line, without duplicates, by this program, by text-dedup's
MinHash and by datatrove's, each as it is shipped.

usage: plain_text.py PROGRAM TEXTS N FOLDER [NAME]...     NAME: pagededup, text-dedup, datatrove (all)

TEXTS: JSON Lines with a field "text", plain or .xz.  N documents are made of their sentences, twelve each, drawn at random; every tenth has
one to three copies with known edits: up to a tenth of the words replaced by other words, a sentence left out or put in.  Right is to
remove all but one of each such family and nothing else.  FOLDER gets documents and results.  Prints a row for each: documents, seconds,
CPU seconds, memory (the largest process), documents removed, the share of these that was right to remove, the share of copies that was removed.
"""
import collections, json, lzma, os, random, re, resource, subprocess, sys, time

PROGRAM, TEXTS, N, FOLDER, *NAMES = sys.argv[1:]
DOCUMENTS = os.path.join(FOLDER, 'documents.jsonl')


def sentences():
    found = set()
    with (lzma.open if TEXTS.endswith('.xz') else open)(TEXTS, 'rt', encoding='utf-8') as lines:
        for line in lines:
            page = json.loads(line)
            if page.get('lang', 'en') == 'en':
                found.update(s for s in re.split(r'(?<=[.!?])\s+|\n+', page['text']) if 6 <= len(s.split()) <= 40)
    return sorted(found)


def edited(parts, words, pool, rng):
    parts = list(parts)
    if rng.random() < .5:
        parts.pop(rng.randrange(len(parts)))
    if rng.random() < .5:
        parts.insert(rng.randrange(len(parts)), rng.choice(pool))
    share = rng.choice((0, .02, .05, .1))
    return ' '.join(w if rng.random() >= share else rng.choice(words) for w in ' '.join(parts).split())


def make():
    rng, pool = random.Random(7), sentences()
    words = [w for s in pool for w in s.split() if w.isalpha()]
    lines = []
    for i in range(int(N)):
        parts = rng.sample(pool, 12)
        lines.append((f'{i}.0', ' '.join(parts)))
        for copy in range(rng.randint(1, 3) if i % 10 == 0 else 0):
            lines.append((f'{i}.{copy + 1}', edited(parts, words, pool, rng)))
    rng.shuffle(lines)
    os.makedirs(FOLDER, exist_ok=True)
    with open(DOCUMENTS, 'w', encoding='utf-8') as out:
        for name, text in lines:
            out.write(json.dumps({'id': name, 'text': text}, ensure_ascii=False) + '\n')
    return [name for name, _ in lines]


# Each gives the ids of what is left.

def pagededup():
    out = os.path.join(FOLDER, 'pagededup.jsonl')
    subprocess.run(f'{PROGRAM} fp -q {DOCUMENTS} | {PROGRAM} match -q | {PROGRAM} cluster -q -o {FOLDER}/verdicts.tsv &&'
                   f'{PROGRAM} apply -q -V {FOLDER}/verdicts.tsv -o {out} {DOCUMENTS}', shell=True, check=True)
    return [json.loads(line)['id'] for line in open(out, encoding='utf-8')]


def text_dedup():
    out = os.path.join(FOLDER, 'text-dedup')
    subprocess.run([sys.executable, '-m', 'text_dedup.minhash', '--path', 'json', '--data_files', DOCUMENTS, '--split', 'train', '--column', 'text',
                    '--cache_dir', out + '.cache', '--output', out, '--num_proc', str(os.cpu_count())], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return subprocess.run([sys.executable, '-c', 'import datasets, sys\nfor row in datasets.load_from_disk(sys.argv[1])["id"]: print(row)', out],
                          check=True, stdout=subprocess.PIPE, text=True).stdout.split()


DATATROVE = '''
import sys
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
folder, tasks = sys.argv[1], int(sys.argv[2])
config = MinhashConfig()
def read(): return JsonlReader(folder + '/in', glob_pattern='*.jsonl', compression=None)
if __name__ == '__main__':
    LocalPipelineExecutor([read(), MinhashDedupSignature(folder + '/signatures', config=config)], tasks=tasks, workers=tasks).run()
    LocalPipelineExecutor([MinhashDedupBuckets(folder + '/signatures', folder + '/buckets', config=config)], tasks=config.num_buckets, workers=tasks).run()
    LocalPipelineExecutor([MinhashDedupCluster(folder + '/buckets', folder + '/remove', config=config)], tasks=1).run()
    LocalPipelineExecutor([read(), MinhashDedupFilter(folder + '/remove'), JsonlWriter(folder + '/out', compression=None)], tasks=tasks, workers=tasks).run()
'''


def datatrove():
    folder, tasks = os.path.join(FOLDER, 'datatrove'), os.cpu_count()
    os.makedirs(folder + '/in', exist_ok=True)
    lines = open(DOCUMENTS, encoding='utf-8').readlines()
    for i in range(tasks):
        open(f'{folder}/in/{i}.jsonl', 'w', encoding='utf-8').writelines(lines[i::tasks])
    open(folder + '/run.py', 'w').write(DATATROVE)
    subprocess.run([sys.executable, folder + '/run.py', folder, str(tasks)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [json.loads(line)['id'] for name in sorted(os.listdir(folder + '/out')) for line in open(f'{folder}/out/{name}', encoding='utf-8')]


def score(all_ids, left):
    family = collections.Counter(i.split('.')[0] for i in all_ids)
    kept = collections.Counter(i.split('.')[0] for i in left)
    removed = len(all_ids) - len(left)
    right = sum(min(n - kept[f], n - 1) for f, n in family.items())
    return removed, right / max(1, removed), right / sum(n - 1 for n in family.values())


def main():
    runs = {'pagededup': pagededup, 'text-dedup': text_dedup, 'datatrove': datatrove}
    ids = make()
    print(f'load {os.getloadavg()[0]:.1f}', flush=True)
    for name in NAMES or runs:
        pid = os.fork()     # what children took is told apart by process
        if not pid:
            started = time.time()
            left = runs[name]()
            seconds, used = time.time() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
            removed, precision, recall = score(ids, left)
            print(f'{name}\t{len(ids)}\t{seconds:.1f} s\t{used.ru_utime + used.ru_stime:.1f} CPU s\t{used.ru_maxrss / 1024:.0f} MB\t{removed}\t{precision:.4f}\t{recall:.4f}', flush=True)
            os._exit(0)
        os.waitpid(pid, 0)


main()
