"""The clock of the machine, and the virtual one that the other tests trust."""

from __future__ import annotations

import asyncio
import random
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.delivery.limiter import PacedLimiter
from audiencekit.delivery.options import OUTAGE, PACE, RETRY
from audiencekit.delivery.retry import Clock, Outage, RetryPolicy, RetryQuota, SystemClock
from audiencekit.errors import NotFinished, Outcome, RateLimited, TemporarilyUnavailable, TransportFailed, UsageError
from audiencekit.runs.failures import failure_of
from audiencekit.runs.journal.facts import Sums
from tests.cases import each_case
from tests.delivery.scripted import Counts, Packed, Upload, busy, interrupted, plan
from tests.shortened import shortened

# --- The clock of the machine, and the virtual one that the other tests trust ---


async def test_system_clock_reads_the_clocks_of_the_machine() -> None:
    """`now` is the wall clock and `monotonic` never goes back."""
    clock: Clock = SystemClock()
    before, first = time.time(), clock.monotonic()
    await clock.sleep(0)
    assert before - 1 <= clock.now() <= time.time() + 1
    assert first <= clock.monotonic()


def test_virtual_time_passes_exactly_as_asked(virtually: Any, clock: Clock) -> None:
    """Sleepers wake in the order of their moments, at their moments."""
    woken: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    async def main() -> None:
        await asyncio.gather(sleeper("c", 7200.0), sleeper("a", 0.25), sleeper("b", 3.0))

    virtually(main())
    expected: list[Any] = [(name, pytest.approx(at)) for name, at in (("a", 0.25), ("b", 3.0), ("c", 7200.0))]
    assert woken == expected


def test_virtual_time_finds_tasks_that_hang(virtually: Any) -> None:
    """A wait that nothing ends fails at once instead of hanging."""

    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(AssertionError, match="nothing will ever wake"):
        virtually(main())


def test_virtual_time_finds_tasks_left_behind(virtually: Any) -> None:
    """A task that outlives the code under test fails the test."""

    async def main() -> asyncio.Task[None]:
        return asyncio.create_task(asyncio.sleep(60))

    with pytest.raises(AssertionError, match="left behind"):
        virtually(main())


# --- A service that is away: attempts within the budget, then probes, then the full rate again ---

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
@pytest.mark.parametrize("seed", shortened(range(2), 1))
def test_ten_minutes_of_503_with_32_senders(virtually: Any, clock: Clock, error: Any, seed: int) -> None:
    """P9: one attempt each and 100 re-sends, then single probes; the full rate within 60 s; nothing is lost."""
    limiter = PacedLimiter(600, clock=clock)
    waits: list[tuple[int, float, str]] = []
    upload = Upload(
        clock, plan(900), concurrency=SENDERS, limiter=limiter, seed=seed, on_wait=lambda *wait: waits.append(wait)
    )
    send, moments = outage_of(upload, clock, error)
    delivered = virtually(upload.run(send))
    assert delivered.is_complete
    assert {why for _, _, why in waits} == {RETRY, OUTAGE, PACE}
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


# --- Re-sends are paid for, and successes give back ---


def test_hundred_resends_without_a_success_are_the_end() -> None:
    """The 101st re-send in a row is no longer in the budget (reliability bar, P9: 500 tokens, 5 each)."""
    quota = RetryQuota()
    assert [quota.spend() for _ in range(102)] == [True] * 100 + [False] * 2


def test_success_after_a_resend_gives_its_price_back() -> None:
    """A success that needed a re-send pays for one more; five that needed none do too."""
    quota = RetryQuota(5, cost=5)
    assert quota.spend()
    quota.refund(after_resend=True)
    assert quota.spend()
    for _ in range(4):
        quota.refund(after_resend=False)
    assert not quota.spend()
    quota.refund(after_resend=False)
    assert quota.spend()


