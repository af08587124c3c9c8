"""Addresses that are kept back, for a process to say that it found no more memory, and to end in good order."""

from __future__ import annotations

import contextlib
import mmap
from typing import Final

RESERVE_BYTES: Final = 8_000_000
# Nothing else can be had on Windows.
_NEVER_WRITTEN: Final = {"flags": mmap.MAP_PRIVATE, "prot": mmap.PROT_READ} if hasattr(mmap, "MAP_PRIVATE") else {}
_kept: list[mmap.mmap] = []


def keep_reserve() -> None:
    """Take addresses that are never written to, and so cost no memory; a process that finds none goes on without."""
    with contextlib.suppress(OSError):
        _kept.append(mmap.mmap(-1, RESERVE_BYTES, **_NEVER_WRITTEN))


def release_reserve() -> None:
    """Let the process have them, once: it has failed, or ends."""
    while _kept:
        _kept.pop().close()
