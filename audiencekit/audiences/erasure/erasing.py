"""One process of an erasure: it sends the Deletes to all audiences of an account that can be reached."""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import numpy as np

from audiencekit.api.answers import Answer
from audiencekit.api.client import AdsClient, PermissionScope
from audiencekit.audiences.do_not_reach import DoNotReachService, ensure_list
from audiencekit.audiences.erasure.forms import as_updates
from audiencekit.audiences.erasure.receipt import ErasureStore, Receipt, Skipped, TargetReceipt, counted
from audiencekit.audiences.erasure.resources import ErasureResources
from audiencekit.delivery.options import Listener, NoJournal, Route
from audiencekit.delivery.results import Counts, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.ads import AUDIENCE, DO_NOT_REACH_LIST
from audiencekit.destinations.ads_session import AudienceSession, DoNotReachSession
from audiencekit.destinations.destination import RequestForm, Session
from audiencekit.destinations.requests.packing import EncodedUsers, encode_users, pack_request
from audiencekit.destinations.requests.request_plan import PlannedRequest, Sizes
from audiencekit.destinations.target import Target
from audiencekit.errors import (
    CONTINUE_WITH,
    AudienceBusy,
    AudiencekitError,
    Bug,
    CountMismatch,
    CredentialsRefused,
    InputOutputFailed,
    LongWait,
    MalformedAnswer,
    NotFinished,
    NotFound,
    RequestRefused,
    Unauthorized,
)
from audiencekit.limits import MAX_PAGE_ROWS
from audiencekit.packed_request import PackedRequest
from audiencekit.personal import HashedRecords, guarded
from audiencekit.process.crash_points import pass_point
from audiencekit.profile import Profile
from audiencekit.records.batches import IS_DELETE
from audiencekit.records.plan_times import format_time, parse_time, pin_times
from audiencekit.reporting.progress import Progress
from audiencekit.service_words import is_service_id

# --- A whole erasure: list the audiences, send, wait for requests in doubt, list again, until nothing is left ---

_LIST_NAME: Final = "do-not-reach list"
_MOST_NAMED: Final = 5  # targets that a message names; the others are counted


