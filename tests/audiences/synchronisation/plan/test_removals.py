"""The keys by which a member is deleted, and the members to put back because a Delete strikes them, too."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from audiencekit.audiences.synchronisation.plan.keytable import KeyFilter, KeyTable
from audiencekit.audiences.synchronisation.plan.removals import (
    Reduced,
    RemovalKeys,
    Staying,
    _owners_of,
    as_records,
    count_holders,
    plan_rounds,
    reduce_members,
    rounds_for,
)
from audiencekit.personal import HashedRecords
from audiencekit.preparation.columnar.buffers import hash_array, list_array
from audiencekit.preparation.recordbits import Bits, Indices
from audiencekit.selection.tags import TAG
from audiencekit.snapshots.members import MEMBER_SCHEMA
from tests.audiences.synchronisation.people import TAGGER, members, names, records
from tests.audiences.synchronisation.service import Person

ALL_PEOPLE = [(mail, name) for mail in ("", "a", "b", "c", "d") for name in ("", "1", "2", "3") if mail or name]
PEOPLE = st.lists(st.sampled_from(ALL_PEOPLE), unique=True, min_size=1, max_size=8)


Heard = list[tuple[int, list[Person]]]


def _keys(leaving: list[Person], staying: list[Person], heard: Heard | None = None) -> RemovalKeys:
    batches = [records(staying[:2]), records(staying[2:])]

    def hear(batch: int, found: HashedRecords, holders: Indices) -> None:
        people = names(found, ALL_PEOPLE)
        (heard if heard is not None else []).append((batch, [people[place] for place in np.unique(holders)]))

    wanted = Bits.of(len(staying), True)
    there = Staying(wanted, [0, min(2, len(staying))], lambda batch: batches[batch], TAGGER, hear)
    return count_holders([members(dict.fromkeys(leaving, 400))], there)


def _reduce(leaving: list[Person], keys: RemovalKeys) -> Reduced:
    return reduce_members(members(dict.fromkeys(leaving, 400)), keys, TAGGER, first_row=11)


@pytest.mark.parametrize(
    ("leaving", "staying", "deleted_by", "lost"),
    [
        (("a", "1"), [("b", "2")], ("a", "1"), 1),
        (("a", "1"), [("b", "1")], ("a", ""), 0),
        (("a", "1"), [("a", ""), ("b", "2")], ("", "1"), 0),
        (("a", ""), [("a", "1")], ("a", ""), 0),
        (("a", "1"), [("a", "2"), ("a", "3"), ("b", "1")], ("", "1"), 0),
    ],
)
def test_keys_by_which_a_member_is_deleted(
    leaving: Person, staying: list[Person], deleted_by: Person, lost: int
) -> None:
    """Its keys that no other member holds, else its rarest key; a member that shares every key is lost."""
    reduced = _reduce([leaving], _keys([leaving], staying))
    assert names(reduced.records, ALL_PEOPLE) == [deleted_by]
    assert reduced.lost == lost


def test_when_all_members_leave_each_key_takes_little_memory() -> None:
    """Its tag as it came and in order, and who has it: what is looked up is all of an audience then."""
    count, parts, measured = 20_000, 8, []
    all_members = [_drawn(count, seed) for seed in range(parts)]

    def unsealed(batch: int) -> HashedRecords:
        measured.append(tracemalloc.get_traced_memory()[0])
        return records([("a", "")])

    KeyTable([np.zeros(1, dtype=TAG)])  # what is loaded once is
    tracemalloc.start()
    try:
        filter_bytes = [KeyFilter(), tracemalloc.get_traced_memory()[0]][1]
        count_holders(all_members, Staying(Bits.of(1, True), [0], unsealed, TAGGER, lambda *heard: None))
    finally:
        tracemalloc.stop()
    assert measured[0] - filter_bytes < 50 * count * parts


def _drawn(count: int, seed: int) -> HashedRecords:
    """Return `count` members, each with a random email."""
    hashes = np.random.default_rng(seed).integers(0, 256, (count, 32), dtype=np.uint8)
    known = {
        "day": pa.array(np.full(count, 400, dtype=np.int16)),
        "email": list_array(np.ones(count), hash_array(hashes)),
    }
    columns = [known.get(field.name, pa.nulls(count, field.type)) for field in MEMBER_SCHEMA]
    return HashedRecords(pa.record_batch(columns, schema=MEMBER_SCHEMA))


def test_holders_of_a_key_are_reported() -> None:
    """Batch by batch, while its records are in memory: some of them will have to be put back."""
    heard: Heard = []
    _keys([("a", "1")], [("a", "2"), ("b", "3"), ("", "1")], heard)
    assert sorted(heard) == [(0, [("a", "2")]), (1, [("", "1")])]


@given(PEOPLE, PEOPLE)
def test_after_it_the_audience_is_who_stays(old: list[Person], new: list[Person]) -> None:
    """Deletes strike all_members with any of their keys; who is put back is exactly who was struck and stays."""
    leaving = [person for person in old if person not in new]
    if not leaving:
        return
    keys = _keys(leaving, new)
    reduced = _reduce(leaving, keys)
    rounds = plan_rounds(reduced.keys, keys, len(new))
    struck = {text for person in names(reduced.records, ALL_PEOPLE) for text in person if text}
    hit = {number for number, person in enumerate(new) if struck & set(person)}
    returned = np.concatenate(rounds.returned).tolist()
    assert sorted(returned) == sorted(hit)
    assert all(struck & set(person) for person in leaving)
    assert reduced.lost == sum(not {*person} & {text for other in new for text in other if text} for person in leaving)


@pytest.mark.parametrize(
    ("returned", "members", "rounds"), [(0, 0, 1), (0, 100, 1), (10, 100, 1), (11, 100, 2), (100, 100, 10), (5, 3, 5)]
)
def test_rounds(returned: int, members: int, rounds: int) -> None:
    """Never more than a tenth at a time, or one person."""
    assert rounds_for(returned, members) == rounds


def test_a_member_put_back_twice_comes_back_last() -> None:
    """A later round does not leave them out."""
    leaving, staying = [("a", ""), ("", "1")], [("a", "1"), ("b", "2")]
    keys = _keys(leaving, staying)
    rounds = plan_rounds(_reduce(leaving, keys).keys, keys, len(staying))
    assert [each.tolist() for each in rounds.returned] == [[], [0]]


def test_rows_lie_beyond_the_source() -> None:
    """And every record is a Delete, with all keys where all are asked for."""
    batch = as_records(members({("a", "1"): 400, ("b", ""): 400}), first_row=7, deletes=True)
    assert batch.unwrap().column("row").to_pylist() == [7, 8]
    assert batch.unwrap().column("is_delete").to_pylist() == [True, True]
    assert names(batch, ALL_PEOPLE) == [("a", "1"), ("b", "")]


def test_repr_shows_no_key(tmp_path: Path) -> None:
    """Neither keys nor tags."""
    keys = _keys([("a", "1")], [("a", "2")])
    assert "high" not in repr(keys) + repr(_reduce([("a", "1")], keys))


@pytest.mark.parametrize("counts", [[1, 0, 1, 1, 0, 1], [0, 2, 1, 0, 3]])
@pytest.mark.parametrize("before", [0, 7])
def test_a_value_belongs_to_the_members_that_have_it(counts: list[int], before: int) -> None:
    """Whether some have several or none has, and wherever the values of the first begin."""
    offsets = np.cumsum([before, *counts], dtype=np.int32)
    expected = np.repeat(np.arange(len(counts)), counts)
    places = np.arange(len(expected))
    assert _owners_of(places, offsets).tolist() == expected.tolist()
    assert _owners_of(places[2:3], offsets).tolist() == expected[2:3].tolist()
