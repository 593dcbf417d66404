"""The namespace ``urlfold`` of expressions of polars. Needs polars.

>>> import polars, urlfold.polars
>>> frame = polars.DataFrame({"url": ["HTTP://Example.com", None]})
>>> frame.select(polars.col("url").urlfold.normalize())["url"].to_list()
['http://example.com/', None]
"""

from __future__ import annotations

import polars

from urlfold._normalizer import Normalizer

_default = Normalizer()


@polars.api.register_expr_namespace("urlfold")
class Urlfold:
    """Expressions about a column of URLs."""

    def __init__(self, expression: polars.Expr) -> None:
        self._expression = expression

    def normalize(self, normalizer: Normalizer = _default) -> polars.Expr:
        """Return the normal forms."""
        return self._map(lambda s: polars.Series(s.name, normalizer.many(s.to_list()), polars.String))

    def key(self, normalizer: Normalizer = _default) -> polars.Expr:
        """Return the keys."""
        return self._map(lambda s: polars.Series(s.name, normalizer.keys(s.to_list()), polars.String))

    def _map(self, function: object) -> polars.Expr:
        return self._expression.map_batches(function, return_dtype=polars.String)  # type: ignore[arg-type]
