"""Shared by the tests of limiters: how full the fullest window was."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import pytest


def most_in_a_window(moments: Iterable[float], seconds: float) -> int:
    window: deque[float] = deque()
    most = 0
    for moment in sorted(moments):
        window.append(moment)
        while window[0] < moment - seconds:
            window.popleft()
        most = max(most, len(window))
    return most


@pytest.fixture(scope="session")
def worst_window() -> Callable[[Iterable[float], float], int]:
    """The largest number of moments in any closed window of so many seconds."""
    return most_in_a_window
