"""Normal forms, keys and explanations of URLs, by the program urlfold.

>>> import urlfold
>>> with urlfold.Normalizer() as normalize:
...     normalize("HTTP://Example.com:80/%7euser")
...     normalize.many(["http://example.com/a/../b", "http://[::1", None])
'http://example.com/~user'
['http://example.com/b', None, None]

The package starts the program once and keeps it running; it needs no other
package. ``Normalizer.arrow`` and ``read`` need pyarrow.
"""

from urlfold._binary import find
from urlfold._normalizer import Normalizer, explain, read
from urlfold._process import UrlfoldError
from urlfold._seen import Seen, dedupe

__all__ = ["Normalizer", "Seen", "UrlfoldError", "dedupe", "explain", "find", "read"]
