"""Tests of what needs pyarrow, and of the adaptors: each is skipped without its package."""

import http.server
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import urlfold

from test_seen import SPELLINGS

# A spider that follows all links: its arguments are the start URL and the folder of the set.
CRAWL = """
import sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "test"
    start_urls = [sys.argv[1]]

    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)

process = CrawlerProcess({
    "REQUEST_FINGERPRINTER_CLASS": "urlfold.scrapy.RequestFingerprinter",
    "DUPEFILTER_CLASS": "urlfold.scrapy.DupeFilter",
    "URLFOLD_SEEN": sys.argv[2],
    "URLFOLD_KEY": "fetch",
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
})
process.crawl(Spider)
process.start()
"""

ROOT = pathlib.Path(__file__).parents[3]
URLS = ["HTTP://H/%7e", None, "", "http://[::1", "http://h/a\tb"] * 1000


def needs(*packages):
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


@needs("pyarrow")
class Arrow(unittest.TestCase):
    def test_array(self):
        import pyarrow as pa

        with urlfold.Normalizer() as n:
            want = n.many(URLS)
            for kind in (pa.string(), pa.large_string(), pa.string_view()):
                array = pa.array(URLS, kind)
                self.assertEqual(n.arrow(array)["norm"].to_pylist(), want)
                self.assertEqual(n.arrow(pa.chunked_array([array[:7], array[7:]]))["norm"].to_pylist(), want)
            self.assertEqual(n.arrow(pa.array(URLS).dictionary_encode())["norm"].to_pylist(), want)
            self.assertEqual(n.arrow([])["norm"].to_pylist(), [])
            table = n.arrow(URLS, ["norm", "key", "error", "flags"])
            self.assertEqual(table["key"].to_pylist(), n.keys(URLS))
            self.assertEqual(table["error"][3].as_py(), "host-invalid")

    def test_killed(self):
        import pyarrow as pa

        array = pa.array([f"http://H/%7e{i}" for i in range(1000)])
        with urlfold.Normalizer() as n:
            for _ in range(10):
                self.assertEqual(n.arrow(array)["norm"][999].as_py(), "http://h/~999")
                for process in n._processes.values():
                    process._start().kill()

    def test_read(self):
        path = ROOT / "testdata/sample/access.log.gz"
        table = urlfold.read(path, ["norm", "status"]).read_all()
        self.assertGreater(table.num_rows, 150)
        with self.assertRaises(ValueError):
            urlfold.read("no-such-file")
        with self.assertRaises(ValueError):
            urlfold.read(path, ["no-such-field"])


@needs("duckdb", "numpy", "pyarrow")
class DuckDB(unittest.TestCase):
    def test_functions(self):
        import duckdb
        import urlfold.duckdb

        connection = duckdb.connect()
        urlfold.duckdb.register(connection)
        connection.execute("CREATE TABLE t AS SELECT i, 'HTTP://H/%7e' || i AS url FROM range(100000) r(i)")
        query = "SELECT count(*), count(*) FILTER (url_normalize(url) = 'http://h/~' || i), count(DISTINCT url_key(url)) FROM t"
        self.assertEqual(connection.execute(query).fetchall(), [(100000,) * 3])
        self.assertEqual(connection.execute("SELECT url_normalize(NULL), url_normalize('no url')").fetchall(), [(None, None)])


@needs("polars")
class Polars(unittest.TestCase):
    def test_namespace(self):
        import polars
        import urlfold.polars  # noqa: F401

        frame = polars.DataFrame({"url": URLS})
        got = frame.select(polars.col("url").urlfold.normalize(), polars.col("url").urlfold.key().alias("key"))
        with urlfold.Normalizer() as n:
            self.assertEqual(got["url"].to_list(), n.many(URLS))
            self.assertEqual(got["key"].to_list(), n.keys(URLS))


@needs("scrapy")
class Scrapy(unittest.TestCase):
    def test_fingerprints(self):
        from scrapy import Request
        from urlfold.scrapy import RequestFingerprinter

        f = RequestFingerprinter()
        same = [f.fingerprint(Request(url)) for url in ("http://h/~", "http://H:80/%7e", "http://h/a/../~")]
        self.assertEqual(len(set(same)), 1)
        others = [Request("https://h/~"), Request("http://h/~", method="POST"), Request("http://h/~", method="POST", body=b"a")]
        self.assertEqual(len({*same, *map(f.fingerprint, others)}), 4)


    def test_crawl(self):
        """Nine spellings of two pages are two fetches, and after a restart none. Scrapy does not
        filter the start URL."""
        fetched = []

        class Site(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                fetched.append(self.path)
                body = "".join(f'<a href="{path}">a</a>' for path in SPELLINGS).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with tempfile.TemporaryDirectory() as folder:
            for want in (3, 1):
                fetched.clear()
                subprocess.run([sys.executable, "-c", CRAWL, f"http://127.0.0.1:{server.server_port}/", folder + "/seen"], check=True, timeout=120)
                self.assertIn("/", fetched)
                self.assertEqual(len(set(fetched)), len(fetched))
                self.assertEqual(len(fetched), want, fetched)
        server.shutdown()
        server.server_close()


@needs("pyspark", "pyarrow")
class Spark(unittest.TestCase):
    def test_columns(self):
        from pyspark.sql import SparkSession
        import urlfold.spark

        spark = SparkSession.builder.master("local[2]").getOrCreate()
        frame = spark.createDataFrame([(i, f"HTTP://H/%7e{i}") for i in range(1000)], ["i", "url"])
        rows = urlfold.spark.with_columns(frame, fields=["norm", "key"]).collect()
        self.assertEqual(sorted((r.i, r.norm) for r in rows), [(i, f"http://h/~{i}") for i in range(1000)])


if __name__ == "__main__":
    unittest.main()
