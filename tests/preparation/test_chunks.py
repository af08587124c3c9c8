"""Records as bytes and back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation.chunks import RecordChunk, from_chunk, to_chunk

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


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    assert len(to_chunk(records).unwrap()) == 12 + len(Kind) + 800 * 68 + 3 * 100


def test_the_bytes_are_these(hashed_records: Make, sha256: Callable[[str], str]) -> None:
    """What was kept by one release is read by the next: the form is fixed, byte for byte."""
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
    assert len(to_chunk(records).unwrap()) == 12 + 8 + 1 + len(Kind) + 8 + 257 * 32


def test_chunks_are_not_shown(hashed_records: Make) -> None:
    """They hold hashes."""
    chunk = to_chunk(hashed_records(("Update", {Kind.PARTNER_USER_ID: ["Crm-0042"]})))
    assert isinstance(chunk, RecordChunk)
    assert "Crm" not in repr(chunk) + str(chunk)
    with pytest.raises(TypeError):
        chunk.__reduce_ex__(2)
