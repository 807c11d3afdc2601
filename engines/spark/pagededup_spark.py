# SPDX-License-Identifier: MIT
"""pagededup on Spark: each step of a run is a function over DataFrames.

    from pagededup_spark import Pagededup
    p = Pagededup(spark, "pagededup.tar.gz")            # packed by engines/ship
    kept, verdicts = p.dedup(texts, text="text", id="id")   # a DataFrame of pages; or in steps, from dumps:
    pages = p.fp(spark.read.text("dumps.txt"))          # or existing rows: spark.read.parquet("pages")
    pairs = p.match(pages, "-k", "6")
    verdicts = p.cluster(pairs)
    verdicts.write.parquet("verdicts")
    p.apply(verdicts, spark.read.text("dumps.txt"), "clean").show()

Each function starts the filters `pagededup map` and `pagededup reduce` in the tasks (mapInArrow), and Spark sorts between
them.  The driver never gets rows.  It gets only the parameters of a join, some hundred bytes, and the header of the pairs.  If a
filter fails, its task fails, and the error contains the filter's standard error.  The rows are the same as on one machine,
in another order.

Columns have the names of Common Crawl's index if it has the column: url, warc_filename, warc_record_offset, fetch_time,
content_digest, content_charset, content_languages.  Other columns have the names of docs/format-rows.md.  Values are strings
with the escapes of rows, so that a row survives the way there and back; `-` is null.  The column `header` contains the
parameters of the rows.  Suspects are rows of the pairs with the reason in the column `suspect`, which is null for pairs.
For Spark 3.5 and 4; the executors need pyarrow, as for every use of mapInArrow.
"""

import atexit
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import uuid

import pyarrow as pa
import pyspark
from pyspark import AccumulatorParam, SparkFiles, StorageLevel
from pyspark.sql import functions as F

COLUMNS = {
    "fp": "fingerprint id url fetch_time content_digest text_digest content_charset content_languages terms text_bytes "
          "confidence flags quality sketch user_id params subject".split(),
    "pairs": "id_a id_b distance similarity method url_a url_b fetch_time_a text_bytes_a quality_a fetch_time_b "
             "text_bytes_b quality_b content_digest_a content_digest_b".split(),
    "verdicts": "cluster_id id url is_duplicate dup_of via distance similarity text_bytes weight reason cluster_size loss "
                "suspect content_digest".split(),
}
IN_ROWS = {"content_languages": "languages"}
LOCATION = ["warc_filename", "warc_record_offset"]
SCHEMA = {
    "line": "line binary",
    "keyed": "key binary, line binary",
    "dumps": "path string, pages bigint, bytes_in bigint, bytes_out bigint",
    **{kind: ", ".join("`%s` string" % c for c in names) + ", header string" for kind, names in COLUMNS.items()},
}
SCHEMA["fp"] += ", warc_filename string, warc_record_offset bigint"
SCHEMA["pairs"] += ", suspect string"
SCHEMA["signed"] = SCHEMA["fp"]
ID, USER_ID = COLUMNS["fp"].index("id"), COLUMNS["fp"].index("user_id")
SUSPECT = b"# suspect "
ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\x00"})
AT_ONCE = 4096  # lines in an Arrow batch
FOR_SPARK = {"core-site.xml": b"<configuration/>"}  # Hadoop's command does not start without this file; a file in HADOOP_CONF_DIR has precedence


# In the tasks: convert batches of a DataFrame to lines of a filter, and back.


