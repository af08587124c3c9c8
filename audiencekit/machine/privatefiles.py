"""Files and directories for their owner alone, whole at every moment, durable when a function returns."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from audiencekit.errors import InputOutputFailed
from audiencekit.machine.fileowners import is_ours, others_may
from audiencekit.machine.openfiles import CHANGE, NEW_FILE, NO_LINK, NO_WAIT, OURS, write_at

STATE_HINT: Final = "the state directory must be writable and have space; AUDIENCEKIT_STATE_DIR names another"

_ZEROS_AT_ONCE: Final = 1 << 20
_IN_THE_WAY: Final = {
    errno.EISDIR: "a directory stands in the place of a file: move it away, or restore the file",
    errno.ENOTDIR: "a file stands in the place of a directory: move it away, or restore the directory",
    errno.ELOOP: "this is a link, which is not followed: replace it by the file or directory itself",
}


def hint_for(code: int | None, otherwise: str) -> str:
    """The remedy for a failure with the error number `code`, which is None where it is unknown."""
    if code in (errno.EMFILE, errno.ENFILE) or (code is None and _has_no_file_left()):
        return "the process may not open that many files: raise its limit (`ulimit -n`), or lower `concurrency=`"
    return _IN_THE_WAY.get(code or 0, otherwise)


def _has_no_file_left() -> bool:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY | OURS))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False


@contextlib.contextmanager
def explained(what: str, path: Path, *, hint: str = STATE_HINT) -> Iterator[None]:
    """Raises InputOutputFailed, with `what` and `path` and no frames, for what the system refuses inside."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        # The new one keeps it, with frames that hold what was written.
        error.__traceback__ = error.__context__ = None
        raise InputOutputFailed(f"{what}: {str(path)!r}: {reason}", hint=hint_for(error.errno or 0, hint)) from None


def make_private_directory(directory: Path) -> None:
    """Make `directory`, or take from others what they may do in it. Raises InputOutputFailed when it is not ours."""
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    status = os.lstat(directory)
    if directory.is_symlink() or not is_ours(status):
        raise InputOutputFailed(
            f"{str(directory)!r} belongs to another user, or is a link",
            hint="after a command as another user, such as with sudo, its owner or root gives it back with `chown -R`;"
            " replace a link by the directory itself",
        )
    if others_may(status):
        os.chmod(directory, 0o700)


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` in the place of `path`: written aside, synced, then renamed."""
    with _aside(path, content) as aside:
        os.replace(aside, path)
    sync_directory(path.parent)


def create_file(path: Path, content: bytes) -> bool:
    """Whether `path` was made with `content`; False when there is one already, which stays as it is."""
    with _aside(path, content) as aside:
        try:
            os.link(aside, path)
        except FileExistsError:
            return False
        finally:
            os.unlink(aside)
    sync_directory(path.parent)
    return True


def open_new(path: Path) -> BinaryIO:
    """A new file for its owner alone, open for writing. Raises OSError, FileExistsError when it is there."""
    return os.fdopen(os.open(path, NEW_FILE, 0o600), "wb")


@contextlib.contextmanager
def _aside(path: Path, content: bytes) -> Iterator[Path]:
    aside = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(aside, NEW_FILE, 0o600), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        yield aside
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise


def overwrite_file(path: Path) -> None:
    """Put zeros in the place of what the file at `path` holds, which is not a link; they are on the disk then."""
    file = os.open(path, CHANGE)
    try:
        size = os.fstat(file).st_size
        for offset in range(0, size, _ZEROS_AT_ONCE):
            write_at(file, bytes(min(_ZEROS_AT_ONCE, size - offset)), offset)
        os.fsync(file)
    finally:
        os.close(file)


def read_file(path: Path, most_bytes: int) -> bytes:
    """The first `most_bytes` of a file that is not a link."""
    # Neither through a link, nor stuck in a pipe that another user put there.
    flags = NO_LINK | NO_WAIT | OURS
    with open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags)) as stream:
        return stream.read(most_bytes) or b""


def check_private(path: Path, *, lost: str) -> None:
    """Raises InputOutputFailed for what is no file of ours, or what others may read; `lost` is said of its removal."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or not is_ours(status):
        raise InputOutputFailed(f"{str(path)!r} is not a file of yours", hint="remove it, or restore it")
    if others_may(status):
        hint = f"`chmod 600` it if no one read it; else remove it, and {lost}"
        raise InputOutputFailed(f"others may read {str(path)!r}, which holds secrets", hint=hint)


def sync_directory(directory: Path) -> None:
    """Make the names in `directory` durable. Windows opens no directory, and NTFS has a journal of names of its own."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | OURS)
    try:
        os.fsync(file)
    finally:
        os.close(file)