@given(st.integers(0, 40), st.integers(1, 9), st.lists(st.sampled_from(["spend", "resent", "quiet"])))
def test_quota_never_leaves_its_range(capacity: int, cost: int, events: list[str]) -> None:
    """Whatever happens, there are between 0 and `capacity` tokens, and a refused re-send costs nothing."""
    quota = RetryQuota(capacity, cost=cost)
    for event in events:
        before = quota.tokens
        if event == "spend":
            assert quota.spend() == (before >= cost)
            assert quota.tokens == (before - cost if before >= cost else before)
        else:
            quota.refund(after_resend=event == "resent")
        assert 0 <= quota.tokens <= capacity


@each_case("capacity, cost", [(-1, 5), (500, 0), (500, -5)])
def test_impossible_quota_is_refused(capacity: int, cost: int) -> None:
    """A quota that could not be spent or never ends is a usage error."""
    with pytest.raises(UsageError):
        RetryQuota(capacity, cost=cost)


# --- Whether and how long: the table of reactions, and the arithmetic of waits ---

NOW = 1_795_000_000.0


class StandingClock:
    """A clock that shows one second of the year 2026."""

    def now(self) -> float:
        return NOW

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("a policy decides and never waits")


class NoChance(random.Random):
    """Randomness that always gives the upper end (1.0) or the lower end (0.0) of what is asked."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share

    def uniform(self, a: float, b: float) -> float:
        return a + (b - a) * self._share


def policy(randomness: random.Random | None = None, clock: Clock | None = None) -> RetryPolicy:
    return RetryPolicy(clock=clock or StandingClock(), randomness=randomness or NoChance(0.0))


def limited(reset_at: Any, answered_at: Any = None) -> RateLimited:
    error = RateLimited("the service asks to wait", status=429)
    error.reset_at = reset_at
    if answered_at is not None:
        error.answered_at = answered_at
    return error


def unavailable(retry_after: float | None = None) -> TemporarilyUnavailable:
    error = TemporarilyUnavailable("the service is not available", status=503, outcome=Outcome.UNKNOWN)
    error.retry_after = retry_after
    return error


@each_case(
    "failures, shortest, longest",
    [(1, 0.0, 0.0), (2, 0.25, 1.0), (3, 1.0, 4.0), (4, 4.0, 16.0), (5, 16.0, 64.0), (6, 64.0, 256.0)]
    + [(many, 75.0, 300.0) for many in (7, 8, 100, 10_000)],
)
def test_resends_start_at_once_and_then_wait_longer(failures: int, shortest: float, longest: float) -> None:
    """At once first, then within growing steps that touch, capped at 300 s."""
    error = TransportFailed("reset", sent=True)
    assert policy(NoChance(0.0)).resend_delay(error, failures) == shortest
    assert policy(NoChance(1.0)).resend_delay(error, failures) == longest


@each_case(
    "retry_after, failures, expected",
    [
        (0.0, 1, 0.0),
        (30.0, 1, 30.0),  # not at once: the service named its time
        (30.0, 5, 30.0),
        (600.0, 1, 600.0),
        (86_400.0, 1, 600.0),
        (float("inf"), 1, 600.0),
        (float("nan"), 1, 0.0),  # nothing usable: as if it had said nothing
        (-5.0, 2, 0.25),
        (None, 2, 0.25),
    ],
)
def test_retry_after_is_obeyed_up_to_ten_minutes(retry_after: float | None, failures: int, expected: float) -> None:
    """The service's own word replaces our steps, within MAX_RETRY_AFTER_SECONDS."""
    assert policy().resend_delay(unavailable(retry_after), failures) == expected


def test_waits_that_were_asked_for_are_spread_upwards() -> None:
    """Jitter never makes a wait shorter than the service asked, nor longer than the bound."""
    late = policy(NoChance(1.0))
    assert late.resend_delay(unavailable(30.0), 1) == 31.0
    assert late.resend_delay(unavailable(600.0), 1) == 600.0
    assert late.rate_limit_delay(limited(NOW + 30), 1) == 31.0
    assert late.rate_limit_delay(limited(NOW + 900), 1) == 120.0


