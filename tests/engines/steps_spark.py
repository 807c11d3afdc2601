# SPDX-License-Identifier: MIT
"""Steps of pagededup_spark on a cluster, each with Parquet in and out: the rows that it writes as text, for tests.

usage: steps_spark.py MASTER ARCHIVE FOLDER fp PATH…          FOLDER/pages.parquet, FOLDER/fp.tsv
       steps_spark.py MASTER ARCHIVE FOLDER match [OPTION…]   from pages.parquet: pairs.parquet, pairs.tsv
       steps_spark.py MASTER ARCHIVE FOLDER cluster [OPTION…] from pairs.parquet: verdicts.parquet, verdicts.tsv
       steps_spark.py MASTER ARCHIVE FOLDER batch KEYS [OPTION…]  from new.parquet and pages.parquet: against.tsv, tombstones.tsv, collection.tsv
       steps_spark.py MASTER ARCHIVE FOLDER lists KEYS [OPTION…]  from pages.parquet: printed lines
       steps_spark.py MASTER ARCHIVE FOLDER apply OUT PATH…   from verdicts.parquet: OUT, dumps.tsv
       steps_spark.py MASTER ARCHIVE FOLDER raw           pages.parquet with tabs and line ends in every URL, without escapes
       steps_spark.py MASTER ARCHIVE FOLDER frame FILE.jsonl [OPTION…]  dedup of a DataFrame with id and text; the ids of the pages
                                                          that stay and that are removed: kept.txt, removed.txt; options of match
       steps_spark.py MASTER ARCHIVE FOLDER rows NAME FILE…   files of rows of fp, a task for each, as NAME.parquet

FETCH, STORE in the environment: how dumps are read and written.  EXECUTOR_MB (512), PARTITIONS (3) of a shuffle.
"""
import glob
import os
import shutil
import sys

top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(top, "engines", "spark"))

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import pagededup_spark  # noqa: E402

master, archive, folder, step, *rest = sys.argv[1:]
spark = (SparkSession.builder.master(master).appName("pagededup " + step).config("spark.ui.enabled", "false")
         .config("spark.executor.memory", os.environ.get("EXECUTOR_MB", "512") + "m").config("spark.driver.memory", "512m")
         .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
         .config("spark.ui.showConsoleProgress", "false").config("spark.task.maxFailures", "2")
         .config("spark.sql.shuffle.partitions", os.environ.get("PARTITIONS", "3")).getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
p = pagededup_spark.Pagededup(spark, archive, fetch=os.environ.get("FETCH"))


def written(frame, name, kind, text=None):
    """Write rows as Parquet, read them back by the tasks as text, and compare them with the rows of one machine."""
    there = os.path.join(folder, name + ".parquet")
    frame.write.mode("overwrite").parquet(there)
    file = os.path.join(folder, (text or kind) + ".tsv")
    lines = spark.read.parquet(there).mapInArrow(
        lambda batches: pagededup_spark.batches_of("line", pagededup_spark.lines_of(kind, batches)), pagededup_spark.SCHEMA["line"])
    lines.select(F.col("line").cast("string")).write.mode("overwrite").text(file + ".parts")
    with open(file, "wb") as out:
        for part in sorted(glob.glob(file + ".parts/part-*")):
            with open(part, "rb") as f:
                shutil.copyfileobj(f, out)
    shutil.rmtree(file + ".parts")


def read(name):
    return spark.read.parquet(os.path.join(folder, name + ".parquet"))


def rows_of(batches):
    for batch in batches:
        for path in batch.column(0).to_pylist():
            with open(path, "rb") as f:
                for line in f:
                    yield line.rstrip(b"\n")


def paths_of(paths):
    return spark.createDataFrame([(path,) for path in paths], "path string")


if step == "fp":
    written(p.fp(paths_of(rest)), "pages", "fp")
elif step == "match":
    written(p.match(spark.read.parquet(os.path.join(folder, "pages.parquet")), *rest), "pairs", "pairs")
elif step == "cluster":
    written(p.cluster(spark.read.parquet(os.path.join(folder, "pairs.parquet")), *rest), "verdicts", "verdicts")
elif step == "batch":
    pairs, tombstones, collection = p.batch(rest[0], read("new"), read("pages"), *rest[1:], pairs_inside=True)
    written(pairs, "against", "pairs", "against")
    written(tombstones, "tombstones", "verdicts", "tombstones")
    written(collection, "collection", "fp", "collection")
elif step == "lists":
    print(*[line for (line,) in p.lists(rest[0], read("pages"), *rest[1:]).select(F.col("line").cast("string")).collect()], sep="\n")
elif step == "apply":
    with open(os.path.join(folder, "dumps.tsv"), "w") as out:
        for row in p.apply(read("verdicts"), paths_of(rest[1:]), rest[0], store=os.environ.get("STORE")).collect():
            out.write("%s\t%d\t%d\t%d\n" % tuple(row))
elif step == "rows":
    frame = paths_of(map(os.path.abspath, rest[1:])).repartition(len(rest) - 1).mapInArrow(
        lambda batches: pagededup_spark.batches_of("fp", rows_of(batches)), pagededup_spark.SCHEMA["fp"])
    frame.write.mode("overwrite").parquet(os.path.join(folder, rest[0] + ".parquet"))
elif step == "frame":
    kept, verdicts = p.dedup(spark.read.json(rest[0]), text="text", id="id", match=rest[1:])
    for name, ids in (("kept", kept.select("id")), ("removed", verdicts.where("is_duplicate = '1'").select("id"))):
        with open(os.path.join(folder, name + ".txt"), "w") as out:
            out.writelines(sorted("%r\n" % row[0] for row in ids.collect()))
elif step == "raw":
    there = os.path.join(folder, "pages.parquet")
    read("pages").withColumn("url", F.concat(F.col("url"), F.lit("\t\n\r\0#"))).write.parquet(there + ".raw")
    shutil.rmtree(there)
    os.rename(there + ".raw", there)
else:
    sys.exit("no step " + step)
p.release()
print("counters", " ".join("%s=%d" % i for i in sorted(p.counters.items())))
spark.stop()
