"""A process that answers questions, and is started again if it ends."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import IO, Any, TypeVar

from urlfold._binary import find

T = TypeVar("T")

#: How often a question is asked again after the process has ended.
TRIES = 3

#: The size of the pipes in bytes, on Linux. With the usual 64 KiB the two processes would
#: wait for each other more often.
PIPE = 1 << 20

#: The exit code for options that are not valid.
USAGE = 2


class UrlfoldError(RuntimeError):
    """The program ended without an answer. The text has its last message."""


class Process:
    """One process with its two pipes. Threads take turns; a forked child gets a process
    of its own."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.arguments = list(arguments)
        self._lock = threading.RLock()
        self._child: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self.streams: Any = None  # what converse keeps for one process
        _all.add(self)

    def ask(self, converse: Callable[[IO[bytes], IO[bytes]], T]) -> T:
        """Return what converse returns for the stdin and stdout of the process.

        If the process ends meanwhile, converse is called again with those of a new one:
        it must not keep a part of the answers. After any other exception the process is
        ended, because nobody has read its answers.
        """
        with self._lock:
            for attempt in range(TRIES):
                child = self._start()
                assert child.stdin is not None and child.stdout is not None
                try:
                    return converse(child.stdin, child.stdout)
                except (BrokenPipeError, EOFError):
                    self._give_up(attempt + 1 == TRIES)
                except BaseException:
                    self._end(kill=True)
                    raise
            raise AssertionError("unreachable")

    def close(self) -> None:
        """End the process. The next question starts another one."""
        with self._lock:
            self._end(kill=False)

    def _start(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            self._errors = tempfile.TemporaryFile()
            # Ctrl-C interrupts this program, which then ends the process.
            self._child = subprocess.Popen(
                [find(), *self.arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True
            )
            for pipe in (self._child.stdin, self._child.stdout):
                _widen(pipe)
        return self._child

    def _give_up(self, last: bool) -> None:
        """End a process that does not answer. Raise an error if no other should be tried."""
        child, errors = self._child, self._errors
        assert child is not None and errors is not None
        _close(child)
        code = child.wait()
        errors.seek(0)
        text = errors.read()[-2000:].decode(errors="replace").strip()
        self._end(kill=True)
        if code == USAGE:
            raise ValueError(text)
        if last:
            raise UrlfoldError(f"urlfold ended {TRIES} times without an answer (exit code {code}): {text}")

    def _end(self, kill: bool) -> None:
        child, errors, self._child, self._errors = self._child, self._errors, None, None
        self.streams = None
        if child is not None:
            if kill:
                child.kill()
            _close(child)
            child.wait()
        if errors is not None:
            errors.close()

    def _forget(self) -> None:
        """Let go of the process of the parent, after a fork. Its pipes would otherwise stay
        open as long as the child lives."""
        _inherited.append((self._errors, self.streams))
        child, self._child, self._errors, self.streams = self._child, None, None, None
        self._lock = threading.RLock()  # another thread of the parent may have held it
        if child is not None:
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    os.close(pipe.fileno())
                    # What is in the buffer belongs to the parent.
                    _inherited.append(pipe)
            child.returncode = 0  # it is not our child
            _inherited.append(child)

    def __del__(self) -> None:
        try:
            self._end(kill=True)
        except Exception:  # at the exit of the interpreter
            pass


def _widen(pipe: IO[bytes] | None) -> None:
    """Make a pipe larger, where the system has and allows that."""
    try:
        import fcntl

        assert pipe is not None
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)
    except (ImportError, AttributeError, OSError):
        pass


def _close(child: subprocess.Popen[bytes]) -> None:
    """Close the pipes of a process."""
    for pipe in (child.stdin, child.stdout):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:
            pass


_all: weakref.WeakSet[Process] = weakref.WeakSet()
_inherited: list[object] = []  # never closed: their descriptors may be in use again


def _after_fork() -> None:
    for process in list(_all):
        process._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
