"""The tags of a batch with their rows, as bytes and back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation.batches import ROW
from audiencekit.selection import taggedrows
from audiencekit.selection.candidates import candidates_at, candidates_in_records
from audiencekit.selection.taggedrows import TaggedRows
from audiencekit.selection.tags import Tagger, slots_of
from tests.examples import examples

Make = Callable[..., HashedRecords]


def _there_and_back(batch: TaggedRows) -> TaggedRows:
    return taggedrows.from_chunk(taggedrows.to_chunk(batch), slots_of(batch.keys.tags))


PEOPLE = st.lists(
    st.dictionaries(
        st.sampled_from(list(Kind)), st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PEOPLE, st.integers(0, 5), st.integers(1, 9))
def test_the_batch_comes_back(hashed_records: Make, people: list[dict[Kind, list[str]]], first: int, of: int) -> None:
    """Also of a slice, whose offsets do not begin with 0; and it says as much of every value as the records do.

    Whether one in so many is asked for, `of`, or each.
    """
    tagger, records = Tagger(), hashed_records(*(("Update", person) for person in people))
    part = records.unwrap().slice(min(first, len(people) - 1))
    written = TaggedRows(part.column(ROW).to_numpy(), tagger.tag(part))
    read = _there_and_back(written)
    assert read.rows.tolist() == written.rows.tolist()
    assert read.keys.tags.tolist() == written.keys.tags.tolist()
    assert read.keys.owners().tolist() == written.keys.owners().tolist()
    assert list(read.keys.offsets) == list(written.keys.offsets)
    places = np.arange(len(written.keys.tags))[::of]
    if len(places):
        found, pairs = candidates_at(places, read)
        of_records, pairs_of_records = candidates_in_records(HashedRecords(part), tagger, places)
        assert found.tobytes() == of_records.tobytes()
        assert sorted(pairs.people.tolist()) == sorted(pairs_of_records.people.tolist())
        assert sorted(pairs.parts.tolist()) == sorted(pairs_of_records.parts.tolist())


@pytest.mark.parametrize(
    "rows",
    [[7], [7, 8, 10, 15], [7, 10_000], [7, 9, 8], [7, 7], [2**40, 2**40 + 3], []],
    ids=lambda rows: f"{len(rows)} rows",
)
def test_rows_come_back(hashed_records: Make, rows: list[int]) -> None:
    """Whether most of them have a record, few, or none; and where they do not ascend."""
    batch = hashed_records(*[("Update", {Kind.EMAIL: ["a"]})] * len(rows)).unwrap()
    assert _there_and_back(TaggedRows(np.array(rows, dtype=np.int64), Tagger().tag(batch))).rows.tolist() == rows


def test_rows_take_a_bit_each(hashed_records: Make) -> None:
    """And a tag eight bytes: its other half is put aside as the slot of its value."""
    batch = hashed_records(*[("Update", {Kind.EMAIL: ["a"]})] * 800).unwrap()
    chunk = taggedrows.to_chunk(TaggedRows(np.arange(800), Tagger().tag(batch)))
    assert len(chunk) < 800 * (8 + 2 / 8) + 30
