"""A stopwatch changes nothing of what it times."""

from __future__ import annotations

import time

import pytest

from benchmarks.stopwatch import Stopwatch


def test_a_stopwatch_hands_on_what_it_times() -> None:
    """All items, and what work gives or raises; its time is counted either way."""
    watch = Stopwatch()
    assert list(watch.each(iter([1, 2, 3]))) == [1, 2, 3]
    assert watch.timed(divmod)(7, 2) == (3, 1)
    before = watch.seconds
    with pytest.raises(ZeroDivisionError):
        watch.timed(_burn_and_divide)()
    assert watch.seconds - before >= 0.05


def _burn_and_divide() -> float:
    ended = time.process_time() + 0.05
    while time.process_time() < ended:
        pass
    return 1 / 0
