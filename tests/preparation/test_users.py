"""User entries on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation.users import encode_users
from audiencekit.profile import SPEC, Profile, X

Make = Callable[..., HashedRecords]
EVERY_KIND = {
    Kind.EMAIL: ["a", "b"],
    Kind.PHONE_NUMBER: ["c"],
    Kind.DEVICE_ID: ["d"],
    Kind.HANDLE: ["e"],
    Kind.PLATFORM_ID: ["f"],
    Kind.PARTNER_USER_ID: ['quote " and \\ and é'],
}


@pytest.mark.parametrize(("profile", "platform_field"), [(SPEC, "platform_id"), (X, "twitter_id")])
def test_every_kind_has_its_field(
    hashed_records: Make, sha256: Callable[[str], str], profile: Profile, platform_field: str
) -> None:
    """Each an array of strings, named as the profile names it; free text is escaped."""
    users = encode_users(hashed_records(("Update", EVERY_KIND)), profile).unwrap()
    (entry,) = users.column("user").to_pylist()
    assert entry.endswith(b",")
    assert json.loads(entry[:-1]) == {
        "email": sorted([sha256("a"), sha256("b")]),
        "phone_number": [sha256("c")],
        "device_id": [sha256("d")],
        "handle": [sha256("e")],
        platform_field: [sha256("f")],
        "partner_user_id": ['quote " and \\ and é'],
    }


def test_kinds_that_a_record_has_not_are_left_out(hashed_records: Make, sha256: Callable[[str], str]) -> None:
    """An email-only record is 78 bytes and a comma."""
    users = encode_users(hashed_records(("Update", {Kind.EMAIL: ["a"]}), ("Delete", {Kind.HANDLE: ["b"]})), SPEC)
    first, second = users.unwrap().column("user").to_pylist()
    assert first == b'{"email":["' + sha256("a").encode() + b'"]},'
    assert len(first) == 79
    assert second == b'{"handle":["' + sha256("b").encode() + b'"]},'
    assert users.unwrap().column("is_delete").to_pylist() == [False, True]


def test_no_records_are_no_users(hashed_records: Make) -> None:
    """An empty batch stays empty."""
    assert encode_users(hashed_records(), SPEC).unwrap().num_rows == 0
