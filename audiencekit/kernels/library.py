"""The library of the compiled kernels: loops over whole columns that release the interpreter.

It stands beside the package, and an installation without a compiler does not have it. Each job has two implementations
with the same functions and the same results: `*_kernels.py` calls the library, and `plain_*.py` does without, slower.
"""

from __future__ import annotations

import ctypes
import site
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final, TypeVar

LIBRARY: Final = "_audiencekit_kernels"
VERSION: Final = 46  # of the functions, what they take and what they decide

Compiled = TypeVar("Compiled")
Plain = TypeVar("Plain")


def choose(compiled: Callable[[ctypes.CDLL], Compiled], plain: Callable[[], Plain]) -> Compiled | Plain:
    """Return one of the two implementations of a job: the kernels of a module `*kernels`, or without them `plain`.

    Chosen when the module of the job is loaded, for as long as the process lives. Both have the same functions. Kernels
    may be called in several threads, and hold personal data. They raise ValueError for invalid arguments, and Bug for
    an index out of range.
    """
    library = find_library()
    return plain() if library is None else compiled(library)


@cache
def find_library() -> ctypes.CDLL | None:
    """Return the library of this installation; None where there is none, or it does not load.

    None, with a warning, for a library of another version.
    """
    for place in _places():
        spec = PathFinder.find_spec(LIBRARY, [place])
        if spec is not None and spec.origin is not None:
            return _loaded(spec.origin)
    return None


def _places() -> Iterator[str]:
    """Return the folder that holds the package; for an editable installation the folders of installed packages.

    The folders of `sys.path` are not used: the working directory may be among them, and others may have filled it.
    """
    yield str(Path(__file__).parents[2])
    yield from dict.fromkeys(map(sysconfig.get_path, ("platlib", "purelib")))
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


def _loaded(path: str) -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(path)
        found = library.audiencekit_version()
    except (OSError, AttributeError):  # of another machine, damaged, or something else of that name
        return None
    if found != VERSION:
        # An editable installation after a change of the kernels: all works, more slowly, and nothing else would tell.
        warnings.warn(f"kernels of version {found} are not used; install audiencekit again for {VERSION}", stacklevel=2)
        return None
    return library
