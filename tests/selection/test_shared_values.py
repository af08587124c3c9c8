"""Values that more people share than are few, against a count of sets in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.records.batches import ROW
from audiencekit.selection import shared_values as sharedvalues
from audiencekit.selection.partitions import Chunks
from audiencekit.selection.shared_values import (
    CANDIDATE,
    NO_CHUNK,
    PERSON,
    Pairs,
    PeopleOfValues,
    SharedValues,
    SharedValueSearch,
    candidates_in_records,
)
from audiencekit.selection.tag_arrays import TAG
from audiencekit.selection.tags import Tagger, slots_of
from audiencekit.selection.value_counts import COUNTER_BITS
from audiencekit.selection.without_shared_values import find_sharing_rows, without_values
from tests.cases import each_case
from tests.examples import examples

Make = Callable[..., HashedRecords]
Store = Callable[[], Chunks]
Person = dict[Kind, list[str]]
Tag = tuple[int, int]

KINDS = [Kind.EMAIL, Kind.PHONE_NUMBER, Kind.PARTNER_USER_ID]
PEOPLE = st.lists(
    st.dictionaries(
        st.sampled_from(KINDS), st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=2, unique=True), min_size=1
    ),
    min_size=1,
    max_size=30,
)


def _keys(person: Person) -> frozenset[tuple[Kind, str]]:
    return frozenset((kind, text) for kind, texts in person.items() for text in texts)


def _people_of(people: Sequence[Person], key: tuple[Kind, str]) -> int:
    """Of the sets that stand beside `key` those that are no part of another."""
    beside = {_keys(person) - {key} for person in people if key in _keys(person)} - {frozenset()}
    return sum(not any(one < other for other in beside) for one in beside)


def _find(records: HashedRecords, tagger: Tagger, chunks: Chunks, most: int) -> SharedValues:
    return _search(records, tagger, SharedValueSearch(chunks, most))[0]


def _search(records: HashedRecords, tagger: Tagger, search: SharedValueSearch) -> tuple[SharedValues, list[int]]:
    batch = records.unwrap()
    batches = [HashedRecords(batch.slice(start, 4)) for start in range(0, batch.num_rows, 4)]
    for one in batches:
        search.add(slots_of(tagger.tag(one.unwrap()).tags))
    return search.find(lambda number, _, places: candidates_in_records(batches[number], tagger, places))


def _tag_of(tagger: Tagger, make: Make, key: tuple[Kind, str]) -> Any:
    return tagger.tag(make(("Update", {key[0]: [key[1]]})).unwrap()).tags


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PEOPLE, st.integers(1, 4), st.sampled_from([0, 3, COUNTER_BITS]))
def test_people_are_counted_exactly(
    hashed_records: Make, memory_chunks: Store, people: list[Person], most: int, bits: int
) -> None:
    """Also where counters are so few that values fall together.

    Each record that has a shared value is given with it, by its row, its key set and the number of its values.
    """
    tagger, chunks = Tagger(), memory_chunks()
    records = hashed_records(*(("Update", person) for person in people))
    shared, numbers_of_chunks = _search(records, tagger, SharedValueSearch(chunks, most, bits=bits))
    tagged, rows = tagger.tag(records.unwrap()), records.unwrap().column(ROW).to_pylist()
    given_rows = []
    for number, chunk in enumerate(numbers_of_chunks):
        tags = tagger.tag(records.unwrap().slice(4 * number, 4)).tags
        held = np.frombuffer(b"" if chunk == NO_CHUNK else chunks.read_all([chunk]), dtype=CANDIDATE)
        for one in shared.among(held):
            assert (tags[one["place"]]["low"], rows[4 * number + one["record"]]) == (one["low"], one["row"])
            given_rows.append((one["high"], one["low"], one["row"], one["set_high"], one["values"].tolist()))
    sizes = [[len(person.get(kind, ())) for kind in Kind] for person in people]
    sets = tagged.of_sets()["high"]
    assert sorted(given_rows) == sorted(
        (tag["high"], tag["low"], rows[owner], sets[owner], sizes[owner])
        for owner, tag in zip(tagged.owners().tolist(), tagged.tags, strict=True)
        if shared.holds(tag.reshape(1))[0]
    )
    numbers = {key: _people_of(people, key) for person in people for key in _keys(person)}
    for key, number in numbers.items():
        assert bool(shared.holds(_tag_of(tagger, hashed_records, key))[0]) == (number > most), number
    assert len(shared) == sum(number > most for number in numbers.values())
    assert shared.people == max((number for number in numbers.values() if number > most), default=0)


@each_case(
    "people, number",
    [
        ([{Kind.EMAIL: [text], Kind.PHONE_NUMBER: ["p"]} for text in "abcdef"], 6),
        ([{Kind.EMAIL: ["a"], Kind.PHONE_NUMBER: ["p"]}] * 6, 1),
        ([{Kind.PHONE_NUMBER: ["p"]}] * 6, 0),
        ([{Kind.EMAIL: list("abcdef"[:size]), Kind.PHONE_NUMBER: ["p"]} for size in range(1, 7)], 1),
        ([{Kind.EMAIL: ["a", text], Kind.PHONE_NUMBER: ["p"]} for text in "bcdefg"], 6),
    ],
)
def test_a_person_is_counted_by_the_keys_beside_a_value(
    hashed_records: Make, memory_chunks: Store, people: list[Person], number: int
) -> None:
    """By what stands beside the value; one that stands alone is of anyone who has it."""
    records = hashed_records(*(("Update", person) for person in people))
    for most in range(1, 7):
        tagger = Tagger()
        shared = _find(records, tagger, memory_chunks(), most)
        assert bool(shared.holds(_tag_of(tagger, hashed_records, (Kind.PHONE_NUMBER, "p")))[0]) == (number > most)


HALVES = st.tuples(st.integers(0, 3), st.integers(0, 3))


@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(HALVES, max_size=30), st.lists(HALVES), st.integers(0, 4), st.sampled_from([50, 10**6]))
def test_tags_that_differ_in_one_half_are_told_apart(
    memory_chunks: Store, pairs: list[Tag], parts: list[Tag], most: int, aside_bytes: int
) -> None:
    """In the tables of any number of people: 64 bits are too few for some of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharedvalues, "_ASIDE_BYTES", aside_bytes)
        counts = PeopleOfValues(memory_chunks(), most)
        for one in range(0, max(len(pairs), len(parts)), 3):
            lines = [(*_spread(_value_of(pair)), *_spread(pair)) for pair in pairs[one : one + 3]]
            some = np.array([_spread(part) for part in parts[one : one + 3]], dtype=TAG)
            counts.add(Pairs(np.array(lines, dtype=PERSON), some))
        found = counts.find()
    people = Counter(_value_of(pair) for pair in set(pairs) - set(parts))
    expected = {value: number for value, number in people.items() if number > most}
    assert found.tags.tolist() == sorted(map(_spread, expected))
    assert found.people == max(expected.values(), default=0)


