"""Work is done side by side and comes out in order."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from audiencekit.process.workers import Memo, cores, in_order, one_ahead
from tests.moments import PATIENCE_SECONDS


class Result:
    """Something that is made."""


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    """In whatever order they end: the first item waits until the second has begun, where there are several workers."""
    begun = threading.Event()

    def work(item: int) -> int:
        if item == 1:
            begun.set()
        if item == 0 and workers > 1:
            assert begun.wait(PATIENCE_SECONDS)
        return item * item

    assert list(in_order(work, range(20), workers=workers)) == [item * item for item in range(20)]


def test_at_most_twice_as_many_items_as_workers_are_alive() -> None:
    """Memory does not grow with the source."""
    taken: list[int] = []

    def items() -> Iterator[int]:
        for item in range(100):
            taken.append(item)
            yield item

    for done, _ in enumerate(in_order(lambda item: item, items(), workers=2)):
        assert len(taken) - done <= 4


def test_no_result_is_kept_for_a_thread_that_comes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller may be far ahead of a thread that has not looked at one item yet."""
    late: list[object] = []
    monkeypatch.setattr(ThreadPoolExecutor, "submit", lambda self, work: late.append(work))
    alive = weakref.WeakSet[Result]()

    def work(item: int) -> Result:
        alive.add(result := Result())
        return result

    for _ in in_order(work, range(100), workers=2):
        assert len(alive) <= 4
    assert len(late) == 100


def test_an_item_belongs_to_its_work() -> None:
    """The pool keeps no reference to it: a batch may be freed before the work on its result ends."""
    is_freed: list[bool] = []

    def work(item: Result) -> None:
        watched = weakref.ref(item)
        del item
        is_freed.append(watched() is None)

    items = (Result() for _ in range(20))
    assert list(in_order(work, items, workers=2)) == [None] * 20
    # The caller has the last one in its hands while it takes the next.
    assert is_freed.count(False) <= 2


def test_an_error_of_the_work_or_the_items_is_raised() -> None:
    """And nothing hangs."""

    def items() -> Iterator[int]:
        yield 1
        raise OSError

    def fail(item: int) -> int:
        raise KeyError

    with pytest.raises(OSError):  # noqa: PT011
        list(in_order(lambda item: item, items(), workers=2))
    with pytest.raises(KeyError):
        list(in_order(fail, range(10), workers=2))


def test_an_interruption_of_the_caller_is_raised_at_once() -> None:
    """Before the results of earlier items are there, and it begins nothing else."""
    begun, interrupted = [], threading.Event()

    def work(item: int) -> None:
        if threading.current_thread() is threading.main_thread():
            begun.append(item)
            interrupted.set()
            raise KeyboardInterrupt
        assert interrupted.wait(PATIENCE_SECONDS)
        raise ValueError("of an earlier item")

    with pytest.raises(KeyboardInterrupt):
        list(in_order(work, range(10), workers=2))
    assert len(begun) == 1


def test_the_caller_works_while_it_would_wait() -> None:
    """Two items that need each other are done by two workers, of which one is the caller's thread."""
    both = threading.Barrier(2, timeout=PATIENCE_SECONDS)
    by = set()

    def work(item: int) -> int:
        both.wait()
        by.add(threading.current_thread() is threading.main_thread())
        return item

    assert list(in_order(work, range(2), workers=2)) == [0, 1]
    assert by == {True, False}


def test_one_worker_is_the_caller() -> None:
    """There is no other thread to wait for."""
    threads = list(in_order(lambda _: threading.current_thread(), range(3), workers=1))
    assert threads == [threading.main_thread()] * 3


def test_one_item_is_begun_ahead() -> None:
    """The next one, in another thread, when the caller has the last one; and no more of them."""
    begun = [threading.Event() for _ in range(4)]

    def work(item: int) -> int:
        begun[item].set()
        return item

    done = one_ahead(work, range(4))
    assert next(done) == 0
    assert begun[1].wait(PATIENCE_SECONDS)
    assert not begun[2].is_set()
    assert list(done) == [1, 2, 3]
    assert list(one_ahead(work, range(0))) == []


def test_an_exception_of_an_item_ahead_is_raised() -> None:
    """When it is its turn."""

    def work(item: int) -> int:
        if item == 1:
            raise KeyError
        return item

    done = one_ahead(work, range(4))
    assert next(done) == 0
    with pytest.raises(KeyError):
        next(done)


def test_there_is_a_processor() -> None:
    """At least one, whatever the system says."""
    assert cores() >= 1


def test_threads_that_ask_at_once_have_one_thing() -> None:
    """The second waits for the first, and asks for another number meanwhile without waiting."""
    made: list[int] = []
    begun, may_end = threading.Event(), threading.Event()

    def make(number: int) -> object:
        made.append(number)
        if number == 0:
            begun.set()
            assert may_end.wait(PATIENCE_SECONDS)
        return object()

    memo = Memo(make, most=2)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memo, 0)
        assert begun.wait(PATIENCE_SECONDS)
        second = pool.submit(memo, 0)
        memo(1)
        may_end.set()
        assert first.result(PATIENCE_SECONDS) is second.result(PATIENCE_SECONDS)
    assert made == [0, 1]


@pytest.mark.parametrize("fails", [False, True], ids=["it is made", "it fails"])
def test_a_caller_that_would_wait_makes_the_next_item(fails: bool) -> None:
    """It is there when it is asked for; what fails meanwhile is tried again by who asks."""
    made: list[int] = []
    begun, may_end, was_ahead = threading.Event(), threading.Event(), threading.Event()

    def make(number: int) -> int:
        made.append(number)
        if made == [0]:
            begun.set()
            assert may_end.wait(PATIENCE_SECONDS)
        elif made == [0, 1]:
            was_ahead.set()
            if fails:
                raise OSError("once")
        return number

    memo = Memo(make, most=2, end=2)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(memo, 0)
        assert begun.wait(PATIENCE_SECONDS)
        second = pool.submit(memo, 0)
        assert was_ahead.wait(PATIENCE_SECONDS)
        may_end.set()
        assert (first.result(PATIENCE_SECONDS), second.result(PATIENCE_SECONDS), memo(1)) == (0, 0, 1)
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
