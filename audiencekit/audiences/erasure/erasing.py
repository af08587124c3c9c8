"""From the keys to the last audience: list, send, wait for what is in doubt, list again, until nothing is left."""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from audiencekit.api.client import AdsClient
from audiencekit.audiences.donotreachlist import ensure_list
from audiencekit.audiences.erasure.bodies import Bodies, plan_deletes, plan_updates
from audiencekit.audiences.erasure.erasableaudiences import list_account
from audiencekit.audiences.erasure.erasuremeans import ErasureMeans
from audiencekit.audiences.erasure.erasurepass import Pass
from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.receipt import Receipt, TargetReceipt, counted
from audiencekit.destinations.ads_session import AudienceSession, DoNotReachSession
from audiencekit.destinations.destination import Session
from audiencekit.destinations.target import Target
from audiencekit.errors import (
    CONTINUE_WITH,
    AudiencekitError,
    Bug,
    CredentialsRefused,
    InputOutputFailed,
    NotFinished,
    Unauthorized,
)
from audiencekit.personal import HashedRecords
from audiencekit.profile import Profile
from audiencekit.reporting.progress import Progress

_LIST_NAME: Final = "do-not-reach list"
_MOST_NAMED: Final = 5  # targets that a message names; the others are counted


class Erasing:
    """One process of one erasure. The receipt is kept whenever a target is settled."""

    def __init__(
        self,
        receipt: Receipt,
        records: HashedRecords,
        client: AdsClient,
        means: ErasureMeans,
        *,
        profile: Profile,
        store: ErasureStore,
        progress: Progress,
    ) -> None:
        self._receipt, self._client, self._store, self._progress = receipt, client, store, progress
        self._means, self._policy = means, means.policy
        self._deletes = plan_deletes(records, receipt, profile)
        self._updates = plan_updates(records, receipt, profile)

    async def run(self) -> Receipt:
        """The receipt of the complete erasure. What is less is raised, as `forget_async` says."""
        failure: AudiencekitError | None
        try:
            failure = await self._passes()
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
        """Until a listing shows nothing new and everything is settled, or what is left needs something else first."""
        for one in self._receipt.left():
            one.state, one.why = "pending", ""
        await self._survey()
        is_pending = True
        while is_pending:
            failure = await self._pass(self._deletes, self._audiences(), self._on_audience, self._means)
            if failure is None:
                await self._find_list()
                nothing_left = replace(self._means, leave=_leave_nothing)
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
        means: ErasureMeans,
    ) -> AudiencekitError | None:
        """The reason why a pass ended early, None when it did all that can be done now; doubts have been waited for."""
        going = Pass(bodies, receipts, session_of, means, keep=self._keep, tell=self._progress.tell)
        await going.run()
        if going.error is None:
            await self._wait(going.wait_seconds)
        return going.error

    async def _survey(self) -> None:
        """Note the audiences that came since the last listing, and those that are gone."""
        account = await list_account(self._client, self._receipt.account_id, self._policy)
        listed = {one.id for one in account.owned}
        for one in self._receipt.audiences:
            if not one.is_settled and one.id not in listed:
                one.state, one.why = "gone", "deleted since it was listed"
        known = {one.id for one in self._receipt.audiences}
        self._receipt.audiences += [one for one in account.owned if one.id not in known]
        self._receipt.skipped = account.skipped
        self._keep()

    async def _wait(self, seconds: float) -> None:
        if seconds > 0:
            why = "a request of an earlier run may still be applied, and would bring people back"
            self._progress.tell(f"waiting {math.ceil(seconds)} s: {why}")
            await self._policy.clock.sleep(seconds)

    def _audiences(self) -> list[tuple[Target, TargetReceipt]]:
        return [(Target.audience(one.id), one) for one in self._receipt.audiences]

    # --- the do-not-reach list ---

    async def _find_list(self) -> None:
        """The list of the account, created when it is missing, if these people are to be put on it and can be."""
        if self._receipt.do_not_reach_until is None or not len(self._updates):
            return
        ensure = functools.partial(ensure_list, self._client, clock=self._policy.clock)
        found = await self._policy.patiently(ensure)
        known = self._receipt.do_not_reach
        if known is None or known.id != found.id:
            self._receipt.do_not_reach = TargetReceipt(id=found.id, name=_LIST_NAME)
            self._keep()

    def _lists(self) -> list[tuple[Target, TargetReceipt]]:
        one = self._receipt.do_not_reach
        return [] if one is None else [(Target.do_not_reach_list(one.id), one)]

    # --- what passes use ---

    def _on_audience(self, target: Target) -> Session:
        return AudienceSession(self._client, self._receipt.account_id, target.id)

    def _on_list(self, target: Target) -> Session:
        return DoNotReachSession(self._client, target.id)

    def _keep(self) -> None:
        self._store.keep(self._receipt)
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
        else:
            kind = CredentialsRefused if isinstance(error, Unauthorized) else NotFinished
            failure = kind(f"{facts}: {why}")
        failure.hint = "; ".join(filter(None, (error.hint if error else "", hint)))
        failure.document = receipt.to_json() | {CONTINUE_WITH: going_on}
        return failure


async def _leave_nothing(target: Target) -> None:
    """This machine keeps nothing of a do-not-reach list."""


def _in_words(left: list[TargetReceipt]) -> str:
    named = [f"{one.name!r}: {one.why}" for one in left[:_MOST_NAMED]]
    return "; ".join(named) + (f"; and {len(left) - len(named):,} more" if len(left) > len(named) else "")
