"""Files by their numbers, opened and used alike where the system lacks what POSIX has (Windows)."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)  # the path is no link; Windows makes none for users without rights to it
NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)  # opening a pipe does not wait for the other end
# Not for programs that are started, which is so without a flag where Python says so (PEP 446); and bytes as they are.
OURS: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

READ: Final = os.O_RDONLY | NO_LINK | OURS
CHANGE: Final = os.O_WRONLY | NO_LINK | OURS
NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK | OURS
NEW_SPOOL: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINK | OURS

_GOES_WHEN_CLOSED: Final = getattr(os, "O_TEMPORARY", 0)
_moving = threading.Lock()


def write_at(file: int, content: bytes | bytearray | memoryview, offset: int) -> int:
    """How many bytes of `content` were written at `offset`. Any thread may do so. Raises OSError."""
    if hasattr(os, "pwrite"):
        return os.pwrite(file, content, offset)
    with _moving:
        os.lseek(file, offset, os.SEEK_SET)
        return os.write(file, content)


def read_at(file: int, size: int, offset: int) -> bytes:
    """Up to `size` bytes from `offset` on, b"" behind the end. Any thread may do so. Raises OSError."""
    if hasattr(os, "pread"):
        return os.pread(file, size, offset)
    with _moving:
        os.lseek(file, offset, os.SEEK_SET)
        return os.read(file, size)


def open_unnamed(path: Path) -> int:
    """A new file that goes with its descriptor, however the process ends; `path` is free again, or will be by then.

    Raises OSError.
    """
    file = os.open(path, NEW_SPOOL | _GOES_WHEN_CLOSED, 0o600)
    if not _GOES_WHEN_CLOSED:
        try:
            os.unlink(path)
        except OSError:
            os.close(file)
            raise
    return file
