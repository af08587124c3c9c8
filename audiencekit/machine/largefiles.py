"""Large new files for nobody but their owner, written past the system's cache where the file system lets us.

Nothing of a large file is soon read again. In the cache it would take as many fresh pages as it has, and to copy into
them takes a processor longer than a disk needs to fetch the bytes from where they are, unless the disk is busy.
"""

from __future__ import annotations

import errno
import io
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt

Room: TypeAlias = npt.NDArray[np.uint8]

# What goes past the cache begins and ends with a block, in memory and in the file. What the file system refuses, since
# it wants more or never does it, goes through the cache.
BLOCK_BYTES: Final = 4_096
_PAST_CACHE: Final = getattr(os, "O_DIRECT", 0)
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

_GATHERED_BYTES: Final = 2_097_152
_SLOW_SECONDS: Final = 0.02  # for so many bytes, past the cache: the disk has others to serve, and the cache is faster


def make_room(size: int) -> Room:
    """Room for so many bytes, which begins with a block."""
    room = np.empty(size + BLOCK_BYTES, dtype=np.uint8)
    begin = -room.ctypes.data % BLOCK_BYTES
    return room[begin : begin + size]


def write_file(path: Path, content: bytes | memoryview, *, past_cache: bool) -> None:
    """Make a file of `content`, which goes past the cache only from the begin of a block, as `make_room` has it.

    Raises OSError when it cannot be made or written, FileExistsError when it is there.
    """
    with _NewFile(path, past_cache=past_cache) as file:
        view = memoryview(content)
        whole = len(view) - len(view) % BLOCK_BYTES
        file.write(view[:whole])
        file.go_through_cache()
        file.write(view[whole:])


class LargeFile(io.RawIOBase):
    """A file that is not there yet, written piece by piece; all of it is there when it is closed.

    The disk fetches what was gathered while more is. Raises OSError when it cannot be made or written, with what is
    given later or as it is closed, and FileExistsError when it is there.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._file, self._clock = _NewFile(path, past_cache=True), clock
        self._gathered, self._end, self._written = make_room(_GATHERED_BYTES), 0, 0
        self._pool, self._fetched = ThreadPoolExecutor(1, "audiencekit"), make_room(_GATHERED_BYTES)
        self._fetching: Future[None] | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._end, self._fetching = 0, None  # nobody is to read it
        self.close()

    def writable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """How many bytes it was given."""
        return self._written + self._end

    def write(self, content: Any) -> int:
        """Add all of `content`, bytes of any sort, and give how many they are."""
        rest = given = np.frombuffer(content, dtype=np.uint8)
        while len(rest):
            taken = min(len(rest), len(self._gathered) - self._end)
            self._gathered[self._end : self._end + taken] = rest[:taken]
            self._end, rest = self._end + taken, rest[taken:]
            if self._end == len(self._gathered):
                self._write_gathered()
        return len(given)

    def close(self) -> None:
        """Write what is left. Asked again, it does nothing."""
        if self.closed:
            return
        super().close()
        with self._file, self._pool:
            self._wait()
            self._file.go_through_cache()
            self._file.write(self._gathered[: self._end].data)

    def _write_gathered(self) -> None:
        self._wait()
        self._written += self._end
        self._gathered, self._fetched, self._end = self._fetched, self._gathered, 0
        self._fetching = self._pool.submit(self._write_fetched)

    def _wait(self) -> None:
        if self._fetching is not None:
            self._fetching.result()

    def _write_fetched(self) -> None:
        started = self._clock()
        self._file.write(self._fetched.data)
        if self._clock() - started > _SLOW_SECONDS:
            self._file.go_through_cache()


class _NewFile:
    """An open file, written in whole blocks until it goes through the cache."""

    def __init__(self, path: Path, *, past_cache: bool) -> None:
        self._file, self._flag = os.open(path, _NEW_FILE, 0o600), 0
        if past_cache and _PAST_CACHE:
            # Not as it is opened: a file system that refuses then has made the file already.
            with suppress(OSError):
                self._set_flag(_PAST_CACHE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A thread that still writes, after two interruptions, must not write into the next file of this number.
        file, self._file = self._file, -1
        os.close(file)

    def write(self, content: memoryview) -> None:
        """Add all of `content`."""
        while content:
            try:
                written = os.write(self._file, content)
            except OSError as error:
                if not self._flag or error.errno != errno.EINVAL:
                    raise
                self.go_through_cache()  # which this file system never leaves, or not for this
            else:
                content = content[written:]

    def go_through_cache(self) -> None:
        """From here on."""
        if self._flag:
            self._set_flag(0)

    def _set_flag(self, flag: int) -> None:
        import fcntl  # where there is the flag, there is this

        others = fcntl.fcntl(self._file, fcntl.F_GETFL) & ~_PAST_CACHE
        fcntl.fcntl(self._file, fcntl.F_SETFL, others | flag)
        self._flag = flag
