"""Every way to call the package gives what the program gives, for the inputs of the vectors and, if
URLFOLD_CORPORA names the folder of the corpora, for 100,000 of their URLs."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import urlfold

ROOT = pathlib.Path(__file__).parents[3]
CORPORA = pathlib.Path(os.environ.get("URLFOLD_CORPORA", "/no-corpora"))


def needs(*packages):
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


def vectors():
    """Return the inputs of the vectors, without lone surrogates, which are not UTF-8, and without
    blank ones, which are a URL only in the format jsonl, with which they are compared."""
    urls = []
    for name in ("rfc3986-normalize", "rfc3986-resolve", "rfc3986-syntax", "url-standard", "keys"):
        for line in (ROOT / f"testdata/vectors/{name}.jsonl").read_text().splitlines():
            vector = json.loads(line)
            urls += [v for k, v in vector.items() if k in ("input", "url", "ref", "base") and isinstance(v, str)]
    return [url for url in urls if url.strip() and not any(0xD800 <= ord(c) < 0xE000 for c in url)]


def corpora():
    """Return the URLs of the corpora, or none."""
    if not CORPORA.exists():
        return []

    def lines(name):
        text = (CORPORA / name).read_text().removeprefix("\ufeff")
        return [line for line in text.split("\n") if line]

    return [
        *lines("urls/kasztp.txt"),
        *(json.loads(line)["ref"] for line in lines("urls/archiveorg2008_refs.jsonl")),
        *("http://" + host for host in lines("urls/opendns-top-domains.txt")),
        *(line.split(" ")[2] for line in lines("cdx/openwayback_test-cdx.txt") if line.count(" ") > 1),
        *(line for line in lines("urls/blns.txt") if line.strip(" \t")),
    ]


URLS = vectors() + corpora()
OPTIONS = [("equiv", None), ("analytics", "http://www.example.com/a/b"), ("whatwg", None)]
_program = {}


def program(profile, base):
    """Return what the program gives for URLS: normal forms and keys."""
    if (answers := _program.get((profile, base))) is None:
        command = [urlfold.find(), "--lock-step", "-f", "jsonl", "--url-field", "u", "-r", "jsonl", "--fields", "norm,key", "-p", profile]
        command += ["--base", base] if base else []
        rows = "".join(json.dumps({"u": url}) + "\n" for url in URLS)
        done = subprocess.run(command, input=rows.encode(), capture_output=True, check=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        answers = _program[profile, base] = [row.get("norm") for row in rows], [row.get("key") for row in rows]
    return answers


class Same(unittest.TestCase):
    def compare(self, name, ask, empty=None):
        """Ask with each of the options for lists of normal forms and keys, where empty stands for
        None."""
        for profile, base in OPTIONS:
            with urlfold.Normalizer(profile, base=base) as n:
                for field, got, want in zip(("norm", "key"), ask(n), program(profile, base)):
                    differences = [(url, g, w) for url, g, w in zip(URLS, got, want, strict=True) if (None if g == empty else g) != w]
                    print(f"{name}: {profile}, base {base}, {field}: {len(URLS)} URLs, {len(differences)} differences", file=sys.stderr)
                    self.assertEqual(differences[:5], [], f"{len(differences)} of {len(URLS)}")

    def test_lists(self):
        self.compare("many", lambda n: (n.many(URLS), n.keys(URLS)))

    @needs("pyarrow")
    def test_arrow(self):
        import pyarrow as pa

        for kind in (pa.string(), pa.large_string(), pa.string_view()):
            array = pa.array(URLS, kind)
            self.compare(f"arrow, {kind}", lambda n: [c.to_pylist() for c in n.arrow(array, ["norm", "key"]).columns])
        array = pa.array(URLS * 2).dictionary_encode()[: len(URLS)]
        self.compare("arrow, dictionary", lambda n: [c.to_pylist() for c in n.arrow(array, ["norm", "key"]).columns])

    @needs("duckdb", "numpy", "pyarrow")
    def test_duckdb(self):
        import duckdb
        import pyarrow as pa
        import urlfold.duckdb

        def ask(n):
            connection = duckdb.connect()
            urlfold.duckdb.register(connection, n)
            connection.register("t", pa.table({"i": range(len(URLS)), "url": URLS}))
            return zip(*connection.execute("SELECT url_normalize(url), url_key(url) FROM t ORDER BY i").fetchall())

        self.compare("DuckDB", ask)

    @needs("polars")
    def test_polars(self):
        import polars
        import urlfold.polars  # noqa: F401

        def ask(n):
            url = polars.col("url").urlfold
            return polars.DataFrame({"url": URLS}).select(norm=url.normalize(n), key=url.key(n)).to_dict(as_series=False).values()

        self.compare("polars", ask)

    @needs("chdb")
    def test_chdb(self):
        """chDB calls the program itself, as its page says. Its functions return an empty string
        for a URL that cannot be parsed."""
        import chdb

        page = (ROOT / "docs/how-to/clickhouse.md").read_text()
        config = re.search(r"```xml file=\S+\n(.*?)```", page, re.S).group(1)
        with tempfile.TemporaryDirectory() as folder:
            rows = pathlib.Path(folder, "urls.jsonl")
            rows.write_text("".join(json.dumps({"i": i, "url": url}) + "\n" for i, url in enumerate(URLS)))

            def ask(n):
                functions = config.replace("-p crawler ", "").replace("urlfold --lock-step=chunks", " ".join([urlfold.find(), "--lock-step=chunks", *n._options]))
                pathlib.Path(folder, "udf_config.xml").write_text(functions)
                query = f"SELECT urlNormalize(url), urlKey(url) FROM file('{rows}', JSONEachRow, 'i UInt32, url String') ORDER BY i"
                # Each question in a process: chDB reads its functions once.
                run = "import chdb, sys; sys.stdout.write(str(chdb.query(sys.argv[1], 'JSONCompact', udf_path=sys.argv[2])))"
                done = subprocess.run([sys.executable, "-c", run, query, folder], capture_output=True, check=True)
                return zip(*json.loads(done.stdout)["data"])

            self.compare(f"chDB {chdb.__version__}", ask, "")

    @needs("pyspark", "pyarrow")
    def test_spark(self):
        from pyspark.sql import SparkSession
        import urlfold.spark

        spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        frame = spark.createDataFrame(list(enumerate(URLS)), ["i", "url"]).repartition(2)

        def ask(n):
            rows = urlfold.spark.with_columns(frame, fields=["norm", "key"], normalizer=n).collect()
            return zip(*((r.norm, r.key) for r in sorted(rows, key=lambda r: r.i)))

        self.compare("Spark", ask)


@needs("chdb", "duckdb", "numpy", "polars", "pyarrow")
class Engines(unittest.TestCase):
    """DuckDB, polars and chDB give the same answers about a file that the program has written."""

    def test_queries(self):
        import chdb
        import duckdb
        import polars

        fields = "line,url,norm,key,host,flags,error,status"
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/urls.parquet"
            sample = ROOT / "testdata/sample/access.log.gz"
            subprocess.run([urlfold.find(), "--quiet", "-p", "analytics", sample, "-o", path, "--fields", fields], check=True)
            frame = polars.scan_parquet(path)
            queries = {
                "rows": ("SELECT count(*), count(norm), count(error), count(DISTINCT key) FROM {}", frame.select(polars.len(), polars.col("norm", "error").count(), polars.col("key").drop_nulls().n_unique())),
                "pages": (
                    "SELECT key, count(*) AS n, min(norm), sum(status) FROM {} WHERE norm IS NOT NULL GROUP BY key ORDER BY n DESC, key",
                    frame.filter(polars.col("norm").is_not_null()).group_by("key").agg(polars.len().alias("n"), polars.col("norm").min(), polars.col("status").sum()).sort("n", "key", descending=[True, False]),
                ),
                "lines": ("SELECT line, norm, key, error FROM {} ORDER BY line, norm, key", frame.select("line", "norm", "key", "error").sort("line", "norm", "key", nulls_last=True)),
            }
            for name, (query, expression) in queries.items():
                answers = {
                    "DuckDB": duckdb.sql(query.format(f"'{path}'")).fetchall(),
                    "polars": expression.collect().rows(),
                    "chDB": [tuple(row) for row in json.loads(str(chdb.query(query.format(f"file('{path}')") + " SETTINGS output_format_json_quote_64bit_integers=0", "JSONCompact")))["data"]],
                }
                self.assertGreater(len(answers["polars"]), 0)
                for engine in ("DuckDB", "chDB"):
                    self.assertEqual(answers[engine], answers["polars"], f"{name}: {engine}")
                print(f"{name}: {len(answers['polars'])} rows, equal in {', '.join(answers)}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
