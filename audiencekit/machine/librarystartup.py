"""Work that libraries do when they are loaded, and that we have no use for."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_PANDAS: Final = "pandas"
_LARGE: Final = ("numpy", "pyarrow")
_BLAS_THREADS: Final = "OPENBLAS_NUM_THREADS"
# Addresses that numpy, Arrow and what they start take before they have read anything.
STARTUP_BYTES: Final = 200_000_000
# Nothing else can be had on Windows.
_NEVER_WRITTEN: Final = {"flags": mmap.MAP_PRIVATE, "prot": mmap.PROT_READ} if hasattr(mmap, "MAP_PRIVATE") else {}


def leave_out_pandas() -> None:
    """Arrow finds no pandas. At its first array it asks for it: half a second, and forty megabytes, where it is there.

    For a process of our own, before it imports Arrow. A pandas that was imported before stays.
    """
    sys.meta_path.insert(0, _WithoutPandas())


def leave_out_blas_threads() -> None:
    """The threads that numpy starts for linear algebra, which wait by turning round: a tenth of a second each.

    For a process of our own, before it imports numpy. What its environment says of them holds.
    """
    os.environ.setdefault(_BLAS_THREADS, "1")


def ask_for_memory() -> None:
    """Have imports of numpy and Arrow raise MemoryError where the process may not have the memory that they begin with.

    Their libraries end the process by themselves then, with codes of their own, or wait for ever. For a process of our
    own, before it imports them.
    """
    sys.meta_path.insert(0, _WithMemory())


class _WithMemory:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None, so that others look for it. Raises MemoryError."""
        if fullname in _LARGE and not any(name in sys.modules for name in _LARGE):
            try:
                mmap.mmap(-1, STARTUP_BYTES, **_NEVER_WRITTEN).close()
            except OSError:
                raise MemoryError from None
        return None


class _WithoutPandas:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for anything else, so that others look for it. Raises ModuleNotFoundError."""
        if fullname == _PANDAS:
            raise ModuleNotFoundError("pandas is left out", name=fullname)
        return None
