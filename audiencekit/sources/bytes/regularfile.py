"""A file on disk that is safe to read twice: a regular one, and the same one until the end."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

from audiencekit.errors import InputOutputFailed, SourceRefused
from audiencekit.shown import shown
from audiencekit.sources.bytes.rawbytes import Identity

SHOWN_NAME_LENGTH: Final = 200  # characters of a file's name in messages


def shown_path(path: str | os.PathLike[str]) -> str:
    """The last part of `path`, with everything that does not print escaped: names come from strangers."""
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
        """Those in a stat result."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


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
            raise InputOutputFailed(f"cannot be opened: {failure}")
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
            raise SourceRefused("there is no such file")
        if failure is not None:
            raise InputOutputFailed(f"cannot be read: {failure}")
        if not stat.S_ISREG(status.st_mode):
            what, instead = _what(status.st_mode)
            raise SourceRefused(f"this is {what}, not a regular file", hint=instead)
        return status


def _what(mode: int) -> tuple[str, str]:
    """The type that stands there instead of a regular file, and the remedy."""
    if stat.S_ISDIR(mode):
        return "a directory", "give the files in it; the shell lists them for DIRECTORY/*.csv"
    if stat.S_ISFIFO(mode):
        return "a pipe", "give - and direct it to standard input, or give the path of a file"
    return "a socket" if stat.S_ISSOCK(mode) else "a device", "give the path of a file"
