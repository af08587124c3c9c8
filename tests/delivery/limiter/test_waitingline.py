"""The rate holds while processes are late, stopped or killed, and no death costs a turn."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.delivery.limiter.waitingline import WaitingLine, advance, believable, interval_seconds, pause, share_of
from audiencekit.errors import UsageError
from audiencekit.limits import FARTHEST_PLACE_SECONDS, RATE_FLOOR_SHARE

INTERVAL = 0.04


class Street:
    """Owners who leave as often as they may, on virtual time."""

    def __init__(self, owners: int, seed: int, lateness: list[float], killed_each_seconds: float = 0.0) -> None:
        self.line = WaitingLine(free_at=0.0)
        self.left: list[tuple[float, str]] = []
        self._chance, self._lateness = random.Random(seed), lateness
        self._asking = [(self._chance.uniform(0, 0.2), f"owner {number}", False) for number in range(owners)]
        heapq.heapify(self._asking)
        self._killed_each, self._kills = killed_each_seconds, 0

    def run(self, seconds: float) -> None:
        now = 0.0
        while now < seconds:
            now, owner, is_due = heapq.heappop(self._asking)
            if self._killed_each and now > (self._kills + 1) * self._killed_each:
                self._kill(now)
                continue
            self.line, due = advance(self.line, owner, now=now, interval=INTERVAL, is_due=is_due)
            if due is None:
                self.left.append((now, owner))
            again = now if due is None else due + self._chance.uniform(0.0, self._chance.choice(self._lateness))
            heapq.heappush(self._asking, (again, owner, due is not None))

    def _kill(self, now: float) -> None:
        """The process that should ask now is dead; another starts."""
        self._kills += 1
        heapq.heappush(self._asking, (now + 0.2, f"successor {self._kills}", False))


@settings(max_examples=150, deadline=None)
@given(
    owners=st.integers(1, 8),
    seed=st.integers(0, 2**16),
    lateness=st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.021, 0.05, 0.3, 5.0]), min_size=1, max_size=4),
    killed_each_seconds=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_no_window_holds_more_than_its_share(
    worst_window: Any, owners: int, seed: int, lateness: list[float], killed_each_seconds: float
) -> None:
    """At most n + 1 requests in any closed window of n intervals, and every living process has a turn."""
    street = Street(owners, seed, lateness, killed_each_seconds)
    street.run(20.0)
    for intervals in (1, 10, 50):
        assert worst_window([moment for moment, _ in street.left], intervals * INTERVAL) <= intervals + 1
    if not killed_each_seconds and max(lateness) < 1.0:
        assert len({owner for _, owner in street.left}) == owners


@pytest.mark.parametrize("killed_each_seconds", [0.0, 0.5, 0.2])
def test_the_quota_is_used_and_shared(killed_each_seconds: float) -> None:
    """Four owners with timers a little late use it all, in equal parts, although one after the other is killed."""
    street = Street(4, 3, [0.0, 0.001, 0.003], killed_each_seconds)
    street.run(60.0)
    assert len(street.left) >= 0.99 * 60.0 / INTERVAL
    if not killed_each_seconds:
        shares = Counter(owner for _, owner in street.left)
        assert min(shares.values()) >= 0.95 * max(shares.values())


def test_the_caller_that_comes_first_leaves_first() -> None:
    """No process overtakes one that is on time."""
    street = Street(5, 4, [0.0])
    street.run(4.0)
    order = [owner for moment, owner in street.left if moment > 1.0]  # by then all five are there
    assert all(len(set(order[start : start + 5])) == 5 for start in range(0, len(order) - 5, 5))


def test_a_newcomer_queues_behind_who_waits() -> None:
    """Even when the next request may leave just now."""
    line, due = advance(WaitingLine(free_at=1.0), "first", now=0.9, interval=INTERVAL, is_due=False)
    assert due == 1.0
    line, due = advance(line, "second", now=1.001, interval=INTERVAL, is_due=False)
    assert due is not None and due > 1.001  # noqa: PT018
    _, due = advance(line, "first", now=1.002, interval=INTERVAL, is_due=True)
    assert due is None


def test_the_first_429_of_a_pause_halves_the_rate() -> None:
    """Those that follow within the pause only lengthen it, and none shortens it."""
    line = WaitingLine(free_at=0.0)
    for now, seconds in ((100.0, 60.0), (101.0, 70.0), (102.0, 5.0)):
        line = pause(line, now=now, seconds=seconds)
    assert (line.paused_until, line.share) == (171.0, 0.5)
    assert advance(line, "me", now=170.9, interval=INTERVAL, is_due=True)[1] == 171.0
    line, due = advance(line, "me", now=171.0, interval=INTERVAL, is_due=True)
    assert due is None
    assert line.free_at == pytest.approx(171.0 + 2 * INTERVAL)
    assert pause(line, now=171.0, seconds=1.0).share == 0.25


def test_the_rate_recovers_slowly_and_never_above_itself() -> None:
    """By 5 % of the full rate a minute, from the end of the pause on."""
    line = pause(WaitingLine(free_at=0.0), now=0.0, seconds=60.0)
    shares = [share_of(line, 60.0 + minutes * 60) for minutes in (-1, 0, 1, 5, 10, 100)]
    assert shares == pytest.approx([0.5, 0.5, 0.55, 0.75, 1.0, 1.0])


def test_the_rate_has_a_floor() -> None:
    """However many 429 come."""
    line = WaitingLine(free_at=0.0)
    for number in range(20):
        line = pause(line, now=float(number), seconds=1.0)
    assert line.share == RATE_FLOOR_SHARE


def test_times_of_another_clock_are_not_believed() -> None:
    """Those that lie in a far future."""
    assert believable(WaitingLine(free_at=FARTHEST_PLACE_SECONDS), 0.0)
    assert not believable(WaitingLine(free_at=FARTHEST_PLACE_SECONDS + 1.0), 0.0)
    assert not believable(WaitingLine(free_at=0.0, paused_until=FARTHEST_PLACE_SECONDS + 1.0), 0.0)


@pytest.mark.parametrize("per_minute", [0, -1, float("nan"), float("inf")])
def test_impossible_pace_is_refused(per_minute: float) -> None:
    """A pace that is no number above 0 is a usage error."""
    with pytest.raises(UsageError):
        interval_seconds(per_minute)
