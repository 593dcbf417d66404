"""Tests of the package, with the standard library only: python -m unittest."""

import itertools
import json
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

import urlfold

ROOT = pathlib.Path(__file__).parents[3]
KILLS = int(os.environ.get("KILLS", "50"))
NORM = "http://h/~%d"


def in_child(numbers):
    return shared.many([f"http://H/%7e{n}" for n in numbers])


shared = urlfold.Normalizer()


class Many(unittest.TestCase):
    def test_values(self):
        urls = ["HTTP://H", None, "", "no url", "http://h/a\tb\n\r\\c", "http://h/\udce9", "http://é/"]
        with urlfold.Normalizer() as n:
            got = n.many(urls)
            self.assertEqual(got[:4], ["http://h/", None, None, None])
            self.assertEqual(got, [n(url) if url is not None else None for url in urls])
            self.assertEqual(n.many([]), [])
            self.assertEqual(n.many(iter(["http://H", None])), ["http://h/", None])
            self.assertEqual(len(n.key("http://h/")), 32)

    def test_blocks(self):
        """Lists of several blocks, by their number and by the length of their text."""
        plain = [f"http://H/%7e{n}" for n in range(20_000)]
        want = [NORM % n for n in range(20_000)]
        long = "http://h/" + "x" * 60_000
        for odd in (None, "no url", "http://h/\n", "http://h/\\", "http://h/\t?\r", "http://h/?\0", "data:\\t"):
            with self.subTest(odd=odd):
                answer = shared(odd) if odd is not None else None
                self.assertEqual(shared.many([*plain, odd, *plain]), [*want, answer, *want])
        self.assertEqual(shared.many([long] * 300 + [None]), [long] * 300 + [None])

    def test_usage(self):
        with self.assertRaisesRegex(ValueError, "profile"):
            urlfold.Normalizer(profile="no-such-profile")("http://h/")
        with self.assertRaises(UnicodeEncodeError):
            shared("http://h/\ud800")
        self.assertEqual(shared("http://H"), "http://h/")

    def test_vectors(self):
        """The binding gives what the program gives for the inputs of the vectors."""
        urls = []
        for name in ("rfc3986-normalize", "rfc3986-resolve", "rfc3986-syntax", "url-standard", "keys"):
            for line in (ROOT / f"testdata/vectors/{name}.jsonl").read_text().splitlines():
                vector = json.loads(line)
                urls += [v for k, v in vector.items() if k in ("input", "url", "ref", "base") and isinstance(v, str)]
        for profile in ("equiv", "whatwg", "analytics"):
            rows = "".join(json.dumps({"u": url}) + "\n" for url in urls)
            command = [urlfold.find(), "--lock-step", "-f", "jsonl", "--url-field", "u", "-r", "jsonl", "--fields", "norm,key", "-p", profile]
            done = subprocess.run(command, input=rows.encode("utf-8", "surrogatepass"), capture_output=True, check=True)
            want = [json.loads(line) for line in done.stdout.splitlines()]
            keep = [i for i, url in enumerate(urls) if not any(0xD800 <= ord(c) < 0xE000 for c in url)]
            with urlfold.Normalizer(profile) as n:
                texts = [urls[i] for i in keep]
                differences = [
                    (url, a, want[i]) for i, url, a, k in zip(keep, texts, n.many(texts), n.keys(texts)) if (a or None, k) != (want[i].get("norm") or None, want[i].get("key"))
                ]
            self.assertEqual(differences, [], f"{profile}: {len(differences)} of {len(keep)}")
        self.assertGreater(len(urls), 1000)


class Processes(unittest.TestCase):
    def test_fork_pool(self):
        shared("http://h/")  # the parent has a process
        work = [range(i * 1000, (i + 1) * 1000) for i in range(20)]
        with multiprocessing.get_context("fork").Pool(4) as pool:
            for numbers, got in zip(work, pool.map(in_child, work, 1)):
                self.assertEqual(got, [NORM % n for n in numbers])
        self.assertEqual(shared("http://H/%7e1"), NORM % 1)

    def test_fork_in_use(self):
        """A child forked while another thread of the parent waits for an answer."""
        stop = threading.Event()

        def work():
            while not stop.is_set():
                shared.many(["http://H"] * 5000)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for _ in range(10):
                child = multiprocessing.get_context("fork").Process(target=in_child, args=([1],))
                child.start()
                child.join(20)
                self.assertEqual(child.exitcode, 0)
        finally:
            stop.set()
            thread.join()

    def test_threads(self):
        errors = []

        def work(k):
            for i in range(20):
                if in_child(range(k * 100, k * 100 + i)) != [NORM % n for n in range(k * 100, k * 100 + i)]:
                    errors.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_killed(self):
        """No row is lost or doubled if the process is killed in the middle of a batch."""
        seed = int(os.environ.get("SEED", "1"))
        chance, numbers = random.Random(seed), list(range(20_000))
        urls, want = [f"http://H/%7e{n}" for n in numbers], [NORM % n for n in numbers]
        killed = 0
        with urlfold.Normalizer() as n:
            n("http://h/")
            process = n._processes["norm"]
            for _ in range(KILLS):
                victim, wait = process._start(), chance.random() * 0.02

                def kill():
                    time.sleep(wait)
                    victim.kill()

                thread = threading.Thread(target=kill)
                thread.start()
                got = n.many(urls)
                thread.join()
                self.assertEqual(got, want)
                killed += process._child is not victim
        print(f"{KILLS} kills, {killed} while the process was asked", file=sys.stderr)
        self.assertGreater(killed, 0)

    def test_always_killed(self):
        """A program that ends at once is an error, not a loop."""
        before = os.environ.get("URLFOLD")
        os.environ["URLFOLD"] = "/bin/false"
        try:
            with self.assertRaisesRegex(urlfold.UrlfoldError, "3 times"):
                urlfold.Normalizer()("http://h/")
        finally:
            os.environ.pop("URLFOLD") if before is None else os.environ.__setitem__("URLFOLD", before)

    def test_interrupt(self):
        """Ctrl-C ends a question, and the next one has its own answers."""
        urls = [f"http://H/%7e{n}" for n in range(3_000_000)]
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in itertools.repeat(None):
                shared.many(urls)
        self.assertEqual(shared("http://H/%7e1"), NORM % 1)


class Explain(unittest.TestCase):
    def test_explain(self):
        self.assertIn("http://h/~", json.dumps(urlfold.explain("HTTP://H/%7e")))


if __name__ == "__main__":
    unittest.main()
