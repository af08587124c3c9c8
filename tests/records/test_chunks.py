"""Records as bytes and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.errors import InputOutputFailed
from audiencekit.identifiers.kinds import FIRST_KINDS, Kind
from audiencekit.personal import HashedRecords
from audiencekit.records import chunks, chunks as textrecords
from audiencekit.records.chunks import PREPARED_SCHEMA, RecordChunk, from_chunk, to_chunk, to_prepared
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.records.columns.hex_kernels import HexKernels
from audiencekit.records.columns.plain_hex import PlainHex
from tests.examples import examples
from tests.kernels.installed import both

Make = Callable[..., HashedRecords]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["Update", "Delete"]),
        st.dictionaries(
            st.sampled_from(list(Kind)),
            st.lists(st.text(st.characters(codec="utf-8"), max_size=4), min_size=1, max_size=3, unique=True),
        ),
    ),
    max_size=20,
)


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS, st.integers(0, 5))
def test_records_come_back(hashed_records: Make, rows: list[tuple[str, dict[Kind, list[str]]]], start: int) -> None:
    """Whatever kinds they have, also of a slice of a batch; and equal records are equal bytes."""
    records = HashedRecords(hashed_records(*rows).unwrap().slice(start))
    chunk = to_chunk(records)
    assert from_chunk(chunk) == records
    assert to_chunk(from_chunk(chunk)) == chunk


def test_a_usual_record_takes_little(hashed_records: Make) -> None:
    """An email and a phone number are 64 bytes of hashes, 4 of the row, and 3 bits."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [f"a{n}"], Kind.PHONE_NUMBER: [f"b{n}"]}) for n in range(800)))
    assert len(to_chunk(records).unwrap()) == 12 + len(FIRST_KINDS) + 800 * 68 + 3 * 100


def test_the_bytes_are_these(hashed_records: Make, sha256: Callable[[str], str]) -> None:
    """A release reads the files of the release before it, so the form is fixed, byte for byte."""
    records = hashed_records(
        ("Update", {Kind.EMAIL: ["a"]}), ("Delete", {Kind.EMAIL: ["b"], Kind.PARTNER_USER_ID: ["x", "yé"]})
    )
    hashes = bytes.fromhex(sha256("a") + sha256("b"))
    partner = bytes([3, 0, 2, 1, 0, 0, 0, 3, 0, 0, 0]) + "xyé".encode()
    assert to_chunk(records).unwrap() == (
        bytes([2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])  # two records, the first of row 1
        + bytes([0, 0, 0, 0, 1, 0, 0, 0])  # the second one row later
        + bytes([0b01000000])  # and a Delete
        + bytes([1, 0b11000000])
        + hashes
        + bytes([0, 0, 0, 0])
        + partner
    )


def test_more_values_than_a_byte_can_count(hashed_records: Make) -> None:
    """Are counted in four."""
    records = hashed_records(("Update", {Kind.EMAIL: [f"a{n}" for n in range(256)]}), ("Update", {Kind.EMAIL: ["b"]}))
    assert from_chunk(to_chunk(records)) == records
    assert len(to_chunk(records).unwrap()) == 12 + 8 + 1 + len(FIRST_KINDS) + 8 + 257 * 32


