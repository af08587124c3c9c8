"""Standard input: bytes that come once. What is read for a look is kept, and the pass that follows begins with it."""

from __future__ import annotations

import io
import select
import sys
from collections.abc import Callable
from typing import BinaryIO, Final

from audiencekit.errors import SourceRefused
from audiencekit.sources.patience import WAIT_ON

STANDARD_INPUT: Final = "-"
SHOWN_NAME: Final = "standard input"
# More than any look takes: a sample in the widest encoding, and the blocks that it ends in.
KEPT_BYTES: Final = 8_388_608
PIPE_BYTES: Final = 65_536  # what a pipe holds: room for more would be taken and given back each time
WAIT_MILLISECONDS: Final = 200  # for more to come, until it is asked whether to wait on


class StandardInput:
    """The bytes piped in, from its first byte with every `open()` as long as no reader went beyond KEPT_BYTES."""

    size_bytes = 0  # unknown
    seekable = False
    repeatable = False

    def __init__(self, live: BinaryIO | None = None) -> None:
        self.identity = STANDARD_INPUT if live is None else f"file {id(live)}"
        self._live = _piped_in() if live is None else live
        self._wait_on = WAIT_ON.get()
        self._kept: bytes | None = b""  # None once more was read than is kept

    def open(self) -> BinaryIO:
        """The bytes from the first on. Raises SourceRefused when they are gone."""
        if self._kept is None:
            raise SourceRefused("it can be read only once", hint="write it to a file, and give its path")
        return Replay(self._kept, self._read_on)

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Nothing: what came cannot change."""

    def _read_on(self, size_bytes: int) -> bytes:
        data = read_patiently(self._live, size_bytes, self._wait_on)
        if self._kept is not None:
            self._kept = self._kept + data if len(self._kept) + len(data) <= KEPT_BYTES else None
        return data


class Replay(io.RawIOBase, BinaryIO):
    """The bytes that were kept, then those that `read_on` brings."""

    def __init__(self, kept: bytes, read_on: Callable[[int], bytes]) -> None:
        super().__init__()
        self._kept, self._read_on = kept, read_on

    def read(self, size: int = -1, /) -> bytes:
        """`size` bytes, or less at the end."""
        taken, self._kept = self._kept[:size], self._kept[size:]
        return taken + self._read_on(size - len(taken)) if len(taken) < size else taken


def read_patiently(live: BinaryIO, size_bytes: int, wait_on: Callable[[], None]) -> bytes:
    """`size_bytes`, or less at the end; `wait_on` is called now and then while nothing comes."""
    if not isinstance(live, io.BufferedReader) or not hasattr(select, "poll") or (number := _file_number(live)) is None:
        return live.read(size_bytes) or b""
    parts: list[bytes] = []
    missing = size_bytes
    coming = select.poll()  # `select` takes no number from 1,024 on
    coming.register(number, select.POLLIN)
    while missing > 0:
        while not coming.poll(WAIT_MILLISECONDS):
            wait_on()
        # One read of what is there: nothing stays in the reader's buffer, into which `poll` does not look.
        part = live.read1(min(missing, PIPE_BYTES))
        if not part:
            break
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _file_number(live: BinaryIO) -> int | None:
    """None for what is no file of the system, as a program may put in place of its standard input."""
    try:
        return live.fileno()
    except OSError:
        return None


def _piped_in() -> BinaryIO:
    """The standard input of the process. Raises SourceRefused when there is none, or a person sits at it."""
    if sys.stdin is None or sys.stdin.closed:
        raise SourceRefused("there is none", hint="pipe rows into it, or give the path of a file")
    if sys.stdin.isatty():
        raise SourceRefused("it is a terminal", hint="pipe rows into it: zcat list.csv.gz | audiencekit check -")
    return sys.stdin.buffer
