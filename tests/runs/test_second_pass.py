"""The pace of pass two, by a clock of the test."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from audiencekit.delivery.limiter import Unlimited
from audiencekit.delivery.results import Delivered, Outcome, RequestResult
from audiencekit.errors import AudiencekitError, Bug, InputOutputFailed, NotFinished, TemporarilyUnavailable
from audiencekit.reporting.progress import NoProgress
from audiencekit.runs import second_pass as secondpass
from audiencekit.runs.journal.file import JournalFile
from audiencekit.runs.run import RunClock
from audiencekit.runs.second_pass import MOST_STEPS, SendingProgress, Sent, send_plan
from tests.cases import each_case
from tests.runs.started import offline, start

# --- The pace of pass two, by a clock of the test ---


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


@each_case("last, step", [(59, 1), (60, 2), (6_000, 101)])
def test_long_runs_have_longer_steps(last: int, step: int) -> None:
    """There are never more than a picture shows, and nothing is lost of the sums."""
    sending = _sending(clock := Clock())
    for number in range(last + 1):
        clock.seconds = float(number)
        sending.add(_ended(number, Outcome.CONFIRMED))
    pace = sending.pace()
    assert (pace["step_seconds"], sum(pace["requests"])) == (step, last + 1)
    assert len(pace["requests"]) <= MOST_STEPS


# --- Pass two of a run: how it ended, by the journal ---


@dataclass
class Planned:
    """A plan without requests."""

    requests: list[Any] = field(default_factory=list)


@dataclass
class Session:
    """A session that is finished, or cannot be."""

    failure: Exception | None = None
    steps: list[str] = field(default_factory=list)

    async def __aenter__(self) -> Session:
        self.steps.append("opened")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.steps.append("closed")

    async def finish(self) -> None:
        self.steps.append("finished")
        if self.failure is not None:
            raise self.failure


def _delivered(*, is_complete: bool = False, requests: int = 0, records: int = 0, **more: Any) -> Delivered:
    """A delivery that confirmed so many."""
    return Delivered(
        confirmed=requests, records_confirmed=records, body_bytes=0, success_count=records, total_count=records,
        attempts=requests, rate_limited=0, pending=(), is_read_to_end=is_complete, **{"error": None, **more},
    )  # fmt: skip


async def _send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: Delivered | BaseException, session: Session
) -> Sent:
    """Pass two when the delivery ends like this."""

    async def deliver_run(*_: Any) -> Delivered:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(secondpass, "deliver_run", deliver_run)
    with ExitStack() as stack:
        run = start(offline(tmp_path), stack)
        return await send_plan(
            run,
            Planned(),
            session,
            Unlimited(),
            RunClock(),
            NoProgress(),  # type: ignore[arg-type]
        )


async def test_a_complete_delivery_finishes_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing failed, and the notes of the delivery come back."""
    session = Session()
    sent = await _send(tmp_path, monkeypatch, _delivered(is_complete=True, notes=("slow",)), session)
    assert (sent.failure, sent.notes, sent.pace) == (None, ("slow",), {})
    assert session.steps == ["opened", "finished", "closed"]


@pytest.mark.parametrize(
    ("outcome", "kind", "words"),
    [
        (asyncio.CancelledError(), NotFinished, "stopped at once"),
        (InputOutputFailed("no space left"), InputOutputFailed, "no space left"),
        (_delivered(error=Bug("counts")), Bug, "counts"),
        (_delivered(), NotFinished, "stopped before everything was sent"),
    ],
    ids=["second interruption", "disk", "fault", "first interruption"],
)
async def test_a_delivery_that_ended_early_has_its_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    outcome: Delivered | BaseException,
    kind: type[AudiencekitError],
    words: str,
) -> None:
    """And the session is closed, but not finished."""
    session = Session()
    sent = await _send(tmp_path, monkeypatch, outcome, session)
    assert type(sent.failure) is kind
    assert words in str(sent.failure)
    assert session.steps == ["opened", "closed"]


async def test_an_end_that_is_not_confirmed_is_not_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All was sent, and the run is to be resumed."""
    session = Session(TemporarilyUnavailable("busy", status=503))
    sent = await _send(tmp_path, monkeypatch, _delivered(is_complete=True), session)
    assert isinstance(sent.failure, NotFinished)
    assert "all is sent" in str(sent.failure)


async def test_a_journal_that_is_lost_meanwhile_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums are those from before and those of this delivery."""

    def lose(_: JournalFile) -> Any:
        raise InputOutputFailed("the journal is gone")

    monkeypatch.setattr(JournalFile, "sums", lose)
    sent = await _send(tmp_path, monkeypatch, _delivered(is_complete=True, requests=2, records=7), Session())
    assert (sent.sums.confirmed, sent.sums.records_confirmed, sent.failure) == (2, 7, None)
