"""Members as bytes and back, whole or without their days."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from audiencekit.personal import HashedRecords
from audiencekit.records import chunks
from audiencekit.snapshots.members import (
    DOUBTFUL,
    MEMBER_SCHEMA,
    NO_MEMBERS,
    chosen,
    date_of,
    day_of,
    days_of,
    from_bytes,
    from_identifier_bytes,
    identifiers_of,
    to_bytes,
    to_identifier_bytes,
    with_days,
)
from tests.cases import each_case

DAY = st.sampled_from([DOUBTFUL, 19_000, 20_100, 20_400])


def _members(days: dict[int, int]) -> HashedRecords:
    """One email each, and a partner id for the even ones."""
    rows = [
        {
            "day": day,
            "email": [hashlib.sha256(str(number).encode()).digest()],
            "partner_user_id": None if number % 2 else [f"crm{number}"],
        }
        for number, day in days.items()
    ]
    return HashedRecords(pa.RecordBatch.from_pylist(rows, schema=MEMBER_SCHEMA))


def _read(members: HashedRecords) -> dict[bytes, int]:
    emails = members.unwrap().column("email").to_pylist()
    return {email[0]: day for email, day in zip(emails, days_of(members).tolist(), strict=True)}


@given(st.dictionaries(st.integers(0, 30), DAY, max_size=10))
def test_bytes_and_back(days: dict[int, int]) -> None:
    """Nothing is lost, and identifiers are counted."""
    members = _members(days)
    assert _read(from_bytes(to_bytes(members))) == _read(members)
    assert from_bytes(to_bytes(members)) == members
    assert identifiers_of(members).tolist() == [1 + (number % 2 == 0) for number in days]


def test_identifiers_alone() -> None:
    """Come back as those of members in doubt, who may be given a day, or be nothing but a day."""
    members = _members({1: 20_000, 2: 20_001})
    assert from_identifier_bytes(to_identifier_bytes(NO_MEMBERS)) == NO_MEMBERS
    content = to_identifier_bytes(members)
    found = from_identifier_bytes(content)
    assert days_of(found).tolist() == [DOUBTFUL, DOUBTFUL]
    assert with_days(found, days_of(members)) == members
    bare = with_days(chosen(members, np.array([1, 0]), bare=np.array([True, False])), days_of(members))
    assert identifiers_of(bare).tolist() == [0, 1]


SEVERAL = st.sampled_from([1, 3]).flatmap(
    lambda most: st.lists(st.lists(st.integers(0, 9), max_size=most), min_size=1, max_size=30)
)


@given(SEVERAL, st.sampled_from([0, 8, 1_000]), st.data())
def test_some_of_them_are_what_they_are_among_all(several: list[list[int]], of_many: int, data: st.DataObject) -> None:
    """In whatever order they are asked for, few or many of them, and however many identifiers of a kind they have."""
    rows = [
        {
            "day": DOUBTFUL,
            "email": [hashlib.sha256(b"%d" % number).digest() for number in numbers] or None,
            "partner_user_id": [f"crm{number}" for number in numbers[1:]] or None,
        }
        for numbers in several
    ]
    members = HashedRecords(pa.RecordBatch.from_pylist(rows, schema=MEMBER_SCHEMA))
    places = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True)), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "_OF_MANY", of_many)
        found = from_identifier_bytes(to_identifier_bytes(members), places)
    assert found.unwrap().to_pylist() == chosen(members, places).unwrap().to_pylist()


@each_case(
    "moment, day",
    [
        (datetime(1970, 1, 2, tzinfo=UTC), 1),
        (datetime(2026, 11, 21, 23, 59, 59, tzinfo=UTC), 20_778),
        (datetime(9999, 1, 1, tzinfo=UTC), 32_767),
    ],
)
def test_days(moment: datetime, day: int) -> None:
    """Are counted in UTC, up to the latest that two bytes hold."""
    assert day_of(moment) == day


def test_a_day_is_a_date() -> None:
    """And back."""
    assert date_of(20_778) == date(2026, 11, 21)


def test_members_are_not_shown() -> None:
    """Neither they nor their bytes."""
    members = _members({1: 20_000})
    assert "crm" not in repr(members) + repr(to_bytes(members))
    assert np.array(days_of(members)).tolist() == [20_000]
