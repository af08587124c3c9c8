"""The pace of pass two, by a clock of the test."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from audiencekit.delivery.results import Outcome, RequestResult
from audiencekit.reporting.progress import NoProgress
from audiencekit.runs.sendingprogress import MOST_STEPS, SendingProgress


class Clock:
    """Stands still until it is set."""

    seconds = 0.0

    def now(self) -> float:
        return 1_767_225_600.0 + self.seconds

    def monotonic(self) -> float:
        return 1_000.0 + self.seconds


def _sending(clock: Clock) -> SendingProgress:
    planned: Any = SimpleNamespace(requests=[])
    return SendingProgress(NoProgress(), planned, frozenset(), clock)  # type: ignore[arg-type]


def _ended(number: int, outcome: Outcome, *, attempts: int = 1, waits: int = 0, records: int = 10) -> RequestResult:
    return RequestResult(
        number=number, outcome=outcome, attempts=attempts, rate_limited=waits, records=records, body_bytes=100
    )


def test_each_second_counts_its_requests() -> None:
    """Their attempts, those that waited for the rate, and the records of confirmed ones alone."""
    sending = _sending(clock := Clock())
    assert sending.pace() == {}
    sending.add(_ended(1, Outcome.CONFIRMED))
    clock.seconds = 0.9
    sending.add(_ended(2, Outcome.CONFIRMED, attempts=3, waits=2))
    clock.seconds = 2.5
    sending.add(_ended(3, Outcome.UNKNOWN, attempts=4))
    assert sending.pace() == {
        "began_at": "2026-01-01T00:00:00Z",
        "step_seconds": 1, "requests": [2, 0, 1], "attempts": [4, 0, 4], "waits": [2, 0, 0], "records": [20, 0, 0],
    }  # fmt: skip


@pytest.mark.parametrize(("last", "step"), [(59, 1), (60, 2), (6_000, 101)])
def test_long_runs_have_longer_steps(last: int, step: int) -> None:
    """There are never more than a picture shows, and nothing is lost of the sums."""
    sending = _sending(clock := Clock())
    for number in range(last + 1):
        clock.seconds = float(number)
        sending.add(_ended(number, Outcome.CONFIRMED))
    pace = sending.pace()
    assert (pace["step_seconds"], sum(pace["requests"])) == (step, last + 1)
    assert len(pace["requests"]) <= MOST_STEPS
