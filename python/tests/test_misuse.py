# SPDX-License-Identifier: MIT
"""Misuse of the package: wrong types, impossible numbers, generators and callbacks that raise, threads that share an
object, objects that are closed during a call.  Each case raises a Python exception or works; none ends the process.

usage: test_misuse.py
prints TAP; PAGEDEDUP names the command (default: the package's).  Each group is a separate process, so that a
crash is noticed and its case named."""
import array
import concurrent.futures
import faulthandler
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pyarrow as pa

import pagededup
from pagededup import UsageError, _command

COMMAND = os.environ.get('PAGEDEDUP', _command.path())
WORDS = 'mill tide creek harbour storm ferry lantern orchard bridge quarry meadow chapel granary weir lock heron otter reed barge anchor'.split()


def pages(n, words=100):
    out = []
    for i in range(n):
        seed, said = i + 1, []
        for _ in range(words):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2 ** 64
            said.append('%s%d' % (WORDS[(seed >> 33) % len(WORDS)], (seed >> 40) % 50))
        out.append('<title>Page %d</title><p>%s' % (i, ' '.join(said)))
    return out


class Mine(Exception):
    """An exception of the user's code."""


def raises(*_):
    raise Mine('from the callback')


def raising():
    yield '<p>one page'
    raise Mine('from the generator')


class Hostile:
    """Each look at it raises."""

    def __getattr__(self, name):
        raise Mine(name)


def dump(name='dump.jsonl', n=30):
    """Pages, and after each tenth a line that is damaged."""
    with open(name, 'w') as f:
        for i, page in enumerate(pages(n)):
            f.write('{"url": "http://h.example/%d", "html": "%s"}\n' % (i, page))
            if i % 10 == 0:
                f.write('{"url": "http://h.example/broken\n')
    return name


def signer():
    return pagededup.Signer(threads=1)


def table(n=8):
    return signer().sign_batch(pages(n), urls=['http://h.example/%d' % i for i in range(n)])


def store(name='store'):
    return pagededup.Store(name)


# --- one wrong argument ---

