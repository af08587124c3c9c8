"""The changes that a run is about to make, as a file: the outcomes of its requests decide which were made."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from audiencekit.audiences.synchronisation.plan.sentrecords import records_at
from audiencekit.destinations.requests.requestplan import PlannedRequest
from audiencekit.errors import InputOutputFailed
from audiencekit.personal import HashedRecords
from audiencekit.preparation.recordbits import Bits, Indices
from audiencekit.selection.selection import Selection, SelectionLayout
from audiencekit.snapshots.members import DOUBTFUL, DROPPED, UNSURE
from audiencekit.snapshots.notedchanges import Changes, ChangesFacts, Outcomes, write_changes
from tests.audiences.synchronisation.people import days, records, store
from tests.audiences.synchronisation.service import Person

NEW, GONE, BACK = ("a", ""), ("b", "1"), ("c", "1")
ALL_PEOPLE = [NEW, GONE, BACK]
DAY = 20_800


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of changes: request 1 puts one in, request 2 takes one out, request 3 puts one back."""
    place = store(tmp_path)
    batches = [records([NEW, BACK]), records([GONE], deletes=True)]
    deletes = Bits()
    deletes.append(np.array([False, False, True]))
    later = {1: np.array([2]), 2: np.array([1])}
    selection = Selection(Bits.of(3, True), deletes, later)
    requests = [_request(1, 0, updates=1), _request(2, 1, deletes=1), _request(3, 2, updates=1)]
    write_changes(
        place.changes_path,
        place.spool_key(),
        ChangesFacts(run_id="sync-1", serial=4, day=DAY),
        layout=SelectionLayout(selection, [2, 1]),
        waves=selection.waves(),
        requests=requests,
        records_of=lambda batch, places: records_at(batches[batch], places),
    )
    return tmp_path


def _request(number: int, wave: int, *, updates: int = 0, deletes: int = 0) -> PlannedRequest:
    return PlannedRequest(
        number=number,
        wave=wave,
        first_update=0,
        first_delete=0,
        updates=updates,
        deletes=deletes,
        update_operations=updates,
        delete_operations=deletes,
        body_bytes=100,
    )


def _effects(directory: Path, outcomes: Outcomes) -> dict[Person, int]:
    place = store(directory)
    changes = Changes.open(place.changes_path, place.spool_key())
    assert changes is not None
    with contextlib.closing(changes):
        return {who: day for part in changes.effects(outcomes) for who, day in days(part, ALL_PEOPLE).items()}


@pytest.mark.parametrize(
    ("confirmed", "touched", "effects"),
    [
        ({}, {}, {}),
        ({1}, {}, {NEW: DAY}),
        ({}, {1}, {NEW: UNSURE}),
        ({1}, {2}, {NEW: DAY, GONE: DOUBTFUL, BACK: DOUBTFUL}),
        ({1, 2}, {}, {NEW: DAY, GONE: DROPPED, BACK: DOUBTFUL}),
        ({1, 2}, {3}, {NEW: DAY, GONE: DROPPED, BACK: DOUBTFUL}),
        ({1, 2, 3}, {}, {NEW: DAY, GONE: DROPPED, BACK: DAY}),
    ],
)
def test_the_outcomes_of_requests_decide_on_noted_changes(
    path: Path, confirmed: set[int], touched: set[int], effects: dict[Person, int]
) -> None:
    """Confirmed is done, touched is in doubt; a member that a Delete may have struck is in doubt until put back."""
    assert _effects(path, Outcomes(frozenset(confirmed), frozenset(touched))) == effects


@pytest.mark.parametrize(("row", "effects"), [(1, {BACK: DAY}), (2, {NEW: DAY, BACK: DOUBTFUL})])
def test_a_row_that_was_refused_is_not_taken_for_sent(path: Path, row: int, effects: dict[Person, int]) -> None:
    """It is not there, or in doubt when it was to be put back."""
    found = _effects(path, Outcomes(frozenset({1, 2, 3}), frozenset(), frozenset({row})))
    assert {who: day for who, day in found.items() if who != GONE} == effects


def test_facts_come_back(path: Path) -> None:
    """Of which run they are, and which verbs the requests have."""
    place = store(path)
    changes = Changes.open(place.changes_path, place.spool_key())
    assert changes is not None
    with contextlib.closing(changes):
        assert (changes.facts.run_id, changes.facts.serial, changes.facts.day) == ("sync-1", 4, DAY)
        assert [changes.facts.verbs_of([number]) for number in (1, 2, 3)] == [{False}, {True}, {False}]


def test_without_changes_there_are_none(tmp_path: Path) -> None:
    """Most of the time."""
    place = store(tmp_path)
    assert Changes.open(place.changes_path, place.spool_key()) is None


def test_a_damaged_file_is_refused(path: Path) -> None:
    """Nothing of it is believed."""
    place = store(path)
    content = place.changes_path.read_bytes()
    place.changes_path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    with pytest.raises(InputOutputFailed):
        _effects(path, Outcomes(frozenset({1, 2, 3}), frozenset()))


def test_a_disk_that_is_full_leaves_nothing(tmp_path: Path) -> None:
    """Neither changes nor half of them."""
    place = store(tmp_path)

    def fail(batch: int, places: Indices) -> HashedRecords:
        raise InputOutputFailed("the disk is full")

    selection = Selection(Bits.of(1, True), Bits.of(1, False))
    with pytest.raises(InputOutputFailed, match="full"):
        write_changes(
            place.changes_path,
            place.spool_key(),
            ChangesFacts(run_id="sync-1", serial=4, day=DAY),
            layout=SelectionLayout(selection, [1]),
            waves=[0],
            requests=[_request(1, 0, updates=1)],
            records_of=fail,
        )
    assert not list(place.directory.iterdir())
