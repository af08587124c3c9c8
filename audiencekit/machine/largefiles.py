"""Large new files for their owner alone, written past the system's cache where the file system lets us.

Nothing of a large file is soon read again. In the cache it would take as many fresh pages as it has, and to copy into
them takes a processor longer than a disk needs to fetch the bytes from where they are, unless the disk is busy.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from audiencekit.machine.openfiles import NEW_FILE

Room: TypeAlias = npt.NDArray[np.uint8]

# Writes past the cache begin and end with a block, in memory and in the file. A write that the file system refuses,
# because it wants larger blocks or never does it, goes through the cache.
BLOCK_BYTES: Final = 4_096
_PAST_CACHE: Final = getattr(os, "O_DIRECT", 0)


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


class _NewFile:
    """An open file, written in whole blocks until it goes through the cache."""

    def __init__(self, path: Path, *, past_cache: bool) -> None:
        self._file, self._flag = os.open(path, NEW_FILE, 0o600), 0
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
