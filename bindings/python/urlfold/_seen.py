"""Which URLs have been seen: in one run, and over all runs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import IO

from urlfold._binary import find
from urlfold._normalizer import Normalizer
from urlfold._process import USAGE, Process, UrlfoldError

# The text of one question in characters. Its answers fit in a pipe, so that neither side
# waits for the other.
_QUESTION = 16 << 10

# The rows of questions: objects with the URL, and its index.
_JSON = ["-f", "jsonl", "--url-field", "u"]

#: A set is stored when so many URLs have been added.
SAVE_AFTER = 100_000


def dedupe(urls: Iterable[str], profile: str | None = None, key: str | None = None, *, base: str | None = None) -> Iterator[str]:
    """Yield the URLs whose key has not come before, and those without a key.

    It keeps the keys in memory, some 100 bytes for each. For files, ``urlfold --dedupe``
    needs less.

    >>> list(dedupe(["http://example.com", "HTTP://EXAMPLE.com:80/", "http://example.com/a"]))
    ['http://example.com', 'http://example.com/a']
    """
    seen: set[bytes] = set()
    with Normalizer(profile, key, base=base) as normalizer:
        for part in _parts(urls):
            for url, text in zip(part, normalizer.keys(part)):
                k = bytes.fromhex(text or "")
                if not k or k not in seen:
                    seen.add(k)
                    yield url


class Seen:
    """A set of seen URLs in a folder, which ``urlfold seen`` reads and writes, too.

    The options are those of Normalizer. They must be the same each time that the folder
    is used; other ones are a ValueError. The folder is made when the set is saved for the
    first time.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp() + "/fetched"
    >>> with Seen(folder) as seen:
    ...     seen.add(["http://example.com/a"])
    >>> with Seen(folder) as seen:
    ...     "HTTP://EXAMPLE.com/%61" in seen, seen.unseen(["http://example.com/a", "http://example.com/b"])
    (True, ['http://example.com/b'])

    URLs that were added are in the set at once, and durable after ``save`` or ``close``. A
    program that is killed loses what it has added since. URLs without a key are in no set.
    One process at a time can save a set. A Seen belongs to one thread.
    """

    def __init__(
        self, folder: str | os.PathLike[str], profile: str | None = None, key: str | None = None, *, base: str | None = None
    ) -> None:
        self.folder = os.fspath(folder)
        self._normalizer = Normalizer(profile, key, base=base)
        # Named also where they are the default, for a set with other keys.
        self._options = ["--profile", profile or "equiv", "--by", key or "key", *(["--base", base] if base is not None else [])]
        self._added: dict[str, str] = {}  # URLs that are not saved, by their key
        self._process: Process | None = None

    def __contains__(self, url: str) -> bool:
        return not self.unseen([url])

    def unseen(self, urls: Iterable[str]) -> list[str]:
        """Return the URLs that are not in the set, in their order."""
        found: list[str] = []
        for part in _parts(urls):
            rest = [url for url, k in zip(part, self._normalizer.keys(part)) if k not in self._added]
            found += self._unsaved(rest) if os.path.exists(self.folder) else rest
        return found

    def add(self, urls: Iterable[str]) -> None:
        """Add URLs."""
        for part in _parts(urls):
            self._added.update((k, url) for url, k in zip(part, self._normalizer.keys(part)) if k)
            if len(self._added) >= SAVE_AFTER:
                self.save()

    def save(self) -> None:
        """Store the URLs that were added."""
        if not self._added:
            return
        command = "merge" if os.path.exists(self.folder) else "build"
        done = subprocess.run(
            [find(), "seen", command, "--quiet", *_JSON, *self._options, self.folder, "-"],
            input=_rows(enumerate(self._added.values())),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if done.returncode != 0:
            text = done.stderr.decode(errors="replace").strip()
            raise ValueError(text) if done.returncode == USAGE else UrlfoldError(text)
        self._added.clear()
        self._end()  # it has the set as it was

    def close(self) -> None:
        """Save the set, and end the processes."""
        try:
            self.save()
        finally:
            self._end()
            self._normalizer.close()

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _unsaved(self, urls: Sequence[str]) -> list[str]:
        """Return the URLs that are not in the folder."""
        if self._process is None:
            self._process = Process(["seen", "query", "--quiet", "--line-buffered", "-r", "rewrite", *_JSON, *self._options, self.folder, "-"])
        found: list[str] = []
        for start, end in _questions(urls):
            part = urls[start:end]
            answers = self._process.ask(lambda write, read: _ask(part, write, read))
            found += [part[i] for i in answers]
        return found


def _parts(urls: Iterable[str]) -> Iterator[list[str]]:
    """Yield lists of URLs."""
    part: list[str] = []
    for url in urls:
        part.append(url)
        if len(part) == 4096:
            yield part
            part = []
    if part:
        yield part


def _questions(urls: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each question."""
    start = size = 0
    for i, url in enumerate(urls):
        size += len(url)
        if size > _QUESTION and i > start:
            yield start, i
            start, size = i, len(url)
    if start < len(urls):
        yield start, len(urls)


def _rows(urls: Iterable[tuple[int, str]]) -> bytes:
    """Return rows for URLs with their indexes."""
    rows = [f'{{"i":{i},"u":{json.dumps(url, ensure_ascii=False)}}}\n' for i, url in urls]
    return "".join(rows).encode("utf-8", "surrogateescape")


def _ask(urls: Sequence[str], write: IO[bytes], read: IO[bytes]) -> list[int]:
    """Return the indexes of the URLs that are not in the set. The row at the end has no URL,
    so that it is always answered."""
    write.write(_rows(enumerate(urls)) + b'{"i":-1}\n')
    write.flush()
    found: list[int] = []
    while row := read.readline():
        index = int(row[len(b'{"i":') :].split(b",", 1)[0].rstrip(b"}\n"))
        if index < 0:
            return found
        found.append(index)
    raise EOFError
