"""One pass of an erasure: the requests of every audience that is free, several in flight, each audience kept when done.

An audience that refuses keeps nothing back from the others: it is noted, and the pass goes on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from audiencekit.audiences.erasure.bodies import Bodies
from audiencekit.audiences.erasure.erasuremeans import ErasureMeans
from audiencekit.audiences.erasure.receipt import TargetReceipt
from audiencekit.delivery.options import Listener, NoJournal, Route
from audiencekit.delivery.results import Counts, RequestResult
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.destination import Session
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
from audiencekit.packedrequest import PackedRequest
from audiencekit.preparation.plantimes import format_time

_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class Turn:
    """A target whose requests may be under way: it is locked, and these have been confirmed."""

    target: Target
    receipt: TargetReceipt
    session: Session
    lock: ExitStack
    confirmed: list[RequestResult] = field(default_factory=list)


class ReceiptJournal(NoJournal):
    """The journal of a pass: its receipt, in which a target is settled once all of its requests are confirmed.

    A request that is sent again changes nothing, so that it does not matter which were under way. `unconfirmed` are the
    turns of those that were given up, in the order in which they were: the first stopped the delivery.
    """

    def __init__(
        self,
        turn_of: Callable[[int], Turn],
        requests_each: int,
        means: ErasureMeans,
        keep: Callable[[], None],
    ) -> None:
        self._turn_of, self._requests_each, self._keep = turn_of, requests_each, keep
        self._leave, self._clock = means.leave, means.policy.clock
        self.unconfirmed: list[Turn] = []

    async def conclude(self, result: RequestResult) -> None:
        """Notes a request that is confirmed, and keeps its target when it was the last one."""
        turn = self._turn_of(result.number)
        if not result.is_confirmed:
            self.unconfirmed.append(turn)
            return
        turn.confirmed.append(result)
        if len(turn.confirmed) == self._requests_each:
            await self._settle(turn)

    async def _settle(self, turn: Turn) -> None:
        await self._leave(turn.target)
        receipt, results = turn.receipt, turn.confirmed
        receipt.requests, receipt.records = len(results), sum(result.records for result in results)
        receipt.success_count = sum(result.success_count for result in results)
        receipt.refused_records = sum(len(result.refused) for result in results)
        receipt.state = "refused" if receipt.refused_records else "confirmed"
        receipt.why = f"the service did not take {receipt.refused_records} forms" if receipt.refused_records else ""
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        receipt.confirmed_at = None if receipt.refused_records else format_time(now)
        pass_point("before acknowledgement")
        self._keep()
        pass_point("after acknowledgement")
        turn.lock.close()


class Pass:
    """Sends `bodies` to each of `targets` that is not settled, by its session; `keep` writes the receipts durably.

    `wait_seconds` is then how long those must wait that something sent earlier may still change, 0 for none. `error`
    is what ended the pass early for all of them.
    """

    def __init__(
        self,
        bodies: Bodies,
        targets: Sequence[tuple[Target, TargetReceipt]],
        session_of: Callable[[Target], Session],
        means: ErasureMeans,
        *,
        keep: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        self._bodies, self._targets, self._session_of = bodies, targets, session_of
        self._means, self._keep, self._tell = means, keep, tell
        self._turns: dict[int, Turn] = {}
        self.wait_seconds = 0.0
        self.error: AudiencekitError | None = None

    async def run(self) -> None:
        """Everything that can be done now."""
        try:
            while self.error is None and await self._deliver():
                pass
        finally:
            self._end_turns()

    async def _deliver(self) -> bool:
        """Send what is left; whether one target refused, so that the others are still to be done."""
        means = self._means
        journal = ReceiptJournal(self._turn_of, len(self._bodies), means, self._keep)
        route = Route(
            self._send, self._bodies.form.open_body, means.limiter, means.policy, means.concurrency,
            drain_seconds=means.drain_seconds,
        )  # fmt: skip
        delivered = await deliver(self._requests(), route, journal=journal, listener=Listener(tell=self._tell))
        self._end_turns()
        if not journal.unconfirmed or delivered.error is None or not _is_of_one_target(delivered.error):
            is_interrupted = isinstance(delivered.error, NotFinished)
            self.error = NotFinished("interrupted") if is_interrupted else delivered.error
            return False
        refused = journal.unconfirmed[0].receipt
        refused.state, refused.why = "refused", str(delivered.error)
        self._keep()
        return True

    def _requests(self) -> Iterator[PackedRequest]:
        for place, (target, receipt) in enumerate(self._targets):
            if receipt.state in ("pending", "busy") and (lock := self._locked(target, receipt)) is not None:
                self._turns[place] = Turn(target, receipt, self._session_of(target), lock)
                yield from self._bodies.packed(1 + place * len(self._bodies))

    def _locked(self, target: Target, receipt: TargetReceipt) -> ExitStack | None:
        """The lock of a target that is ours alone, when nothing sent to it before can change it any more."""
        stack = ExitStack()
        try:
            stack.enter_context(self._means.lock(target))
        except AudienceBusy as busy:
            receipt.state, receipt.why = "busy", str(busy)
            return None
        wait_seconds = self._means.doubts(target)
        if wait_seconds > 0:
            self.wait_seconds = max(self.wait_seconds, wait_seconds)
            stack.close()
            return None
        receipt.state, receipt.why = "pending", ""
        return stack

    async def _send(self, request: PackedRequest) -> Counts:
        return await self._turn_of(request.number).session.send(request)

    def _turn_of(self, number: int) -> Turn:
        return self._turns[(number - 1) // len(self._bodies)]

    def _end_turns(self) -> None:
        """Give back what is still locked: a target that was stopped in the middle is begun again."""
        for turn in self._turns.values():
            turn.lock.close()
        self._turns.clear()


def _is_of_one_target(error: AudiencekitError) -> bool:
    """Whether another target may well take what this one did not."""
    if isinstance(error, Unauthorized):
        return error.status == _FORBIDDEN
    return isinstance(error, NotFound | RequestRefused | CountMismatch)
