"""A fingerprinter of requests for Scrapy, so that spellings of a page are fetched once.

In the settings::

    REQUEST_FINGERPRINTER_CLASS = "urlfold.scrapy.RequestFingerprinter"
    URLFOLD_KEY = "equivalent"   # the level of the keys; the default
    URLFOLD_PROFILE = "equiv"    # the default

The fingerprint depends on the method, the key of the URL and the body.
"""

from __future__ import annotations

import hashlib
from typing import Any

from urlfold._normalizer import Normalizer


class RequestFingerprinter:
    """Computes fingerprints of requests from keys of URLs."""

    def __init__(self, key: str = "equivalent", profile: str | None = None) -> None:
        self._normalizer = Normalizer(profile, key)

    @classmethod
    def from_crawler(cls, crawler: Any) -> RequestFingerprinter:
        """Return a fingerprinter with the settings of a crawler."""
        return cls(crawler.settings.get("URLFOLD_KEY", "equivalent"), crawler.settings.get("URLFOLD_PROFILE"))

    def fingerprint(self, request: Any) -> bytes:
        """Return the fingerprint of a request. A URL without a key stands for itself."""
        parts = [request.method.encode(), (self._normalizer.key(request.url) or request.url).encode(), request.body or b""]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        return digest.digest()
