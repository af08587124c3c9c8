"""A service that is away: attempts within the budget, then probes, then the full rate again."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from audiencekit.delivery.clock import Clock
from audiencekit.delivery.limiter import PacedLimiter
from audiencekit.delivery.outage import Outage
from audiencekit.delivery.quota import RetryQuota
from audiencekit.errors import NotFinished, Outcome, TemporarilyUnavailable, TransportFailed
from audiencekit.runs.failures import failure_of
from audiencekit.runs.journal.facts import Sums
from tests.delivery.scripted import Counts, Packed, Upload, busy, interrupted, plan

SENDERS = 32
BEGIN, END = 10.0, 610.0


def outage_of(upload: Upload, clock: Clock, error: Any, begin: float = BEGIN, end: float = END) -> Any:
    """The service of `upload`, with an outage in the middle; notes when each exchange began."""
    moments: list[float] = []

    async def send(request: Packed) -> Counts:
        moments.append(clock.monotonic())
        if begin <= clock.monotonic() < end:
            raise error()
        return await upload.service.send(request)

    return send, moments


@pytest.mark.parametrize("error", [busy, lambda: TransportFailed("refused", sent=False)], ids=["503", "refused"])
@pytest.mark.parametrize("seed", range(3))
def test_ten_minutes_of_503_with_32_senders(virtually: Any, clock: Clock, error: Any, seed: int) -> None:
    """P9: one attempt each and 100 re-sends, then single probes; the full rate within 60 s; nothing is lost."""
    limiter = PacedLimiter(600, clock=clock)
    upload = Upload(clock, plan(900), concurrency=SENDERS, limiter=limiter, seed=seed)
    send, moments = outage_of(upload, clock, error)
    delivered = virtually(upload.run(send))
    assert delivered.is_complete
    during = [at for at in moments if BEGIN <= at < END]
    assert len(during) <= SENDERS + 100 + 600 / 7.5 + 3  # a probe waits at least a quarter of 30 s
    late = [at for at in during if at > END - 200]
    assert all(later - earlier >= 7.4 for earlier, later in pairwise(late))
    full = [at for at in moments if END + 60 <= at < END + 70]
    assert len(full) >= 95


def test_outage_longer_than_patience_ends_the_run(virtually: Any, clock: Clock) -> None:
    """After 15 minutes without a success the run stops, resumable: 75."""
    upload = Upload(clock, plan(900), concurrency=4)
    send, _ = outage_of(upload, clock, busy, end=1e9)
    delivered = virtually(upload.run(send))
    assert isinstance(delivered.error, TemporarilyUnavailable)
    assert 900 <= upload.ended_at - BEGIN <= 960
    assert failure_of(delivered, Sums().plus(delivered)).exit_code == 75


def test_service_that_was_never_there_is_given_up_soon(virtually: Any, clock: Clock) -> None:
    """Before the first success no run waits a quarter of an hour: every try failed, and nothing was sent: 69."""
    upload = Upload(clock, plan(40), concurrency=4)
    send, _ = outage_of(upload, clock, lambda: TransportFailed("refused", sent=False), begin=0, end=1e9)
    delivered = virtually(upload.run(send))
    assert upload.ended_at <= 86
    assert failure_of(delivered, Sums().plus(delivered)).exit_code == 69


def test_trouble_of_one_request_is_no_outage(virtually: Any, clock: Clock) -> None:
    """A request that fails while others are confirmed ends the run after its own attempts."""
    upload = Upload(clock, plan(4000), {3: [busy()] * 99}, concurrency=4)
    delivered = virtually(upload.run())
    assert isinstance(delivered.error, TemporarilyUnavailable)
    assert delivered.pending[0].number == 3
    assert delivered.pending[0].attempts == 6


def test_spent_budget_is_no_end_while_the_service_answers(virtually: Any, clock: Clock) -> None:
    """With the budget spent, a failure waits for the next success of any request and goes on."""
    upload = Upload(
        clock, plan(60), {number: [busy()] for number in range(5, 60, 2)}, concurrency=4, quota=RetryQuota(5)
    )
    assert virtually(upload.run()).is_complete


def test_interruption_ends_the_probing(virtually: Any, clock: Clock) -> None:
    """Ctrl-C in the middle of an outage comes back at once."""
    upload = Upload(clock, plan(900), concurrency=4)
    send, _ = outage_of(upload, clock, busy)
    delivered = virtually(interrupted(upload, 300.0, send=send))
    assert isinstance(delivered.error, NotFinished)
    assert upload.ended_at == pytest.approx(300.0, abs=1)
    assert {result.outcome for result in delivered.pending} == {Outcome.UNKNOWN}


def test_probes_go_one_by_one_and_a_success_frees_all(virtually: Any, clock: Clock) -> None:
    """Three who wait: the first asks after its pause, the second after the next, and a success lets the third go."""

    async def main() -> list[tuple[str, float]]:
        outage, seen = Outage(clock=clock), []

        async def wait(name: str) -> None:
            await outage.probe(lambda probes: 10.0 * probes)
            seen.append((name, clock.monotonic()))

        tasks = [asyncio.create_task(wait(name)) for name in "abc"]
        await clock.sleep(31)
        outage.end(began_at=0.0)
        await asyncio.gather(*tasks)
        return seen

    assert [(name, round(at)) for name, at in virtually(main())] == [("a", 10), ("b", 30), ("c", 31)]