class Erasing:
    """One process of one erasure. The receipt is stored whenever a target is settled."""

    def __init__(
        self,
        receipt: Receipt,
        records: HashedRecords,
        client: AdsClient,
        resources: ErasureResources,
        *,
        profile: Profile,
        store: ErasureStore,
        progress: Progress,
    ) -> None:
        self._receipt, self._client, self._store, self._progress = receipt, client, store, progress
        self._resources, self._policy = resources, resources.policy
        self._settled_before = receipt.settled
        self._deletes = plan_deletes(records, receipt, profile)
        self._updates = plan_updates(records, receipt, profile)

    async def run(self) -> Receipt:
        """Return the receipt of the complete erasure. Raises the errors of `forget_async` for an incomplete one."""
        failure: AudiencekitError | None
        try:
            failure = await self._passes() or self._other_runs()
            if failure is None and not self._receipt.left():
                self._store.complete(self._receipt, datetime.fromtimestamp(self._policy.clock.now(), UTC))
                return self._receipt
        except asyncio.CancelledError:
            failure = NotFinished("interrupted")
        except AudiencekitError as error:
            failure = error.bare()
        raise self._failure(failure)

    # --- the passes ---

    async def _passes(self) -> AudiencekitError | None:
        """Repeat until a listing shows nothing new and everything is settled, or the rest has to wait."""
        for one in self._receipt.left():
            one.state, one.why = "pending", ""
        await self._survey()
        is_pending = True
        while is_pending:
            failure = await self._pass(self._deletes, self._audiences(), self._on_audience, self._resources)
            if failure is None:
                await self._find_list()
                nothing_left = replace(self._resources, leave=_no_local_copy)
                failure = await self._pass(self._updates, self._lists(), self._on_list, nothing_left)
            if failure is not None:
                return failure
            await self._survey()
            is_pending = any(one.state == "pending" for one in self._receipt.targets)
        return None

    async def _pass(
        self,
        bodies: Bodies,
        receipts: list[tuple[Target, TargetReceipt]],
        session_of: Callable[[Target], Session],
        resources: ErasureResources,
    ) -> AudiencekitError | None:
        """Make a pass and wait for doubts; return why it ended early, None if it did all that can be done now."""
        going = Pass(bodies, receipts, session_of, resources, save=self._save, notify=self._progress.tell)
        await going.run()
        if going.error is None and going.wait_seconds > 0:
            return await self._wait(going.wait_seconds)
        return going.error

    async def _survey(self) -> None:
        """Note the audiences that were created or deleted since the last listing."""
        account = await list_account(self._client, self._receipt.account_id, self._policy)
        listed = {one.id for one in account.owned}
        for one in self._receipt.audiences:
            if not one.is_settled and one.id not in listed:
                one.state, one.why = "gone", "deleted since it was listed"
        known = {one.id for one in self._receipt.audiences}
        self._receipt.audiences += [one for one in account.owned if one.id not in known]
        self._receipt.skipped = account.skipped
        self._save()

    async def _wait(self, seconds: float) -> LongWait | None:
        if (refusal := self._policy.refuse_wait(seconds)) is not None:
            return refusal
        why = "a request of an earlier run may still be applied, and would bring people back"
        self._progress.tell(f"waiting {math.ceil(seconds)} s: {why}")
        await self._policy.clock.sleep(seconds)
        return None

    def _audiences(self) -> list[tuple[Target, TargetReceipt]]:
        return [(Target.audience(one.id), one) for one in self._receipt.audiences]

    def _other_runs(self) -> LongWait | None:
        """Return the error for a caller that waits by itself, if only other runs keep the erasure from its end."""
        left = self._receipt.left()
        if not left or any(one.state != "busy" for one in left) or math.isinf(self._policy.patience_seconds):
            return None
        return LongWait(_in_words(left), seconds=0.0)

    # --- the do-not-reach list ---

    async def _find_list(self) -> None:
        """Return the list of the account if these people can be put on it; create it if it is missing."""
        if self._receipt.do_not_reach_until is None or not len(self._updates):
            return
        ensure = functools.partial(ensure_list, self._client, clock=self._policy.clock)
        found = await self._policy.with_retries(ensure)
        known = self._receipt.do_not_reach
        if known is None or known.id != found.id:
            self._receipt.do_not_reach = TargetReceipt(id=found.id, name=_LIST_NAME)
            self._save()

    def _lists(self) -> list[tuple[Target, TargetReceipt]]:
        one = self._receipt.do_not_reach
        return [] if one is None else [(Target.do_not_reach_list(one.id), one)]

    # --- what passes use ---

    def _on_audience(self, target: Target) -> Session:
        return AudienceSession(self._client, self._receipt.account_id, target.id)

    def _on_list(self, target: Target) -> Session:
        return DoNotReachSession(self._client, target.id)

    def _save(self) -> None:
        self._store.store(self._receipt)
        self._progress.step("erasing", self._receipt.settled, len(self._receipt.audiences), unit="audiences")

    # --- the end ---

    def _failure(self, error: AudiencekitError | None) -> AudiencekitError:
        receipt = self._receipt
        facts = f"{receipt.settled} of {counted(len(receipt.audiences), 'audience')} confirmed"
        if not receipt.audiences:
            facts = "the audiences are not listed yet"
        why = str(error) if error is not None else _in_words(receipt.left())
        going_on = f"audiencekit resume {receipt.erasure_id}"
        hint = f"`{going_on}` does the rest, and so does `forget` with the same input"
        failure: AudiencekitError
        if isinstance(error, InputOutputFailed | Bug):
            failure = error
        elif isinstance(error, LongWait):
            has_progress = receipt.settled > self._settled_before
            failure = LongWait(f"{facts}: {why}", seconds=error.seconds, has_progress=has_progress)
        else:
            kind = CredentialsRefused if isinstance(error, Unauthorized) else NotFinished
            failure = kind(f"{facts}: {why}")
        failure.hint = "; ".join(filter(None, (error.hint if error else "", hint)))
        failure.document = receipt.to_json() | {CONTINUE_WITH: going_on}
        return failure