def lines_of(kind, batches):
    """Yield lines; print a header before the first row to which it applies."""
    if kind == "nothing":
        for _ in batches:
            pass
        return
    if kind == "line":
        for batch in batches:
            for line in batch.column(0).to_pylist():
                yield line.encode() if isinstance(line, str) else line
        return
    if kind == "pages":
        for batch in batches:
            for row in zip(*[column.to_pylist() for column in batch.columns]):
                yield json.dumps({name: value for name, value in zip(batch.schema.names, row) if value is not None}).encode()
        return
    before = None
    for batch in batches:
        there = batch.schema.names
        known = [c for c in COLUMNS[kind] if c in there or (c == "id" and set(LOCATION) <= set(there))]
        columns = [batch.column(c).to_pylist() if c in there else
                   ["%s:%d" % i for i in zip(*[batch.column(l).to_pylist() for l in LOCATION])] for c in known]
        headers = batch.column("header").to_pylist() if "header" in there else [None] * batch.num_rows
        names = "#" + "\t".join(IN_ROWS.get(c, c) for c in known)
        marked = batch.column("suspect").to_pylist() if kind == "pairs" and "suspect" in there else [None] * batch.num_rows
        for header, suspect, *row in zip(headers, marked, *columns):
            if before != (header, names):
                if header is not None:
                    yield header.encode()
                yield names.encode()
                before = header, names
            mark = SUSPECT + suspect.encode() + b"\t" if suspect is not None else b""
            # An unescaped tab or line end in a value must not become another column or row.
            yield mark + "\t".join(["-" if v is None else v if v.isprintable() else v.translate(ESCAPES) for v in row]).encode()


def batches_of(kind, lines):
    rows = []
    make = {"line": line_batch, "keyed": keyed_batch, "dumps": dump_batch}.get(kind, lambda rows: row_batch(kind, rows))
    header, names = None, None
    for line in lines:
        if kind in COLUMNS or kind == "signed":
            suspect = None
            if kind == "pairs" and line.startswith(SUSPECT):
                mark, _, line = line.partition(b"\t")
                suspect = mark[len(SUSPECT):].decode()
            elif line.startswith(b"#"):
                if line.startswith(b"# pagededup "):
                    header = line.decode()
                elif b"\tid\t" in line or line.startswith(b"#id"):  # not a row whose first value begins with #
                    names = line[1:].decode().split("\t")
                continue
            line = (header, names, line, suspect)
        rows.append(line)
        if len(rows) == AT_ONCE:
            yield make(rows)
            rows = []
    if rows:
        yield make(rows)


def line_batch(lines):
    return pa.RecordBatch.from_arrays([pa.array(lines, pa.binary())], ["line"])


def keyed_batch(lines):
    keys = [line.partition(b"\t")[0] for line in lines]
    return pa.RecordBatch.from_arrays([pa.array(keys, pa.binary()), pa.array(lines, pa.binary())], ["key", "line"])


def dump_batch(lines):
    rows = [line.decode().split("\t") for line in lines]
    return pa.RecordBatch.from_arrays([pa.array([r[0] for r in rows], pa.string())] +
                                      [pa.array([int(r[i]) for r in rows], pa.int64()) for i in (1, 2, 3)],
                                      ["path", "pages", "bytes_in", "bytes_out"])


def row_batch(kind, rows):
    wanted, arrays = COLUMNS["fp" if kind == "signed" else kind], []
    values = []
    for _, names, line, _ in rows:
        row = line.decode().split("\t")
        if names is not None and names[:len(wanted)] != [IN_ROWS.get(c, c) for c in wanted]:
            at = dict(zip(names, row))
            row = [at.get(IN_ROWS.get(c, c), "-") for c in wanted]
        values.append([None if v == "-" else v for v in row[:len(wanted)]] + [None] * (len(wanted) - len(row)))
        if kind == "signed":  # the user's id is the id of the row
            values[-1][ID] = values[-1][USER_ID]
    for column in zip(*values):
        arrays.append(pa.array(column, pa.string()))
    arrays.append(pa.array([row[0] for row in rows], pa.string()))
    names = wanted + ["header"]
    if kind == "pairs":
        arrays.append(pa.array([row[3] for row in rows], pa.string()))
        names = names + ["suspect"]
    if kind in ("fp", "signed"):
        ends = [re.fullmatch(r"(.+):([0-9]+)", row[1] or "", re.S) for row in values]
        arrays.append(pa.array([m.group(1) if m else None for m in ends], pa.string()))
        arrays.append(pa.array([int(m.group(2)) if m else None for m in ends], pa.int64()))
        names = names + LOCATION
    return pa.RecordBatch.from_arrays(arrays, names)


