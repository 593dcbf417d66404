"""Measure µs per URL of the package and of its peers, in one run:

    URLFOLD=… URLFOLD_CORPORA=… PYTHONPATH=bindings/python python3 bindings/python/bench.py

It needs Go with a C compiler, and the package can_ada of PyPI; pyarrow is optional.
"""

import ctypes
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import can_ada
import urlfold

ROOT = pathlib.Path(__file__).resolve().parents[2]
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


def main():
    urls = (pathlib.Path(os.environ["URLFOLD_CORPORA"]) / "urls/kasztp.txt").read_text().removeprefix("\ufeff").split("\n")
    urls = [url for url in urls if url]
    with tempfile.TemporaryDirectory() as folder, urlfold.Normalizer() as normalizer:
        ways = {
            "urlfold, many": normalizer.many,
            "c-shared by ctypes, in a batch": shared_library(folder),
            "can_ada, a call for each URL": one_by_one(lambda url: str(can_ada.parse(url))),
        }
        try:
            import pyarrow as pa

            array = pa.array(urls)
            ways["urlfold, arrow"] = lambda _: normalizer.arrow(array)
        except ImportError:
            print("skipped: arrow needs pyarrow")
        assert ways["urlfold, many"](urls) == ways["c-shared by ctypes, in a batch"](urls)
        times = {name: [] for name in ways}
        for round_ in range(-1, ROUNDS):  # the first one warms up
            for name, way in ways.items():
                start = time.perf_counter()
                way(urls)
                if round_ >= 0:
                    times[name].append((time.perf_counter() - start) * 1e6 / len(urls))
        unit = statistics.median(times["c-shared by ctypes, in a batch"])
        print(f"{len(urls)} URLs, medians of {ROUNDS} rounds")
        for name, list_ in times.items():
            print(f"{name:32}{statistics.median(list_):8.2f} µs{statistics.median(list_) / unit:8.2f} × c-shared")


if __name__ == "__main__":
    main()
