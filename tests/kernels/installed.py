"""The kernels that tests are about; without them the tests skip."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TypeVar

import pytest

from audiencekit.kernels.library import find_library

T = TypeVar("T")


def installed(binding: Callable[[ctypes.CDLL], T]) -> T:
    """The functions of `binding` in this installation."""
    library = find_library()
    if library is None:
        pytest.skip("this installation has no kernels of this version")
    return binding(library)


def both(compiled: Callable[[ctypes.CDLL], object], plain: Callable[[], object]) -> pytest.MarkDecorator:
    """The mark of a test that calls each of two implementations of a job, which it makes by `loops()`."""
    ways = [pytest.param(lambda: installed(compiled), id="compiled"), pytest.param(plain, id="plain")]
    return pytest.mark.parametrize("loops", ways)
