"""The requests of an erasure."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import orjson

from audiencekit.audiences.erasure.bodies import Bodies
from audiencekit.audiences.erasure.keys import ErasureKeys, as_updates, to_records
from audiencekit.destinations.requests.operations import OperationsForm
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.plantimes import pin_times
from audiencekit.profile import X

TIMES = pin_times(datetime(2026, 11, 21, tzinfo=UTC))
KEYS = ErasureKeys(frozenset((Kind.PLATFORM_ID, hashlib.sha256(b"%d" % number).hexdigest()) for number in range(7)))


def test_every_key_is_in_one_request_under_the_name_of_the_service() -> None:
    """As Deletes, numbered from where the caller says; made again they are the same bytes."""
    bodies = Bodies.plan(to_records(KEYS), OperationsForm(TIMES, X, BodyLimits(max_body_bytes=500)), X)
    packed = list(bodies.packed(11))
    assert [request.number for request in packed] == list(range(11, 11 + len(bodies)))
    assert len(bodies) > 1
    operations = [operation for request in packed for operation in orjson.loads(request.body.unwrap())]
    assert {operation["operation_type"] for operation in operations} == {"Delete"}
    users = [user for operation in operations for user in operation["params"]["users"]]
    assert {(Kind.PLATFORM_ID, user["twitter_id"][0]) for user in users} == KEYS.unwrap()
    assert [one.body for one in bodies.packed(1)] == [one.body for one in packed]


def test_nothing_makes_no_request() -> None:
    """Such as the emails of people who have none."""
    assert len(Bodies.plan(as_updates(to_records(KEYS), [Kind.EMAIL]), OperationsForm(TIMES, X), X)) == 0
