"""The sums of a delivery."""

from __future__ import annotations

from hypothesis import given, strategies as st

from audiencekit.delivery.results import Delivered, DeliveryTally, RequestResult
from audiencekit.errors import (
    AudiencekitError,
    CountMismatch,
    NotFinished,
    NotFound,
    Outcome,
    RateLimited,
    Redirected,
    RequestRefused,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
)
from tests.cases import each_case

# --- The sums of a delivery ---

RESULTS = st.lists(
    st.builds(
        RequestResult,
        number=st.integers(1, 500),
        outcome=st.sampled_from([*Outcome, None]),
        attempts=st.integers(0, 20),
        rate_limited=st.integers(0, 9),
        records=st.integers(0, 60_000),
        body_bytes=st.integers(0, 5_000_000),
        success_count=st.integers(0, 60_000),
        total_count=st.integers(0, 60_000),
    )
)


@given(RESULTS)
def test_sums_close(results: list[RequestResult]) -> None:
    """Confirmed and pending are all there is, and only confirmed records are counted."""
    tally = DeliveryTally()
    for result in results:
        tally.add(result)
    delivered = tally.close(None)
    confirmed = [result for result in results if result.outcome is Outcome.CONFIRMED]
    assert delivered.confirmed + len(delivered.pending) == len(results)
    assert delivered.records_confirmed + sum(r.records for r in delivered.pending) == sum(r.records for r in results)
    assert delivered.success_count == sum(r.success_count for r in confirmed), "what the service said, not what we sent"
    assert delivered.total_count == sum(r.total_count for r in confirmed)
    assert delivered.body_bytes == sum(r.body_bytes for r in confirmed)
    assert delivered.attempts == sum(r.attempts for r in results)
    assert delivered.rate_limited == sum(r.rate_limited for r in results)
    assert [r.number for r in delivered.pending] == sorted(r.number for r in results if r not in confirmed)


def test_close_keeps_what_stopped_the_delivery() -> None:
    """The error, and whether the plan was read to its end, come back as they were noted."""
    tally, error = DeliveryTally(), NotFinished("interrupted")
    assert tally.close(error).error is error
    assert not tally.close(None).is_read_to_end
    tally.is_read_to_end = True
    assert tally.close(None).is_read_to_end


# --- The facts that a delivery tells of itself ---


def result(outcome: Outcome | None) -> RequestResult:
    return RequestResult(number=1, outcome=outcome, attempts=1, rate_limited=0, records=3, body_bytes=300)


def delivered(
    *, pending: tuple[RequestResult, ...] = (), is_read_to_end: bool = True, error: AudiencekitError | None = None
) -> Delivered:
    return Delivered(
        confirmed=1, records_confirmed=3, body_bytes=300, success_count=3, total_count=3, attempts=1, rate_limited=0,
        pending=pending, is_read_to_end=is_read_to_end, error=error,
    )  # fmt: skip


@each_case(
    "outcome, is_confirmed",
    [(Outcome.CONFIRMED, True), (Outcome.REFUSED, False), (Outcome.UNKNOWN, False), (None, False)],
)
def test_only_a_confirmed_outcome_counts(outcome: Outcome | None, is_confirmed: bool) -> None:
    """Unknown, refused and never sent are all not confirmed."""
    assert result(outcome).is_confirmed is is_confirmed


def test_complete_means_nothing_left() -> None:
    """A delivery is complete when it was read to the end, nothing is pending and nothing went wrong."""
    assert delivered().is_complete
    assert not delivered(pending=(result(None),)).is_complete
    assert not delivered(is_read_to_end=False).is_complete
    assert not delivered(error=NotFinished("interrupted")).is_complete


@each_case(
    "error, refused",
    [
        (RequestRefused("", status=400), True),
        (NotFound("", status=404), True),
        (Redirected("", status=307), True),
        (Unauthorized("", status=401), True),
        (RateLimited("", status=429), False),
        (TemporarilyUnavailable("", status=503), False),
        (TransportFailed("", sent=False), False),
        (CountMismatch(sent=2, success_count=1, total_count=2), False),
        (NotFinished(""), False),
        (None, False),
    ],
)
def test_refusals_are_told_from_trouble(error: AudiencekitError | None, refused: bool) -> None:
    """`pending_refused` says whether the service said no to what is left, rather than "not now"."""
    assert delivered(error=error).pending_refused is refused
