"""Copies of the records that are sent: the same records, of a batch that is unsealed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, strategies as st

from audiencekit.audiences.synchronisation.plan import sentrecords as module
from audiencekit.audiences.synchronisation.plan.sentrecords import SentRecords, records_at
from audiencekit.machine.spool import Spool
from audiencekit.personal import HashedRecords
from tests.audiences.synchronisation.people import names, records
from tests.audiences.synchronisation.service import Person

BATCHES = 8
PEOPLE: list[list[Person]] = [[(f"{batch}-{number}", "") for number in range(40)] for batch in range(BATCHES)]
ALL_PEOPLE = [person for batch in PEOPLE for person in batch]
PLACES = st.lists(st.integers(0, 39), unique=True, max_size=12).map(sorted)


class Source:
    """Batches that count how often they are unsealed."""

    def __init__(self) -> None:
        self._records = [records(batch) for batch in PEOPLE]
        self.unsealed: list[int] = []

    def __call__(self, batch: int) -> HashedRecords:
        """The records of one batch."""
        self.unsealed.append(batch)
        return self._records[batch]


Make = Callable[[], tuple[Source, SentRecords]]


@pytest.fixture(params=[0, 4, 65_536], ids=["aside", "some aside", "in memory"])
def make(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """A source, and what is sent of it."""
    monkeypatch.setattr(module, "_IN_MEMORY", request.param)
    spools: list[Spool] = []

    def made() -> tuple[Source, SentRecords]:
        source = Source()
        spools.append(Spool(tmp_path))
        return source, SentRecords(source, spools[-1])

    yield made
    for spool in spools:
        spool.close()


def _people(batch: int, places: list[int]) -> list[Person]:
    return [PEOPLE[batch][place] for place in places]


def test_a_copied_batch_is_not_unsealed_again(make: Make) -> None:
    """Whichever of the copied records are asked for."""
    source, sent = make()
    sent.keep(0, source(0), np.array([3, 7, 30]))
    for places in ([3, 7, 30], [7], [3, 30]):
        assert names(sent.at(0, np.array(places)), ALL_PEOPLE) == _people(0, places)
    assert source.unsealed == [0]


def test_a_batch_asked_for_once_is_copied(make: Make) -> None:
    """Also after others were unsealed."""
    source, sent = make()
    for batch in (*range(BATCHES), 0):
        assert names(sent.at(batch, np.array([5, 6])), ALL_PEOPLE) == _people(batch, [5, 6])
    assert source.unsealed == list(range(BATCHES))


def test_of_many_there_is_no_copy(make: Make) -> None:
    """The batch is unsealed again when others were looked at in between."""
    source, sent = make()
    for batch in (*range(BATCHES), 0):
        assert names(sent.at(batch, np.arange(30)), ALL_PEOPLE) == _people(batch, list(range(30)))
    assert source.unsealed == [*range(BATCHES), 0]


@given(st.lists(st.tuples(st.integers(0, 1), PLACES), max_size=6), PLACES, st.integers(0, 10))
def test_whatever_was_copied_the_records_are_right(
    asked: list[tuple[int, list[int]]], first: list[int], in_memory: int
) -> None:
    """Those that are in no copy come from the batch."""
    with (
        TemporaryDirectory() as directory,
        Spool(Path(directory)) as copies,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(module, "_IN_MEMORY", in_memory)
        source = Source()
        sent = SentRecords(source, copies)
        sent.keep(0, source(0), np.array(first, dtype=np.int64))
        for batch, places in asked:
            wanted = np.array(places, dtype=np.int64)
            found, at = sent.find(batch, wanted)
            assert names(records_at(found, at), ALL_PEOPLE) == _people(batch, places)


def test_threads_may_ask_side_by_side(make: Make) -> None:
    """For the same batch, each for other records of it."""
    _, sent = make()
    with ThreadPoolExecutor(8) as pool:
        asked = [(number % 2, [number, number + 1]) for number in range(30)]
        found = pool.map(lambda one: names(sent.at(one[0], np.array(one[1])), ALL_PEOPLE), asked)
        assert list(found) == [_people(*one) for one in asked]


def test_repr_shows_no_person(make: Make) -> None:
    """Neither records nor places."""
    source, sent = make()
    sent.keep(0, source(0), np.array([3]))
    assert repr(sent) == "<SentRecords with copies of 1 batches>"
