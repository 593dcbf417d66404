"""Measure µs per URL of the package and of its peers in one run, of a single call, and the start:

    URLFOLD=… URLFOLD_CORPORA=… PYTHONPATH=bindings/python python3 bindings/python/bench.py

It needs Go with a C compiler, and the package can_ada of PyPI; pyarrow is optional.
"""

import ctypes
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import can_ada
import urlfold

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings/python/tests"))
from test_same import corpora  # noqa: E402
ROUNDS = 7


def shared_library(folder):
    """Return a function that normalizes lists of URLs in this process."""
    file = os.path.join(folder, "cshared.so")
    subprocess.run(["go", "build", "-buildmode=c-shared", "-o", file, "./cshared"], cwd=ROOT / "bindings/go", check=True)
    library = ctypes.CDLL(file)
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]

    def many(urls):
        text = ("\n".join(urls) + "\n").encode()
        answer = ctypes.c_void_p()
        size = library.normalize(text, len(text), ctypes.byref(answer))
        lines = ctypes.string_at(answer, size).decode().split("\n")
        free(answer)
        lines.pop()
        return [line or None for line in lines]

    return many


def one_by_one(function):
    def many(urls):
        answers = []
        for url in urls:
            try:
                answers.append(function(url))
            except ValueError:
                answers.append(None)
        return answers

    return many


def cpu(normalizer):
    """Return the CPU seconds of this process and of the programs that it asks, on Linux."""
    ticks = 0
    for process in normalizer._processes.values():
        stat = pathlib.Path(f"/proc/{process._child.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(stat[11]) + int(stat[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def alone(function, urls):
    """Return the µs that a call for a single URL takes: the median of 1,000."""
    times = []
    for url in urls[:1000]:
        start = time.perf_counter()
        function(url)
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


def startup():
    """Return the ms from a new Normalizer to its first answer."""
    begin = time.perf_counter()
    with urlfold.Normalizer() as normalizer:
        normalizer("http://example.com/")
        return (time.perf_counter() - begin) * 1e3


def main():
    urls = (pathlib.Path(os.environ["URLFOLD_CORPORA"]) / "urls/kasztp.txt").read_text().removeprefix("\ufeff").split("\n")
    urls = [url for url in urls if url]
    with tempfile.TemporaryDirectory() as folder, urlfold.Normalizer() as normalizer:
        shared = shared_library(folder)
        ways = {
            "urlfold, many": normalizer.many,
            "c-shared by ctypes, in a batch": shared,
            "can_ada, a call for each URL": one_by_one(lambda url: str(can_ada.parse(url))),
        }
        try:
            import pyarrow as pa

            array = pa.array(urls)
            ways["urlfold, arrow"] = lambda _: normalizer.arrow(array)
        except ImportError:
            print("skipped: arrow needs pyarrow")
        every = [url for url in corpora() if "\n" not in url]  # the library reads lines
        assert normalizer.many(every) == shared(every)
        print(f"{len(every)} URLs of the corpora: no difference between urlfold and c-shared")
        times = {name: [] for name in ways}
        seconds = dict.fromkeys(ways, 0)
        for round_ in range(-1, ROUNDS):  # the first one warms up
            for name, way in ways.items():
                start, before = time.perf_counter(), cpu(normalizer)
                way(urls)
                if round_ >= 0:
                    times[name].append((time.perf_counter() - start) * 1e6 / len(urls))
                    seconds[name] += cpu(normalizer) - before
        peer = "c-shared by ctypes, in a batch"
        unit, base = statistics.median(times[peer]), seconds[peer]
        print(f"{len(urls)} URLs, medians of {ROUNDS} rounds")
        for name, list_ in times.items():
            print(f"{name:32}{statistics.median(list_):8.2f} µs{statistics.median(list_) / unit:8.2f} × c-shared{seconds[name] * 1e6 / ROUNDS / len(urls):8.2f} µs of CPU{seconds[name] / base:8.2f} ×")
        single = {"urlfold": normalizer, "c-shared": lambda url: shared([url]), "can_ada": can_ada.parse}
        print("a call for a single URL:", ", ".join(f"{name} {alone(function, urls):.1f} µs" for name, function in single.items()))
        print(f"start: {statistics.median(startup() for _ in range(ROUNDS)):.0f} ms")


if __name__ == "__main__":
    main()
