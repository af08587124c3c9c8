"""Which files of a directory have the content that was last read of them: by inode, size and times.

A write leaves the times as they are when it comes within one tick of the file system's clock. So a file is known only
when that clock had passed its last change before its content was read: git's rule for entries that are "racily clean".
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

TICK_SECONDS: Final = 0.02  # longer than a tick of the clocks of Linux, which are of 1 to 10 ms

_Version: TypeAlias = tuple[int, int, int, int, int]


class FileVersions:
    """The known files below `root`, by their paths there."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, _Version] = {}

    def now(self) -> int:
        """Return the time of the file system, in nanoseconds; 0 where it cannot be had: then no file becomes known."""
        with contextlib.suppress(OSError):
            times = os.stat(self._root)
            os.utime(self._root, ns=(times.st_atime_ns, times.st_mtime_ns))  # which is a change of the directory
            return os.stat(self._root).st_ctime_ns
        return 0

    def learn(self, paths: Iterable[str], now: int) -> None:
        """Know these files, whose content was read or written before `now`, as they are."""
        for path in paths:
            version = self._version(path)
            if version is not None and version[-1] < now:
                self._known[path] = version

    @contextlib.contextmanager
    def reading(self, path: str, now: int) -> Iterator[None]:
        """Know a file, whose content is read in the block, as it was before it.

        `now` is a time before the block.
        """
        before = self._version(path)
        self._known.pop(path, None)
        yield
        if before is not None and before[-1] < now:
            self._known[path] = before

    def is_known(self, path: str) -> bool:
        """Whether a file is as it was."""
        return path in self._known and self._known[path] == self._version(path)

    def forget(self, path: str) -> None:
        """Know a file no longer."""
        self._known.pop(path, None)

    def _version(self, path: str) -> _Version | None:
        try:
            found = os.stat(self._root / path, follow_symlinks=False)
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
