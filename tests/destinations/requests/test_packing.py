"""Bodies, byte for byte, and the users in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.destinations.requests.operations import OperationsForm
from audiencekit.destinations.requests.packing import (
    ENTRY_LOOPS,
    EncodedUsers,
    RequestRecords,
    encode_users,
    measure_users,
    pack_requests,
)
from audiencekit.destinations.requests.request_plan import BodyLimits, PlannedRequest, Sizes, plan_requests
from audiencekit.errors import Bug
from audiencekit.identifiers.kinds import Kind
from audiencekit.packed_request import PackedRequest
from audiencekit.personal import HashedRecords
from audiencekit.profile import SPEC, Profile, X
from audiencekit.records.plan_times import pin_times
from audiencekit.records.record_bits import Indices
from tests.cases import each_case
from tests.examples import examples

TIMES = pin_times(datetime(2026, 11, 21, tzinfo=UTC))
FORM = OperationsForm(TIMES, SPEC)
Make = Callable[..., HashedRecords]
Row = tuple[str, dict[Kind, list[str]]]
UsersOf = Callable[[PlannedRequest], tuple[EncodedUsers, EncodedUsers]]


def _encode(records: HashedRecords, places: Indices) -> EncodedUsers:
    """Encoded in two halves, as those of two batches."""
    half = len(places) // 2
    return EncodedUsers.joined(encode_users(records, part, SPEC) for part in (places[:half], places[half:]))


def _plan(records: HashedRecords, limits: BodyLimits) -> tuple[list[PlannedRequest], UsersOf]:
    """The plan of one wave, and what it is packed from."""
    batch = records.unwrap()
    sizes = measure_users(records, SPEC)
    deletes = batch.column("is_delete").to_numpy(zero_copy_only=False)
    places = {verb: np.flatnonzero(deletes == verb) for verb in (False, True)}

    def sizes_of(wave: int, is_delete: bool) -> Iterator[Sizes]:
        yield sizes[places[is_delete]]

    def users_of(request: PlannedRequest) -> tuple[EncodedUsers, EncodedUsers]:
        return (
            _encode(records, places[False][request.first_update :][: request.updates]),
            _encode(records, places[True][request.first_delete :][: request.deletes]),
        )

    return plan_requests([0], sizes_of, times=TIMES, limits=limits), users_of


def _packed(records: HashedRecords, limits: BodyLimits) -> list[PackedRequest]:
    planned, users_of = _plan(records, limits)
    packed = list(pack_requests(planned, users_of, FORM))
    for request, own in zip(planned, packed, strict=True):
        assert (own.number, own.records, own.operations) == (request.number, request.records, request.operations)
        assert own.body_bytes == len(own.body.unwrap()) == request.body_bytes
    return packed


def test_one_record_is_written_as_the_specification_shows(hashed_records: Make, sha256: Callable[[str], str]) -> None:
    """Compact JSON: operation type, the pinned expiry, the user entry."""
    (packed,) = _packed(hashed_records(("Update", {Kind.EMAIL: ["ada@example.com"]})), BodyLimits())
    expected = (
        '[{"operation_type":"Update","params":{"expires_at":"2027-12-21T00:00:00Z","users":[{"email":["'
        + sha256("ada@example.com")
        + '"]}]}}]'
    )
    assert packed.body.unwrap() == expected.encode()


def _slowly(rows: list[Row], request: PlannedRequest, sha256: Callable[[str], str]) -> bytes:
    """The body of a plan of one request, by json, one record after the other."""
    operations = []
    for verb, count in (("Update", request.update_operations), ("Delete", request.delete_operations)):
        own = [identifiers for own_verb, identifiers in rows if own_verb == verb]
        entries = [
            {
                kind.value: sorted(map(sha256, identifiers[kind])) if kind.is_hashed else sorted(identifiers[kind])
                for kind in Kind
                if kind in identifiers
            }
            for identifiers in own
        ]
        cuts = [number * len(own) // count for number in range(count + 1)] if count else []
        for start, end in pairwise(cuts):
            params = {"expires_at": "2027-12-21T00:00:00Z", "users": entries[start:end]}
            operations.append({"operation_type": verb, "params": params})
    return json.dumps(operations, separators=(",", ":"), ensure_ascii=False).encode()


PEOPLE = st.dictionaries(
    st.sampled_from(list(Kind)),
    st.lists(st.text(st.characters(codec="utf-8"), max_size=5), min_size=1, max_size=4, unique=True),
    min_size=1,
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(st.sampled_from(["Update", "Delete"]), PEOPLE), min_size=1, max_size=40), few=st.booleans()
)
def test_bodies_are_those_of_a_slow_packer(
    hashed_records: Make,
    sha256: Callable[[str], str],
    rows: list[Row],
    few: bool,
) -> None:
    """Byte for byte what json writes of the same records, whatever kinds and however many values they have."""
    records = hashed_records(*rows)
    limits = BodyLimits(max_operations=3) if few else BodyLimits()
    (request,), _ = _plan(records, limits)
    (packed,) = _packed(records, limits)
    assert packed.body.unwrap() == _slowly(rows, request, sha256)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    verbs=st.lists(st.sampled_from(["Update", "Delete"]), min_size=1, max_size=80),
    operations=st.integers(2, 12),
    bytes_=st.integers(900, 5_000),
)
def test_every_record_is_in_exactly_one_body(
    hashed_records: Make, sha256: Callable[[str], str], verbs: list[str], operations: int, bytes_: int
) -> None:
    """Read back as JSON, the bodies hold each record once, under its own verb, in row order a verb."""
    records = hashed_records(*((verb, {Kind.EMAIL: [f"p{row}@example.com"]}) for row, verb in enumerate(verbs)))
    sent: dict[str, list[str]] = {"Update": [], "Delete": []}
    rows: dict[str, list[int]] = {"Update": [], "Delete": []}
    for packed in _packed(records, BodyLimits(max_operations=operations, max_body_bytes=bytes_)):
        document = json.loads(bytes(packed.body.unwrap()))
        assert len(packed.body.unwrap()) <= bytes_
        assert 1 <= len(document) <= operations
        own_rows = iter(packed.rows.tolist())
        for operation in document:
            users = operation["params"]["users"]
            assert users
            sent[operation["operation_type"]] += [user["email"][0] for user in users]
            rows[operation["operation_type"]] += [next(own_rows) for _ in users]
    for verb in sent:
        own = [row for row, of_row in enumerate(verbs) if of_row == verb]
        assert sent[verb] == [sha256(f"p{row}@example.com") for row in own]
        assert rows[verb] == [row + 1 for row in own]


def test_records_are_spread_evenly_over_the_operations(hashed_records: Make) -> None:
    """No operation holds more than one record more than another."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [f"p{row}@example.com"]}) for row in range(100)))
    (packed,) = _packed(records, BodyLimits(max_operations=7))
    sizes = [len(operation["params"]["users"]) for operation in json.loads(bytes(packed.body.unwrap()))]
    assert len(sizes) == 7
    assert max(sizes) - min(sizes) == 1