def wrong_cases():
    """(name, call, expected exception): `None` if the call is allowed."""
    s, t, p = signer(), table(), dump()
    pairs = pagededup.match(t)
    kept, learner = store(), pagededup.Learner(s)
    offsets = pa.py_buffer(np.array([0, 900000, 3, 6], 'int32').tobytes())    # Arrow itself looks at the last one alone
    broken = pa.Array.from_buffers(pa.binary(), 3, [None, offsets, pa.py_buffer(b'abcdef')])
    wide = pa.table({'fingerprint': pa.array([1, 2], pa.uint64()), 'url': pa.Array.from_buffers(pa.large_string(), 2, [None, pa.py_buffer(np.array(
        [0, 2 ** 50, 4], 'int64').tobytes()), pa.py_buffer(b'abcd')])})
    numbers = {'a': pa.array([0], pa.uint64()), 'b': pa.array([10 ** 9], pa.uint64()), 'distance': pa.array([1], pa.uint64()), 'similarity': pa.array([1.0])}
    yield 'read: None in a list', lambda: list(pagededup.read([None])), TypeError
    yield 'read: None', lambda: list(pagededup.read(None)), TypeError
    yield 'read: a number', lambda: list(pagededup.read(5)), TypeError
    yield 'read: a list of numbers', lambda: list(pagededup.read([5])), TypeError
    yield 'read: nothing', lambda: list(pagededup.read([])), UsageError
    yield 'read: a NUL in a path', lambda: list(pagededup.read('dump.jsonl\0x')), ValueError
    yield 'read: a generator of paths', lambda: list(pagededup.read(x for x in [p])), None
    yield 'read: bytes', lambda: list(pagededup.read(os.fsencode(p))), None
    yield 'read: damage is a number', lambda: list(pagededup.read(p, damage=5)), TypeError
    yield 'read: damage raises', lambda: list(pagededup.read(p, damage=raises)), Mine
    yield 'read: the signer is a number', lambda: list(pagededup.read(p, 5)), AttributeError
    yield 'read_table: None in a list', lambda: s.read_table([None]), TypeError
    yield 'read_table: None', lambda: s.read_table(None), TypeError
    yield 'read_table: damage raises', lambda: s.read_table(p, damage=raises), Mine
    yield 'read_table: damage raises, with threads', lambda: s.read_table(p, damage=raises, threads=4), Mine
    yield 'read_table: damage takes no arguments', lambda: s.read_table(p, damage=lambda: None), TypeError
    yield 'read_table: threads=-1', lambda: s.read_table(p, threads=-1), UsageError
    yield 'read_table: a million threads', lambda: s.read_table(p, threads=10 ** 6), UsageError
    yield 'read_table: 10**30 threads', lambda: s.read_table(p, threads=10 ** 30), OverflowError
    yield 'sign: None', lambda: s.sign(None), TypeError
    yield 'sign: a number', lambda: s.sign(5), TypeError
    yield 'sign: a list', lambda: s.sign(['<p>a']), TypeError
    yield 'sign: a NUL in the URL', lambda: s.sign('<p>a', 'http://h.example/\0'), ValueError
    yield 'sign: the URL is a number', lambda: s.sign('<p>a', 5), TypeError
    yield 'sign: the type is a number', lambda: s.sign('<p>a', content_type=5), (TypeError, AttributeError)
    yield 'sign_batch: a str', lambda: s.sign_batch('abc'), TypeError
    yield 'sign_batch: bytes', lambda: s.sign_batch(b'abc'), TypeError
    yield 'sign_batch: None', lambda: s.sign_batch(None), TypeError
    yield 'sign_batch: a number', lambda: s.sign_batch(5), TypeError
    yield 'sign_batch: a dict', lambda: s.sign_batch({'a': 1}), TypeError
    yield 'sign_batch: a list of numbers', lambda: s.sign_batch([1, 2]), TypeError
    yield 'sign_batch: a list of lists', lambda: s.sign_batch([['a']]), TypeError
    yield 'sign_batch: a generator that raises', lambda: s.sign_batch(raising()), Mine
    yield 'sign_batch: urls is a number', lambda: s.sign_batch(['a'], urls=5), TypeError
    yield 'sign_batch: too few urls', lambda: s.sign_batch(['a', 'b'], urls=['x']), UsageError
    yield 'sign_batch: a NUL in a URL', lambda: s.sign_batch(['a'], urls=['x\0y']), ValueError
    yield 'sign_batch: threads=-5', lambda: s.sign_batch(['a'], threads=-5), UsageError
    yield 'sign_batch: a memoryview with strides', lambda: s.sign_batch([memoryview(b'<p>abcdef')[::2]]), (ValueError, BufferError, TypeError)
    yield 'sign_batch: an Arrow array with wrong offsets', lambda: s.sign_batch(broken), ValueError
    yield 'sign_batch: an Arrow array of numbers', lambda: s.sign_batch(pa.array([1, 2])), TypeError
    yield 'Signer: bits is a str', lambda: pagededup.Signer('many'), UsageError
    yield 'Signer: bits=-64', lambda: pagededup.Signer(-64), UsageError
    yield 'Signer: a list for the dictionary', lambda: pagededup.Signer(dictionary=['x']), TypeError
    yield 'Signer: methods is a number', lambda: pagededup.Signer(methods=5), TypeError
    yield 'Signer: a NUL in a setting', lambda: pagededup.Signer(sketch='none\0'), ValueError
    yield 'hf: None', lambda: s.hf(None), TypeError
    yield 'hf: no column', lambda: s.hf({}), UsageError
    yield 'hf: a str for a column', lambda: s.hf({'html': 'abc'}), TypeError
    yield 'arrow: a number', lambda: list(s.arrow(5)), TypeError
    yield 'arrow: a list of numbers', lambda: list(s.arrow([5])), AttributeError
    yield 'arrow: a generator that raises', lambda: list(s.arrow(raising())), (Mine, AttributeError)
    yield 'match: None', lambda: pagededup.match(None), TypeError
    yield 'match: a list', lambda: pagededup.match([1]), TypeError
    yield 'match: an object that raises', lambda: pagededup.match(Hostile()), Mine
    yield 'match: no fingerprints', lambda: pagededup.match(pa.table({'x': [1]})), pagededup.Error
    yield 'match: an empty table', lambda: pagededup.match(pa.table({})), pagededup.Error
    yield 'match: nulls', lambda: pagededup.match(pa.table({'fingerprint': pa.nulls(3)})), pagededup.Error
    yield 'match: offsets past the data', lambda: pagededup.match(wide), pagededup.Error
    yield 'match: against is a number', lambda: pagededup.match(t, 5), TypeError
    yield 'match: distance=-1', lambda: pagededup.match(t, distance=-1), UsageError
    yield 'match: distance=10**30', lambda: pagededup.match(t, distance=10 ** 30), UsageError
    yield 'match: distance is a list', lambda: pagededup.match(t, distance=[1]), None
    yield 'match: threads=-1', lambda: pagededup.match(t, threads=-1), UsageError
    yield 'match: an unknown setting', lambda: pagededup.match(t, colour=1), UsageError
    yield 'cluster: no pairs', lambda: pagededup.cluster(t, None), TypeError
    yield 'cluster: pairs of no table', lambda: pagededup.cluster(t, 5), TypeError
    yield 'cluster: pairs without columns', lambda: pagededup.cluster(t, pa.table({'x': [1]})), pagededup.Error
    yield 'cluster: a row that is not there', lambda: pagededup.cluster(t, pa.table(numbers)), pagededup.Error
    yield 'cluster: a negative row', lambda: pagededup.cluster(t, pa.table(dict(numbers, b=pa.array([-1])))), (pagededup.Error, pa.ArrowInvalid)
    yield 'cluster: keep is a number', lambda: pagededup.cluster(t, pairs, 5), UsageError
    yield 'cluster: the pages are a number', lambda: pagededup.cluster(5, pairs), TypeError
    yield 'Store: None', lambda: pagededup.Store(None), TypeError
    yield 'Store: a number', lambda: pagededup.Store(5), TypeError
    yield 'Store: mode', lambda: pagededup.Store('other', 'x'), UsageError
    yield 'Store: bits=-1', lambda: pagededup.Store('other', bits=-1), UsageError
    yield 'Store: bits=10**30', lambda: pagededup.Store('other', bits=10 ** 30), OverflowError
    yield 'Store: distance is a str', lambda: pagededup.Store('other', distance='x'), TypeError
    yield 'Store: distance=10**6', lambda: pagededup.Store('other', distance=10 ** 6), pagededup.Error
    yield 'Store: twice', lambda: pagededup.Store('store'), pagededup.Error
    yield 'Store: reading one that is not there', lambda: pagededup.Store('nowhere', 'r'), pagededup.Error
    yield 'Store.add: None', lambda: kept.add(None), TypeError
    yield 'Store.add: a list', lambda: kept.add([1]), TypeError
    yield 'Store.add: pairs', lambda: kept.add(pairs.table), pagededup.Error
    yield 'Store.check: a number', lambda: kept.check(5), TypeError
    yield 'Learner: a number', lambda: pagededup.Learner(5), AttributeError
    yield 'Learner.add: None', lambda: learner.add(None, 'http://h.example/'), TypeError
    yield 'Learner.add: the URL is a number', lambda: learner.add('<p>a', 5), TypeError
    yield 'Learner.add: no URL', lambda: learner.add(pages(1)[0], None), None
    yield 'Learner.write: None', lambda: learner.write(None), TypeError
    yield 'Learner.write: a number', lambda: learner.write(5), TypeError
    yield 'Learner.write: a folder that is not there', lambda: learner.write('no/where'), pagededup.Error
    yield 'Learner.write: twice', lambda: learner.write('twice'), pagededup.Error
    yield 'distance: None', lambda: pagededup.distance(None, 1), TypeError
    yield 'distance: a float', lambda: pagededup.distance(1.5, 1), TypeError
    yield 'distance: below 64 bits', lambda: pagededup.distance(-2 ** 70, 1), ValueError
    yield 'parse_table: None', lambda: pagededup.parse_table(None), TypeError
    yield 'parse_table: str', lambda: pagededup.parse_table('# pagededup fp 1\n'), TypeError
    yield 'parse_table: no header', lambda: pagededup.parse_table(b'zz'), pagededup.Error
    yield 'table_text: None', lambda: pagededup.table_text(None), TypeError
    yield 'table_text: pairs', lambda: pagededup.table_text(pairs.table), pagededup.Error


