"""The kernels that the tests here are about."""

from __future__ import annotations

import pytest

from audiencekit.preparation.columnar.kernels.library import Kernels, kernels


@pytest.fixture
def compiled() -> Kernels:
    """The kernels of this installation."""
    found = kernels()
    if found is None:
        pytest.skip("this installation has no kernels of this version")
    return found
