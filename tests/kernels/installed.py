"""The kernels that tests are about; without them the tests skip."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TypeVar

import pytest

from audiencekit.kernels.library import kernels

T = TypeVar("T")


def installed(binding: Callable[[ctypes.CDLL], T]) -> T:
    """The functions of `binding` in this installation."""
    found = kernels(binding)
    if found is None:
        pytest.skip("this installation has no kernels of this version")
    return found
