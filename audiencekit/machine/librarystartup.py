"""What others would do for us that we have no use for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_PANDAS: Final = "pandas"
_BLAS_THREADS: Final = "OPENBLAS_NUM_THREADS"


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


class _WithoutPandas:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for anything else, so that others look for it. Raises ModuleNotFoundError."""
        if fullname == _PANDAS:
            raise ModuleNotFoundError("pandas is left out", name=fullname)
        return None
