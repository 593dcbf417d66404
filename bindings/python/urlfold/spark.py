"""Columns for Spark. Needs pyspark and pyarrow, and the program on every worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from urlfold._normalizer import Normalizer


def with_columns(frame: Any, column: str = "url", fields: Sequence[str] = ("norm",), normalizer: Normalizer | None = None) -> Any:
    """Return a data frame with a column for each of fields, which are text, beside the
    others. It runs as ``mapInArrow``: a batch of the frame is a batch of the program."""
    chosen = normalizer if normalizer is not None else Normalizer()
    names = list(fields)

    def add(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            table = chosen.arrow(batch.column(column), names).combine_chunks()
            columns = [*batch.columns, *(table[name].combine_chunks() for name in names)]
            yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, *names])

    schema = ", ".join([f"`{f.name}` {f.dataType.simpleString()}" for f in frame.schema] + [f"`{name}` string" for name in names])
    return frame.mapInArrow(add, schema)
