"""Bodies, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.destinations.requests.operations import OperationsForm
from audiencekit.destinations.requests.packing import pack_requests
from audiencekit.destinations.requests.requestplan import Packing, PlannedRequest, Sizes, plan_requests
from audiencekit.destinations.requests.users import EncodedUsers, encode_users, measure_users
from audiencekit.errors import Bug
from audiencekit.identifiers.kinds import Kind
from audiencekit.packedrequest import PackedRequest
from audiencekit.personal import HashedRecords
from audiencekit.preparation.bits import Indices
from audiencekit.preparation.times import pin_times
from audiencekit.profile import SPEC
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


def _plan(records: HashedRecords, packing: Packing) -> tuple[list[PlannedRequest], UsersOf]:
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

    return plan_requests([0], sizes_of, times=TIMES, packing=packing), users_of


def _packed(records: HashedRecords, packing: Packing) -> list[PackedRequest]:
    planned, users_of = _plan(records, packing)
    packed = list(pack_requests(planned, users_of, FORM))
    for request, own in zip(planned, packed, strict=True):
        assert (own.number, own.records, own.operations) == (request.number, request.records, request.operations)
        assert own.body_bytes == len(own.body.unwrap()) == request.body_bytes
    return packed


def test_one_record_is_written_as_the_specification_shows(hashed_records: Make, sha256: Callable[[str], str]) -> None:
    """Compact JSON: operation type, the pinned expiry, the user entry."""
    (packed,) = _packed(hashed_records(("Update", {Kind.EMAIL: ["ada@example.com"]})), Packing())
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
    packing = Packing(max_operations=3) if few else Packing()
    (request,), _ = _plan(records, packing)
    (packed,) = _packed(records, packing)
    assert packed.body.unwrap() == _slowly(rows, request, sha256)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    for packed in _packed(records, Packing(max_operations=operations, max_body_bytes=bytes_)):
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
    (packed,) = _packed(records, Packing(max_operations=7))
    sizes = [len(operation["params"]["users"]) for operation in json.loads(bytes(packed.body.unwrap()))]
    assert len(sizes) == 7
    assert max(sizes) - min(sizes) == 1


def _emails(count: int) -> list[Row]:
    return [("Update", {Kind.EMAIL: [f"p{number}@example.com"]}) for number in range(count)]


def test_any_request_can_be_packed_alone(hashed_records: Make) -> None:
    """The body of a request is the same whether the others are packed or not: so a resumed run sends the same bytes."""
    planned, users_of = _plan(hashed_records(*_emails(50)), Packing(max_operations=4, max_body_bytes=1_000))
    bodies = [packed.body.unwrap() for packed in pack_requests(planned, users_of, FORM)]
    assert len(bodies) > 3
    alone = [next(iter(pack_requests([request], users_of, FORM))).body.unwrap() for request in reversed(planned)]
    assert alone[::-1] == bodies


def test_only_a_few_bodies_are_made_ahead(hashed_records: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the plan, and none before the first is asked for."""
    monkeypatch.setattr("audiencekit.destinations.requests.packing.cores", lambda: 2)
    planned, users_of = _plan(hashed_records(*_emails(300)), Packing(max_operations=4, max_body_bytes=1_000))
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
    planned, _ = _plan(hashed_records(*_emails(2)), Packing())
    users = encode_users(hashed_records(*_emails(1)), np.arange(1), SPEC)
    no_users = EncodedUsers.joined([])
    with pytest.raises(Bug):
        list(pack_requests(planned, lambda request: (users, no_users), FORM))


def test_bodies_are_never_shown(hashed_records: Make, sha256: Callable[[str], str]) -> None:
    """repr, str and format of a packed request hold no hash."""
    (packed,) = _packed(hashed_records(*_emails(1)), Packing())
    for shown in (repr(packed), str(packed.body), f"{packed.body}"):
        assert sha256("p0@example.com")[:8] not in shown
