"""Addresses: those to begin with, and some kept back for a process that finds no more to end in good order."""

from __future__ import annotations

import contextlib
import mmap
from typing import Final

# Of numpy, Arrow and their threads, before they have read anything.
STARTUP_BYTES: Final = 200_000_000
RESERVE_BYTES: Final = 8_000_000
# Nothing else can be had on Windows.
_NEVER_WRITTEN: Final = {"flags": mmap.MAP_PRIVATE, "prot": mmap.PROT_READ} if hasattr(mmap, "MAP_PRIVATE") else {}
_kept: list[mmap.mmap] = []


def ask_for_memory() -> None:
    """Raises MemoryError where the process may not have the memory that numpy and Arrow begin with.

    Their libraries would end the process by themselves, with codes of their own, or wait for ever. For a process of our
    own, before it imports them.
    """
    try:
        mmap.mmap(-1, STARTUP_BYTES, **_NEVER_WRITTEN).close()
    except OSError:
        raise MemoryError from None


def keep_reserve() -> None:
    """Take addresses that are never written to, and so cost no memory; a process that finds none goes on without."""
    with contextlib.suppress(OSError):
        _kept.append(mmap.mmap(-1, RESERVE_BYTES, **_NEVER_WRITTEN))


def release_reserve() -> None:
    """Let the process have them, once: it has failed, or ends."""
    while _kept:
        _kept.pop().close()