@each_case(
    "reset_at, expected",
    [
        (NOW + 30, 30.0),
        (NOW + 120, 120.0),
        (NOW + 900, 120.0),  # a quarter of an hour: asked again every two minutes
        (NOW, 1.0),  # within this second
        (NOW - 1, 1.0),
        (NOW - 2, 60.0),  # past
        (None, 60.0),
        (0.0, 60.0),
        (-NOW, 60.0),
        (NOW * 1000, 60.0),  # milliseconds
        (float("inf"), 60.0),
        (float("-inf"), 60.0),
        (float("nan"), 60.0),
    ],
)
def test_rate_limit_waits_until_the_reset(reset_at: float | None, expected: float) -> None:
    """A reset is believed within a day and obeyed up to 120 s; anything else means 60 s."""
    assert policy().rate_limit_delay(limited(reset_at), 1) == expected


@each_case("skew", [-86_400.0 * 30, -3600.0, 600.0, 86_400.0 * 30])
def test_reset_is_measured_by_the_clock_of_the_service(skew: float) -> None:
    """When the answer says what time it is, our own clock may be as wrong as it likes."""
    assert policy().rate_limit_delay(limited(NOW + skew + 45, answered_at=NOW + skew), 1) == 45.0


@each_case("in_a_row, expected", [(1, 1.0), (2, 2.0), (3, 4.0), (6, 32.0), (7, 60.0), (10, 60.0)])
def test_resets_that_never_help_cost_more_patience(in_a_row: int, expected: float) -> None:
    """A service that says "now" again and again is asked ever less often, so that ten refusals take minutes."""
    assert policy().rate_limit_delay(limited(NOW), in_a_row) == expected


@given(
    reset_at=st.none() | st.floats() | st.integers(-(10**20), 10**20),
    answered_at=st.none() | st.floats(0, 4e9),
    in_a_row=st.integers(1, 10),
    seed=st.integers(),
)
def test_no_header_makes_us_sleep_for_ever(
    reset_at: float | None, answered_at: float | None, in_a_row: int, seed: int
) -> None:
    """Whatever a 429 says, the pause is between 0 and 120 s."""
    delay = policy(random.Random(seed)).rate_limit_delay(limited(reset_at, answered_at), in_a_row)
    assert 0 <= delay <= 120


@given(retry_after=st.none() | st.floats(), failures=st.integers(1, 10_000), seed=st.integers())
def test_no_wait_is_longer_than_its_bound(retry_after: float | None, failures: int, seed: int) -> None:
    """Whatever a 503 says, the wait is between 0 and 600 s, and 300 s without its word."""
    chance = random.Random(seed)
    assert 0 <= policy(chance).resend_delay(unavailable(retry_after), failures) <= 600
    assert 0 <= policy(chance).resend_delay(TransportFailed("reset", sent=True), failures) <= 300


def test_waits_follow_the_randomness_given() -> None:
    """The same seed gives the same waits, another seed others."""

    def waits(seed: int) -> list[float]:
        chosen = policy(random.Random(seed))
        return [chosen.resend_delay(TransportFailed("reset", sent=True), failures) for failures in range(1, 9)]

    assert waits(7) == waits(7) != waits(8)


def test_clock_is_corrected_once_a_minute(virtually: Any, clock: Clock) -> None:
    """Fault 23: signed anew once in 60 s; who was under way meanwhile goes along, who fails after it halts."""

    async def main() -> None:
        chosen = policy(clock=clock)
        assert chosen.may_resign(began_at=0.0)
        await clock.sleep(5.0)
        assert not chosen.may_resign(began_at=2.0)
        await clock.sleep(50.0)
        assert not chosen.may_resign(began_at=54.0)
        await clock.sleep(10.0)
        assert chosen.may_resign(began_at=64.0)
        assert chosen.may_resign(began_at=64.9)  # before the second correction

    virtually(main())
