"""Counting users in bulk."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.audiences.sink import count_users
from audiencekit.emulator.audiences.users import UserRules

RULES = UserRules.of("spec")
HASH = st.binary(min_size=32, max_size=32).map(bytes.hex)
USER = st.dictionaries(
    st.sampled_from(["email", "device_id", "handle", "platform_id", "phone_number"]),
    st.lists(HASH, min_size=1, max_size=3),
    min_size=1,
)
PARTNERS = st.fixed_dictionaries(
    {"partner_user_id": st.lists(st.text(st.sampled_from('{}[]"\\,:0afé')), min_size=1, max_size=2)}
)
OPERATION = st.builds(
    lambda operation_type, users, times: {"operation_type": operation_type, "params": {"users": users, **times}},
    st.sampled_from(["Update", "Delete"]),
    st.lists(USER | PARTNERS, min_size=1, max_size=5),
    st.sampled_from([{}, {"expires_at": "2027-02-01T00:00:00Z"}]),
)


def _write(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


@given(st.lists(OPERATION, min_size=1, max_size=5))
def test_good_bodies_are_counted_exactly(operations: list[dict[str, Any]]) -> None:
    """Over all operations, whatever the fields and the texts in them."""
    assert count_users(_write(operations), RULES) == sum(len(each["params"]["users"]) for each in operations)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"[",
        b'[{"operation_type":"Update","params":{"users":[]}}]',
        b'[{"operation_type":"Update","params":{}}]',
        b'[{"operation_type":"Create","params":{"users":[{"email":[""]}]}}]',
        b'[{"operation_type":"Update","params":{"users":[{"email":[""]},]}}]',
        b'[{"operation_type":"Update","params":{"users":[{"email":[""]}{"email":[""]}]}}]',
        b'[{"operation_type":"Update","params":{"users":{"email":[""]}}}]',
        b"["
        + b'{"operation_type":"Update","params":{"users":[{"email":[""]}]}},' * 2_500
        + b'{"operation_type":"Update","params":{"users":[{"email":[""]}]}}]',
    ],
)
def test_other_bodies_are_left_to_the_full_check(body: bytes) -> None:
    """A body that is not plainly good is not counted."""
    assert count_users(body, RULES) is None