def wrong():
    """One argument that is wrong: the exception is the right one."""
    n = 0
    for n, (name, call, expected) in enumerate(wrong_cases(), 1):
        print('case', name, flush=True)
        try:
            call()
        except Exception as e:
            assert expected is not None and isinstance(e, expected), '%s: %r' % (name, e)
        else:
            assert expected is None, '%s: no exception' % name
    print('# %d cases' % n)


def every():
    """Each parameter of each public function, with each of these values: an exception or a result."""
    values = [None, True, 0, 5, -1, 10 ** 30, -10 ** 30, 1.5, float('nan'), '', 'abc', '\0', '\ud800', b'', b'abc', [], [None], [1], ['a', b'b', None], (), {},
              {'html': [1]}, object(), raises, Hostile(), np.arange(3), np.zeros((2, 2)), pa.array([1]), pa.nulls(2), pa.table({'a': [1]}), array.array('i', [1]),
              pa.chunked_array([], pa.string()), pa.array(['a', None]), pa.array([b'x'], pa.large_binary()), pa.array([['a']])]
    s, t, p = signer(), table(), dump()
    pairs = pagededup.match(t)
    kept, learner = store(), pagededup.Learner(s)
    functions = [
        (pagededup.Signer, [], dict(bits=64, preset=None, dictionary=None, user_words=None, stop_words=None, boilerplate=None, methods=None, threads=0,
                                    shingle=None, min_terms=None, max_page=None, sketch=None)),
        (s.sign, ['<p>a page'], dict(url=None, id=None, content_type=None, visible_text=False)),
        (s.sign_batch, [['<p>a', '<p>b']], dict(urls=None, ids=None, content_types=None, fetch_times=None, threads=1, title=False, text=False, visible_text=False)),
        (s.read_table, [p], dict(threads=1, title=False, text=False, visible_text=False, damage=None)),
        (s.hf, [{'html': ['<p>a']}], {}),
        (lambda *a: list(s.arrow(*a)), [[]], {}),
        (lambda *a, **k: list(pagededup.read(*a, **k)), [p], dict(signer=s, visible_text=False, damage=None)),
        (pagededup.match, [t], dict(against=None, threads=1, distance=None, similarity=None, scope=None, all_pairs=None, memory=None, tmp_dir=None)),
        (pagededup.cluster, [t, pairs], dict(keep=None, against=None, linkage=None, max_loss=None, scope=None, sites=None)),
        (pagededup.table_text, [t], dict(header=False)),
        (pagededup.parse_table, [b'# pagededup pairs 1\n'], {}),
        (pagededup.distance, [1, 2], {}),
        (pagededup.Store, ['store'], dict(mode='r', bits=64, distance=-1)),
        (kept.add, [t], {}),
        (kept.check, [t], {}),
        (pagededup.Learner, [s], {}),
        (learner.add, ['<p>a', 'http://h.example/'], {}),
        (learner.write, ['learned'], {}),
    ]
    calls = refused = 0
    for function, given, named in functions:
        name = getattr(function, '__qualname__', str(function))
        for at in [*range(len(given)), *named]:
            for value in values:
                print('case %s: %s = %s' % (name, at, type(value).__name__), repr(value)[:40] if not isinstance(value, Hostile) else '', flush=True)
                arguments = [value if i == at else v for i, v in enumerate(given)]
                calls += 1
                try:
                    function(*arguments, **dict(named, **({at: value} if isinstance(at, str) else {})))
                except (SystemError, AssertionError) as e:
                    raise AssertionError('%s: %s = %r: %r' % (name, at, value, e))
                except Exception:
                    refused += 1
    assert refused > calls / 4, (calls, refused)
    assert s.sign_batch(pages(3)).num_rows == 3 and set(kept.add(table()).column('status').to_pylist()) <= {'new', 'kept', 'duplicate'}
    print('# %d calls, %d exceptions' % (calls, refused))


