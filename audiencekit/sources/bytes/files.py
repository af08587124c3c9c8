"""A file on disk that is safe to read twice: a regular one, and the same one until the end."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, Protocol, Self, TypeAlias, TypeVar

from audiencekit.errors import InputOutputFailed, SourceRefused
from audiencekit.limits import MAX_HELD_BYTES
from audiencekit.text import shown

SHOWN_NAME_LENGTH: Final = 200  # characters of a file's name in messages


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return the last part of `path`, with unprintable characters escaped: others may have chosen the name."""
    name = Path(os.fsdecode(path)).name or os.fsdecode(path)
    safe = shown(name)
    return safe if len(safe) <= SHOWN_NAME_LENGTH else safe[:SHOWN_NAME_LENGTH] + "..."


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of a file that must not change between the first and the last byte."""

    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The facts of a stat result."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


_LET_READ: Final = "let this user read it (`ls -l` shows its owner and who may), or copy it to where this user may"


class RegularFile:
    """A path and the file that it meant at first sight. Opens again and again, refuses when it is another file."""

    seekable = True
    repeatable = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fsdecode(path)
        self._first_seen = FileFacts.of(self._status())

    @property
    def size_bytes(self) -> int:
        """Bytes on disk at first sight."""
        return self._first_seen.size

    @property
    def identity(self) -> Identity:
        """The same for two paths to one file."""
        return self._first_seen.device, self._first_seen.inode

    def open(self) -> BinaryIO:
        """The file, at its first byte and unbuffered. Raises SourceRefused when it is another file by now."""
        self._status()
        # O_NONBLOCK: should a FIFO take the path's place at this moment, opening it must not wait for a writer.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        failure: str | None = None
        try:
            handle = os.fdopen(os.open(self.path, flags), "rb", buffering=0)
        except OSError as error:
            failure = error.strerror or "unknown reason"
        if failure is not None:
            raise InputOutputFailed(f"cannot be opened: {failure}", hint=_LET_READ)
        try:
            self._compare(os.fstat(handle.fileno()))
        except SourceRefused:
            handle.close()
            raise
        return handle

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Raises SourceRefused when the open file, or the file under its path, is no longer what was opened."""
        self._compare(os.fstat(handle.fileno()))
        self._compare(self._status())

    def _compare(self, status: os.stat_result) -> None:
        if FileFacts.of(status) != self._first_seen:
            raise SourceRefused("the file changed while it was read", hint="run again when nothing writes to it")

    def _status(self) -> os.stat_result:
        failure: str | None = None
        missing = False
        try:
            status = os.stat(self.path)
        except (OSError, ValueError) as error:
            missing = isinstance(error, FileNotFoundError | NotADirectoryError | ValueError)
            failure = getattr(error, "strerror", None) or "not a path"
        if missing:
            raise SourceRefused("there is no such file", hint=_near_in_words(self.path))
        if failure is not None:
            raise InputOutputFailed(f"cannot be read: {failure}", hint=_LET_READ)
        if not stat.S_ISREG(status.st_mode):
            what, instead = _what(status.st_mode)
            raise SourceRefused(f"this is {what}, not a regular file", hint=instead)
        return status


_DASHES: Final = ("\u2013", "\u2014", "\u2212")
_NOT_THERE: Final = "no file in that directory has such a name: correct the path, or see whether the export ran"
_ELSEWHERE: Final = "no file in the current directory has such a name: give the path of its directory, too"
_MOST_LOOKED_AT: Final = 10_000  # entries of a directory
_LIKENESS: Final = 0.75  # of the letters are the same, in the same order


def _near_in_words(path: str) -> str:
    """A hint at the file, or at the option, that is meant."""
    from difflib import get_close_matches  # for a file that is missing

    if path.startswith(_DASHES):
        return "an option begins with two hyphens (--), not with a dash as text programs write it"
    directory, name = os.path.split(path)
    try:
        with os.scandir(directory or os.curdir) as entries:
            names = sorted(entry.name for entry in islice(entries, _MOST_LOOKED_AT))
    except (OSError, ValueError):
        return "its directory is not there, or cannot be read"
    if not name:
        return ""
    # A shell makes two words of a name with a space.
    if whole := next((one for one in names if one.startswith(f"{name} ") or one.endswith(f" {name}")), None):
        return f"did you mean {shown_path(whole)!r}? Put quotes around a name with a space"
    by_folded = {one.casefold(): one for one in names}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=_LIKENESS)
    if near:
        return f"did you mean {shown_path(by_folded[near[0]])}?"
    return _NOT_THERE if directory else _ELSEWHERE


