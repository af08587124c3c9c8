"""Members as bytes and back, and what changes make of them."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audiencekit.audiences.synchronisation.members import (
    DOUBTFUL,
    DROPPED,
    MEMBER_SCHEMA,
    NO_MEMBERS,
    UNSURE,
    count_identifiers,
    date_of,
    day_of,
    days_of,
    from_bytes,
    merged,
    to_bytes,
)
from audiencekit.personal import HashedRecords
from audiencekit.preparation.tags import Tagger

TAGGER = Tagger()
CHANGE = st.sampled_from([DROPPED, UNSURE, DOUBTFUL, 20_000, 20_500])
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
    assert count_identifiers(members) == len(days) + sum(number % 2 == 0 for number in days)


@given(st.dictionaries(st.integers(0, 12), DAY, max_size=8), st.dictionaries(st.integers(0, 12), CHANGE, max_size=8))
def test_changes_are_heeded(before: dict[int, int], changes: dict[int, int]) -> None:
    """As the words for days say; who lapsed long ago is left out."""
    expected = dict(before)
    for number, day in changes.items():
        expected[number] = expected.get(number, DOUBTFUL) if day == UNSURE else day
    expected = {number: day for number, day in expected.items() if day == DOUBTFUL or day >= 19_500}
    ordered = merged(NO_MEMBERS, _members(before), TAGGER, lapsed_before=0)
    found = merged(ordered, _members(changes), TAGGER, lapsed_before=19_500)
    assert _read(found) == _read(_members(expected))
    assert found == merged(NO_MEMBERS, _members(expected), TAGGER, lapsed_before=0), "in the order of their tags"


def test_the_order_is_that_of_the_tags() -> None:
    """Whatever order they came in."""
    one = merged(NO_MEMBERS, _members(dict.fromkeys(range(50), 20000)), TAGGER, lapsed_before=0)
    other = merged(NO_MEMBERS, _members(dict.fromkeys(reversed(range(50)), 20000)), TAGGER, lapsed_before=0)
    assert one == other


@pytest.mark.parametrize(
    ("moment", "day"),
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
