# SPDX-License-Identifier: MIT
"""Shared by bench/: paths, and the measurement of a command."""
import os, re, subprocess, sys, time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, os.environ.get('B', 'build'))
PROGRAM = os.path.join(BUILD, 'pagededup')
CORPORA = os.environ.get('PAGEDEDUP_CORPORA') or os.path.join(os.path.dirname(TOP), 'shared', 'corpora')
TOOLS = os.path.join(os.path.dirname(CORPORA), 'tools')
DUMP = os.path.join(CORPORA, 'neardup', 'transplant-dev.warc.gz')
TRUTH = os.path.join(CORPORA, 'neardup', 'transplant-dev.truth.tsv')
RUNS = int(os.environ.get('BENCH_RUNS', '5'))


def run(args, out=subprocess.DEVNULL, stdin=None):
    """Run a command; return CPU seconds, elapsed seconds and peak memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen(args, stdout=out, stderr=subprocess.DEVNULL, stdin=stdin)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        sys.exit('failed: ' + ' '.join(args))
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024


def run_both(args):
    """Return the elapsed seconds of two processes of this command that run at the same time."""
    start = time.monotonic()
    for process in [subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]:
        if process.wait() not in (0, 1):
            sys.exit('failed: ' + ' '.join(args))
    return time.monotonic() - start


def output(args):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def score(what, path):
    """Return precision, recall and F1 of --pairs or --clusters on the transplant dump, as the scorer prints them."""
    text = output([sys.executable, os.path.join(TOOLS, 'score.py'), TRUTH, what, path])
    return next(line for line in text.splitlines() if line.startswith('all')).split()[1:4]


def floor_seconds(path):
    return float(re.search(r'([\d.]+) CPU seconds', output([BUILD + '/bench/floor', path])).group(1))


def need_corpora():
    if not os.path.exists(DUMP):
        sys.exit('bench: no corpora at ' + CORPORA + ': set PAGEDEDUP_CORPORA')


def python_with_lxml():
    """Return a Python that has lxml: this one or the system's."""
    for python in (sys.executable, '/usr/bin/python3'):
        if subprocess.run([python, '-c', 'import lxml'], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return sys.exit('bench: lxml is missing: apt-get install python3-lxml')
