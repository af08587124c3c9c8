"""Batches are prepared side by side and come out in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiencekit.options import read_keywords
from audiencekit.preparation.keysets import KeySets
from audiencekit.profile import SPEC
from audiencekit.reading import in_order, read_batches
from audiencekit.sources import delimited
from audiencekit.sources.source import open_source


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


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_same_bytes_whatever_the_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """Users and rejections are equal to those of one worker and one batch."""
    path = tmp_path / "list.csv"
    path.write_text(
        "email,phone\n" + "".join(f"p{n}@example.com,{'+4930' if n % 3 else 'x'}{n}\n" for n in range(4000))
    )
    options = read_keywords({}, SPEC)

    def read(number: int) -> tuple[list[object], list[object]]:
        source = open_source(path, options.source)
        batches = list(read_batches(source, options, SPEC, KeySets(mixed=False), workers=number))
        users = [user for batch in batches for user in batch.users.unwrap().column("user").to_pylist()]
        return users, [entry for batch in batches for entry in batch.rejections.to_pylist()]

    expected = read(1)
    monkeypatch.setattr(delimited, "PIECE_BYTES", 3_000)
    monkeypatch.setattr("audiencekit.sources.counting.SCAN_BYTES", 1_000)
    assert read(workers) == expected
    assert len(expected[0]) == 4_000