def through(arguments, lines, files, counters, binary=False, success=(0,)):
    """Run a filter on lines and yield its output, as lines or bytes.  files: name -> contents of files in its folder."""
    folder = tempfile.mkdtemp(prefix="pagededup-")
    try:
        for name, held in files.items():
            if isinstance(held, str):
                os.symlink(SparkFiles.get(held), os.path.join(folder, name))
            else:
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(held if isinstance(held, bytes) else held.value)
        with open(os.path.join(folder, "stderr"), "w+b") as err:
            program = os.path.abspath(os.path.join(SparkFiles.get("pagededup"), "bin", "pagededup"))
            child = subprocess.Popen([program] + arguments, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err)
            failed = []

            def feed():
                try:
                    for line in lines:
                        child.stdin.write(line + b"\n")
                    child.stdin.close()
                except BrokenPipeError:
                    pass
                except BaseException as e:  # the filter must not mistake half of the input for all of it
                    failed.append(e)
                    child.kill()

            feeder = threading.Thread(target=feed, daemon=True)
            feeder.start()
            try:
                for line in iter(lambda: child.stdout.read(1 << 20), b"") if binary else child.stdout:
                    yield line[:-1] if line.endswith(b"\n") and not binary else line
                status = child.wait()
            finally:
                child.kill()
                child.wait()
            feeder.join()
            if failed:
                raise failed[0]
            err.seek(0)
            said = err.read().decode("utf-8", "replace").splitlines()
        if status not in success:
            words = [s for s in said if not s.startswith("reporter:")]
            raise RuntimeError("pagededup %s ended with status %d: %s" % (" ".join(arguments), status, "; ".join(words[-5:])))
        counters.add({m.group(1): int(m.group(2)) for m in
                      (re.fullmatch(r"reporter:counter:pagededup,(\w+),([0-9]+)", s) for s in said) if m} if said else {})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def spark_files(command):
    """Return a command for files of any file system that Spark reads: -cat, -put -f.  It starts in a folder with FOR_SPARK."""
    home = os.environ.get("SPARK_HOME") or os.path.dirname(pyspark.__file__)
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    conf = os.environ.get("HADOOP_CONF_DIR")
    return "%s -Xmx256m -cp %s%s/jars/*:. org.apache.hadoop.fs.FsShell %s" % (java, conf + ":" if conf else "", home, command)


# If dumps are files of the nodes, -put would write a file of checksums next to each dump.
BY_SPARK = {("fetch", "spark"): "-cat", ("store", "spark"): "-put -f", ("store", "spark, to files"): "-fs file:/// -get -f"}


def file_command(option, command):
    """Return an option of the filter."""
    if (option, command) in BY_SPARK:
        command = spark_files(BY_SPARK[option, command])
    return ["--%s=%s" % (option, command)] if command else []


def escaped(column):
    """Return the value of a column as rows have it."""
    for raw, escape in [("\\", "\\\\"), *((chr(c), e) for c, e in ESCAPES.items())]:
        column = F.replace(column.cast("string"), F.lit(raw), F.lit(escape))
    return column


class Sums(AccumulatorParam):
    def zero(self, value):
        return {}

    def addInPlace(self, a, b):
        for name, n in b.items():
            a[name] = a.get(name, 0) + n
        return a


# In the driver.