def _what(mode: int) -> tuple[str, str]:
    """Return the type of a file that is not regular, and the remedy."""
    if stat.S_ISDIR(mode):
        return "a directory", "give the files in it; the shell lists them for DIRECTORY/*.csv"
    if stat.S_ISFIFO(mode):
        return "a pipe", "give - and direct it to standard input, or give the path of a file"
    return "a socket" if stat.S_ISSOCK(mode) else "a device", "give the path of a file"


_HINT: Final = "unpack or decrypt it where that is safe, and give the file; or write the list as CSV, which is streamed"


class HeldFile:
    """The bytes of `blocks`, which are unpacked from `outer`. Raises SourceRefused for more than MAX_HELD_BYTES."""

    seekable = True

    def __init__(self, outer: RawFile, blocks: Iterable[bytes]) -> None:
        held = io.BytesIO()
        for block in blocks:
            if held.tell() + len(block) > MAX_HELD_BYTES:
                raise SourceRefused(
                    f"what is read from its end is held in memory when it comes in a stream, and it is more than"
                    f" {MAX_HELD_BYTES:,} bytes",
                    hint=_HINT,
                )
            held.write(block)
        self._outer, self._data = outer, held.getvalue()  # shared with every handle, not copied

    def __repr__(self) -> str:
        return f"<HeldFile of {self.size_bytes} bytes>"

    @property
    def size_bytes(self) -> int:
        """Bytes that are held."""
        return len(self._data)

    @property
    def identity(self) -> Identity:
        """The identity of the file that the bytes came from."""
        return self._outer.identity

    @property
    def repeatable(self) -> bool:
        """Whether that file can be read again."""
        return self._outer.repeatable

    def open(self) -> BinaryIO:
        """A handle at the first byte."""
        return io.BytesIO(self._data)

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Do nothing: held bytes do not change, and their file was checked after the last byte."""


Identity: TypeAlias = tuple[int, int] | str


class RawFile(Protocol):
    """Bytes from outside: of a file on disk or elsewhere, of a pipe, or decrypted from such bytes."""

    @property
    def size_bytes(self) -> int:
        """Bytes in all, 0 when unknown."""

    @property
    def identity(self) -> Identity:
        """The same for two names of one file."""

    @property
    def seekable(self) -> bool:
        """Whether a handle goes to any byte: what is read from its end needs that."""

    @property
    def repeatable(self) -> bool:
        """Whether another process can read it again."""

    def open(self) -> BinaryIO:
        """A handle at the first byte, unbuffered. The handles of a seekable file know their places one by one."""

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Raise SourceRefused when the file may have changed since it was read."""


class ByteReader(io.RawIOBase):
    """An open file. `position` is the next byte.

    `failure` is what ended it: libraries that read from it may hide an error or give another in its place.
    """

    def __init__(self, handle: BinaryIO) -> None:
        super().__init__()
        self._handle = handle
        self.position = 0
        self.failure: InputOutputFailed | SourceRefused | None = None

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """Whether the file is seekable."""
        return self._handle.seekable()

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, none at the end. Raises InputOutputFailed."""
        try:
            data = self._handle.read(size) or b""
        except OSError as error:
            self.failure = InputOutputFailed(f"cannot be read: {error.strerror or 'unknown reason'}")
        except (SourceRefused, InputOutputFailed) as error:
            self.failure = error
        if self.failure is not None:
            raise self.failure
        self.position += len(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go on reading elsewhere."""
        self.position = self._handle.seek(offset, whence)
        return self.position

    def tell(self) -> int:
        """The place of the next byte."""
        return self.position

    def blocks(self, block_bytes: int) -> Iterator[bytes]:
        """Bytes that are left, in blocks of `block_bytes`."""
        return iter(lambda: self.read(block_bytes), b"")


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
        """Do nothing: bytes that were received cannot change."""

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
    """None for an object that is no file of the system; a program may replace its standard input by one."""
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


T = TypeVar("T")
WAIT_SECONDS: Final = 0.2  # for anything to come, until it is asked whether to wait on

# Asked while nothing comes; raises when it is not waited for any more.
WAIT_ON: ContextVar[Callable[[], None]] = ContextVar("WAIT_ON", default=lambda: None)


def result_of(coming: Future[T], wait_on: Callable[[], None]) -> T:
    """Return the result of `coming`. Raises its exceptions and those of `wait_on`."""
    while True:
        try:
            return coming.result(WAIT_SECONDS)
        except TimeoutError:
            if coming.done():  # just now, or by a timeout of its own
                return coming.result()
        wait_on()
