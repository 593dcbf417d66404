"""Normal forms, keys and explanations."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from urlfold._binary import find
from urlfold._process import USAGE, Process, UrlfoldError

if TYPE_CHECKING:
    import pyarrow

#: The URLs in one block of questions, and the length of their text in characters. The
#: answers to a block fit in the memory in which the program keeps them, so that it reads
#: a block to its end.
BLOCK = 16384
BLOCK_TEXT = 4 << 20

# What the format tsv escapes in a value, and what its escapes stand for.
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_PLAIN = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


class Normalizer:
    """Computes normal forms and keys with one profile.

    profile is the name of a profile, key the level of the keys (syntax, equivalent,
    fetch, page), base the URL against which relative URLs are resolved. options are
    more options of the program, such as ``("--repair", "percent-u")``.

    >>> n = Normalizer(profile="analytics", key="page")
    >>> n("https://EXAMPLE.com/?utm_source=x&id=1")
    'https://example.com/?utm_source=x&id=1'
    >>> n.keys(["http://example.com/a", "https://EXAMPLE.com/a/"])[0] == n.key("http://example.com/a")
    True
    >>> n.close()

    A Normalizer can be used from several threads, and after a fork. If the program is
    killed, the block of URLs that it had is asked again.
    """

    def __init__(
        self, profile: str | None = None, key: str | None = None, *, base: str | None = None, options: Sequence[str] = ()
    ) -> None:
        self._options = [*options]
        for name, value in (("--profile", profile), ("--key", key), ("--base", base)):
            if value is not None:
                self._options += [name, value]
        self._processes: dict[str, Process] = {}

    def __call__(self, url: str) -> str | None:
        """Return the normal form of a URL, or None if it cannot be parsed."""
        return self.many([url])[0]

    def key(self, url: str) -> str | None:
        """Return the key of a URL, or None if it has none."""
        return self.keys([url])[0]

    def many(self, urls: Iterable[str | None]) -> list[str | None]:
        """Return the normal forms of URLs; None for None and for what cannot be parsed."""
        return self._lines("norm", urls)

    def keys(self, urls: Iterable[str | None]) -> list[str | None]:
        """Return the keys of URLs."""
        return self._lines("key", urls)

    def arrow(self, array: Any, fields: Sequence[str] = ("norm",)) -> pyarrow.Table:
        """Return a table with a row of fields for each URL of an array.

        array is anything with the Arrow PyCapsule protocol, such as an array or a column
        of pyarrow or polars, or a list. So is the result. Needs pyarrow.
        """
        import pyarrow as pa

        if isinstance(array, pa.ChunkedArray):
            column = array
        elif hasattr(array, "__arrow_c_stream__"):
            column = pa.chunked_array(array)
        else:
            column = pa.chunked_array([pa.array(array)])
        # A stream has one schema, and so has a process.
        process = self._process(f"{column.type} {','.join(fields)}", "-f", "arrow", "-r", "arrow", "--fields", ",".join(fields))
        batches = []
        size = max(1, BLOCK_TEXT // max(64, column.nbytes // max(1, len(column))))
        for start in range(0, max(1, len(column)), size):
            batch = pa.record_batch({"url": column.slice(start, size).combine_chunks()})
            batches.append(process.ask(lambda write, read: _answer(process, batch, write, read)))
        return pa.Table.from_batches(batches)

    def close(self) -> None:
        """End the processes. The next call starts others."""
        for process in self._processes.values():
            process.close()

    def __enter__(self) -> Normalizer:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"_options": self._options, "_processes": {}}  # another program starts its own

    def _process(self, name: str, *arguments: str) -> Process:
        if (process := self._processes.get(name)) is None:
            process = self._processes.setdefault(name, Process(["--lock-step", *arguments, *self._options]))
        return process

    def _lines(self, field: str, urls: Iterable[str | None]) -> list[str | None]:
        process = self._process(field, "-f", "tsv", "-r", "tsv", "--fields", field)
        answers: list[str | None] = []
        for block in _blocks(urls):
            answers += process.ask(lambda write, read: _ask_lines(block, write, read))
        return answers


def _blocks(urls: Iterable[str | None]) -> Iterable[bytes]:
    """Yield blocks of lines, one for each URL."""
    texts = ["" if url is None else url for url in urls]
    size = max(1, min(BLOCK, BLOCK_TEXT // max(1, max(map(len, texts), default=0))))
    for start in range(0, len(texts), size):
        part = texts[start : start + size]
        text = "\n".join(part)
        if "\\" in text or "\t" in text or "\r" in text or text.count("\n") != len(part) - 1:
            text = "\n".join(url.translate(_ESCAPES) for url in part)
        yield text.encode("utf-8", "surrogateescape") + b"\n"


def _ask_lines(block: bytes, write: IO[bytes], read: IO[bytes]) -> list[str | None]:
    """Write lines, and return the answers."""
    write.write(block)
    write.flush()
    count, pieces = block.count(b"\n"), []
    while count > 0:
        piece = read.read1(1 << 20)  # type: ignore[attr-defined]
        if not piece:
            raise EOFError
        count -= piece.count(b"\n")
        pieces.append(piece)
    text = b"".join(pieces).decode("utf-8", "surrogateescape")
    answers = text.split("\n")
    answers.pop()
    if "\\" in text:
        return [_unescape(answer) or None for answer in answers]
    return [answer or None for answer in answers]


def _unescape(text: str) -> str:
    """Return the value that a cell of tsv stands for."""
    parts = text.split("\\")
    out, i = [parts[0]], 1
    while i < len(parts):
        if parts[i]:
            out.append(_PLAIN.get(parts[i][0], "\\" + parts[i][0]) + parts[i][1:])
        else:
            i += 1
            out.append("\\" + (parts[i] if i < len(parts) else ""))
        i += 1
    return "".join(out)


def _answer(process: Process, batch: pyarrow.RecordBatch, write: IO[bytes], read: IO[bytes]) -> pyarrow.RecordBatch:
    """Send a batch, and return the answers. The streams are those of the process."""
    import pyarrow as pa

    try:
        if process.streams is None:
            process.streams = (pa.ipc.new_stream(write, batch.schema), pa.ipc.open_stream(read))
        questions, answers = process.streams
        questions.write_batch(batch)
        write.flush()
        answer = answers.read_next_batch()
    except (pa.ArrowInvalid, StopIteration) as error:  # the stream was cut
        raise EOFError from error
    if answer.num_rows != batch.num_rows:
        raise AssertionError(f"{answer.num_rows} answers to {batch.num_rows} URLs")
    return answer


def explain(url: str, *, profile: str | None = None, base: str | None = None) -> dict[str, Any]:
    """Return what happens to a URL, as ``urlfold explain -r jsonl`` writes it.

    >>> explain("HTTP://Example.com/%7e")["flags"]
    ['lower-hex', 'needless-escape']
    """
    command = [find(), "explain", "-r", "jsonl"]
    for name, value in (("--profile", profile), ("--base", base)):
        if value is not None:
            command += [name, value]
    done = subprocess.run([*command, "--", url], capture_output=True)
    if not done.stdout:
        raise ValueError(done.stderr.decode(errors="replace").strip())
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def read(path: str | os.PathLike[str], fields: Sequence[str] = (), *, options: Sequence[str] = ()) -> pyarrow.RecordBatchReader:
    """Return a reader of batches with a row for each URL of a log or a list, in any format
    that the program reads. Needs pyarrow.

    The reader raises an error if the program ends before the end of the file.
    """
    import pyarrow as pa

    command = [find(), "--quiet", "-r", "arrow", *options]
    if fields:
        command += ["--fields", ",".join(fields)]
    child = subprocess.Popen([*command, "--", os.fspath(path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None and child.stderr is not None
    try:
        stream = pa.ipc.open_stream(child.stdout)
    except pa.ArrowInvalid:
        code, text = _end(child)
        raise (ValueError if code == USAGE else UrlfoldError)(text) from None
    return pa.RecordBatchReader.from_batches(stream.schema, _batches(stream, child))


def _batches(stream: pyarrow.RecordBatchReader, child: subprocess.Popen[bytes]) -> Iterable[pyarrow.RecordBatch]:
    """Yield the batches of a process. If the caller stops earlier, the process ends."""
    import pyarrow as pa

    try:
        yield from stream
    except pa.ArrowInvalid:
        pass  # the exit code says why
    except GeneratorExit:
        _end(child)
        raise
    code, text = _end(child)
    if code != 0:
        raise UrlfoldError(f"urlfold ended with exit code {code}: {text}")


def _end(child: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Close the pipes of a process, and return its exit code and its messages."""
    assert child.stdout is not None and child.stderr is not None
    child.stdout.close()
    text = child.stderr.read().decode(errors="replace").strip()
    child.stderr.close()
    return child.wait(), text