# --- valid calls ---

def right():
    """Bytes of all kinds are pages in full; a callback that works sees all damage."""
    s, page = signer(), pages(1)[0].encode()
    want = s.sign(page).fingerprint
    page += b' ' * (-len(page) % 8)
    with tempfile.TemporaryFile() as f:
        f.write(page)
        f.flush()
        mapped = mmap.mmap(f.fileno(), 0)
        for kind in (bytearray(page), memoryview(page), memoryview(page).cast('Q'), array.array('Q', page), np.frombuffer(page, 'uint16'), mapped):
            print('case', type(kind).__name__, flush=True)
            assert s.sign(kind).fingerprint == want, type(kind)
            assert s.sign_batch([kind]).column('fingerprint').to_pylist() == [want], type(kind)
    said = []
    assert s.read_table(dump(), damage=lambda where, what: said.append(where)).num_rows == 30 and len(said) == 3, said
    assert pagededup.distance(-1, 0) == 64 and pagededup.distance(-1, -1) == 0 and pagededup.distance(2 ** 64 - 1, -1) == 0 and pagededup.distance(5, 6) == 2
    empty = pa.table({'fingerprint': pa.array([], pa.uint64()), 'url': pa.array([], pa.string())})
    assert len(pagededup.match(empty)) == 0