class Pagededup:
    """archive: the file that engines/ship made.  fetch: None, if every node can open the paths of the dumps; "spark", to read
    them with Spark's jars (hdfs://, s3a://); or a command that gets a path as its last argument and prints this file. 
    partitions: the number of reducers; the default is Spark's number of shuffle partitions."""

    def __init__(self, spark, archive, fetch=None, partitions=None):
        self.spark, self.sc, self.fetch = spark, spark.sparkContext, fetch
        self.partitions = partitions or int(spark.conf.get("spark.sql.shuffle.partitions"))
        self.sc.addArchive(archive + "#pagededup")
        self.sc.addPyFile(os.path.abspath(__file__))  # the tasks import this module
        self.counts = self.sc.accumulator({}, Sums())
        self.kept = []

    @property
    def counters(self):
        """Return the counters of the filters so far; a task that ran twice is counted twice."""
        return dict(self.counts.value)

    def release(self):
        """Free data that steps keep for later steps.  Call it after the results are written."""
        for frame in self.kept:
            frame.unpersist()
        self.kept = []

    def dedup(self, pages, *, text=None, html=None, url=None, id=None, fp=(), match=(), cluster=()):
        """Find the near-duplicates in a DataFrame of pages.  Return (kept, verdicts): the rows of `pages` that stay, and the verdicts
        on pages that have near-duplicates.  The columns are those of sign(); fp, match, cluster: options of these commands."""
        self._check(fp=fp, match=match, cluster=cluster)
        column = self._id_column(pages, url, id)
        verdicts = self._keep(self.cluster(self.match(self._keep(self.sign(pages, *fp, text=text, html=html, url=url, id=id)), *match),
                                           *cluster))
        removed = verdicts.where("is_duplicate = '1'").select(F.col("id").alias("pagededup_removed"))
        kept = pages.join(removed, escaped(F.col(column)) == F.col("pagededup_removed"), "left_anti")
        return kept, verdicts

    def sign(self, pages, *options, text=None, html=None, url=None, id=None):
        """Return the rows of a DataFrame of pages.  text or html: the column with the text or the HTML of a page; url, id: its other
        columns.  The id of a row is the value of `id`, or of `url` if there is no `id`; each must occur once."""
        if (text is None) == (html is None):
            raise TypeError("name one column with the pages: text= or html=")
        wanted = {"id": self._id_column(pages, url, id), **({"url": url} if url else {}), **({"text": text} if text else {"html": html})}
        for name in wanted.values():
            if name not in pages.columns:
                raise ValueError("no column '%s' in the DataFrame; its columns are: %s" % (name, ", ".join(pages.columns)))
        self._check(fp=options)
        options, files = self._ship(options)
        chosen = pages.select([F.col(column).cast("string").alias(name) for name, column in wanted.items()])
        return self._filter(chosen, "pages", "signed", lambda: ["fp", "-q", "-j1", "--name=-"] + options + ["-"], files)

    @staticmethod
    def _id_column(pages, url, id):
        if not (id or url):
            raise TypeError("name the column that identifies a page: id= or url=")
        return id or url

    def fp(self, dumps, *options):
        """Return the rows of dumps.  dumps: a DataFrame whose first column contains paths.  For a DataFrame of pages: sign()."""
        fetch = self.fetch
        self._check(fp=options)
        options, files = self._ship(options)
        paths = dumps.select(dumps.columns[0]).repartition(max(dumps.count(), 1))
        return self._filter(paths, "line", "fp", lambda: ["map", "--job=fp"] + file_command("fetch", fetch) + ["--"] + options,
                            {**FOR_SPARK, **files})

    def _check(self, **options):
        """Raise ValueError before any job starts if a command does not know its options."""
        steps = {"fp": ["map", "--job=fp"], "match": ["reduce", "--job=join", "--step=count"],
                 "cluster": ["reduce", "--job=cluster", "--step=number", "--params=header"]}
        for command, given in options.items():
            if given:
                header = b"# pagededup pairs 1\n#" + "\t".join(COLUMNS["pairs"]).encode() + b"\n"
                try:
                    for _ in through(steps[command] + ["--"] + list(map(self._local, given)), [], {"header": header}, self.counts):
                        pass
                except RuntimeError as e:
                    raise ValueError("%s: %s" % (command, e)) from None

    @staticmethod
    def _local(option):
        """Return an option with the absolute path of the local file that it names, if it names one."""
        name, equals, value = option.partition("=")
        return name + equals + os.path.abspath(value) if equals and os.path.isfile(value) else option

    def _ship(self, options):
        """Send the local files that options name to all tasks.  Return the options with the names there, and the files."""
        there, files = [], {}
        for option in options:
            name, equals, value = option.partition("=")
            if equals and os.path.isfile(value):
                own = "%d-%s" % (len(files), os.path.basename(value))
                with open(value, "rb") as f:
                    files[own] = self.sc.broadcast(f.read())
                option = name + equals + own
            there.append(option)
        return there, files

    def match(self, rows, *options):
        """Return the pairs among rows of fp."""
        self._check(match=options)
        params = self._params(rows, "fp", "join", "count", {}, options)
        if "--all-pairs" in options:
            params = self._params(rows, "fp", "join", "plan", params)
            found = [self._keep(self._step("join", "near", [(rows, "fp")], params))]
        else:
            equal = self._keep(self._step("join", "equal", [(rows, "fp")], params))
            params = self._params(equal, "line", "join", "plan", params)
            near = self._keep(self._step("join", "near", [(equal, "line")], params))
            params = self._params(near, "line", "join", "density", params)
            found = [equal, near]
            if re.search(rb"^(dense|full|parts) [1-9]", params["params"].value, re.M):
                found.append(self._keep(self._step("join", "dense", [(f, "line") for f in found], params, partitions=1)))
        return self._pairs("join", found, params)

    def batch(self, keys, new, stored, *options, pairs_inside=False):
        """Compare new pages with stored pages.  Return the pairs, verdicts on the stored pages to remove, and the rows of the new
        collection.  keys: the key file of the new pages, written by `pagededup match --save`; every task maps its tables into memory.
        new, stored: rows of fp."""
        side, file = self._batch(keys, stored, options)
        found = [self._keep(self._find(stored, side, file))]
        tombstones = self._step("batch", "tombstones", [(found[0], "line")], side, "verdicts")
        collection = self._step("batch", "update", [(stored, "fp"), (new, "fp"), (found[0], "line")], side, "fp")
        if pairs_inside:
            one = self.spark.range(0, 1, 1, 1)
            arguments = ["map", "--job=batch", "--step=inside"] + ["--%s=%s" % (n, n) for n in side]
            found.append(self._keep(self._filter(one, "nothing", "line", lambda: arguments, side)))
        return self._pairs("batch", found, side), tombstones, collection

    def lists(self, keys, stored, *options):
        """Return lines: each new fingerprint, a tab, and the stored fingerprints within k, separated by spaces.  `options` must have
        "--no-verify".  keys, stored: as for batch."""
        side, file = self._batch(keys, stored, options)
        return self._find(stored, side, file, "--list")

    def _batch(self, keys, stored, options):
        name = "pagededup-%s.key" % uuid.uuid4().hex
        folder = tempfile.mkdtemp(prefix="pagededup-")  # a node fetches the file from here when its first task starts
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        shutil.copyfile(keys, os.path.join(folder, name))
        self.sc.addFile(os.path.join(folder, name))
        side = {"batch": name}
        side = {**side, **self._params(stored, "fp", "batch", "count", side, options)}
        return side, os.path.join(folder, name)

    def _find(self, stored, side, keys, *more):
        tables = keys + ".tables"  # sent to every node once
        arguments = ["map", "--job=batch", "--step=tables"] + ["--%s=%s" % (n, n) for n in side]
        with open(tables, "wb") as out:
            for piece in through(arguments, [], {"batch": os.path.basename(keys), "params": side["params"]}, self.counts, binary=True):
                out.write(piece)
        self.sc.addFile(tables)
        given = {**side, "tables": os.path.basename(tables)}
        own = ["--%s=%s" % (n, n) for n in given]
        keyed = self._map(stored, "fp", ["map", "--job=batch", "--step=find"] + own, given)
        return self._reduce(keyed, ["reduce", "--job=batch", "--step=find"] + own[:-1] + list(more), "line", None, side)

    def apply(self, verdicts, dumps, output, store=None):
        """Write the dumps without duplicates into the folder `output`, and return a row for each written dump.
        dumps: as for fp.  store: None, if every node can write there; "spark", to write with Spark's jars; or a command that takes a
        local file and its destination."""
        fetch, paths = self.fetch, dumps.select(dumps.columns[0])
        lines = self._step("apply", "split", [(verdicts, "verdicts"), (paths, "line")])
        lines = self._keep(lines)
        if store == "spark" and self._make_folders(paths, output) == "file":
            store = "spark, to files"
        arguments = ["map", "--job=apply", "--step=rewrite", "-o", output]
        return self._filter(lines.repartition(max(lines.count(), 1)), "line", "dumps",
                            lambda: arguments + file_command("fetch", fetch) + file_command("store", store), FOR_SPARK)

    def _make_folders(self, paths, output):
        """Return the kind of file system of the paths."""
        jvm, conf = self.sc._jvm, self.sc._jsc.hadoopConfiguration()
        below = F.regexp_replace(F.regexp_replace(F.col(paths.columns[0]), "^[A-Za-z0-9+.-]+://[^/]*", ""), "/?[^/]*$", "")
        for (folder,) in paths.select(below).distinct().collect():
            path = jvm.org.apache.hadoop.fs.Path(output.rstrip("/") + "/" + folder.lstrip("/"))
            path.getFileSystem(conf).mkdirs(path)
        return jvm.org.apache.hadoop.fs.Path(output).getFileSystem(conf).getUri().getScheme()

    def _pairs(self, job, found, side):
        doubts = self._keep(self._step(job, "doubts", [(f, "line") for f in found], side))
        return self._step(job, "pairs", [(f, "line") for f in found + [doubts]], side, "pairs")

    def cluster(self, pairs, *options):
        """Return verdicts: for each page of a cluster, whether it is a duplicate, and of which page."""
        self._check(cluster=options)
        pairs = self._keep(pairs)
        headers = pairs.select("header").distinct().limit(2).collect()
        if not headers:  # there is no pair, and no header with the parameters of the pairs
            return self.spark.createDataFrame([], SCHEMA["verdicts"])
        more = ["--"] + list(options) if options else []
        edges, unsettled = self._round(self._map(pairs, "pairs", ["map", "--job=cluster", "--step=edges"]))
        while unsettled:
            edges, unsettled = self._round(self._map(edges, "line", ["map", "--job=cluster", "--step=round"]))
        attached = self._step("cluster", "attach", [(edges, "line"), (pairs, "pairs")])
        lines = [row[0] for row in headers if row[0] is not None] + ["#" + "\t".join(COLUMNS["pairs"])]
        files = {"header": self.sc.broadcast("".join(line + "\n" for line in lines).encode())}
        more = ["--params=header"] + more
        grouped = self._map(attached, "line", ["map", "--job=cluster", "--step=group"])
        grouped = self._reduce(grouped, ["reduce", "--job=cluster", "--step=group"] + more, "line", None, files)
        numbered = self._map(grouped, "line", ["map", "--job=cluster", "--step=number"])
        return self._reduce(numbered, ["reduce", "--job=cluster", "--step=number"] + more, "verdicts", 1, files)

    def _round(self, keyed):
        before = self.counters.get("UNSETTLED", 0)
        edges = self._keep(self._reduce(keyed, ["reduce", "--job=cluster", "--step=round"]))
        edges.count()
        return edges, self.counters.get("UNSETTLED", 0) > before

    def _params(self, frame, kind, job, step, files, options=()):
        own = ["--%s=%s" % (name, name) for name in files]
        keyed = self._map(frame, kind, ["map", "--job=" + job, "--step=" + step] + own, files)
        more = ["--"] + list(options) if options else []
        lines = self._reduce(keyed, ["reduce", "--job=" + job, "--step=" + step] + own + more, "line", 1, files).collect()
        return {"params": self.sc.broadcast(b"".join(bytes(line[0]) + b"\n" for line in lines))}

    def _step(self, job, step, inputs, files={}, out="line", partitions=None):
        arguments = ["--job=" + job, "--step=" + step] + ["--%s=%s" % (name, name) for name in files]
        keyed = None
        for frame, kind in inputs:
            part = self._map(frame, kind, ["map"] + arguments, files)
            keyed = part if keyed is None else keyed.union(part)
        return self._reduce(keyed, ["reduce"] + arguments, out, partitions, files)

    def _map(self, frame, kind, arguments, files={}):
        return self._filter(frame, kind, "keyed", lambda: arguments, files)

    def _reduce(self, keyed, arguments, out="line", partitions=None, files={}):
        # Add the last line of map tasks.  A frame without partitions has no map task, and Spark starts no reduce task without rows.
        last = self.spark.range(0, 1, 1, 1).select(F.lit(b"").alias("key"), F.lit(b"\t").alias("line"))
        sorted_ = keyed.union(last).repartition(partitions or self.partitions, "key").sortWithinPartitions("key").select("line")
        return self._filter(sorted_, "line", out, lambda: arguments, files)

    def _filter(self, frame, kind, out, arguments, files={}):
        counts = self.counts

        success = (0, 1) if out == "signed" else (0,)  # fp ends with 1 if pages were skipped, or if there were none

        def task(batches):
            yield from batches_of(out, through(arguments(), lines_of(kind, batches), files, counts, success=success))

        return frame.mapInArrow(task, SCHEMA[out])

    def _keep(self, frame):
        frame = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self.kept.append(frame)
        return frame
