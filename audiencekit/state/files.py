"""Private files and directories: never seen half written, and durable when a function returns."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson

from audiencekit.errors import InputOutputFailed
from audiencekit.state.durability import note_change

STATE_HINT: Final = "the state directory must be writable and have space; AUDIENCEKIT_STATE_DIR names another"

_ZEROS_AT_ONCE: Final = 1 << 20
_REMEDIES: Final = {
    errno.ENOSPC: "the disk is full: free some space on it",
    errno.EDQUOT: "this user may store no more on the disk: free some space on it",
    errno.EISDIR: "there is a directory in place of a file: move it away, or restore the file",
    errno.ENOTDIR: "there is a file in place of a directory: move it away, or restore the directory",
    errno.ELOOP: "this is a link, which is not followed: replace it by the file or directory itself",
}


def hint_for(code: int | None, otherwise: str) -> str:
    """The remedy for a failure with the error number `code`, which is None where it is unknown."""
    if code in (errno.EMFILE, errno.ENFILE) or (code is None and _has_no_file_left()):
        return "the process may not open that many files: raise its limit (`ulimit -n`), or lower `concurrency=`"
    return _REMEDIES.get(code or 0, otherwise)


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
    """Make `directory`, or remove the rights of others from it. Raises InputOutputFailed when another user owns it."""
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
    """Replace the file at `path` by `content`: written to a temporary file, synced, then renamed."""
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
    """Raise InputOutputFailed unless this is a file of ours that others cannot read. The hint has `lost`: what its
    removal costs."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode) or not is_ours(status):
        raise InputOutputFailed(f"{str(path)!r} is not a file of yours", hint="remove it, or restore it")
    if others_may(status):
        hint = f"`chmod 600` it if no one read it; else remove it, and {lost}"
        raise InputOutputFailed(f"others may read {str(path)!r}, which holds secrets", hint=hint)


def sync_directory(directory: Path) -> None:
    """Make the names in `directory` durable. Windows opens no directory, and NTFS has a journal of names of its own."""
    if hasattr(os, "O_DIRECTORY"):
        file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | OURS)
        try:
            os.fsync(file)
        finally:
            os.close(file)
    note_change(directory)


FORMAT: Final = "format"
CHECKSUM: Final = "checksum"
CHECKSUM_BYTES: Final = 8
MOST_DOCUMENT_BYTES: Final = 64_000_000
_ANY_FORMAT: Final = re.compile(r"audiencekit-[a-z-]{1,30}/[0-9]{1,6}")


def write_json(document: dict[str, Any], option: int = 0) -> bytes:
    """Return `document` as JSON; `option` is one of orjson. Raises TypeError for a value that JSON does not have."""
    try:
        return orjson.dumps(document, option=option)
    except orjson.JSONEncodeError as error:
        if "surrogates" not in str(error):
            raise
    # A byte of a path that is not UTF-8 is half a character in Python, which orjson neither writes nor reads.
    return json.dumps(document, sort_keys=bool(option & orjson.OPT_SORT_KEYS)).encode()


def read_json(content: bytes | str) -> Any:
    """Return the document that `write_json` has written. Raises ValueError for text that is not JSON."""
    try:
        return orjson.loads(content)
    except ValueError:
        if (b"\\ud" if isinstance(content, bytes) else "\\ud") not in content:  # type: ignore[operator]
            raise
    return json.loads(content)


def encode_checked(document: dict[str, Any], form: str) -> bytes:
    """`document` as it is kept in the format `form`, a name and a number. Raises TypeError for what is not JSON."""
    document = {FORMAT: form, **document}
    checked = {**document, CHECKSUM: _checksum(document)}
    return write_json(checked, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode_checked(content: bytes, form: str, path: Path) -> tuple[dict[str, Any] | None, bool]:
    """The document of the file at `path`, or None for what is none; and whether it is as it was written.

    Raises InputOutputFailed for one that was written so in another format than `form`.
    """
    try:
        document = read_json(content)
    except ValueError:  # its message would quote the file
        return None, False
    if not isinstance(document, dict):
        return None, False
    is_as_written = document.pop(CHECKSUM, None) == _checksum(document)
    found = document.pop(FORMAT, None)
    if is_as_written and found != form and _ANY_FORMAT.fullmatch(str(found)):
        raise InputOutputFailed(
            f"{str(path)!r} is in format {found}, and this version of audiencekit reads {form} only",
            hint="use the version that wrote it",
        )
    return document, is_as_written and found == form


def _checksum(document: dict[str, Any]) -> str:
    content = write_json(document, orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).hexdigest()


OTHERS: Final = 0o077  # what group and others may do
ROOT: Final = 0


def own_user() -> int | None:
    """Return the uid of this process; None on systems without uids."""
    user = getattr(os, "geteuid", None)
    return user() if user else None


def is_ours(status: os.stat_result, *, or_of_root: bool = False) -> bool:
    """Whether the file of this status belongs to the user of this process."""
    user = own_user()
    return user is None or status.st_uid == user or (or_of_root and status.st_uid == ROOT)


def others_may(status: os.stat_result, rights: int = OTHERS) -> bool:
    """Whether others than its owner have one of `rights` on the file of this status, by its mode."""
    return own_user() is not None and bool(status.st_mode & rights)


def lies_in_profile(path: Path) -> bool:
    """Whether `path` is in the profile directory of the user; of no matter, and true, where modes keep it private."""
    try:
        return own_user() is not None or path.resolve().is_relative_to(Path.home().resolve())
    except RuntimeError:  # there is no such directory
        return False


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
        """From now on, read and write through the cache of the system."""
        if self._flag:
            self._set_flag(0)

    def _set_flag(self, flag: int) -> None:
        import fcntl  # where there is the flag, there is this

        others = fcntl.fcntl(self._file, fcntl.F_GETFL) & ~_PAST_CACHE
        fcntl.fcntl(self._file, fcntl.F_SETFL, others | flag)
        self._flag = flag


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
    """Open a new file that the system removes with its descriptor, however the process ends. `path` is free again by
    then.

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


def other_number(head: bytes, mark: bytes) -> str:
    """Words for a file that begins as `head` does: empty unless it has the `mark` with another number."""
    found = head[: len(mark)]
    if found == mark or found[:-1] != mark[:-1] or not found[-1:].isdigit():
        return ""
    return f"is in format {found.decode()}, and this version of audiencekit reads {mark.decode()} only"
