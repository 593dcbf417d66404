"""For Scrapy: spellings of a page are fetched once, also over several crawls.

In the settings::

    REQUEST_FINGERPRINTER_CLASS = "urlfold.scrapy.RequestFingerprinter"
    DUPEFILTER_CLASS = "urlfold.scrapy.DupeFilter"   # to remember pages after the crawl
    URLFOLD_SEEN = "fetched"     # the folder of the set for DupeFilter
    URLFOLD_KEY = "equivalent"   # the level of the keys; the default
    URLFOLD_PROFILE = "equiv"    # the default

The fingerprint depends on the method, the key of the URL and the body.
"""

from __future__ import annotations

import hashlib
from typing import Any

from urlfold._normalizer import Normalizer
from urlfold._seen import Seen


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


class DupeFilter:
    """Drops requests whose page was requested before, or fetched in an earlier crawl.

    The set of fetched pages is a folder, which ``urlfold seen`` reads, too. A page is added
    when its response arrives, so an interrupted crawl does not lose what it has not fetched.
    Requests with another method than GET or with a body are remembered for one crawl only.
    Scrapy does not filter the start URLs.
    """

    def __init__(self, seen: Seen, fingerprinter: Any) -> None:
        self._seen = seen
        self._fingerprinter = fingerprinter
        self._requested: set[bytes] = set()

    @classmethod
    def from_crawler(cls, crawler: Any) -> DupeFilter:
        """Return a filter with the settings of a crawler."""
        from scrapy import signals

        settings = crawler.settings
        folder = settings.get("URLFOLD_SEEN")
        if not folder:
            raise ValueError("URLFOLD_SEEN is not set: name the folder for the set of fetched pages")
        seen = Seen(folder, settings.get("URLFOLD_PROFILE"), settings.get("URLFOLD_KEY", "equivalent"))
        fingerprinter = crawler.request_fingerprinter or RequestFingerprinter.from_crawler(crawler)
        self = cls(seen, fingerprinter)
        crawler.signals.connect(self.fetched, signal=signals.response_received)
        return self

    def request_seen(self, request: Any) -> bool:
        """Report whether a request repeats another one, and remember it."""
        fingerprint = self._fingerprinter.fingerprint(request)
        if fingerprint in self._requested:
            return True
        self._requested.add(fingerprint)
        return _is_page(request) and request.url in self._seen

    def fetched(self, request: Any, **_: Any) -> None:
        """Add the page of a response, and those that were redirected to it."""
        if _is_page(request):
            self._seen.add([request.url, *request.meta.get("redirect_urls", [])])

    def open(self) -> None:
        """Do nothing: the first question opens the set."""

    def close(self, reason: str) -> None:
        """Save the set."""
        self._seen.close()

    def log(self, request: Any, spider: Any) -> None:
        """Count a request that was dropped."""
        spider.crawler.stats.inc_value("dupefilter/filtered")


def _is_page(request: Any) -> bool:
    """Report whether the URL of a request says all about it."""
    return request.method == "GET" and not request.body
