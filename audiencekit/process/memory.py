"""Memory: large tables with random access, and the return of freed memory to the system."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

T = TypeVar("T")

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # numbers of mallopt(3)

# Freed at the end of the heap, it goes back at once when it is more than this. Two threads free and ask for as much
# with every batch, and what went back is filled with zeros when it comes again.
_KEPT_BYTES: Final = 48_000_000

# Larger blocks come from the system one by one, and each of their pages costs a fault. glibc takes no greater number.
_LARGEST_BYTES: Final = 32 * 1024 * 1024

_LARGE_PAGE: Final = 2 * 1024 * 1024  # of most processors

# Nothing else can be had on Windows.
_OURS_ALONE: Final = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}

_ARROW_POOL: Final = "ARROW_DEFAULT_MEMORY_POOL"


def share_heap() -> None:
    """Use one heap for all threads, numpy and Arrow; else each would keep the memory that it has freed.

    For a process of our own, before it has threads or imports Arrow. What its environment says of Arrow's memory holds.
    Nothing happens where the C library is not glibc.
    """
    if (library := _glibc()) is None:
        return
    library.mallopt(_ARENA_MAX, 1)
    library.mallopt(_MMAP_THRESHOLD, _LARGEST_BYTES)
    library.mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
    os.environ.setdefault(_ARROW_POOL, "system")


def give_back() -> None:
    """Return freed memory to the system, from anywhere in the heap, at the end of a stage. Takes milliseconds.

    Nothing happens where the C library is not glibc.
    """
    if (library := _glibc()) is not None:
        library.malloc_trim(0)


def giving_back(items: Iterable[T], *, every: int) -> Iterator[T]:
    """`items`; after `every` so many of them what was freed goes back, since holes between what stays add up."""
    for number, item in enumerate(items, 1):
        yield item
        if number % every == 0:
            give_back()


def zeros(size: int) -> memoryview:
    """So many bytes for a table that is looked at in places all over it. They take memory where they are touched.

    In large pages, where the system has them: of small ones a processor knows too few, and asks memory twice.
    """
    mapped = mmap.mmap(-1, size + _LARGE_PAGE, **_OURS_ALONE)
    with contextlib.suppress(AttributeError, OSError):
        mapped.madvise(mmap.MADV_HUGEPAGE)
    view = memoryview(mapped)
    import ctypes  # as below

    start = -ctypes.addressof(ctypes.c_char.from_buffer(mapped)) % _LARGE_PAGE
    return view[start : start + size]


def zeros_by_page(size: int) -> memoryview:
    """So many bytes for many buffers side by side, of which a short list fills but the beginnings.

    In small pages. numpy asks the system for large ones: each buffer would take one, and the time to clear it.
    """
    mapped = mmap.mmap(-1, size, **_OURS_ALONE)
    with contextlib.suppress(AttributeError, OSError):
        mapped.madvise(mmap.MADV_NOHUGEPAGE)
    return memoryview(mapped)


def _glibc() -> Any | None:
    try:
        is_glibc = bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, OSError, ValueError):
        return None
    import ctypes  # most commands need neither it nor this module

    return ctypes.CDLL(None) if is_glibc else None


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
    """Reserve addresses that are never written, and so cost no memory. Without room for them the process goes on
    without."""
    with contextlib.suppress(OSError):
        _kept.append(mmap.mmap(-1, RESERVE_BYTES, **_NEVER_WRITTEN))


def release_reserve() -> None:
    """Let the process have them, once: it has failed, or ends."""
    while _kept:
        _kept.pop().close()
