"""Locks by flock(2), on files and directories."""

from __future__ import annotations

import fcntl
from typing import Final

CAN_LOCK_DIRECTORIES: Final = True


def lock(file: int, *, wait: bool) -> None:
    """Lock the open `file` for this process alone. Raises BlockingIOError when another holds it and `wait` is off."""
    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def can_be_locked(file: int) -> bool:
    """Whether no process holds the lock of the open `file` now."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # where there are no locks, none is held
        return True
    return True


def try_locks(file: int) -> None:
    """Lock the open `file`, which no one else knows, by flock(2) and by fcntl(2). Raises OSError."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
