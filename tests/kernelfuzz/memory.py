"""Memory between guard pages: a read or a write beyond a buffer ends the process."""

from __future__ import annotations

import ctypes
import mmap
import random
from typing import Final

_PAGE: Final = mmap.PAGESIZE
_NONE, _READ, _BOTH = 0, mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE
_SLACK: Final = 0xA5  # what stands between a buffer and the guard page that it does not touch
_FAILED: Final = ctypes.c_void_p(-1).value

_libc: Final = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


class TouchedError(Exception):
    """Something was written beside a buffer, short of the guard page."""


class Memory:
    """The buffers of one call. Each touches the guard page behind it, or that before it, as `chance` has it."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._maps: list[tuple[int, int, int, int]] = []

    def given(self, content: bytes, *, align: int = 1) -> int:
        """Where `content` stands, which can be read only. Of nothing it is a guard page, or null."""
        place = self._take(len(content), content, align)
        if content:
            base, pages, *_ = self._maps[-1]
            _require(_libc.mprotect(base + _PAGE, pages * _PAGE, _READ))
        return place

    def room(self, size: int, *, align: int = 1) -> int:
        """Where so many bytes can be written."""
        return self._take(size, self._chance.randbytes(size), align)

    def check(self) -> None:
        """Raises TouchedError where the slack of a buffer is not what it was."""
        for base, pages, offset, size in self._maps:
            whole = ctypes.string_at(base + _PAGE, pages * _PAGE)
            if whole[:offset].strip(bytes([_SLACK])) or whole[offset + size :].strip(bytes([_SLACK])):
                raise TouchedError

    def free(self) -> None:
        while self._maps:
            base, pages, *_ = self._maps.pop()
            _require(_libc.munmap(base, (pages + 2) * _PAGE))

    def _take(self, size: int, content: bytes, align: int) -> int:
        if not size and self._chance.random() < 0.5:
            return 0
        pages = -(-size // _PAGE)
        base: int = _libc.mmap(None, (pages + 2) * _PAGE, _NONE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        if base == _FAILED:
            raise MemoryError
        touches_end = self._chance.random() < 0.7 and size % align == 0
        offset = pages * _PAGE - size if touches_end else 0
        if pages:
            _require(_libc.mprotect(base + _PAGE, pages * _PAGE, _BOTH))
            ctypes.memset(base + _PAGE, _SLACK, pages * _PAGE)
            ctypes.memmove(base + _PAGE + offset, content, size)
        self._maps.append((base, pages, offset, size))
        return base + _PAGE + offset


def _require(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), "the guard pages cannot be set up")
