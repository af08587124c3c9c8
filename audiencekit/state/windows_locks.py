"""Locks on Windows: on a byte far behind the end of a file, because other processes cannot read a locked part."""

from __future__ import annotations

import errno
import importlib
import os
from typing import Any, Final

CAN_LOCK_DIRECTORIES: Final = False

_PLACE: Final = 1 << 30
_HELD: Final = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)  # the last after ten tries, a second apart


def lock(file: int, *, wait: bool) -> None:
    """Lock the open `file` for this process alone. Raises BlockingIOError when another holds it and `wait` is off."""
    while not _take(file, wait=wait):
        if not wait:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def can_be_locked(file: int) -> bool:
    """Whether no process holds the lock of the open `file` now."""
    return _take(file, wait=False)


def try_locks(file: int) -> None:
    """Lock the open `file`, which no one else knows. Raises OSError."""
    _take(file, wait=False)


def _take(file: int, *, wait: bool) -> bool:
    msvcrt: Any = importlib.import_module("msvcrt")  # of which other systems know no types
    os.lseek(file, _PLACE, os.SEEK_SET)
    try:
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True
