"""People of lists who share an identifier, against sets in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.errors import PlanRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.selection import overlap, partitions
from audiencekit.selection.overlap import MOST_LISTS, ListCounts, PeopleOfLists
from audiencekit.selection.partitions import NO_RECORD, Chunks
from tests.examples import examples

Make = Callable[..., HashedRecords]
Store = Callable[[], Chunks]
Person = dict[Kind, list[str]]
Keys = set[tuple[Kind, str]]

PERSON = st.dictionaries(
    st.sampled_from([Kind.EMAIL, Kind.PHONE_NUMBER, Kind.PARTNER_USER_ID]),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=3, unique=True),
    min_size=1,
)
LISTS = st.lists(st.lists(PERSON, max_size=12), min_size=2, max_size=MOST_LISTS)


def _keys(person: Person, kind: Kind | None) -> Keys:
    return {(one, text) for one, texts in person.items() if kind in (None, one) for text in texts}


def _counts(make: Make, chunks: Chunks, lists: Sequence[Sequence[Person]], batch: int = 3) -> list[ListCounts]:
    people = PeopleOfLists(chunks)
    for one in lists:
        people.begin_list()
        for start in range(0, len(one), batch):
            records = make(*(("Update", person) for person in one[start : start + batch]))
            people.add(people.tag(records))
    return people.count()


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LISTS, st.sampled_from([20, 96 * 1024]))
def test_people_are_found_as_sets_find_them(
    hashed_records: Make, memory_chunks: Store, lists: list[list[Person]], buffer_bytes: int
) -> None:
    """By any of their keys and by those of one kind; also where every tag is put aside, and is looked at by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "_KIND_BUFFER_BYTES", buffer_bytes)
        patch.setattr(partitions, "TOGETHER", 1 if buffer_bytes == 20 else 65_536)
        patch.setattr(overlap, "_COUNTED_TOGETHER", 5 if buffer_bytes == 20 else 2**20)
        found = _counts(hashed_records, memory_chunks(), lists)
    for kind in (None, *{kind for one in lists for person in one for kind in person}):
        held = [set().union(*(_keys(person, kind) for person in one)) for one in lists]
        for number, (counts, own) in enumerate(zip(found, lists, strict=True)):
            if kind is not None and kind not in counts.by_kind:
                continue
            of_kind = [keys for person in own if (keys := _keys(person, kind))]
            assert counts.people(kind) == len(of_kind)
            for other in set(range(len(lists))) - {number}:
                assert counts.found_in(other, kind) == sum(bool(keys & held[other]) for keys in of_kind)
            if kind is None:
                others = [held[other] for other in range(len(lists)) if other != number]
                assert counts.only_here == sum(not any(keys & other for other in others) for keys in of_kind)
                assert counts.found_in_all(len(lists)) == sum(all(keys & other for other in others) for keys in of_kind)


def test_equal_texts_of_two_kinds_are_two_keys(hashed_records: Make, memory_chunks: Store) -> None:
    """A handle is no email."""
    lists = [[{Kind.EMAIL: ["a"]}], [{Kind.HANDLE: ["a"]}], [{Kind.EMAIL: ["a"]}]]
    first, second, _ = _counts(hashed_records, memory_chunks(), lists)
    assert [first.found_in(1), first.found_in(2), second.only_here] == [0, 1, 1]


def test_two_lists_in_one_process_have_other_tags(hashed_records: Make, memory_chunks: Store) -> None:
    """Tags that were put aside say nothing to the next comparison."""
    records, chunks = hashed_records(("Update", {Kind.EMAIL: ["a"]})), memory_chunks()
    tags = [PeopleOfLists(chunks).tag(records)[1][0][1].tags for _ in range(2)]
    assert not np.array_equal(*tags)


def test_more_people_than_can_be_numbered_are_refused(hashed_records: Make, memory_chunks: Store) -> None:
    """Before the first of them is taken for another one."""
    people = PeopleOfLists(memory_chunks())
    people.begin_list()
    with pytest.raises(PlanRefused, match="people in all lists"):
        people.add((NO_RECORD + 1, people.tag(hashed_records(("Update", {Kind.EMAIL: ["a"]})))[1]))
