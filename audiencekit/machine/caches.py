"""Results that can be made anew, kept between runs for their owner alone: never needed, believed only when whole."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from audiencekit.errors import InputOutputFailed
from audiencekit.machine.fileowners import is_ours, others_may
from audiencekit.machine.openfiles import NEW_FILE, NO_WAIT, READ
from audiencekit.machine.privatefiles import make_private_directory
from audiencekit.machine.statedirectory import make_missing
from audiencekit.machine.userdirectories import user_directory

MOST_BYTES: Final = 64_000_000  # of a file that is looked at; what is kept here is far smaller

_DIGEST_BYTES: Final = hashlib.sha256().digest_size


class Cache:
    """Files by name in one directory that is its owner's alone. Where they cannot be kept, nothing is."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory

    @classmethod
    def of_user(cls) -> Cache:
        """That of the user of the process, where the system has such things (`XDG_CACHE_HOME`)."""
        return cls(user_directory("cache"))

    def read(self, name: str) -> bytes | None:
        """The last content under `name`; None when it is not there, not whole, or could be of another user."""
        if self._directory is None:
            return None
        try:
            if not _is_ours(os.lstat(self._directory), stat.S_IFDIR):
                return None
            with open(os.open(self._directory / name, READ | NO_WAIT), "rb") as stream:
                if not _is_ours(os.fstat(stream.fileno()), stat.S_IFREG):
                    return None
                content = stream.read(MOST_BYTES)
        except OSError:
            return None
        digest, kept = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return kept if hashlib.sha256(kept).digest() == digest else None

    def write(self, name: str, content: bytes) -> None:
        """Keep `content` in the place of what was kept under `name`, where that is possible.

        It is not synced: what a crash leaves of it is not whole, and not believed.
        """
        if self._directory is None:
            return
        aside = self._directory / f".{name}-{secrets.token_hex(8)}"
        with contextlib.suppress(OSError, InputOutputFailed):
            make_missing(self._directory.parent)
            make_private_directory(self._directory)
            try:
                with open(os.open(aside, NEW_FILE, 0o600), "wb") as stream:
                    stream.write(hashlib.sha256(content).digest() + content)
                os.replace(aside, self._directory / name)
            except OSError:
                aside.unlink(missing_ok=True)


def _is_ours(status: os.stat_result, form: int) -> bool:
    """Whether it has this form, and no other user may do anything with it."""
    return stat.S_IFMT(status.st_mode) == form and is_ours(status) and not others_may(status)
