"""Where bodies are cut."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
from hypothesis import given, settings, strategies as st

from audiencekit.destinations.requests.request_plan import (
    BodyLimits,
    PlannedRequest,
    Sizes,
    operation_bytes,
    plan_requests,
    sizes_from_bytes,
    sizes_to_bytes,
)
from audiencekit.limits import MAX_BODY_BYTES, MAX_OPERATIONS
from audiencekit.records.plan_times import pin_times
from tests.cases import each_case
from tests.examples import examples

# --- Where bodies are cut ---

TIMES = pin_times(datetime(2026, 11, 21, tzinfo=UTC))
BLOCK = 7  # sizes that the plan gets at a time
EMAIL_ONLY = len('{"email":["') + 64 + len('"]}')


def _plan(
    sizes: list[int],
    deletes: list[bool] | None = None,
    waves: list[int] | None = None,
    limits: BodyLimits | None = None,
) -> list[PlannedRequest]:
    of_wave: dict[tuple[int, bool], list[int]] = {}
    for size, delete, wave in zip(sizes, deletes or [False] * len(sizes), waves or [0] * len(sizes), strict=True):
        of_wave.setdefault((wave, delete), []).append(size)

    def sizes_of(wave: int, is_delete: bool) -> Iterator[Sizes]:
        own = of_wave.get((wave, is_delete), [])
        for start in range(0, len(own), BLOCK):
            block = np.array(own[start : start + BLOCK], dtype=np.int64)
            yield block.astype(np.min_scalar_type(block.max()))  # as narrow as they are kept
            yield block[:0]

    numbers = sorted({wave for wave, _ in of_wave})
    return plan_requests(numbers, sizes_of, times=TIMES, limits=limits or BodyLimits())


@each_case("records, expected", [(2_499, [2_499]), (2_500, [2_500]), (2_501, [2_500, 1]), (5_001, [2_500, 2_500, 1])])
def test_the_cut_by_operations_is_exact(records: int, expected: list[int]) -> None:
    """With one record an operation, the 2,501st operation starts the next request."""
    planned = _plan([EMAIL_ONLY] * records, limits=BodyLimits(max_records_per_operation=1))
    assert [request.operations for request in planned] == expected
    assert [request.records for request in planned] == expected


@each_case("body_bytes, requests", [(4_999_999, 1), (5_000_000, 1), (5_000_001, 2)])
def test_the_cut_by_bytes_is_exact(body_bytes: int, requests: int) -> None:
    """A body of exactly 5,000,000 bytes is sent whole; one byte more starts the next request."""
    records = 3_000
    spare = body_bytes - 1 - records - MAX_OPERATIONS * operation_bytes(TIMES)
    sizes = [spare // records] * records
    sizes[0] += spare - sum(sizes)
    planned = _plan(sizes)
    assert len(planned) == requests
    if requests == 1:
        assert planned[0].body_bytes == body_bytes
    assert max(request.body_bytes for request in planned) <= MAX_BODY_BYTES


def test_a_hundred_thousand_emails_are_two_requests() -> None:
    """The first is within 1 % of full, its records spread over all 2,500 operations."""
    first, second = _plan([EMAIL_ONLY] * 100_000)
    assert 0.99 * MAX_BODY_BYTES <= first.body_bytes <= MAX_BODY_BYTES
    assert first.operations == MAX_OPERATIONS
    assert first.records + second.records == 100_000


def test_narrow_sizes_add_up_to_more() -> None:
    """Of sizes that one byte tells, with a comma each, and however many of them."""
    (planned,) = _plan([255] * 1_000)
    assert planned.body_bytes == 1 + 1_000 * (256 + operation_bytes(TIMES))


@each_case("limits", [BodyLimits(max_operations=3, max_body_bytes=9_000), BodyLimits(max_body_bytes=9_000)])
def test_a_body_is_as_long_as_what_is_in_it(limits: BodyLimits) -> None:
    """Brackets, users with their commas, operations; also of bodies that begin in the midst of what came at once."""
    sizes = [80 + number % 7 for number in range(2_000)]
    begin = 0
    for request in _plan(sizes, limits=limits):
        own = sizes[begin : begin + request.records]
        assert request.body_bytes == 1 + sum(own) + len(own) + request.operations * operation_bytes(TIMES)
        begin += request.records
    assert begin == len(sizes)


def test_waves_never_share_a_request() -> None:
    """The second wave starts a request of its own, numbered on."""
    planned = _plan([80] * 4, deletes=[False, True, False, True], waves=[0, 0, 1, 1])
    assert [(request.number, request.wave) for request in planned] == [(1, 0), (2, 1)]
    assert [(request.updates, request.deletes) for request in planned] == [(1, 1), (1, 1)]


def test_no_records_are_no_requests() -> None:
    """An empty plan has nothing to send."""
    assert _plan([]) == []


@settings(max_examples=examples(200), deadline=None)
@given(data=st.data())
def test_every_plan_keeps_the_limits_and_loses_nothing(data: st.DataObject) -> None:
    """For any sizes and verbs: all records planned once, no limit passed, and no request that had room for the next."""
    sizes = data.draw(st.lists(st.integers(60, 900), min_size=1, max_size=60))
    deletes = data.draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    limits = BodyLimits(
        max_operations=data.draw(st.integers(2, 9)),
        max_body_bytes=data.draw(st.integers(2_500, 6_000)),
        max_records_per_request=data.draw(st.none() | st.integers(1, 9)),
        max_records_per_operation=data.draw(st.none() | st.integers(1, 4)),
    )
    most, per = limits.max_records_per_request or len(sizes), limits.max_records_per_operation or len(sizes)
    planned = _plan(sizes, deletes, limits=limits)
    assert sum(request.updates for request in planned) == deletes.count(False)
    assert sum(request.deletes for request in planned) == deletes.count(True)
    for request in planned:
        assert request.records >= 1
        assert request.body_bytes <= limits.max_body_bytes
        assert 1 <= request.operations <= limits.max_operations
        assert request.update_operations <= request.updates
        assert request.delete_operations <= request.deletes
        assert (request.updates > 0) == (request.update_operations > 0)
        assert (request.deletes > 0) == (request.delete_operations > 0)
        assert request.records <= most
        assert request.updates <= per * request.update_operations
        assert request.deletes <= per * request.delete_operations
    ordered = [s for s, d in zip(sizes, deletes, strict=True) if not d] + [
        s for s, d in zip(sizes, deletes, strict=True) if d
    ]
    position = updates = removals = 0
    for request in planned[:-1]:
        position += request.records
        assert (request.first_update, request.first_delete) == (updates, removals)
        updates, removals = updates + request.updates, removals + request.deletes
        takes_update = updates < deletes.count(False)
        also = (request.updates + takes_update, request.deletes + (not takes_update))
        assert (
            request.body_bytes + ordered[position] + 1 + operation_bytes(TIMES) > limits.max_body_bytes
            or request.records == most
            or sum(-(-count // per) for count in also) > limits.max_operations
        )


def test_smaller_requests_are_cut_exactly() -> None:
    """By records of a request, and by records of an operation, of which a body has 2,500 at most."""
    planned = _plan([EMAIL_ONLY] * 60_000, limits=BodyLimits(max_records_per_request=2_500))
    assert [(request.records, request.operations) for request in planned] == [(2_500, 2_500)] * 24
    planned = _plan([EMAIL_ONLY] * 60_000, limits=BodyLimits(max_records_per_operation=2))
    assert [(request.records, request.operations) for request in planned] == [(5_000, 2_500)] * 12
    planned = _plan([EMAIL_ONLY] * 7_000, [row >= 6_000 for row in range(7_000)],
        limits=BodyLimits(max_records_per_operation=3))  # fmt: skip
    assert [(request.updates, request.deletes) for request in planned] == [(6_000, 1_000)]
    assert planned[0].operations == 2_500


# --- Sizes as bytes and back ---


@given(st.lists(st.integers(0, 5_000_000), max_size=30))
def test_sizes_come_back(sizes: list[int]) -> None:
    """Up to those of the largest body."""
    assert sizes_from_bytes(sizes_to_bytes(np.array(sizes, dtype=np.int64))).tolist() == sizes


@each_case("largest, width", [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (5_000_000, 4)])
def test_sizes_are_as_narrow_as_they_may_be(largest: int, width: int) -> None:
    """A byte each for the usual record."""
    assert len(sizes_to_bytes(np.array([1, largest, 2], dtype=np.int64))) == 1 + 3 * width
