"""Locks on files and directories, which the system gives back when their process ends, however it does."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from audiencekit.errors import AudienceBusy, FileHeld, InputOutputFailed
from audiencekit.state.files import NO_LINK, OURS, READ, explained, write_at

try:
    from audiencekit.state.posix_locks import CAN_LOCK_DIRECTORIES, can_be_locked, lock, try_locks
except ImportError:
    from audiencekit.state.windows_locks import CAN_LOCK_DIRECTORIES, can_be_locked, lock, try_locks

MOST_HOLDER_BYTES: Final = 4_096
HELD_HINT: Final = "is an audiencekit process stopped, or its container paused? continue or end it, then try again"
_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS})
# Names of errors of SQLite: that another process holds the file, or may; and that a lock fails in another way.
_HELD: Final = ("SQLITE_BUSY", "SQLITE_LOCKED")
_UNLOCKABLE: Final = ("SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK", "SQLITE_IOERR_UNLOCK", "SQLITE_IOERR_CHECKRESERVED")


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True, is_directory: bool = False) -> Iterator[int]:
    """The descriptor of `path`, a file (made, 0600, when it is missing) or a directory, locked for this process alone.

    Raises BlockingIOError when another process holds it and `wait` is off, InputOutputFailed when its file system has
    no locks, OSError when it cannot be opened or locked.
    """
    file = _open(path, is_directory=is_directory)
    try:
        with _refusing_no_locks(path):
            lock(file, wait=wait)
        yield file
    finally:
        with contextlib.suppress(OSError):
            os.close(file)


@contextlib.contextmanager
def taken(
    path: Path,
    what: str,
    busy: Callable[[], AudienceBusy],
    *,
    holder: bytes | None = None,
    is_directory: bool = False,
) -> Iterator[int]:
    """The same without waiting, for a lock of the state directory, into which a `holder` is written.

    Raises `busy()` when another process holds it, and InputOutputFailed, which begins with `what`.
    """
    with contextlib.ExitStack() as stack:
        with explained(what, path):
            try:
                file = stack.enter_context(locked(path, wait=False, is_directory=is_directory))
            except BlockingIOError:
                raise busy() from None
            if holder is not None:
                write_holder(file, holder)
        yield file


def check_locks(directory: Path) -> None:
    """Returns when files in `directory` can be locked, in both ways that are used here: ours, and that of SQLite.

    Raises InputOutputFailed.
    """
    with (
        explained("a lock cannot be tried", directory),
        tempfile.TemporaryFile(dir=directory) as file,
        _refusing_no_locks(directory),
    ):
        try_locks(file.fileno())


def lock_failure(error: Exception, path: Path, what: str) -> InputOutputFailed | None:
    """The failure when SQLite could not lock its file at `path`, which is called `what`; None for every other `error`.

    SQLite says of a file system without locks what it says of a file that is held: a lock is tried to tell them apart.
    """
    name = getattr(error, "sqlite_errorname", "")
    if not name.startswith((*_HELD, *_UNLOCKABLE)):
        return None
    try:
        check_locks(path.parent)
    except InputOutputFailed as failure:
        return failure.bare()
    return FileHeld(f"another process holds {what}: {str(path)!r}", hint=HELD_HINT) if name.startswith(_HELD) else None


@contextlib.contextmanager
def _refusing_no_locks(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        reason = errno.errorcode.get(error.errno, "")
    else:
        return
    raise InputOutputFailed(
        f"the file system of {str(path)!r} has no file locks ({reason}): two runs on it could not know of each other",
        hint="keep the state directory on a disk of this machine, or on a mount that has locks (NFS: with its lock"
        " service); AUDIENCEKIT_STATE_DIR names another",
    )


def _open(path: Path, *, is_directory: bool) -> int:
    """Open a file to be locked: `path`, or a file beside the directory that it is where none can be locked."""
    if is_directory and CAN_LOCK_DIRECTORIES:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | OURS)
    place = path.with_name(f".{path.name}.lock") if is_directory else path
    return os.open(place, os.O_RDWR | os.O_CREAT | NO_LINK | OURS, 0o600)


def write_holder(file: int, holder: bytes) -> None:
    """Write into a locked file who holds it. Raises OSError."""
    os.ftruncate(file, 0)
    write_at(file, holder, 0)


def holder_of(path: Path) -> bytes | None:
    """Return the words that the process with the lock on `path` has written, b"" before it wrote any; None when no
    process has the lock."""
    try:
        file = os.open(path, READ)
    except OSError:
        return None
    try:
        return None if can_be_locked(file) else read_holder(path)
    finally:
        os.close(file)


def read_holder(path: Path) -> bytes:
    """The content of the file at `path`, b"" when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MOST_HOLDER_BYTES)
    except OSError:
        return b""
