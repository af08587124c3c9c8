"""A run is found by its id, the beginning of one, or as the last."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.runs.store import BEGUN, RunStore, new_run_id
from tests.runs.started import create_begun
from tests.runs.storedruns import NEW, NEWEST, OLD, store

__all__ = ["store"]


@pytest.mark.parametrize(
    ("given_run", "found"),
    [
        ("last", NEWEST),
        (OLD, OLD),
        ("20261120", OLD),
        ("2026112", None),  # three begin like this
        ("20261121-013000-1f", None),
        ("20261121-013000-1f3", NEW),
        ("20261122", None),
        ("", None),
        ("*", None),
        ("../runs", None),
    ],
)
def test_run_is_found_by_its_beginning(store: RunStore, given_run: str, found: str | None) -> None:
    """`last`, a whole id, or the beginning of exactly one; anything else is a usage error."""
    for run_id in (OLD, NEW, NEWEST):
        create_begun(store, run_id)
    if found is not None:
        assert store.find(given_run) == found
        return
    with pytest.raises(UsageError):
        store.find(given_run)


def test_whole_id_wins_over_longer_ones(store: RunStore) -> None:
    """An id that is the beginning of another can still be named."""
    for run_id in ("abcdefgh", "abcdefgh-2"):
        create_begun(store, run_id)
    assert store.find("abcdefgh") == "abcdefgh"


def _begin(store: RunStore, run_id: str, *, changed_at: float) -> None:
    """Begin a run; the clock of then put `changed_at` on its directory."""
    os.utime(create_begun(store, run_id), (changed_at, changed_at))


def test_last_is_the_run_that_was_begun_last(store: RunStore) -> None:
    """Whatever its id says, and the clock said: one that is 30 days ahead makes no run the last for 30 days."""
    ahead, now = 1_795_224_600 + 30 * 86_400, 1_795_224_600
    ids = [new_run_id(ahead), new_run_id(now), "a-daily-list", new_run_id(now - 86_400), "20991231-235959-daily-list"]
    for run_id in ids:
        _begin(store, run_id, changed_at=ahead)
        assert store.find("last") == run_id
    assert store.ids() == ids[::-1]


def test_an_id_that_is_begun_again_is_the_last(store: RunStore) -> None:
    """Its directory was removed; what is removed is forgotten, and one that is there is not moved."""
    for run_id in (OLD, NEW):
        create_begun(store, run_id)
    with pytest.raises(InputOutputFailed):
        create_begun(store, OLD)
    assert store.ids() == [NEW, OLD]
    store.directory(OLD).rmdir()
    create_begun(store, NEWEST)
    create_begun(store, OLD)
    assert store.ids() == [OLD, NEWEST, NEW]


def _forget_order(store: RunStore) -> None:
    """As after a loss of the list."""
    (store.directory(NEW).parent.parent / BEGUN).unlink()


def test_without_the_list_runs_are_ordered_by_time(store: RunStore) -> None:
    """Ids that callers chose tell no time: the last change in their directories does. New runs come behind them."""
    for run_id, changed in (("a-daily-list", "20261121-013001"), ("the-weekly-list", "20261120-235959")):
        when = datetime.strptime(changed, "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
        _begin(store, run_id, changed_at=when)
    for run_id in (NEW, OLD):
        create_begun(store, run_id)
    _forget_order(store)
    old = ["a-daily-list", NEW, "the-weekly-list", OLD]
    assert store.ids() == old
    create_begun(store, "20010101-000000-00000000")
    assert store.ids() == ["20010101-000000-00000000", *old]


@pytest.mark.parametrize(
    "chosen", ["20261101-000000-daily-list", "20991231-235959-daily-list", "20261101-000000-0123456789abcdef"]
)
def test_a_time_in_an_id_that_a_caller_chose_is_not_that_of_the_run(store: RunStore, chosen: str) -> None:
    """It is what the run is for: a day before, or a year. When it began is not known then, but what came after it."""
    moments = {OLD: 0, chosen: 1_795_224_600, new_run_id(1_795_224_601): 0}
    for run_id, moment in moments.items():
        _begin(store, run_id, changed_at=moment)
    _forget_order(store)
    assert store.ids() == list(moments)[::-1]
    assert [run["started_at"] for run in store.list_runs()][1] is None


def test_of_one_second_the_chosen_id_that_changed_last_is_last(store: RunStore) -> None:
    """A name that sorts later, a 9 before a 10, and random digits make no run newer."""
    second = 1_795_224_601
    ids = [
        "the-daily-list", "a-daily-list", "20261121-013001-4000ffff", "20261121-013001-ffffff",
        "20261121-013001-000000", "20261121-013001-list--9", "20261121-013001-list--10",
    ]  # fmt: skip
    for place, run_id in enumerate(ids):
        _begin(store, run_id, changed_at=second + (place + 1) / 10)
    own = new_run_id(second + 0.95)
    _begin(store, own, changed_at=second)
    _forget_order(store)
    assert store.ids() == [own, *ids[::-1]]


@pytest.mark.parametrize("content", [b"", b"\xff\0\n\n", b"..\n/\nlast\n"])
def test_a_damaged_order_is_that_of_time(store: RunStore, tmp_path: Path, content: bytes) -> None:
    """And is put right by the next run."""
    for run_id in (OLD, NEW):
        create_begun(store, run_id)
    order = tmp_path / "state" / BEGUN
    order.write_bytes(content)
    assert store.ids() == [NEW, OLD]
    create_begun(store, "20010101-000000-00000000")
    assert order.read_text().split() == [f"{OLD}?", f"{NEW}?", "20010101-000000-00000000"]
