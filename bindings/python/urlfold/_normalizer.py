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
#: program answers one block while this package reads the answers to the one before. The
#: answers to two blocks fit in the memory in which the program keeps them, so that it reads
#: a block to its end.
BLOCK = 4096
BLOCK_TEXT = 2 << 20

#: The blocks that are asked again together if the program is killed, at least.
TOGETHER = 4

# What the format tsv escapes in a value, and what its escapes stand for.
_INLINE_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\r": "\\r"}.items()
_ESCAPES = str.maketrans({"\n": "\\n", **dict(_INLINE_ESCAPES)})
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
        all_urls = list(urls)
        for start in range(0, len(all_urls), TOGETHER * BLOCK):
            blocks = list(_blocks(all_urls[start : start + TOGETHER * BLOCK]))
            answers += process.ask(lambda write, read: _ask_lines(blocks, write, read))
        return answers


def _blocks(urls: list[str | None]) -> Iterable[bytes]:
    """Yield blocks of lines, one for each URL."""
    for start in range(0, len(urls), BLOCK):
        yield from _split(urls[start : start + BLOCK])


def _split(urls: list[str | None]) -> Iterable[bytes]:
    """Yield URLs as a block of lines, or as several if their text is long."""
    try:
        text = "\n".join(urls)  # type: ignore[arg-type]
    except TypeError:  # there is a None
        urls = ["" if url is None else url for url in urls]
        text = "\n".join(urls)  # type: ignore[arg-type]
    if len(text) > BLOCK_TEXT and len(urls) > 1:
        yield from _split(urls[: len(urls) // 2])
        yield from _split(urls[len(urls) // 2 :])
        return
    if text.count("\n") != len(urls) - 1:
        text = "\n".join(url.translate(_ESCAPES) for url in urls)  # type: ignore[union-attr]
    else:
        for raw, escape in _INLINE_ESCAPES:
            text = text.replace(raw, escape)
    yield text.encode("utf-8", "surrogateescape") + b"\n"


def _ask_lines(blocks: list[bytes], write: IO[bytes], read: IO[bytes]) -> list[str | None]:
    """Write each block before the answers to the one before are read, and return all answers."""
    answers: list[str | None] = []
    rest, due = b"", 0
    for block in [*blocks, b""]:
        write.write(block)
        write.flush()
        while len(answers) < due:
            piece = read.read1(1 << 20)  # type: ignore[attr-defined]
            if not piece:
                raise EOFError
            lines, end, rest = (rest + piece).rpartition(b"\n")
            if end:
                answers += _values(lines.decode("utf-8", "surrogateescape"))
        due += block.count(b"\n")
    return answers


def _values(text: str) -> list[str | None]:
    """Return the values that lines of tsv stand for, with None for an empty one."""
    lines: list[str | None] = text.split("\n")  # type: ignore[assignment]
    if "\\" in text:
        lines = [line and _unescape(line) for line in lines]
    if "" in lines:
        return [line or None for line in lines]
    return lines


def _unescape(text: str) -> str:
    """Return the value that a cell of tsv stands for."""
    if "\\" not in text:
        return text
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