@pytest.mark.parametrize("late", [[Kind.PARTNER_USER_ID], [Kind.DEVICE_ID], [Kind.EMAIL, Kind.PARTNER_USER_ID]])
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_a_kind_that_came_later_names_itself(
    hashed_records: Make, rows: list[tuple[str, dict[Kind, list[str]]]], late: list[Kind]
) -> None:
    """And leaves the bytes of records without it as they were before it came."""
    first = tuple(kind for kind in Kind if kind not in late)
    records, others = hashed_records(*rows), hashed_records(*((verb, _without(late, had)) for verb, had in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "FIRST_KINDS", first)
        assert from_chunk(to_chunk(records)) == records
        without = bytes(to_chunk(others).unwrap())
        patch.setattr(chunks, "Kind", first)  # an earlier version
        assert bytes(chunks.joined_chunks(list(chunks.identifier_parts(others.unwrap())))) == without[_head(others) :]


def _without(late: list[Kind], had: dict[Kind, list[str]]) -> dict[Kind, list[str]]:
    return {kind: values for kind, values in had.items() if kind not in late}


def _head(records: HashedRecords) -> int:
    count = records.unwrap().num_rows
    return 12 + 4 * count + -(-count // 8)


def test_a_kind_of_a_newer_version_is_refused(hashed_records: Make) -> None:
    """With a sentence, which does not name it: it may be anything."""
    whole = bytes(to_chunk(hashed_records(("Update", {Kind.EMAIL: ["a"]}))).unwrap())
    with pytest.raises(InputOutputFailed, match="does not know"):
        from_chunk(RecordChunk(whole + bytes([8]) + b"passport" + bytes([0])))


def test_the_first_kinds_stay() -> None:
    """They are a file format."""
    assert [*FIRST_KINDS] == [
        "email", "phone_number", "device_id", "handle", "platform_id", "partner_user_id"
    ]  # fmt: skip


def test_chunks_are_not_shown(hashed_records: Make) -> None:
    """They hold hashes."""
    chunk = to_chunk(hashed_records(("Update", {Kind.PARTNER_USER_ID: ["Crm-0042"]})))
    assert isinstance(chunk, RecordChunk)
    assert "Crm" not in repr(chunk) + str(chunk)
    with pytest.raises(TypeError):
        chunk.__reduce_ex__(2)


@both(HexKernels, PlainHex)
def test_hashes_are_text_on_disk(
    hashed_records: Callable[..., HashedRecords],
    sha256: Callable[[str], str],
    loops: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Lower-case hex; what is not hashed stays as it is; a kind without a value is null."""
    monkeypatch.setattr(textrecords, "HEX_LOOPS", loops())
    records = hashed_records(
        ("Update", {Kind.EMAIL: ["a", "b"]}),
        ("Update", {Kind.HANDLE: ["left out"]}),
        ("Delete", {Kind.HANDLE: ["c"], Kind.PARTNER_USER_ID: ["Crm-1"]}),
    )
    batch = to_prepared(records, np.array([0, 2])).unwrap()
    nothing = dict.fromkeys((kind.value for kind in Kind), None)
    assert batch.schema == PREPARED_SCHEMA
    assert batch.to_pylist() == [
        {"row": 1, "operation": "Update", **nothing, "email": sorted([sha256("a"), sha256("b")])},
        {"row": 3, "operation": "Delete", **nothing, "handle": [sha256("c")], "partner_user_id": ["Crm-1"]},
    ]


PEOPLE = st.dictionaries(
    st.sampled_from(list(Kind)), st.lists(st.text(max_size=2), min_size=1, max_size=3, unique=True), max_size=3
)


@both(HexKernels, PlainHex)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), people=st.lists(PEOPLE, min_size=1, max_size=12))
def test_the_chosen_records_are_written(
    loops: Any, hashed_records: Callable[..., HashedRecords], data: st.DataObject, people: list[object]
) -> None:
    """Their digits, as Python writes them, whichever are chosen of a part of a batch."""
    batch = hashed_records(*(("Update", person) for person in people)).unwrap()
    part = HashedRecords(batch.slice(start := data.draw(st.integers(0, len(people) - 1))))
    within = st.integers(0, len(people) - start - 1)
    places = np.array(data.draw(st.lists(within, unique=True).map(sorted)), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(textrecords, "HEX_LOOPS", loops())
        prepared = to_prepared(part, places).unwrap()
    prepared.validate(full=True)
    for kind in Kind:
        lists = part.unwrap().column(kind.value).take(arrow_array(places)).to_pylist()
        expected = [own and [one.hex() if kind.is_hashed else one for one in own] for own in lists]
        assert prepared.column(kind.value).to_pylist() == expected
