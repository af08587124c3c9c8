"""The facts that a delivery tells of itself."""

from __future__ import annotations

import pytest

from audiencekit.delivery.results import Delivered, RequestResult
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


def result(outcome: Outcome | None) -> RequestResult:
    return RequestResult(number=1, outcome=outcome, attempts=1, rate_limited=0, records=3, body_bytes=300)


def delivered(
    *, pending: tuple[RequestResult, ...] = (), is_read_to_end: bool = True, error: AudiencekitError | None = None
) -> Delivered:
    return Delivered(
        confirmed=1, records_confirmed=3, body_bytes=300, success_count=3, total_count=3, attempts=1, rate_limited=0,
        pending=pending, is_read_to_end=is_read_to_end, error=error,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "is_confirmed"),
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


@pytest.mark.parametrize(
    ("error", "refused"),
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
