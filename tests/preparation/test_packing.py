"""Bodies, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audiencekit.errors import Bug
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.preparation.packing import pack_requests
from audiencekit.preparation.plan import Packing, plan_requests
from audiencekit.preparation.times import pin_times
from audiencekit.preparation.users import encode_users
from audiencekit.profile import SPEC

TIMES = pin_times(datetime(2026, 11, 21, tzinfo=UTC))


def _bodies(users: HashedRecords, packing: Packing, batch_rows: int = 7) -> Iterator[bytes]:
    batch = users.unwrap()
    deletes = batch.column("is_delete").to_numpy(zero_copy_only=False)
    sizes = np.array([len(user) - 1 for user in batch.column("user").to_pylist()])
    waves = np.zeros(batch.num_rows, dtype=np.int64)

    def users_of(wave: int, is_delete: bool) -> Iterator[HashedRecords]:
        chosen = batch.filter(pa.array(deletes == is_delete))
        for start in range(0, chosen.num_rows, batch_rows):
            yield HashedRecords(chosen.slice(start, batch_rows))

    planned = plan_requests(sizes, deletes=deletes, waves=waves, times=TIMES, packing=packing)
    for request, packed in zip(planned, pack_requests(planned, users_of, TIMES), strict=True):
        assert (packed.number, packed.records, packed.operations) == (
            request.number,
            request.records,
            request.operations,
        )
        assert packed.body_bytes == len(packed.body.unwrap())
        yield packed.body.unwrap()


def test_one_record_is_written_as_the_specification_shows(
    hashed_records: Callable[..., HashedRecords], sha256: Callable[[str], str]
) -> None:
    """Compact JSON: operation type, the pinned expiry, the user entry."""
    (body,) = _bodies(encode_users(hashed_records(("Update", {Kind.EMAIL: ["ada@example.com"]})), SPEC), Packing())
    expected = (
        '[{"operation_type":"Update","params":{"expires_at":"2027-12-21T00:00:00Z","users":[{"email":["'
        + sha256("ada@example.com")
        + '"]}]}}]'
    )
    assert body == expected.encode()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    verbs=st.lists(st.sampled_from(["Update", "Delete"]), min_size=1, max_size=80),
    operations=st.integers(2, 12),
    bytes_=st.integers(900, 5_000),
)
def test_every_record_is_in_exactly_one_body(
    hashed_records: Callable[..., HashedRecords],
    sha256: Callable[[str], str],
    verbs: list[str],
    operations: int,
    bytes_: int,
) -> None:
    """Read back as JSON, the bodies hold each record once, under its own verb, in row order a verb."""
    records = hashed_records(*((verb, {Kind.EMAIL: [f"p{row}@example.com"]}) for row, verb in enumerate(verbs)))
    sent: dict[str, list[str]] = {"Update": [], "Delete": []}
    for body in _bodies(encode_users(records, SPEC), Packing(max_operations=operations, max_body_bytes=bytes_)):
        document = json.loads(body)
        assert len(body) <= bytes_
        assert 1 <= len(document) <= operations
        for operation in document:
            assert operation["params"]["users"]
            sent[operation["operation_type"]] += [user["email"][0] for user in operation["params"]["users"]]
    for verb in sent:
        assert sent[verb] == [sha256(f"p{row}@example.com") for row, own in enumerate(verbs) if own == verb]


def test_records_are_spread_evenly_over_the_operations(hashed_records: Callable[..., HashedRecords]) -> None:
    """No operation holds more than one record more than another."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [f"p{row}@example.com"]}) for row in range(100)))
    (body,) = _bodies(encode_users(records, SPEC), Packing(max_operations=7))
    sizes = [len(operation["params"]["users"]) for operation in json.loads(body)]
    assert len(sizes) == 7
    assert max(sizes) - min(sizes) == 1


def test_fewer_users_than_planned_is_an_error(hashed_records: Callable[..., HashedRecords]) -> None:
    """A spool that lost a batch never becomes a short request."""
    users = encode_users(hashed_records(("Update", {Kind.EMAIL: ["ada@example.com"]})), SPEC)
    planned = plan_requests(
        np.array([78, 78]), deletes=np.zeros(2, bool), waves=np.zeros(2, np.int64), times=TIMES, packing=Packing()
    )
    with pytest.raises(Bug):
        list(pack_requests(planned, lambda wave, is_delete: iter(() if is_delete else (users,)), TIMES))


def test_bodies_are_never_shown(hashed_records: Callable[..., HashedRecords], sha256: Callable[[str], str]) -> None:
    """repr, str and format of a packed request hold no hash."""
    users = encode_users(hashed_records(("Update", {Kind.EMAIL: ["ada@example.com"]})), SPEC)
    planned = plan_requests(
        np.array([78]), deletes=np.zeros(1, bool), waves=np.zeros(1, np.int64), times=TIMES, packing=Packing()
    )
    (packed,) = pack_requests(planned, lambda wave, is_delete: iter(() if is_delete else (users,)), TIMES)
    for shown in (repr(packed), str(packed.body), f"{packed.body}", repr(users)):
        assert sha256("ada@example.com")[:8] not in shown