async def _no_local_copy(target: Target) -> None:
    """Do nothing: this machine stores nothing of a do-not-reach list."""


def _in_words(left: list[TargetReceipt]) -> str:
    named = [f"{one.name!r}: {one.why}" for one in left[:_MOST_NAMED]]
    return "; ".join(named) + (f"; and {len(left) - len(named):,} more" if len(left) > len(named) else "")


# --- One pass of an erasure: the requests of every free audience, several in flight; finished audiences are stored ---
#
# An audience that refuses keeps nothing back from the others: it is noted, and the pass goes on without it.

_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class LockedTarget:
    """A locked target whose requests may be under way, and those that are confirmed."""

    target: Target
    receipt: TargetReceipt
    session: Session
    lock: ExitStack
    confirmed: list[RequestResult] = field(default_factory=list)


class ReceiptJournal(NoJournal):
    """The journal of a pass: its receipt. A target is settled in it once all of its requests are confirmed.

    A request that is sent again changes nothing, so the requests under way need not be stored. `unconfirmed` are the
    targets that were given up, in this order: the first stopped the delivery.
    """

    def __init__(
        self,
        locked_of: Callable[[int], LockedTarget],
        requests_each: int,
        resources: ErasureResources,
        save: Callable[[], None],
    ) -> None:
        self._locked_of, self._requests_each, self._save = locked_of, requests_each, save
        self._leave, self._clock = resources.leave, resources.policy.clock
        self.unconfirmed: list[LockedTarget] = []

    async def conclude(self, result: RequestResult) -> None:
        """Note a confirmed request, and save the receipt when it was the last one of its target."""
        locked = self._locked_of(result.number)
        if not result.is_confirmed:
            self.unconfirmed.append(locked)
            return
        locked.confirmed.append(result)
        if len(locked.confirmed) == self._requests_each:
            await self._settle(locked)

    async def _settle(self, locked: LockedTarget) -> None:
        await self._leave(locked.target)
        receipt, results = locked.receipt, locked.confirmed
        receipt.requests, receipt.records = len(results), sum(result.records for result in results)
        receipt.success_count = sum(result.success_count for result in results)
        receipt.refused_records = sum(len(result.refused) for result in results)
        receipt.state = "refused" if receipt.refused_records else "confirmed"
        receipt.why = f"the service did not take {receipt.refused_records} forms" if receipt.refused_records else ""
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        receipt.confirmed_at = None if receipt.refused_records else format_time(now)
        pass_point("before acknowledgement")
        self._save()
        pass_point("after acknowledgement")
        locked.lock.close()


