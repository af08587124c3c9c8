"""The values made last are kept, and each is made once, however many threads ask for it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from audiencekit.machine.memo import Memo


def test_threads_that_ask_at_once_have_one_thing() -> None:
    """The second waits for the first, and asks for another number meanwhile without waiting."""
    made: list[int] = []
    begun, may_end = threading.Event(), threading.Event()

    def make(number: int) -> object:
        made.append(number)
        if number == 0:
            begun.set()
            assert may_end.wait(10)
        return object()

    memo = Memo(make, most=2)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memo, 0)
        assert begun.wait(10)
        second = pool.submit(memo, 0)
        memo(1)
        may_end.set()
        assert first.result(10) is second.result(10)
    assert made == [0, 1]


@pytest.mark.parametrize("fails", [False, True], ids=["it is made", "it fails"])
def test_who_would_wait_makes_the_next_one(fails: bool) -> None:
    """It is there when it is asked for; what fails meanwhile is tried again by who asks."""
    made: list[int] = []
    begun, may_end, was_ahead = threading.Event(), threading.Event(), threading.Event()

    def make(number: int) -> int:
        made.append(number)
        if made == [0]:
            begun.set()
            assert may_end.wait(10)
        elif made == [0, 1]:
            was_ahead.set()
            if fails:
                raise OSError("once")
        return number

    memo = Memo(make, most=2, end=2)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memo, 0)
        assert begun.wait(10)
        second = pool.submit(memo, 0)
        assert was_ahead.wait(10)
        may_end.set()
        assert (first.result(10), second.result(10), memo(1)) == (0, 0, 1)
    assert made == ([0, 1, 1] if fails else [0, 1])


def test_the_last_ones_are_kept() -> None:
    """As many as are wanted; asking for one again makes it one of the last."""
    made: list[int] = []
    memo = Memo(made.append, most=2)
    for number in (0, 1, 0, 2, 0, 1):
        memo(number)
    assert made == [0, 1, 2, 1]


def test_nothing_is_kept_of_a_failure() -> None:
    """The next one tries again."""
    tries: list[int] = []

    def make(number: int) -> int:
        tries.append(number)
        if len(tries) == 1:
            raise OSError("once")
        return number

    memo = Memo(make, most=2)
    with pytest.raises(OSError, match="once"):
        memo(3)
    assert memo(3) == 3
