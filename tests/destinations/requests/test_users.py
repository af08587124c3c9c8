"""User entries on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from audiencekit.destinations.requests.entries import write_operations
from audiencekit.destinations.requests.requestplan import PlannedRequest
from audiencekit.destinations.requests.users import EncodedUsers, RequestRecords, encode_users, measure_users
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation.bits import Indices
from audiencekit.profile import SPEC, Profile, X

Make = Callable[..., HashedRecords]


def _entries(records: HashedRecords, profile: Profile = SPEC) -> list[bytes]:
    return _written(encode_users(records, np.arange(records.unwrap().num_rows), profile))


def _written(users: EncodedUsers) -> list[bytes]:
    """Each entry with its comma: no line of JSON holds the end of one."""
    body = np.zeros(100 * len(users.rows) + 10_000, dtype=np.uint8)
    written = write_operations(body, b"", b"\n", len(users.rows), users.entries.unwrap())
    return [line + b"," for line in body[:written].tobytes().split(b"\n,")[:-1]]


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
    (entry,) = _entries(hashed_records(("Update", EVERY_KIND)), profile)
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
    first, second = _entries(hashed_records(("Update", {Kind.EMAIL: ["a"]}), ("Delete", {Kind.HANDLE: ["b"]})))
    assert first == b'{"email":["' + sha256("a").encode() + b'"]},'
    assert len(first) == 79
    assert second == b'{"handle":["' + sha256("b").encode() + b'"]},'


def test_no_records_are_no_users(hashed_records: Make) -> None:
    """An empty batch stays empty."""
    assert _entries(hashed_records()) == []


@pytest.mark.parametrize("profile", [SPEC, X])
def test_sizes_are_known_before_entries_are_written(hashed_records: Make, profile: Profile) -> None:
    """Each is that of the entry without its comma, escapes and several bytes a letter included."""
    texts = ["plain", 'two " quotes " and \\', "line\nand\ttab", "é 🙂 \u2028", "\x00\x1f\x7f"]
    records = hashed_records(
        ("Update", EVERY_KIND),
        ("Delete", {Kind.EMAIL: ["a"]}),
        *(("Update", {Kind.PARTNER_USER_ID: texts[: n + 1], Kind.HANDLE: ["a", "b"]}) for n in range(len(texts))),
    )
    written = _entries(records, profile)
    assert measure_users(records, profile).tolist() == [len(user) - 1 for user in written]
    assert json.loads(b"[" + b"".join(written)[:-1] + b"]")[-1]["partner_user_id"] == sorted(texts)


def test_chosen_records_come_in_the_order_of_their_places(hashed_records: Make) -> None:
    """With their rows; what stands between them is left out."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [f"p{n}"]}) for n in range(9)))
    users = encode_users(records, np.array([1, 4, 5, 8]), SPEC)
    assert users.rows.tolist() == [2, 5, 6, 9]
    assert _written(users) == [_entries(records)[place] for place in (1, 4, 5, 8)]
    assert "p1" not in repr(users)


def test_few_of_a_batch_hold_their_own_hashes_only(hashed_records: Make) -> None:
    """Else a body that takes few records from each of many batches would hold all of these."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [f"person{number}"]}) for number in range(40)))
    every, users = _entries(records), encode_users(records, np.array([4, 17]), SPEC)
    assert _written(users) == [every[4], every[17]]
    assert [chosen.batch.num_rows for chosen in users.entries.unwrap()] == [2]


class _Batches:
    """A layout of records that stand in turn in two batches of two, Updates only, and the batches."""

    def __init__(self, *batches: HashedRecords) -> None:
        self._batches = batches

    def stretch(self, wave: tuple[int, bool], first: int, count: int) -> Iterator[tuple[int, Indices]]:
        assert wave == (3, count == 0)
        for record in range(first, first + count):
            yield record % 2, np.array([record // 2])

    def find(self, batch: int, places: Indices) -> tuple[HashedRecords, Indices]:
        return self._batches[batch], places


def test_the_records_of_a_request_come_from_their_batches(hashed_records: Make) -> None:
    """In the order of the layout, Updates and Deletes apart."""
    even, odd = (hashed_records(*(("Update", {Kind.EMAIL: [text]}) for text in texts)) for texts in ("ac", "bd"))
    batches = _Batches(even, odd)
    request = PlannedRequest(
        number=7, wave=3, first_update=1, first_delete=0, updates=2, deletes=0, update_operations=1,
        delete_operations=0, body_bytes=0,
    )  # fmt: skip
    updates, deletes = RequestRecords(batches, batches, SPEC).users_of(request)
    assert _written(updates) == [_entries(odd)[0], _entries(even)[1]]
    assert (updates.rows.tolist(), len(deletes.rows)) == ([1, 2], 0)
