"""One pass of an erasure: the requests of every audience that is free, several in flight, each audience kept when done.

An audience that refuses keeps nothing back from the others: it is noted, and the pass goes on without it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from audiencekit.api.exchange import Body
from audiencekit.api.wire import Counts
from audiencekit.audiences.erasure.bodies import Bodies
from audiencekit.audiences.erasure.receipt import TargetReceipt
from audiencekit.delivery.journal import NoJournal
from audiencekit.delivery.limiter import RateLimiter
from audiencekit.delivery.results import PackedRequest, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.route import Listener, Route
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.target import Target
from audiencekit.errors import (
    AudienceBusy,
    AudiencekitError,
    CountMismatch,
    NotFinished,
    NotFound,
    RequestRefused,
    Unauthorized,
)
from audiencekit.machine.crashpoints import pass_point
from audiencekit.preparation.times import format_time
from audiencekit.runs.doubts import Doubts

_FORBIDDEN: Final = 403


class UsersCall(Protocol):
    """One upload of users to a target."""

    async def __call__(self, target: Target, body: Body, *, records: int) -> Counts:
        """Its counts. Raises an ExchangeError for whatever is not confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """The tools of a pass. `lock` raises AudienceBusy; `keep` writes the receipt as it stands, durably.

    `leave` takes the people out of what is kept of a target on this machine, too.
    """

    send: UsersCall
    limiter: RateLimiter
    policy: RetryPolicy
    lock: Callable[[Target], AbstractContextManager[object]]
    doubts: Doubts
    keep: Callable[[], None]
    leave: Callable[[Target], Awaitable[None]]
    tell: Callable[[str], None]
    concurrency: int


class Pass(NoJournal):
    """Sends `bodies` to each of `receipts` that is not settled; each is kept when it is.

    `wait_seconds` is then how long those must wait that something sent earlier may still change, 0 for none. `error`
    is what ended the pass early for all of them.
    """

    def __init__(self, bodies: Bodies, receipts: list[tuple[Target, TargetReceipt]], means: Means) -> None:
        self._bodies, self._means = bodies, means
        self._receipts = receipts
        self._locks: dict[int, ExitStack] = {}
        self._open: dict[int, list[RequestResult]] = {}
        self._unconfirmed: list[int] = []  # in the order in which a delivery gave them up: the first stopped it
        self.wait_seconds = 0.0
        self.error: AudiencekitError | None = None

    async def run(self) -> None:
        """Everything that can be done now."""
        try:
            while self.error is None and await self._deliver():
                pass
        finally:
            for stack in self._locks.values():
                stack.close()

    async def _deliver(self) -> bool:
        """Send what is left; whether one target refused, so that the others are still to be done."""
        self._unconfirmed.clear()
        means = self._means
        route = Route(self._send, self._bodies.form.open_body, means.limiter, means.policy, means.concurrency)
        delivered = await deliver(self._requests(), route, journal=self, listener=Listener(tell=means.tell))
        for place in list(self._locks):  # what was stopped in the middle is begun again
            self._release(place)
        if not self._unconfirmed or delivered.error is None or not _is_of_one_target(delivered.error):
            is_interrupted = isinstance(delivered.error, NotFinished)
            self.error = NotFinished("interrupted") if is_interrupted else delivered.error
            return False
        self._refuse(self._receipts[self._unconfirmed[0]][1], delivered.error)
        return True

    # --- which requests, and what becomes of each ---

    def _requests(self) -> Iterator[PackedRequest]:
        for place, (target, receipt) in enumerate(self._receipts):
            if receipt.state in ("pending", "busy") and self._take(place, target, receipt):
                self._open[place] = []
                yield from self._bodies.packed(1 + place * len(self._bodies))

    def _take(self, place: int, target: Target, receipt: TargetReceipt) -> bool:
        """Whether the target is ours alone, and nothing sent to it before can change it any more."""
        stack = ExitStack()
        try:
            stack.enter_context(self._means.lock(target))
        except AudienceBusy as busy:
            receipt.state, receipt.why = "busy", str(busy)
            return False
        wait_seconds = self._means.doubts(target)
        if wait_seconds > 0:
            self.wait_seconds = max(self.wait_seconds, wait_seconds)
            stack.close()
            return False
        receipt.state, receipt.why, self._locks[place] = "pending", "", stack
        return True

    async def _send(self, request: PackedRequest) -> Counts:
        target, _ = self._receipts[self._place(request.number)]
        return await self._means.send(target, Body((request.body.unwrap(),)), records=request.records)

    def _place(self, number: int) -> int:
        return (number - 1) // len(self._bodies)

    # --- the journal of the delivery: what is kept is a target that has confirmed everything. A Delete that is sent
    # again changes nothing, so that it does not matter what was under way ---

    async def conclude(self, result: RequestResult) -> None:
        """Notes a request that is confirmed, and keeps its target when it was the last one."""
        place = self._place(result.number)
        if not result.is_confirmed:
            self._unconfirmed.append(place)
            return
        self._open[place].append(result)
        if len(self._open[place]) == len(self._bodies):
            await self._settle(place)

    async def _settle(self, place: int) -> None:
        (target, receipt), results = self._receipts[place], self._open.pop(place)
        await self._means.leave(target)
        receipt.requests, receipt.records = len(results), sum(result.records for result in results)
        receipt.success_count = sum(result.success_count for result in results)
        receipt.refused_records = sum(len(result.refused) for result in results)
        receipt.state = "refused" if receipt.refused_records else "confirmed"
        receipt.why = f"the service did not take {receipt.refused_records} forms" if receipt.refused_records else ""
        now = datetime.fromtimestamp(self._means.policy.clock.now(), UTC)
        receipt.confirmed_at = None if receipt.refused_records else format_time(now)
        pass_point("before acknowledgement")
        self._means.keep()
        pass_point("after acknowledgement")
        self._release(place)

    def _refuse(self, receipt: TargetReceipt, error: AudiencekitError) -> None:
        receipt.state, receipt.why = "refused", str(error)
        self._means.keep()

    def _release(self, place: int) -> None:
        self._locks.pop(place, ExitStack()).close()


def _is_of_one_target(error: AudiencekitError) -> bool:
    """Whether another target may well take what this one did not."""
    if isinstance(error, Unauthorized):
        return error.status == _FORBIDDEN
    return isinstance(error, NotFound | RequestRefused | CountMismatch)
