"""Write the Parquet files of this folder, with pyarrow, DuckDB, polars and fastparquet:

    pip install pyarrow duckdb polars pandas fastparquet
    python3 generate.py
"""

import datetime
import decimal
import pathlib

import duckdb
import fastparquet
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = pathlib.Path(__file__).parent
ROWS = 240


def some(value):
    """Return a value for each row, some of them null."""
    return [None if i % 11 == 4 else value(i) for i in range(ROWS)]


def url(i):
    if i % 17 == 3:
        return ""
    if i % 29 == 5:
        return "HTTP://Long.example/" + "x" * 90 + f"/%7e{i}"
    return [f"HTTP://H{i % 9}.example/%7e{i}", f"http://h/{i % 5}", "http://EXAMPLE.com:80/a/../b"][i % 3]


table = pa.table({
    "id": pa.array(range(ROWS), pa.int64()),
    "i32": pa.array(some(lambda i: i * 37 % 1000 - 500), pa.int32()),
    "f": pa.array(some(lambda i: i / 3), pa.float32()),
    "d": pa.array(some(lambda i: i / 7), pa.float64()),
    "half": pa.array(some(lambda i: np.float16(i % 50)), pa.float16()),
    "bool": pa.array([i % 15 < 8 for i in range(ROWS)], pa.bool_()),
    "url": pa.array(some(url), pa.string()),
    "text": pa.array(some(lambda i: f"text {i % 60}"), pa.string()),
    "fixed": pa.array(some(lambda i: bytes([i]) * 6), pa.binary(6)),
    "decimal": pa.array(some(lambda i: decimal.Decimal(i) / 100), pa.decimal128(12, 2)),
    "time": pa.array(some(lambda i: datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=i)), pa.timestamp("us")),
    "tags": pa.array(some(lambda i: [f"t{k}" for k in range(i % 4)]), pa.list_(pa.string())),
    "nested": pa.array(some(lambda i: [[k] * (k % 3) for k in range(i % 3)]), pa.list_(pa.list_(pa.int32()))),
    "struct": pa.array(some(lambda i: {"url": f"http://X.example/{i % 20}", "n": i}), pa.struct([("url", pa.string()), ("n", pa.int32())])),
    "map": pa.array(some(lambda i: [(f"k{k}", k) for k in range(i % 3)]), pa.map_(pa.string(), pa.int32())),
    "null": pa.nulls(ROWS),
})

encodings = {
    "id": "DELTA_BINARY_PACKED", "i32": "DELTA_BINARY_PACKED", "f": "BYTE_STREAM_SPLIT", "d": "BYTE_STREAM_SPLIT",
    "bool": "RLE", "url": "DELTA_LENGTH_BYTE_ARRAY", "text": "DELTA_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY",
}


def arrow(name, **options):
    pq.write_table(table, FOLDER / f"{name}.parquet", **{"row_group_size": 100, **options})


arrow("arrow-v1-snappy", data_page_version="1.0")
arrow("arrow-v2-zstd", data_page_version="2.0", compression="zstd")
arrow("arrow-v1-gzip-plain", compression="gzip", use_dictionary=False, data_page_version="1.0")
arrow("arrow-v1-brotli-delta", compression="brotli", use_dictionary=False, column_encoding=encodings)
arrow("arrow-v2-lz4-delta", compression="lz4", use_dictionary=False, data_page_version="2.0",
      column_encoding={**encodings, "url": "DELTA_BYTE_ARRAY", "text": "DELTA_LENGTH_BYTE_ARRAY", "fixed": "BYTE_STREAM_SPLIT"})
arrow("arrow-index", write_page_index=True, write_page_checksum=True, data_page_size=200, write_batch_size=10, row_group_size=240,
      sorting_columns=[pq.SortingColumn(0), pq.SortingColumn(6)])
arrow("arrow-bloom", bloom_filter_options={"url": {"ndv": 200, "fpp": 0.05}, "text": {"ndv": 100, "fpp": 0.05}}, write_page_index=True,
      compression="none")
arrow("arrow-overflow", dictionary_pagesize_limit=800, data_page_size=300, write_batch_size=10, data_page_version="2.0")
arrow("arrow-no-statistics", write_statistics=False)
con = duckdb.connect()
con.register("t", table.drop(["half"]))
con.execute('create table x as select * exclude ("null") from t')
for version in "V1", "V2":
    con.execute(f"copy x to '{FOLDER}/duckdb-{version.lower()}.parquet' (format parquet, parquet_version {version}, row_group_size 2048)")
df = pl.from_arrow(table.drop(["null", "map"]))
df.write_parquet(FOLDER / "polars.parquet", row_group_size=100, data_page_size=500)
pandas = table.select(["id", "i32", "f", "d", "bool", "url", "text"]).to_pandas()
fastparquet.write(str(FOLDER / "fastparquet.parquet"), pandas, compression="GZIP", row_group_offsets=100)
