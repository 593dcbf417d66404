"""Measure mapInArrow with urlfold against the identity, on a Spark cluster of two workers with a
core each, and kill executors:

    URLFOLD=… URLFOLD_CORPORA=… PYTHONPATH=bindings/python python3 bindings/python/bench_spark.py [ROWS [ROUNDS [KILLS]]]

It needs Java and the packages pyspark and pyarrow of PyPI. The way "copy" adds the column of URLs
again, so the difference from it is what urlfold takes, and the difference between it and the
identity is what a column takes. CPU seconds are those of all processes of Spark and urlfold.
"""

import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import pyarrow as pa
import pyarrow.parquet
import urlfold
import urlfold.spark
from pyspark.sql import SparkSession

ROWS, ROUNDS, KILLS = (int(a) for a in (sys.argv[1:] + ["10000000", "5", "3"][len(sys.argv) - 1 :])[:3])


def identity(batches):
    yield from batches


def copy(batches):
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_arrays([*batch.columns, batch.column("url")], ["i", "url", "norm"])


def processes():
    """Return the stat fields after the name of all processes below this one, by pid, and their commands."""
    all_, below = {}, {os.getpid()}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                all_[int(entry.name)] = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                pass
    while found := {pid for pid, stat in all_.items() if int(stat[1]) in below} - below:
        below |= found
    return {pid: all_[pid] for pid in below if pid in all_}


def command(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def cpu():
    """Return the CPU seconds of all processes, also of those that ended, by kind."""
    total = {"JVM": 0.0, "Python": 0.0, "urlfold": 0.0}
    for pid, stat in processes().items():
        text = command(pid)
        own, children = int(stat[11]) + int(stat[12]), int(stat[13]) + int(stat[14])
        kind = "JVM" if b"java" in text.split(b"\0")[0] else "urlfold" if b"--lock-step" in text else "Python"
        total[kind] += own / 100
        total["urlfold" if kind == "Python" else kind] += children / 100 if kind == "Python" else 0
    return total


def write_rows(path):
    """Write rows of an index and a URL of the corpus, several times each, in random order."""
    urls = (pathlib.Path(os.environ["URLFOLD_CORPORA"]) / "urls/kasztp.txt").read_text().removeprefix("\ufeff").split("\n")
    urls = [url for url in urls if url]
    chance = random.Random(1)
    schema = pa.schema({"i": pa.int64(), "url": pa.string()})
    per_file = -(-ROWS // 8)
    for n in range(8):
        with pa.parquet.ParquetWriter(f"{path}/{n}.parquet", schema) as file:
            for start in range(n * per_file, min((n + 1) * per_file, ROWS), 250_000):
                ids = range(start, min(start + 250_000, (n + 1) * per_file, ROWS))
                file.write_table(pa.table([pa.array(ids), pa.array(chance.choices(urls, k=len(ids)))], schema))
    return sum(map(len, urls)) / len(urls)


def digest(table):
    """Return what does not depend on the order of rows: their number, and sums of hashes."""
    return table.selectExpr("count(*)", "sum(cast(xxhash64(i, url, norm) as decimal(38)))", "count(norm)").first()


def kill_executors(stop):
    while not stop.wait(random.uniform(4, 8)):
        for pid in processes():
            if b"CoarseGrainedExecutorBackend" in command(pid):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                break
        if len(killed) >= KILLS:
            return


killed = []


def main():
    builder = SparkSession.builder.master("local-cluster[2,1,2048]").config("spark.executor.memory", "2g").config("spark.ui.enabled", "false")
    for name in ("URLFOLD", "PYTHONPATH"):
        builder = builder.config(f"spark.executorEnv.{name}", os.environ[name])
    spark = builder.config("spark.excludeOnFailure.enabled", "false").config("spark.task.maxFailures", "20").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        length = write_rows(folder)
        frame = spark.read.parquet(folder)
        ways = {
            "identity": frame.mapInArrow(identity, frame.schema),
            "copy": frame.mapInArrow(copy, "i long, url string, norm string"),
            "urlfold": urlfold.spark.with_columns(frame),
        }
        times = {name: [] for name in ways}
        seconds = {name: [] for name in ways}
        small = spark.read.parquet(f"{folder}/0.parquet")
        warm = {
            "identity": small.mapInArrow(identity, frame.schema),
            "copy": small.mapInArrow(copy, "i long, url string, norm string"),
            "urlfold": urlfold.spark.with_columns(small),
        }
        for round_ in range(-1, ROUNDS):  # the first one warms up, with an eighth of the rows
            for name in list(ways)[:: 1 if round_ % 2 else -1]:
                start, before = time.perf_counter(), cpu()
                (ways if round_ >= 0 else warm)[name].write.format("noop").mode("overwrite").save()
                taken, after = time.perf_counter() - start, cpu()
                if round_ >= 0:
                    times[name].append(taken)
                    seconds[name].append({kind: after[kind] - before[kind] for kind in after})
                print(round_, name, f"{taken:.1f} s", {kind: round(after[kind] - before[kind], 1) for kind in after}, flush=True)
        print(f"{ROWS} rows, URLs of {length:.0f} characters, load {os.getloadavg()[0]:.0f}, medians of {ROUNDS} rounds")
        total = lambda s: sum(s.values())
        for name in ways if ROUNDS > 0 else ():
            pairs = statistics.median(a / b for a, b in zip(times[name], times["identity"]))
            cpus = statistics.median(total(a) / total(b) for a, b in zip(seconds[name], seconds["identity"]))
            kinds = ", ".join(f"{kind} {statistics.median(s[kind] for s in seconds[name]):.1f}" for kind in seconds[name][0])
            print(f"{name:10}{statistics.median(times[name]):7.1f} s, {pairs:.2f} × identity; {statistics.median(map(total, seconds[name])):6.1f} s of CPU, {cpus:.2f} × ({kinds})")
        if KILLS:
            stop = threading.Event()
            killer = threading.Thread(target=kill_executors, args=(stop,))
            killer.start()
            got = digest(ways["urlfold"])
            stop.set()
            killer.join()
            one = pa.parquet.read_table(folder)
            with urlfold.Normalizer() as n:
                norms = n.arrow(one["url"])["norm"]
            pa.parquet.write_table(one.append_column("norm", norms), f"{folder}/one")
            want = digest(spark.read.parquet(f"{folder}/one"))
            print(f"{len(killed)} executors killed: {tuple(map(str, got))}; one process: {tuple(map(str, want))}")
            if got != want or not killed:
                sys.exit("different" if killed else "no executor was killed")
    spark.stop()


if __name__ == "__main__":
    main()
