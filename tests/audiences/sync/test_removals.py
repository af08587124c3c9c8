"""The keys by which a member is deleted, and the members to put back because a Delete strikes them, too."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.audiences.sync import removals as keytable
from audiencekit.audiences.sync.removals import (
    KeyFilter,
    KeyTable,
    RarestKeys,
    Reduced,
    RemainingRecords,
    RemovalKeys,
    _owners_of,
    as_records,
    count_holders,
    plan_rounds,
    reduce_members,
    rounds_for,
)
from audiencekit.personal import HashedRecords
from audiencekit.records.columns.arrays import hash_array, list_array
from audiencekit.records.record_bits import Bits, Indices
from audiencekit.selection.plain_tags import PlainTags
from audiencekit.selection.tag_arrays import TAG
from audiencekit.snapshots.members import MEMBER_SCHEMA
from audiencekit.snapshots.plain_marks import PlainMarks
from tests.audiences.sync.people import TAGGER, members, names, records
from tests.audiences.sync.service import Person
from tests.cases import each_case

# --- The keys by which a member is deleted, and the members to put back because a Delete strikes them, too ---

ALL_PEOPLE = [(mail, name) for mail in ("", "a", "b", "c", "d") for name in ("", "1", "2", "3") if mail or name]
PEOPLE = st.lists(st.sampled_from(ALL_PEOPLE), unique=True, min_size=1, max_size=8)


Heard = list[tuple[int, list[Person]]]


def _keys(leaving: list[Person], staying: list[Person], heard: Heard | None = None) -> RemovalKeys:
    batches = [records(staying[:2]), records(staying[2:])]

    def hear(batch: int, found: HashedRecords, holders: Indices) -> None:
        people = names(found, ALL_PEOPLE)
        (heard if heard is not None else []).append((batch, [people[place] for place in np.unique(holders)]))

    wanted = Bits.of(len(staying), True)
    there = RemainingRecords(wanted, [0, min(2, len(staying))], lambda batch: batches[batch], TAGGER, hear)
    return count_holders([members(dict.fromkeys(leaving, 400))], there)


def _reduce(leaving: list[Person], keys: RemovalKeys) -> Reduced:
    return reduce_members(members(dict.fromkeys(leaving, 400)), keys, TAGGER, first_row=11)


@each_case(
    "leaving, staying, deleted_by, lost",
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
        count_holders(all_members, RemainingRecords(Bits.of(1, True), [0], unsealed, TAGGER, lambda *heard: None))
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


@each_case("returned, members, rounds", [(0, 0, 1), (0, 100, 1), (10, 100, 1), (11, 100, 2), (100, 100, 10), (5, 3, 5)])
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


@each_case("counts", [[1, 0, 1, 1, 0, 1], [0, 2, 1, 0, 3]])
@each_case("before", [0, 7])
def test_a_value_belongs_to_the_members_that_have_it(counts: list[int], before: int) -> None:
    """Whether some have several or none has, and wherever the values of the first begin."""
    offsets = np.cumsum([before, *counts], dtype=np.int32)
    expected = np.repeat(np.arange(len(counts)), counts)
    places = np.arange(len(expected))
    assert _owners_of(places, offsets).tolist() == expected.tolist()
    assert _owners_of(places[2:3], offsets).tolist() == expected[2:3].tolist()


# --- Keys found among others, exactly ---

SMALL = st.integers(0, 3)
PAIRS = st.lists(st.tuples(SMALL, st.integers(0, 1)), max_size=12)


def _tags(pairs: list[tuple[int, int]]) -> np.ndarray:
    return np.array([(high << 62, low) for high, low in pairs], dtype=TAG)


@given(PAIRS, PAIRS)
def test_exactly_the_keys_that_are_in_are_found(members: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    """Also where two keys share the first half of their tags; each has one number."""
    table = KeyTable([_tags(members[:5]), _tags(members[5:])])
    numbered = {pair: number for number, pair in enumerate(sorted(set(members)))}
    places, numbers = table.find(_tags(asked))
    assert len(table) == len(numbered)
    expected = [(place, numbered[pair]) for place, pair in enumerate(asked) if pair in numbered]
    assert list(zip(places.tolist(), numbers.tolist(), strict=True)) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keytable, "MARK_LOOPS", PlainMarks())
        assert [each.tolist() for each in table.find(_tags(asked))] == [places.tolist(), numbers.tolist()]


@settings(deadline=None)  # 16 MB each
@given(st.lists(st.binary(min_size=32, max_size=32), max_size=8), st.lists(st.binary(min_size=32, max_size=32)))
def test_a_filter_lets_pass_what_was_added(added: list[bytes], others: list[bytes]) -> None:
    """And few of the others: a key that differs in the first bits never passes."""
    known = KeyFilter()
    known.add(_matrix(added))
    asked = [*others, *added]
    likely = known.likely(_matrix(asked)).tolist()
    assert set(range(len(others), len(asked))) <= set(likely)
    assert {asked[place][:3] for place in likely} <= {each[:3] for each in added}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keytable, "TAG_LOOPS", PlainTags())
        assert known.likely(_matrix(asked)).tolist() == likely


def test_a_filter_asks_twice() -> None:
    """A key with the first bytes of another passes only if the next bytes agree, too; other bytes are not read."""
    known = KeyFilter()
    known.add(_matrix([b"abcdefgh" + b"0" * 24]))
    asked = [b"abcdefgh" + b"1" * 24, b"abcdefgi" + b"0" * 24, b"abXdefgh" + b"0" * 24]
    last = bytes([asked[0][7] ^ 8])  # a bit that is beyond the filter
    asked.append(asked[0][:7] + last + asked[0][8:])
    for loops in (keytable.TAG_LOOPS, PlainTags()):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(keytable, "TAG_LOOPS", loops)
            assert known.likely(_matrix(asked)).tolist() == [0, 3]


def _matrix(hashes: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(hashes), dtype=np.uint8).reshape(-1, 32)


# --- Keys that may have to be struck, while their holders are being counted ---

# Three members: the first has keys 0 and 1, the second 1 and 2, the third 3 alone.
OWNERS, NUMBERS = np.array([0, 1, 2, 0, 1]), np.array([0, 1, 3, 1, 2])


def _counted(*batches: list[int]) -> RarestKeys:
    rarest = RarestKeys(OWNERS, NUMBERS, 4)
    for numbers in batches:
        rarest.count(np.array(numbers, dtype=np.int64))
    return rarest


def test_at_first_every_key_may_be_struck() -> None:
    """No member is known to hold any."""
    assert _counted().likely.all()
    assert _counted([]).likely.all()


def test_a_key_that_more_hold_is_not() -> None:
    """Unless its member has no other; where hardly more do, it may be chance."""
    assert _counted([1, 1, 1, 3, 3, 3]).likely.tolist() == [True, False, True, True]
    assert _counted([0, 0, 0, 1, 2, 2, 2, 2]).likely.tolist() == [True, True, False, True]


def test_it_is_looked_at_again() -> None:
    """When more have been counted; every holder counts."""
    rarest = _counted([1], [0, 0], [0], [0, 0, 2, 2])
    assert rarest.likely.tolist() == [False, True, True, True]
    assert rarest.holders.tolist() == [5, 1, 2, 0]


def test_no_member_leaves() -> None:
    """Then there is no key."""
    none = np.zeros(0, dtype=np.int64)
    rarest = RarestKeys(none, none, 0)
    rarest.count(none)
    assert rarest.likely.tolist() == []
    assert repr(rarest) == "<RarestKeys of 0>"
