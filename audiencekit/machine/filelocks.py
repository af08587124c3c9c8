"""Locks on files and directories, which the kernel gives back when their process ends, however it does."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MOST_HOLDER_BYTES: Final = 4_096


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True, is_directory: bool = False) -> Iterator[int]:
    """The descriptor of `path`, a file (made, 0600, when it is missing) or a directory, locked for this process alone.

    Raises BlockingIOError when another process holds it and `wait` is off, OSError when it cannot be opened or locked.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY if is_directory else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    file = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield file
    finally:
        with contextlib.suppress(OSError):
            os.close(file)


def write_holder(file: int, holder: bytes) -> None:
    """Write into a locked file who holds it. Raises OSError."""
    os.ftruncate(file, 0)
    os.pwrite(file, holder, 0)


def holder_of(path: Path) -> bytes | None:
    """The words of the process that holds the file at `path`, b"" when it has not said any; None when none holds it."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return read_holder(path)
    finally:
        os.close(file)
    return None


def read_holder(path: Path) -> bytes:
    """The content of the file at `path`, b"" when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MOST_HOLDER_BYTES)
    except OSError:
        return b""
