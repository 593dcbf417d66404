"""Tests of sets of seen URLs."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import urlfold

# Nine spellings of two pages, by keys of the level fetch.
SPELLINGS = ["/a", "/./a", "/x/../a", "/%61", "/a#top", "/b?x=1&y=2", "/b?y=2&x=1", "/b?x=1&y=2&utm_source=mail", "/%62?x=1&y=2#end"]


class Dedupe(unittest.TestCase):
    def test_spellings(self):
        urls = [f"http://h{path}" for path in SPELLINGS] + ["no url", "no url"]
        self.assertEqual(list(urlfold.dedupe(urls, key="fetch")), ["http://h/a", "http://h/b?x=1&y=2", "no url", "no url"])

    def test_program(self):
        """It keeps what the program keeps, over several blocks."""
        urls = [f"http://h/%7e{n % 7000}" + "#" * (n % 2) for n in range(20000)]
        done = subprocess.run([urlfold.find(), "--quiet", "--dedupe", "-f", "lines", "-"], input="\n".join(urls).encode(), stdout=subprocess.PIPE, check=True)
        with urlfold.Normalizer() as n:
            self.assertEqual("\n".join(n.many(urlfold.dedupe(urls))) + "\n", done.stdout.decode())


class Seen(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "seen"

    def test_over_runs(self):
        urls = [f"http://h/%7e{n}" for n in range(10000)]
        odd = ["http://h/a\tb", "http://h/\udce9", 'http://h/"\\', "http://é/", "http://h/" + "x" * 60000]
        with urlfold.Seen(self.folder) as seen:
            self.assertEqual(seen.unseen(urls), urls)
            seen.add(urls[::2] + odd)
            self.assertEqual(seen.unseen(urls), urls[1::2])
        with urlfold.Seen(self.folder) as seen:
            self.assertEqual(seen.unseen(urls + odd + ["no url"]), [*urls[1::2], "no url"])
            self.assertTrue("HTTP://H:80/~0" in seen and "http://h/~1" not in seen)
            seen.add(["http://h/~1", "no url"])
            seen.save()
            self.assertIn("http://h/%7e1", seen)
            self.assertNotIn("no url", seen)
        info = subprocess.run([urlfold.find(), "seen", "info", self.folder], stdout=subprocess.PIPE, check=True)
        self.assertIn(b"5,006", info.stdout)

    def test_other_options(self):
        with urlfold.Seen(self.folder) as seen:
            seen.add(["http://h/"])
        with self.assertRaisesRegex(ValueError, "another kind"), urlfold.Seen(self.folder, key="page") as seen:
            seen.unseen(["http://h/"])
        with self.assertRaises(ValueError), urlfold.Seen(self.folder, profile="analytics") as seen:
            seen.add(["http://h/"])

    def test_killed(self):
        """A question is asked again if the process is killed, and answered as before."""
        urls = [f"http://h/{n}" for n in range(1000)]
        with urlfold.Seen(self.folder) as seen:
            seen.add(urls[:500])
        with urlfold.Seen(self.folder) as seen:
            for _ in range(10):
                self.assertEqual(seen.unseen(urls), urls[500:])
                os.kill(seen._process._start().pid, 9)


if __name__ == "__main__":
    unittest.main()
