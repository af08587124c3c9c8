"""The arguments of kernels, in the memory layout that `kernels/src/door.rs` reads."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.errors import Bug

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int32]

_DONE: Final = 0


def address(array: npt.NDArray[Any]) -> int:
    """Return the address of the first value of `array`.

    The attribute `ctypes` of the array takes twenty times as long.
    """
    address: int = array.__array_interface__["data"][0]
    return address


class KernelStructure(ctypes.Structure):
    """A structure that the library reads. It points into arrays, and holds a reference to them."""

    _kept: tuple[Any, ...]


class Slice(KernelStructure):
    """Values of one size, one behind the other."""

    _fields_ = (("data", ctypes.c_void_p), ("count", ctypes.c_size_t))

    @classmethod
    def of(cls, array: npt.NDArray[Any], dtype: npt.DTypeLike) -> Slice:
        # The library gets addresses and counts only: it would read values of another size beyond their end.
        if array.dtype != dtype or not array.flags.c_contiguous or not array.flags.aligned:
            raise ValueError("a kernel takes values of one size that stand one behind the other")
        made = cls(address(array), array.size)
        made._kept = (array,)
        return made

    @classmethod
    def to_fill(cls, array: npt.NDArray[Any], dtype: npt.DTypeLike) -> Slice:
        """Return a slice that the library may write to."""
        if not array.flags.writeable:
            raise ValueError("a kernel writes only where writing is allowed")
        return cls.of(array, dtype)

    @classmethod
    def of_all(cls, laid_out: Sequence[KernelStructure], layout: type[KernelStructure]) -> Slice:
        """Return a slice of `laid_out`, structures of one `layout`."""
        together = (layout * len(laid_out))(*laid_out)
        made = cls(ctypes.addressof(together), len(laid_out))
        made._kept = (together, laid_out)
        return made


class Texts(KernelStructure):
    _fields_ = (("offsets", Slice), ("data", Slice))

    @classmethod
    def of(cls, offsets: Places, data: Bytes) -> Texts:
        made = cls(Slice.of(offsets, np.int32), Slice.of(data, np.uint8))
        made._kept = (offsets, data)
        return made


@dataclass(frozen=True, slots=True)
class Words:
    """A closed list of texts, ascending by their bytes."""

    ends: Places
    content: Bytes

    @classmethod
    def of(cls, words: Iterable[str]) -> Words:
        """Return the list of `words`, which are distinct."""
        encoded = sorted({word.encode() for word in words})
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
        return cls(ends, np.frombuffer(b"".join(encoded), dtype=np.uint8))

    def to_structure(self) -> Texts:
        """Return the structure that the library reads."""
        return Texts.of(self.ends, self.content)


def output_slice(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> tuple[ctypes.c_void_p, ctypes.c_size_t]:
    """Return the address that the library may write to, and the number of values."""
    whole = Slice.to_fill(array, dtype)
    return ctypes.c_void_p(whole.data), ctypes.c_size_t(whole.count)


def require(result: int) -> None:
    if result != _DONE:
        raise Bug("kernel index out of range")