def damage():
    """An exception in `damage` stops the read at once, is raised as it is, and the signer works on."""
    s, calls = signer(), []

    def third(where, what):
        calls.append(where)
        if len(calls) == 3:
            raise KeyboardInterrupt('third')

    for threads in (1, 4):
        calls.clear()
        try:
            s.read_table(dump(n=200), damage=third, threads=threads)
        except KeyboardInterrupt as e:
            assert str(e) == 'third'
        else:
            raise AssertionError('no exception')
        assert len(calls) == 3, calls
    calls.clear()
    seen = []
    try:
        for page in pagededup.read(dump(n=200), s, damage=third):
            seen.append(page)
    except KeyboardInterrupt:
        pass
    assert len(calls) == 3 and 11 <= len(seen) <= 31, (calls, len(seen))
    assert s.sign(pages(1)[0]) and s.read_table(dump()).num_rows == 30

    def nested(where, what):
        s.read_table('dump.jsonl')
        s.sign(pages(1)[0])
        next(pagededup.read('dump.jsonl', s))

    assert s.read_table(dump(), damage=nested).num_rows == 30
    generator = None

    def close(where, what):
        generator.close()

    generator = pagededup.read(dump(), s, damage=close)
    try:
        list(generator)
    except ValueError as e:
        assert 'already executing' in str(e)
    else:
        raise AssertionError('no exception')


# --- threads ---

def together(n, work):
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        return list(pool.map(work, range(n)))


