"""Virtual time for every test of this room."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tests.virtualtime import VirtualClock, run_virtually


@pytest.fixture(scope="session")
def virtually() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Runs a coroutine on a new virtual loop that starts at 0 s; fails when it leaves a task behind."""
    return run_virtually


@pytest.fixture(scope="session")
def clock() -> VirtualClock:
    """The clock to hand to the code under test."""
    return VirtualClock()