class Pass:
    """Send `bodies` to each of `targets` that is not settled, in its session; `save` stores the receipts durably.

    `wait_seconds` is then how long the remaining targets must wait for earlier requests that may still change them, 0
    for none. `error` is the error that ended the pass early for all of them.
    """

    def __init__(
        self,
        bodies: Bodies,
        targets: Sequence[tuple[Target, TargetReceipt]],
        session_of: Callable[[Target], Session],
        resources: ErasureResources,
        *,
        save: Callable[[], None],
        notify: Callable[[str], None],
    ) -> None:
        self._bodies, self._targets, self._session_of = bodies, targets, session_of
        self._resources, self._save, self._notify = resources, save, notify
        self._locked_targets: dict[int, LockedTarget] = {}
        self.wait_seconds = 0.0
        self.error: AudiencekitError | None = None

    async def run(self) -> None:
        """Do everything that can be done now."""
        try:
            while self.error is None and await self._deliver():
                pass
        finally:
            self._release_targets()

    async def _deliver(self) -> bool:
        """Send the rest; return whether one target refused, so that the others must still be done."""
        resources = self._resources
        journal = ReceiptJournal(self._locked_of, len(self._bodies), resources, self._save)
        route = Route(
            self._send, self._bodies.form.open_body, resources.limiter, resources.policy, resources.concurrency,
            drain_seconds=resources.drain_seconds,
        )  # fmt: skip
        delivered = await deliver(self._requests(), route, journal=journal, listener=Listener(notify=self._notify))
        self._release_targets()
        if not journal.unconfirmed or delivered.error is None or not _is_of_one_target(delivered.error):
            is_interrupted = isinstance(delivered.error, NotFinished) and not isinstance(delivered.error, LongWait)
            self.error = NotFinished("interrupted") if is_interrupted else delivered.error
            return False
        refused = journal.unconfirmed[0].receipt
        refused.state, refused.why = "refused", str(delivered.error)
        self._save()
        return True

    def _requests(self) -> Iterator[PackedRequest]:
        for place, (target, receipt) in enumerate(self._targets):
            if receipt.state in ("pending", "busy") and (lock := self._locked(target, receipt)) is not None:
                self._locked_targets[place] = LockedTarget(target, receipt, self._session_of(target), lock)
                yield from self._bodies.packed(1 + place * len(self._bodies))

    def _locked(self, target: Target, receipt: TargetReceipt) -> ExitStack | None:
        """Return the lock of a target, if it is free and no earlier request can change the target any more."""
        stack = ExitStack()
        try:
            stack.enter_context(self._resources.lock(target))
        except AudienceBusy as busy:
            receipt.state, receipt.why = "busy", str(busy)
            return None
        wait_seconds = self._resources.doubts(target)
        if wait_seconds > 0:
            self.wait_seconds = max(self.wait_seconds, wait_seconds)
            stack.close()
            return None
        receipt.state, receipt.why = "pending", ""
        return stack

    async def _send(self, request: PackedRequest) -> Counts:
        return await self._locked_of(request.number).session.send(request)

    def _locked_of(self, number: int) -> LockedTarget:
        return self._locked_targets[(number - 1) // len(self._bodies)]

    def _release_targets(self) -> None:
        """Release the remaining locks: a target that was stopped in the middle begins again."""
        for locked in self._locked_targets.values():
            locked.lock.close()
        self._locked_targets.clear()


def _is_of_one_target(error: AudiencekitError) -> bool:
    """Whether another target may take what this one refused."""
    if isinstance(error, Unauthorized):
        return error.status == _FORBIDDEN
    return isinstance(error, NotFound | RequestRefused | CountMismatch)


# --- The requests of an erasure: the same for every audience, made anew for each ---

_WAVE: Final = 0  # nothing waits for anything: the requests of an erasure commute


@dataclass(frozen=True, slots=True)
class Bodies:
    """The requests that carry `records` (RECORD_SCHEMA, all of one verb), as planned."""

    records: HashedRecords
    planned: tuple[PlannedRequest, ...]
    form: RequestForm
    profile: Profile

    @classmethod
    def plan(cls, records: HashedRecords, form: RequestForm, profile: Profile) -> Bodies:
        """Plan as few requests as hold them."""
        sizes, deletes = form.measure(records), _are_deletes(records)

        def sizes_of(wave: int, of_deletes: bool) -> Iterator[Sizes]:
            if len(sizes) and of_deletes is deletes:
                yield sizes

        planned = form.plan([_WAVE], sizes_of)
        return cls(records, tuple(planned), form, profile)

    def __len__(self) -> int:
        """The number of requests."""
        return len(self.planned)

    def packed(self, first_number: int) -> Iterator[PackedRequest]:
        """Yield the requests, each made on demand, numbered from `first_number` on."""
        for number, planned in enumerate(self.planned, start=first_number):
            yield replace(pack_request(planned, self._users_of, self.form), number=number)

    def _users_of(self, planned: PlannedRequest) -> tuple[EncodedUsers, EncodedUsers]:
        return self._users(planned.first_update, planned.updates), self._users(planned.first_delete, planned.deletes)

    def _users(self, first: int, count: int) -> EncodedUsers:
        if not count:
            return EncodedUsers.joined([])
        return encode_users(self.records, np.arange(first, first + count), self.profile)


def plan_deletes(records: HashedRecords, receipt: Receipt, profile: Profile) -> Bodies:
    """Return the requests that take the people out of one audience."""
    return Bodies.plan(records, AUDIENCE.form(pin_times(_started_at(receipt)), profile), profile)


def plan_updates(records: HashedRecords, receipt: Receipt, profile: Profile) -> Bodies:
    """Return the requests that put the people on the do-not-reach list."""
    times = pin_times(_started_at(receipt), expires_at=receipt.do_not_reach_until)
    return Bodies.plan(as_updates(records, DO_NOT_REACH_LIST.kinds), DO_NOT_REACH_LIST.form(times, profile), profile)


def _started_at(receipt: Receipt) -> datetime:
    return parse_time(receipt.started_at, "the start of the erasure")


@guarded
def _are_deletes(records: HashedRecords) -> bool:
    deletes = records.unwrap().column(IS_DELETE)
    return bool(len(deletes)) and bool(deletes[0].as_py())


# --- The audiences of an account that people can be taken out of, and the others with the reason ---

_FOLLOWS: Final = "a flexible audience has no people of its own: it follows the audiences that it is made of"
_FILLED: Final = "the service fills it itself, from what it observed: lists of people cannot change it"
_WHYS: Final[Mapping[str, str]] = {"FLEXIBLE": _FOLLOWS, "WEB": _FILLED, "MOBILE": _FILLED}
_SHARED: Final = "it belongs to another account, which alone can take people out: ask its owner"


class ErasureService(DoNotReachService, Protocol):
    """The methods of AdsClient that are needed for an erasure."""

    def iterate_custom_audiences(
        self,
        *,
        permission_scope: PermissionScope | None = None,
        count: int | None = None,
        with_deleted: bool | None = None,
    ) -> AsyncIterator[Answer]:
        """Yield every page of audiences."""


@dataclass(slots=True)
class Account:
    """The audiences of an account as the service lists them: those that can be written, and the others."""

    owned: list[TargetReceipt] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


async def list_account(service: ErasureService, account_id: str, policy: RetryPolicy) -> Account:
    """Return every audience of the account, without deleted ones. Raises an ExchangeError."""

    async def list_once() -> Account:
        account = Account()
        async for audience in _listed(service, "OWNER"):
            _sort(account, audience, is_ours=audience.get("owner_account_id", account_id) == account_id)
        async for audience in _listed(service, "SHARED"):
            _sort(account, audience, is_ours=False)
        return account

    return await policy.with_retries(list_once)


async def _listed(service: ErasureService, scope: PermissionScope) -> AsyncIterator[dict[str, Any]]:
    async for page in service.iterate_custom_audiences(permission_scope=scope, count=MAX_PAGE_ROWS, with_deleted=False):
        for audience in page.data:
            if not is_service_id(audience.get("id")):
                raise MalformedAnswer("an audience was listed without an id", status=page.status)
            if not audience.get("deleted"):
                yield audience


def _sort(account: Account, audience: Mapping[str, Any], *, is_ours: bool) -> None:
    audience_id, name = str(audience["id"]), str(audience.get("name") or "")
    why = _WHYS.get(str(audience.get("audience_type"))) if is_ours else _SHARED
    if why is None:
        account.owned.append(TargetReceipt(id=audience_id, name=name))
    else:
        account.skipped.append(Skipped(id=audience_id, name=name, why=why))
