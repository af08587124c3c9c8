"""Limit the requests under way at once: fewer where the service closes connections beyond some number.

A lost connection does not say why it was lost. If a service takes only so many connections and closes the others, one
request loses its connection several times in a row, while some of the requests that were under way when it began are
confirmed. The number of these is then the capacity of the service. If most requests beyond this number were confirmed
meanwhile, connections are lost at random, and fewer requests would lose as many.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from audiencekit.delivery.retry import Clock
from audiencekit.limits import LANE_RECOVERY_SECONDS, LONGEST_LANE_RECOVERY_SECONDS, LOSSES_RUNNING, MOST_LOSSES_RUNNING

_CLOSED = "the service closes connections while it answers on others: fewer requests are sent at once"

_REMEMBERED_ROUNDS = 16  # of exchanges, as many as there can be at once in each


@dataclass(slots=True, eq=False)
class Flight:
    """One exchange, and the exchanges that were under way when it began.

    `rank` counts these and itself; `open` of them have not ended, `confirmed` are confirmed. `others` are updated when
    it ends. If it lost its connection, `running` counts the exchanges of its request that lost theirs in a row, itself
    included; the first of them began at `since`. Otherwise `running` is 0.
    """

    began_at: float
    rank: int
    open: int
    confirmed: int = 0
    running: int = 0
    since: float = 0.0
    others: list[Flight] = field(default_factory=list, repr=False)

    @property
    def is_lost(self) -> bool:
        """Whether it lost its connection."""
        return self.running > 0


class Losses:
    """The exchanges of one request that lost their connections, one after the other."""

    def __init__(self) -> None:
        self.running, self.since = 0, 0.0

    def note(self, began_at: float, *, is_lost: bool) -> None:
        """Note the end of the exchange that began at `began_at`."""
        self.running = self.running + 1 if is_lost else 0
        if self.running == 1:
            self.since = began_at


class Lanes:
    """Between one lane and `most` lanes. A limit that was lowered is doubled after a while, up to `most`.

    `notify` is called when the limit is lowered for the first time.
    """

    def __init__(self, most: int, *, clock: Clock, notify: Callable[[str], None] = lambda message: None) -> None:
        self._most, self._clock, self._notify = most, clock, notify
        self._limit = self.fewest = most
        self._changed_at, self._pause_seconds = -math.inf, LANE_RECOVERY_SECONDS
        self._has_widened = False
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._flights: set[Flight] = set()
        self._weighed: deque[Flight] = deque(maxlen=_REMEMBERED_ROUNDS * most)

    @property
    def limit(self) -> int:
        """The lanes at present."""
        return self._limit

    @property
    def has_narrowed(self) -> bool:
        """Whether the limit was ever below `most`."""
        return self.fewest < self._most

    async def enter(self) -> None:
        """Wait for a lane, in the order of the calls. Give it back with `leave`."""
        self._widen()
        if self._taken < self._limit and not self._waiting:
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:  # it had just been given one
                self.leave()
            raise

    def leave(self) -> None:
        """Give the lane to the worker that has waited longest."""
        self._taken -= 1
        self._widen()
        while self._waiting and self._taken < self._limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)

    def begin(self) -> Flight:
        """Note that an exchange begins now. Call `end` when it has ended."""
        rank = len(self._flights) + 1
        flight = Flight(began_at=self._clock.monotonic(), rank=rank, open=rank)
        self._flights.add(flight)
        for each in self._flights:
            each.others.append(flight)
        return flight

    def end(self, flight: Flight, losses: Losses, *, is_lost: bool, is_confirmed: bool) -> None:
        """Note how an exchange ended: it lost its connection, it was confirmed, or neither."""
        self._flights.discard(flight)
        losses.note(flight.began_at, is_lost=is_lost)
        flight.running, flight.since = losses.running, losses.since
        for other in flight.others:
            other.open -= 1
            other.confirmed += is_confirmed
            if not other.open:
                self._weigh(other)
        flight.others.clear()

    def _weigh(self, flight: Flight) -> None:
        """Learn from an exchange when all exchanges that were under way at its beginning have ended."""
        self._weighed.append(flight)
        capacity = flight.confirmed
        if 0 < capacity < self._limit and self._was_crowded_out(flight, capacity):
            self._narrow(capacity)

    def _was_crowded_out(self, flight: Flight, capacity: int) -> bool:
        """Whether `flight` was lost, not for the first time, because more than `capacity` exchanges were under way."""
        if flight.running < LOSSES_RUNNING:
            return False
        crowded = [each.is_lost for each in self._weighed if each.began_at >= flight.since and each.rank > capacity]
        return flight.running >= MOST_LOSSES_RUNNING or 2 * sum(crowded) > len(crowded)

    def _narrow(self, limit: int) -> None:
        if not self.has_narrowed:
            self._notify(_CLOSED)
        if self._has_widened:  # in vain
            self._pause_seconds = min(2 * self._pause_seconds, LONGEST_LANE_RECOVERY_SECONDS)
        self._limit, self._changed_at, self._has_widened = limit, self._clock.monotonic(), False
        self.fewest = min(self.fewest, limit)

    def _widen(self) -> None:
        now = self._clock.monotonic()
        if self._limit < self._most and now - self._changed_at >= self._pause_seconds:
            self._limit, self._changed_at, self._has_widened = min(2 * self._limit, self._most), now, True