def _emails(count: int) -> list[Row]:
    return [("Update", {Kind.EMAIL: [f"p{number}@example.com"]}) for number in range(count)]


def test_any_request_can_be_packed_alone(hashed_records: Make) -> None:
    """The body of a request is the same whether the others are packed or not: so a resumed run sends the same bytes."""
    planned, users_of = _plan(hashed_records(*_emails(50)), BodyLimits(max_operations=4, max_body_bytes=1_000))
    bodies = [packed.body.unwrap() for packed in pack_requests(planned, users_of, FORM)]
    assert len(bodies) > 3
    alone = [next(iter(pack_requests([request], users_of, FORM))).body.unwrap() for request in reversed(planned)]
    assert alone[::-1] == bodies


def test_only_a_few_bodies_are_made_ahead(hashed_records: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the plan, and none before the first is asked for."""
    monkeypatch.setattr("audiencekit.destinations.requests.packing.cores", lambda: 2)
    planned, users_of = _plan(hashed_records(*_emails(300)), BodyLimits(max_operations=4, max_body_bytes=1_000))
    asked: list[int] = []

    def counted(request: PlannedRequest) -> tuple[EncodedUsers, EncodedUsers]:
        asked.append(request.number)
        return users_of(request)

    packing = pack_requests(planned, counted, FORM)
    assert asked == []
    for packed in packing:
        assert len(asked) <= packed.number + 4
    assert sorted(asked) == list(range(1, len(planned) + 1))


def test_fewer_users_than_planned_is_an_error(hashed_records: Make) -> None:
    """A spool that lost a batch never becomes a short request."""
    planned, _ = _plan(hashed_records(*_emails(2)), BodyLimits())
    users = encode_users(hashed_records(*_emails(1)), np.arange(1), SPEC)
    no_users = EncodedUsers.joined([])
    with pytest.raises(Bug):
        list(pack_requests(planned, lambda request: (users, no_users), FORM))


def test_bodies_are_never_shown(hashed_records: Make, sha256: Callable[[str], str]) -> None:
    """repr, str and format of a packed request hold no hash."""
    (packed,) = _packed(hashed_records(*_emails(1)), BodyLimits())
    for shown in (repr(packed), str(packed.body), f"{packed.body}"):
        assert sha256("p0@example.com")[:8] not in shown


def _entries(records: HashedRecords, profile: Profile = SPEC) -> list[bytes]:
    return _written(encode_users(records, np.arange(records.unwrap().num_rows), profile))


def _written(users: EncodedUsers) -> list[bytes]:
    """Each entry with its comma: no line of JSON holds the end of one."""
    body = np.zeros(100 * len(users.rows) + 10_000, dtype=np.uint8)
    written = ENTRY_LOOPS.write_operations(body, b"", b"\n", len(users.rows), users.entries.unwrap())
    return [line + b"," for line in body[:written].tobytes().split(b"\n,")[:-1]]


EVERY_KIND = {
    Kind.EMAIL: ["a", "b"],
    Kind.PHONE_NUMBER: ["c"],
    Kind.DEVICE_ID: ["d"],
    Kind.HANDLE: ["e"],
    Kind.PLATFORM_ID: ["f"],
    Kind.PARTNER_USER_ID: ['quote " and \\ and é'],
}


@each_case("profile, platform_field", [(SPEC, "platform_id"), (X, "twitter_id")])
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


@each_case("profile", [SPEC, X])
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