def _value_of(pair: Tag) -> Tag:
    """The value that is in a pair: each has one."""
    return pair[0] // 2, pair[1] // 2


def _spread(tag: Tag) -> Tag:
    """Over all parts that are put aside."""
    return tag[0] << 62, tag[1]


def test_entries_are_put_aside(hashed_records: Make, memory_chunks: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same people where memory holds hardly any of them."""
    monkeypatch.setattr(sharedvalues, "_ASIDE_BYTES", 100)
    people = [{Kind.EMAIL: [f"e{number}"], Kind.PHONE_NUMBER: [f"p{number % 7}"]} for number in range(100)]
    chunks: Any = memory_chunks()
    shared = _find(hashed_records(*(("Update", one) for one in people)), Tagger(), chunks, 10)
    assert (len(shared), shared.people, len(chunks.chunks) > 20) == (7, 15, True)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PEOPLE, st.data())
def test_values_are_left_out(hashed_records: Make, people: list[Person], data: st.DataObject) -> None:
    """By their places among all values, kind after kind; what is left is what was not named, in as many records."""
    records = hashed_records(*(("Update", person) for person in people))
    size = sum(len(texts) for person in people for texts in person.values())
    places = sorted(data.draw(st.sets(st.integers(0, size - 1), max_size=size)))
    batch, stripped = records.unwrap(), without_values(records, np.array(places, dtype=np.int64)).unwrap()
    flat = [value for kind in Kind for values in batch.column(kind.value).to_pylist() for value in values or ()]
    left = [value for kind in Kind for values in stripped.column(kind.value).to_pylist() for value in values or ()]
    assert left == [value for place, value in enumerate(flat) if place not in set(places)]
    assert stripped.column(ROW).to_pylist() == batch.column(ROW).to_pylist()
    before, after = ([_sizes_of(each, kind) for kind in Kind] for each in (batch, stripped))
    assert sum(map(sum, before)) - sum(map(sum, after)) == len(places)


def _sizes_of(batch: Any, kind: Kind) -> list[int]:
    return [len(values or ()) for values in batch.column(kind.value).to_pylist()]


def test_rows_that_have_a_shared_value_in_any_form(hashed_records: Make) -> None:
    """With all that stands beside it, whichever form of the row that is in."""
    tagger = Tagger()
    shared = SharedValues(_tag_of(tagger, hashed_records, (Kind.PHONE_NUMBER, "p")))
    plain = hashed_records(("Update", {Kind.EMAIL: ["a"], Kind.PHONE_NUMBER: ["q"]}), ("Update", {Kind.EMAIL: ["b"]}))
    digits = hashed_records(("Update", {Kind.PHONE_NUMBER: ["p"]}), ("Update", {Kind.PHONE_NUMBER: ["r"]}))
    sharing, rows, tags = find_sharing_rows([plain, digits], shared, tagger)
    assert (sharing.tolist(), rows.tolist()) == ([1], [1, 1])
    beside = [_tag_of(tagger, hashed_records, key)[0] for key in ((Kind.EMAIL, "a"), (Kind.PHONE_NUMBER, "q"))]
    assert {tag.tobytes() for tag in tags} == {tag.tobytes() for tag in beside}
