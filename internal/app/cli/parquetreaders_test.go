//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// makeTables writes Parquet files to the folder in its argument.
const makeTables = `
import sys, datetime, decimal
import numpy as np, pyarrow as pa, pyarrow.parquet as pq, duckdb, polars as pl
N = 1500
def some(f): return [None if i % 13 == 4 else f(i) for i in range(N)]
url = some(lambda i: "" if i % 41 == 3 else ["HTTP://H%d.example:80/%%7e%d" % (i % 50, i), "http://h/%d" % (i % 5), "http://LONG.example/" + "x" * 90][i % 3])
t = pa.table({
    "id": pa.array(range(N)), "i32": pa.array(some(lambda i: i * 37 % 1000), pa.int32()),
    "half": pa.array(some(lambda i: np.float16(i % 50)), pa.float16()), "bool": pa.array([i % 15 < 8 for i in range(N)]),
    "url": pa.array(url, pa.string()), "text": pa.array(some(lambda i: "text %d" % (i % 60))),
    "d": pa.array(some(lambda i: i / 7)), "dec": pa.array(some(lambda i: decimal.Decimal(i) / 100), pa.decimal128(12, 2)),
    "tags": pa.array(some(lambda i: ["t%d" % k for k in range(i % 4)]), pa.list_(pa.string())),
    "map": pa.array(some(lambda i: [("k%d" % k, k) for k in range(i % 3)]), pa.map_(pa.string(), pa.int32())), "none": pa.nulls(N),
})
enc = {"url": "DELTA_BYTE_ARRAY", "text": "DELTA_LENGTH_BYTE_ARRAY", "id": "DELTA_BINARY_PACKED", "bool": "RLE", "d": "BYTE_STREAM_SPLIT", "half": "BYTE_STREAM_SPLIT"}
def write(name, **o): pq.write_table(t, sys.argv[1] + "/" + name + ".parquet", **{"row_group_size": 500, **o})
for version in "1.0", "2.0":
    for c in "none", "snappy", "gzip", "brotli", "zstd", "lz4":
        write("arrow-%s-%s" % (version, c), data_page_version=version, compression=c)
    write("delta-" + version, data_page_version=version, use_dictionary=False, column_encoding=enc)
    write("index-" + version, data_page_version=version, write_page_index=True, write_page_checksum=True, data_page_size=2000, write_batch_size=50)
write("plain", use_dictionary=False)
write("overflow", dictionary_pagesize_limit=2000, data_page_size=3000, write_batch_size=50)
x = t.drop(["half", "none"])
for version in "V1", "V2":
    duckdb.sql("copy x to '%s/duckdb-%s.parquet' (parquet_version %s, row_group_size 2048)" % (sys.argv[1], version, version))
pl.from_arrow(t.drop(["none", "map"])).write_parquet(sys.argv[1] + "/polars.parquet", row_group_size=500, data_page_size=5000)
`

// compareTables compares each file of the folder in its argument with clean/NAME
// and kept/NAME: as pyarrow reads it, and as filters of DuckDB, polars and, if it is
// installed, DataFusion do, which use statistics and indexes.
const compareTables = `
import sys, os, glob, json
import pyarrow as pa, pyarrow.parquet as pq, duckdb, polars as pl
try: from datafusion import SessionContext
except ImportError: SessionContext = None
folder = sys.argv[1]
for path in sorted(glob.glob(folder + "/*.parquet")):
    name = os.path.basename(path)
    source = pq.read_table(path)
    urls = source["url"].to_pylist()
    normal = lambda u: u and u.replace(":80", "").replace("%7e", "~").replace("HTTP://H", "http://h").replace("LONG", "long")
    for out, keep in ("clean", lambda u: True), ("kept", lambda u: not u or "~" in normal(u)):
        mask = [keep(u) for u in urls]
        want = source.filter(pa.array(mask)).set_column(source.column_names.index("url"), source.schema.field("url"), pa.array([normal(u) for u, k in zip(urls, mask) if k], source.schema.field("url").type))
        file = "%s/%s/%s" % (folder, out, name)
        got = pq.read_table(file, page_checksum_verification=True)
        got.validate(full=True)
        if got.schema != want.schema or got.schema.metadata != source.schema.metadata:
            print(name, out, "schema differs")
        for column in want.column_names:
            if str(got[column].to_pylist()) != str(want[column].to_pylist()):
                print(name, out, "column", column, "differs")
        rows = want.select(["id", "i32", "url"]).to_pylist()
        some = sorted({r["url"] for r in rows if r["url"]})
        tests = [("url is null", lambda r: r["url"] is None), ("i32 is null", lambda r: r["i32"] is None), ("i32 = 77", lambda r: r["i32"] == 77),
                 ("id > 900", lambda r: r["id"] > 900), ("url = 'HTTP://H1.example:80/%7e51'", lambda r: False)]
        tests += [("url = '%s'" % u, lambda r, u=u: r["url"] == u) for u in some[::197] + some[-1:]]
        for condition, test in tests:
            n = sum(map(test, rows))
            query = lambda table: "select count(*) from " + table + " where " + condition
            counts = [("duckdb", duckdb.sql(query("'" + file + "'")).fetchall()[0][0]), ("polars", pl.SQLContext(t=pl.scan_parquet(file)).execute(query("t")).collect().row(0)[0])]
            if SessionContext:
                context = SessionContext()
                context.register_parquet("t", file)
                counts.append(("datafusion", context.sql(query("t")).to_pylist()[0].popitem()[1]))
            for reader, count in counts:
                if count != n:
                    print(name, out, reader, condition, count, "rows, want", n)
        for bound in "min", "max":
            n = (min if bound == "min" else max)(r["i32"] for r in rows if r["i32"] is not None)
            if duckdb.sql("select %s(i32) from '%s'" % (bound, file)).fetchall()[0][0] != n:
                print(name, out, bound, "differs")
print("compared")
`

// TestParquetReaders rewrites Parquet files of other programs, with all rows and
// without some, and compares what these programs then read.
func TestParquetReaders(t *testing.T) {
	python := withPackage(t, "duckdb")
	for _, name := range []string{"pyarrow", "polars"} {
		if err := exec.Command(python, "-c", "import "+name).Run(); err != nil {
			t.Skipf("the Python package %s is not installed", name)
		}
	}
	dir := t.TempDir()
	run := func(code string) string {
		cmd := exec.Command(python, "-c", code, dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	run(makeTables)
	files, err := filepath.Glob(dir + "/*.parquet")
	if err != nil || len(files) != 21 {
		t.Fatal(files, err)
	}
	for _, folder := range []string{"clean", "kept"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		name := filepath.Base(file)
		runIn(t, dir, "-p", "equiv", name, "-o", "clean/"+name)
		runIn(t, dir, "-p", "equiv", name, "-o", "kept/"+name, "--where", `norm contains "~"`)
	}
	if got := run(compareTables); strings.TrimSpace(got) != "compared" {
		t.Error(got)
	}
}
