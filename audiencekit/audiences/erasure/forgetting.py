"""Read this first: people -> every form of their identifiers -> out of every audience of the account, and kept out.

lines, rows -> keys     nothing is sent before everything was read
access                  credentials that the service refuses, or that may only look, end it here and leave nothing
keys -> memory          from now on every upload leaves these people out, whatever a file says
keys -> sealed          so that an erasure that was killed can be finished without its input
audiences <- Deletes    until each has confirmed; then the keys are destroyed, and the receipt says so
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar, Unpack

from audiencekit.api.client import AdsClient
from audiencekit.api.opening import open_client
from audiencekit.audiences.erasure.access import check_access
from audiencekit.audiences.erasure.erasing import Erasing
from audiencekit.audiences.erasure.erasurepass import Surroundings
from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.keys import fingerprint, to_records
from audiencekit.audiences.erasure.people import People
from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.audiences.erasure.sharedkeys import refuse_shared_in_any
from audiencekit.audiences.erasure.snapshots import leave_snapshot
from audiencekit.delivery.clock import SystemClock
from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.audience import AUDIENCE
from audiencekit.destinations.target import Target
from audiencekit.errors import NotFinished
from audiencekit.machine.eventloop import blocking, closed_to_its_end
from audiencekit.machine.keys import StateKey, find_state_key
from audiencekit.personal import HashedRecords
from audiencekit.planning.options import SourceKeywords, with_keywords
from audiencekit.profile import find_profile
from audiencekit.reporting.progress import Progress, Stoppable, heard_by
from audiencekit.runs.doubts import EarlierRuns
from audiencekit.runs.inthread import in_thread
from audiencekit.runs.journal.moments import this_moment
from audiencekit.runs.locks import TargetLock
from audiencekit.selection.forgotten.people import read_forgotten, remember
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import AnySource

T = TypeVar("T")


@with_keywords(SourceKeywords)
async def forget_async(
    identifiers: Iterable[str] | None = None,
    *,
    source: AnySource | None = None,
    do_not_reach: bool = False,
    skip_rejected: bool = False,
    settings: Settings | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
    **keywords: Unpack[SourceKeywords],
) -> Receipt:
    """Take people out of every audience of the account, and keep them out; the receipt of a complete erasure.

    Give `identifiers`, whose kind is recognised or written as `KIND=VALUE`, or a `source`, read as the keywords say.
    `country` is the country of phone numbers that do not name theirs. With `do_not_reach` the emails and phone numbers
    go on the do-not-reach list, too. A second call with the same people finishes an erasure that ended early.

    Raises PlanRefused, with nothing sent, when a line or row cannot be read (unless `skip_rejected` is set), no person
    is named, an identifier belongs to many members of an audience under sync (unless `shared_values` is "keep"), or the
    service does not know the account. An erasure that does not complete raises NotFinished, CredentialsRefused or
    InputOutputFailed with the receipt's JSON as `document`; without one nothing was remembered. Raises AudienceBusy
    while another erasure works.
    """
    settings, progress = settings or load_settings(), heard_by(progress)
    people = People.given(identifiers, source, keywords, settings.profile)
    del identifiers, source  # no traceback of what follows is to show them
    client = open_client(settings)  # what could never work is said before anything is read
    stoppable = Stoppable(progress)
    asked = await _before_anything(functools.partial(people.read, stoppable), stoppable)
    asked.check(what=people.noun, skip_rejected=skip_rejected)
    read_forgotten(settings.state_dir, settings.key)  # one that cannot be relied on is said before anything is sent
    store, key = ErasureStore(settings.state_dir), find_state_key(settings.state_dir, settings.key)
    records = to_records(asked.keys)
    ask_members = functools.partial(
        refuse_shared_in_any, records, people.shared_people,
        state_dir=settings.state_dir, account_id=settings.require_account(), key=key,
    )  # fmt: skip
    await _before_anything(ask_members, stoppable)
    async with closed_to_its_end(client):
        await check_access(client, settings.require_account())
        with store.locked() as note:
            key = find_state_key(settings.state_dir, settings.key)  # it may have been rotated until now
            receipt = _continued(store, records, key, settings, progress, do_not_reach=do_not_reach)
            if receipt is None:
                receipt = Receipt.begun(asked, records, key, settings, do_not_reach=do_not_reach)
                _remember(receipt, records, key, settings)
                store.begin(receipt, records, key)
            note(receipt.erasure_id)
            return await _erase(receipt, records, client, settings, store, progress, limiter)


forget = blocking(forget_async)


async def _before_anything(work: Callable[[], T], stoppable: Stoppable) -> T:
    """Return the result of `work`. Raises NotFinished for a cancellation."""
    try:
        return await in_thread(work, stoppable)
    except asyncio.CancelledError:
        raise NotFinished("interrupted while people were read: nothing was sent") from None


async def resume_erasure_async(
    erasure: str,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
) -> Receipt:
    """Finish an erasure from the keys that it sealed; `erasure` is its id, or the unique beginning of it.

    One that is complete returns its receipt, and nothing is sent. Raises the errors of `forget_async`, and
    InputOutputFailed when the keys cannot be unsealed.
    """
    settings, progress = settings or load_settings(), heard_by(progress)
    store = ErasureStore(settings.state_dir)
    erasure_id = store.find(erasure)
    with store.locked() as note:
        note(erasure_id)
        receipt = store.receipt(erasure_id)
        if receipt.state == "complete":
            progress.tell(f"erasure {erasure_id} is complete: nothing is left to do")
            return receipt
        if not store.has_keys(erasure_id):  # killed between its last two steps
            store.complete(receipt, datetime.now(UTC))
            return receipt
        settings = replace(settings, profile=find_profile(receipt.profile), account_id=receipt.account_id)
        client = open_client(settings)
        records = store.records(erasure_id, find_state_key(settings.state_dir, settings.key))
        async with closed_to_its_end(client):
            return await _erase(receipt, records, client, settings, store, progress, limiter)


resume_erasure = blocking(resume_erasure_async)


def _remember(receipt: Receipt, records: HashedRecords, key: StateKey, settings: Settings) -> None:
    """From now on uploads leave these people out. Raises as `remember`."""
    mark, is_noted = remember(settings.state_dir, key, records)
    receipt.remembered, receipt.memory = True, {**mark.to_json(), "noted_outside": is_noted}


def _continued(
    store: ErasureStore,
    records: HashedRecords,
    key: StateKey,
    settings: Settings,
    progress: Progress,
    *,
    do_not_reach: bool,
) -> Receipt | None:
    """The erasure of the same people that ended early, if there is one."""
    found = store.unfinished(fingerprint(records, key), settings.require_account(), do_not_reach=do_not_reach)
    if found is not None:
        progress.tell(f"erasure {found.erasure_id} of the same people ended early: this continues it")
    return found


async def _erase(
    receipt: Receipt,
    records: HashedRecords,
    client: AdsClient,
    settings: Settings,
    store: ErasureStore,
    progress: Progress,
    limiter: RateLimiter | None,
) -> Receipt:
    clock, account_id = SystemClock(), receipt.account_id
    key, forgotten = find_state_key(settings.state_dir, settings.key), read_forgotten(settings.state_dir, settings.key)
    if forgotten is None or not forgotten.holds_any(records).all():  # another memory was accepted since it was begun
        _remember(receipt, records, key, settings)
        forgotten = read_forgotten(settings.state_dir, settings.key)

    def lock(target: Target) -> TargetLock:
        return TargetLock(settings.state_dir, account_id, target, receipt.erasure_id)

    async def leave(target: Target) -> None:
        if forgotten is not None:
            await in_thread(
                functools.partial(
                    leave_snapshot, settings.state_dir, account_id, target.id,
                    key=key, forgotten=forgotten, now=datetime.now(UTC),
                )
            )  # fmt: skip

    async with open_limiter(settings, AUDIENCE.quota, clock=clock, given=limiter) as pace:
        surroundings = Surroundings(
            limiter=pace,
            policy=RetryPolicy.seeded(clock),
            lock=lock,
            doubts=EarlierRuns(settings.state_dir, account_id, now=clock.now, moment=this_moment).seconds_left,
            leave=leave,
            concurrency=settings.concurrency,
        )
        erasing = Erasing(
            receipt, records, client, surroundings, profile=settings.profile, store=store, progress=progress
        )
        return await erasing.run()
