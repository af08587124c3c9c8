"""The requests of a sync, wave by wave: the records of the source, then the Deletes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.audiences.synchronisation.plan import rarestkeys, removals, sentrecords
from audiencekit.audiences.synchronisation.plan.difference import Horizon
from audiencekit.audiences.synchronisation.plan.revision import Revision
from audiencekit.audiences.synchronisation.plan.sentrecords import records_at
from audiencekit.destinations.requests.operations import OperationsForm
from audiencekit.machine.spool import Spool
from audiencekit.planning.reading import BatchResults
from audiencekit.preparation.plantimes import pin_times
from audiencekit.preparation.recordbits import Bits
from audiencekit.profile import SPEC
from audiencekit.selection.keysets import KeySets
from audiencekit.selection.selection import Selection, SelectionLayout
from tests.audiences.synchronisation.people import TAGGER, Known, names, records
from tests.audiences.synchronisation.service import Person
from tests.examples import examples

FORM = OperationsForm(pin_times(datetime(2026, 11, 21, tzinfo=UTC)), SPEC)
HORIZON = Horizon(lapsed_before=100, renewed_to=130)
Revise = Callable[..., tuple[Revision, Selection]]
ALL_PEOPLE = [(mail, name) for mail in ("", "a", "b", "c") for name in ("", "1", "2") if mail or name]


@pytest.fixture
def revise(tmp_path: Path) -> Iterator[Revise]:
    """The revision of a source, in batches of so many records, and what it selects."""
    with ExitStack() as stack:

        def make(source: list[Person], days: dict[Person, int], records_each: int = 99) -> tuple[Revision, Selection]:
            spool, aside, copies = (stack.enter_context(Spool(tmp_path)) for _ in range(3))
            gathered = BatchResults(spool, aside, KeySets(aside, mixed=False, tagger=TAGGER), FORM)
            for first in range(0, len(source), records_each):
                batch = records(source[first : first + records_each])
                gathered.keysets.add(gathered.keysets.tag(batch))
                gathered.append(batch)
            gathered.tally.rows_read = len(source)
            wanted = Bits.of(len(source), True)
            revision = Revision.of(gathered, wanted, Known(days), HORIZON, TAGGER, copies=copies)
            return revision, revision.select(Selection(wanted, Bits.of(len(source), False)))

        yield make


def _bools(bits: Bits) -> list[bool]:
    return bits.slice(0, len(bits)).tolist()


def test_deleted_members_are_sent_in_the_wave_after(revise: Revise) -> None:
    """As a Delete, behind the records of the source and in rows that it does not have."""
    revision, selection = revise([("a", ""), ("b", "")], {("a", ""): 400, ("c", "1"): 400})
    assert _bools(selection.chosen) == [False, True, True]
    assert _bools(selection.deletes) == [False, False, True]
    assert {wave: found.tolist() for wave, found in selection.later.items()} == {1: [2]}
    gone = revision.whole_records(1, np.arange(1))
    assert names(gone, [("c", "1")]) == [("c", "1")]
    assert gone.unwrap().column("row").to_pylist() == [3]
    assert (revision.returned, revision.lost) == (0, 1)


def test_a_member_struck_by_a_delete_of_another_is_put_back(revise: Revise) -> None:
    """Although nothing about them has changed."""
    revision, selection = revise([("a", "1"), ("b", "")], {("a", "1"): 400, ("b", ""): 400, ("a", ""): 400})
    assert _bools(selection.chosen) == [True, False, True]
    assert {wave: found.tolist() for wave, found in selection.later.items()} == {1: [2], 2: [0]}
    assert (revision.returned, revision.lost) == (1, 0)


def test_without_members_to_delete_there_is_one_wave(revise: Revise) -> None:
    """And the source is all that there is."""
    revision, selection = revise([("a", ""), ("b", "")], {("a", ""): 400})
    assert (_bools(selection.chosen), selection.later) == ([False, True], {})
    assert names(revision.whole_records(0, np.array([1])), [("a", ""), ("b", "")]) == [("b", "")]


@settings(
    max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # 256 parts each
@given(
    st.lists(st.sampled_from(ALL_PEOPLE), unique=True, min_size=4),
    st.dictionaries(st.sampled_from(ALL_PEOPLE), st.sampled_from([0, 99, 100, 131]), min_size=6),
    st.integers(1, 4),
    st.sampled_from([-3, 0]),
    st.sampled_from([0, 2, 99]),
)
def test_wherever_holders_stand_the_audience_is_the_source(
    revise: Revise, source: list[Person], days: dict[Person, int], records_each: int, chance: int, in_memory: int
) -> None:
    """Also the holders of a key that seemed safe when their batch was read, so that they were not copied."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentrecords, "_FEW_SHARE", 1.0)
        patch.setattr(sentrecords, "_IN_MEMORY", in_memory)
        patch.setattr(rarestkeys, "_CHANCE", chance)
        patch.setattr(removals, "cores", lambda: 1)  # with more, few batches are looked at after any was counted
        revision, selection = revise(source, days, records_each)
        audience = {person for person, day in days.items() if day == 0 or day >= 100}
        for wave in selection.waves():
            for batch, people in _sent(revision, selection, wave):
                if batch < revision.first:
                    audience.update(people)
                else:
                    keys = {(place, key) for person in people for place, key in enumerate(person) if key}
                    audience = {person for person in audience if not keys & set(enumerate(person))}
    assert audience == set(source)


def _sent(revision: Revision, selection: Selection, wave: int) -> Iterator[tuple[int, list[Person]]]:
    """Yield the people sent in a wave, batch by batch: of those deleted, only the keys by which they are deleted."""
    layout = SelectionLayout(selection, revision.gathered.batch_records)
    for deletes in (False, True):
        for batch, taken in layout.of_wave((wave, deletes)):
            places = np.flatnonzero(taken)
            found = records_at(revision.gathered.spool.unseal(batch), places)
            if not deletes:
                assert names(revision.whole_records(batch, places), ALL_PEOPLE) == names(found, ALL_PEOPLE)
            yield batch, names(found, ALL_PEOPLE)