def shared_store():
    """8 threads add to one store: it has all pages once, and no damage."""
    tables = [signer().sign_batch(pages(200)[25 * i:25 * i + 25], ids=['p%d' % n for n in range(25 * i, 25 * i + 25)]) for i in range(8)]
    for round in range(5):
        print('case round', round, flush=True)
        name = 'shared%d' % round
        with pagededup.Store(name) as s:
            new = together(8, lambda i: sum(s.add(tables[i].slice(5 * j, 5)).column('status').to_pylist().count('new') for j in range(5)))
        assert sum(new) == 200, new
        said = subprocess.run([COMMAND, 'store', 'verify', name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert said.returncode == 0, said.stdout
        with pagededup.Store(name, 'r') as s:
            for t in tables:
                assert set(s.check(t).column('status').to_pylist()) <= {'kept', 'duplicate'}


def close_while_adding():
    """close() waits for add(); later calls are refused."""
    t = signer().sign_batch(pages(400))
    for i in range(20):
        print('case', i, flush=True)
        s, began, seen = pagededup.Store('closed%d' % i), threading.Event(), []

        def add():
            began.set()
            try:
                while True:
                    seen.append(s.add(t).num_rows)
            except UsageError as e:
                seen.append(str(e))

        workers = [threading.Thread(target=add) for _ in range(3)]
        for w in workers:
            w.start()
        began.wait()
        time.sleep(.002 * i)
        s.close()
        for w in workers:
            w.join()
        assert [x for x in seen if isinstance(x, str)] == ['the store is closed'] * 3 and all(x == 400 for x in seen if not isinstance(x, str)), seen
        pagededup.Store('closed%d' % i).close()    # its lock was released


def shared_signer():
    """Threads share one signer, one learner, one table, one generator."""
    s, html = signer(), pages(40, 400)
    want = [p.fingerprint for p in map(s.sign, html)]
    assert together(8, lambda _: [s.sign(h).fingerprint for h in html]) == [want] * 8
    assert together(4, lambda _: s.sign_batch(html, threads=2).column('fingerprint').to_pylist()) == [want] * 4
    learner = pagededup.Learner(s)
    together(8, lambda i: [learner.add(h, 'http://h.example/%d/%d' % (i, n)) for n, h in enumerate(html)])
    learner.write('learned')
    t = table(200)
    assert len({len(p) for p in together(8, lambda _: pagededup.match(t, threads=2))}) == 1
    assert len(set(together(8, lambda _: pagededup.table_text(t)))) == 1
    generator, lock = pagededup.read(dump(n=400), s), threading.Lock()

    def take(_):
        seen = []
        while True:
            s.sign(html[0])
            with lock:
                page = next(generator, None)
            if page is None:
                return seen
            seen.append(page.id)

    ids = sum(together(4, take), [])
    assert len(ids) == len(set(ids)) == 400
    generator = pagededup.read(dump(n=400), s)

    def race(_):
        seen = refused = 0
        while True:
            try:
                next(generator)
                seen += 1
            except ValueError:    # Python's own: generator already executing
                refused += 1
            except StopIteration:
                return seen

    assert sum(together(4, race)) <= 400


def interrupted():
    """A signal handler that uses the same object while it works."""
    s, kept, t = signer(), store('interrupted'), table(100)
    said, html = set(), pages(3, 400)

    def handler(*_):
        s.sign(html[1])
        try:
            kept.add(t)
            said.add('worked')
        except UsageError as e:
            said.add(str(e))
        if time.monotonic() < end:
            signal.setitimer(signal.ITIMER_REAL, .0005)

    end = time.monotonic() + 3
    signal.signal(signal.SIGALRM, handler)
    want = s.sign(html[0])
    signal.setitimer(signal.ITIMER_REAL, .0005)
    while time.monotonic() < end:
        got = s.sign(html[0])
        assert (got.fingerprint, got.text, got.text_digest) == (want.fingerprint, want.text, want.text_digest)
        kept.check(t)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    assert said <= {'worked', 'the store is in use by another call of this thread; wait until that call has ended'} and said, said
    kept.close()


def forked():
    """A child refuses its parent's store, and closes it without harm."""
    s, t = store('forked'), table()
    s.add(t)
    child = os.fork()
    if not child:
        code = 1
        try:
            s.add(t)
        except UsageError:
            s.close()
            code = 0
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert set(s.add(t).column('status').to_pylist()) <= {'kept', 'duplicate'}
    s.close()
    said = subprocess.run([COMMAND, 'store', 'verify', 'forked'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert said.returncode == 0, said.stdout


GROUPS = [wrong, every, right, damage, shared_store, close_while_adding, shared_signer, interrupted, forked]


def main():
    if len(sys.argv) > 1:
        faulthandler.enable()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            {f.__name__: f for f in GROUPS}[sys.argv[1]]()
            os.chdir('/')
        return
    failed = 0
    print('1..%d' % len(GROUPS))
    for n, group in enumerate(GROUPS, 1):
        got = subprocess.run([sys.executable, '-X', 'faulthandler', __file__, group.__name__], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        lines = got.stdout.decode('utf-8', 'replace').splitlines()
        ok = got.returncode == 0 and not got.stderr
        failed += not ok
        print('%s %d - misuse: %s: %s' % ('ok' if ok else 'not ok', n, group.__name__, group.__doc__))
        if not ok:
            print('#   exit status %d, in %s' % (got.returncode, next((line for line in reversed(lines) if line.startswith('case')), 'the beginning')))
            for line in got.stderr.decode('utf-8', 'replace').splitlines()[-14:]:
                print('#   ' + line)
        for line in lines:
            if line.startswith('#'):
                print(line)
        sys.stdout.flush()
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
