"""Work is done side by side and comes out in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from audiencekit.machine.workers import cores, in_order


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    """Whoever is ready first: the first item waits until the second was begun, where there are several workers."""
    begun = threading.Event()

    def work(item: int) -> int:
        if item == 1:
            begun.set()
        if item == 0 and workers > 1:
            assert begun.wait(10)
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


def test_there_is_a_processor() -> None:
    """At least one, whatever the system says."""
    assert cores() >= 1
