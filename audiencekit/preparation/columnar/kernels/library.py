"""The door to the compiled kernels: loops over whole columns that do not hold the interpreter.

They stand in a library of their own beside the package, which an installation without a compiler does not have; the
columnar rules do the same without them, slower.
"""

from __future__ import annotations

import ctypes
import site
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from audiencekit.preparation.columnar.kernels.comparing import Comparing
from audiencekit.preparation.columnar.kernels.deciding import Deciding
from audiencekit.preparation.columnar.kernels.reading import Reading
from audiencekit.preparation.columnar.kernels.tagging import Tagging
from audiencekit.preparation.columnar.kernels.writing import Writing

LIBRARY: Final = "_audiencekit_kernels"
VERSION: Final = 17  # of the functions and what they take


class Kernels:
    """The functions of the library, by what they are for. Each may be called in several threads; all hold personal
    data. What they are told wrongly is a ValueError, and a place that is not there a Bug."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.comparing = Comparing(library)
        self.deciding = Deciding(library)
        self.reading = Reading(library)
        self.tagging = Tagging(library)
        self.writing = Writing(library)


@cache
def kernels() -> Kernels | None:
    """The kernels of this installation; None where it has none, those of another version, or what cannot be loaded."""
    for place in _places():
        spec = PathFinder.find_spec(LIBRARY, [place])
        if spec is not None and spec.origin is not None:
            return _loaded(spec.origin)
    return None


def _places() -> Iterator[str]:
    """The folder that holds the package; for an editable package, which lies elsewhere, those of installed ones.

    Not the folders of `sys.path`: the working directory may be among them, and others may have filled it.
    """
    yield str(Path(__file__).parents[4])
    yield from dict.fromkeys(map(sysconfig.get_path, ("platlib", "purelib")))
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


def _loaded(path: str) -> Kernels | None:
    try:
        library = ctypes.CDLL(path)
        found = library.audiencekit_version()
    except (OSError, AttributeError):  # of another machine, damaged, or something else of that name
        return None
    return Kernels(library) if found == VERSION else None
