"""Functions for DuckDB: ``urlfold.duckdb.register(connection)``. Needs duckdb, numpy and pyarrow."""

from __future__ import annotations

from typing import Any

from urlfold._normalizer import Normalizer


def register(connection: Any, normalizer: Normalizer | None = None, prefix: str = "url") -> None:
    """Register the functions url_normalize and url_key, from text to text.

    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> register(connection)
    >>> connection.sql("SELECT url_normalize('HTTP://Example.com')").fetchall()
    [('http://example.com/',)]
    """
    chosen = normalizer if normalizer is not None else Normalizer()

    def function(field: str) -> Any:
        def compute(urls: Any) -> Any:
            return chosen.arrow(urls, [field])[field]

        return compute

    for name, field in (("normalize", "norm"), ("key", "key")):
        connection.create_function(
            f"{prefix}_{name}", function(field), ["VARCHAR"], "VARCHAR", type="arrow", null_handling="special"
        )
