"""Write the streams that reader_test.go reads: python3 gen.py (needs pyarrow).

Each has the same values in the column url, in two batches, in another type, beside
columns of other types, which a reader of url must skip.
"""

import pathlib

import pyarrow as pa

VALUES = ["HTTP://Example.com/%7euser", None, "", "short", "http://example.com/" + "x" * 20, "short"]
TYPES = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "dictionary8": pa.dictionary(pa.int8(), pa.string()),
    "dictionary_u16": pa.dictionary(pa.uint16(), pa.large_string()),
    "dictionary64": pa.dictionary(pa.int64(), pa.binary()),
}


def column(kind, values):
    """Return values as an array of the type, by way of binary where pyarrow cannot cast."""
    if pa.types.is_dictionary(kind):
        text = column(kind.value_type, values).dictionary_encode()
        return pa.DictionaryArray.from_arrays(text.indices.cast(kind.index_type), text.dictionary)
    if "binary" in str(kind):
        return pa.array([v if v is None else v.encode() for v in values], kind)
    return pa.array(values, kind)


def batch(kind, values):
    n = len(values)
    return pa.record_batch(
        {
            "numbers": pa.array([[1, 2]] * n),
            "views": pa.array(["a view of more than twelve bytes"] * n, pa.string_view()),
            "pair": pa.array([{"a": 1, "b": "x", "c": pa.scalar("v", pa.string_view()).as_py()}] * n),
            "words": pa.array(["w"] * n).dictionary_encode(),
            "nothing": pa.nulls(n),
            "url": column(kind, values),
            "last": pa.array([True] * n),
        }
    )


for name, kind in TYPES.items():
    here = pathlib.Path(__file__).parent
    batches = [batch(kind, VALUES), batch(kind, VALUES[::-1])]
    with pa.ipc.new_stream(here / f"{name}.arrows", batches[0].schema) as out:
        for b in batches:
            out.write_batch(b)
with pa.ipc.new_stream(here / "compressed.arrows", batches[0].schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as out:
    out.write_batch(batches[0])
deltas = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
with pa.ipc.new_stream(here / "deltas.arrows", pa.schema([("url", TYPES["dictionary8"])]), options=deltas) as out:
    for words, indices in ([["a"], [0]], [["a", "b"], [1, 0]]):
        array = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(words))
        out.write_batch(pa.record_batch({"url": array}))
