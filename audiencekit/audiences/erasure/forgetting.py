"""`forget`: take people out of every audience, keep them out from then on, and give a receipt."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar, Unpack

from audiencekit.api.client import AdsClient
from audiencekit.api.opening import open_client
from audiencekit.audiences.erasure.erasing import Erasing
from audiencekit.audiences.erasure.forms import keys_fingerprint, refuse_shared_in_any, to_records
from audiencekit.audiences.erasure.people import Asked, People, check_access
from audiencekit.audiences.erasure.receipt import ErasureStore, Receipt
from audiencekit.audiences.erasure.resources import erasure_resources
from audiencekit.audit.log import AuditLog, Step
from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.destinations.ads import AUDIENCE
from audiencekit.errors import AudiencekitError, NotFinished
from audiencekit.personal import HashedRecords
from audiencekit.planning.options import SourceKeywords, with_keywords
from audiencekit.process.cancellation import cancellable
from audiencekit.process.event_loop import blocking, closed_to_its_end
from audiencekit.profile import find_profile
from audiencekit.reporting.page.privacy import in_tens
from audiencekit.reporting.progress import Progress, Stoppable, progress_or_default
from audiencekit.reporting.sealed_rejections import remove_sealed
from audiencekit.runs.events import RunEvents, open_events
from audiencekit.runs.first_pass import in_thread
from audiencekit.runs.run import RunClock
from audiencekit.runs.start import refuse_another_service
from audiencekit.selection.erased_people import read_forgotten, remember
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import AnySource
from audiencekit.state.keys import StateKey, find_state_key

T = TypeVar("T")

# --- Read this first: people -> all forms of their identifiers -> out of every audience, and kept out ---
#
# 1. Lines or rows become keys. Nothing is sent before everything was read.
# 2. Access: credentials that the service refuses, or that may only look, end the erasure here, and it leaves nothing.
# 3. The keys go into the memory: from now on every upload leaves these people out, whatever a file says.
# 4. The keys are sealed, so that an erasure that was killed can be finished without its input.
# 5. Deletes go to the audiences until each has confirmed. Then the keys are destroyed, and the receipt says so.


@cancellable
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
    """Take people out of every audience of the account, and keep them out; return the receipt of a complete erasure.

    Give `identifiers`, whose kind is recognised or written as `KIND=VALUE`, or a `source`, read as the keywords say.
    `country` is the country of phone numbers that do not name theirs. With `do_not_reach` the emails and phone numbers
    are also put on the do-not-reach list. A second call with the same people finishes an erasure that ended early.

    Raises PlanRefused, with nothing sent, when a line or row cannot be read (unless `skip_rejected` is set), no person
    is named, an identifier belongs to many members of an audience under sync (unless `shared_values` is "keep"), or the
    service does not know the account. An erasure that does not complete raises NotFinished, CredentialsRefused or
    InputOutputFailed with the receipt's JSON as `document`; without one nothing was remembered. Raises AudienceBusy
    during another erasure.
    """
    settings, progress = settings or load_settings(), progress_or_default(progress)
    people = People.given(identifiers, source, keywords, settings.profile)
    del identifiers, source  # no traceback of what follows is to show them
    settings.check_key_place()
    client = open_client(settings)  # what could never work is said before anything is read
    asked, records = await _read_people(people, settings, progress, skip_rejected=skip_rejected)
    store = ErasureStore(settings.state_dir)
    async with closed_to_its_end(client):
        await check_access(client, settings.require_account())
        with store.locked() as note, ExitStack() as stack:
            receipt, events = begin_or_continue(
                asked, records, store, settings, progress, stack, do_not_reach=do_not_reach
            )
            note(receipt.erasure_id)
            return await erase(
                receipt, records, client, store, settings, progress=progress, limiter=limiter, events=events
            )


forget = blocking(forget_async)


async def _read_people(
    people: People, settings: Settings, progress: Progress, *, skip_rejected: bool
) -> tuple[Asked, HashedRecords]:
    """Return the people of an erasure, and their keys as records. Raises the errors of `forget_async`."""
    stoppable = Stoppable(progress)
    asked = await _in_thread(functools.partial(people.read, stoppable), stoppable)
    asked.check(what=people.noun, skip_rejected=skip_rejected)
    read_forgotten(settings.state_dir, settings.key)  # one that cannot be relied on is said before anything is sent
    records = to_records(asked.keys)
    ask_members = functools.partial(
        refuse_shared_in_any, records, people.shared_people,
        state_dir=settings.state_dir, account_id=settings.require_account(),
        key=find_state_key(settings.state_dir, settings.key),
    )  # fmt: skip
    await _in_thread(ask_members, stoppable)
    return asked, records


async def _in_thread(work: Callable[[], T], stoppable: Stoppable) -> T:
    """Return the result of `work`. Raises NotFinished for a cancellation."""
    try:
        return await in_thread(work, stoppable)
    except asyncio.CancelledError:
        raise NotFinished("interrupted while people were read: nothing was sent") from None


@cancellable
async def resume_erasure_async(
    erasure: str,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
    new_address: bool = False,
) -> Receipt:
    """Finish an erasure from the keys that it sealed; `erasure` is its id, or the unique beginning of it.

    For a complete erasure its receipt is returned, and nothing is sent. Raises the errors of `forget_async`,
    InputOutputFailed when the keys cannot be unsealed, and ResumeRefused when `settings` name another account or
    address than those of its beginning. With `new_address` the service has moved.
    """
    settings, progress = settings or load_settings(), progress_or_default(progress)
    store = ErasureStore(settings.state_dir)
    erasure_id = store.find(erasure)
    with store.locked() as note, ExitStack() as stack:
        note(erasure_id)
        receipt = store.receipt(erasure_id)
        events = open_events(settings, erasure_id, stack)
        _tell(receipt, events, "resumed")
        if receipt.state == "complete":
            progress.tell(f"erasure {erasure_id} is complete: nothing is left to do")
            store.sign(receipt, find_state_key(settings.state_dir, settings.key))  # a kill may have come before
            _tell(receipt, events, "ended")
            return receipt
        if not store.has_keys(erasure_id):  # killed between its last two steps
            store.complete(receipt, datetime.now(UTC))
            store.sign(receipt, find_state_key(settings.state_dir, settings.key))
            _log(receipt, settings, "ended")
            _tell(receipt, events, "ended")
            return receipt
        settings = replace(settings, profile=find_profile(receipt.profile))
        refuse_another_service(
            f"erasure {erasure_id}", address=receipt.address, account_id=receipt.account_id, settings=settings,
            new_address=new_address,
        )  # fmt: skip
        settings = replace(settings, account_id=receipt.account_id)
        client = open_client(settings)
        records = store.records(erasure_id, find_state_key(settings.state_dir, settings.key))
        _log(receipt, settings, "resumed")
        async with closed_to_its_end(client):
            return await erase(
                receipt, records, client, store, settings, progress=progress, limiter=limiter, events=events
            )


resume_erasure = blocking(resume_erasure_async)


# --- One erasure from its receipt to its end: begun or continued, remembered, carried out ---


def begin_or_continue(
    asked: Asked,
    records: HashedRecords,
    store: ErasureStore,
    settings: Settings,
    progress: Progress,
    stack: ExitStack,
    *,
    do_not_reach: bool,
) -> tuple[Receipt, RunEvents]:
    """Return the receipt of a new erasure, or of an unfinished one of the same people, and its events.

    Call it under its lock; `stack` closes the events.
    """
    key = find_state_key(settings.state_dir, settings.key)  # it may have been rotated while people were read
    fingerprint, account_id = keys_fingerprint(records, key), settings.require_account()
    found = store.unfinished(fingerprint, account_id, settings.address, do_not_reach=do_not_reach)
    if found is not None:
        progress.tell(f"erasure {found.erasure_id} of the same people ended early: this continues it")
        events = open_events(settings, found.erasure_id, stack)
        _log(found, settings, "resumed")
        _tell(found, events, "resumed")
        return found, events
    receipt = Receipt.begun(asked, records, key, settings, do_not_reach=do_not_reach)
    events = open_events(settings, receipt.erasure_id, stack)  # before people are remembered
    _log(receipt, settings, "begun")
    _remember(receipt, records, key, settings)
    store.begin(receipt, records, key, watched=settings.watch)
    _tell(receipt, events, "begun")
    return receipt, events


async def erase(
    receipt: Receipt,
    records: HashedRecords,
    client: AdsClient,
    store: ErasureStore,
    settings: Settings,
    *,
    progress: Progress,
    limiter: RateLimiter | None,
    events: RunEvents,
) -> Receipt:
    """Return the receipt of the complete erasure. Raises the errors of `forget_async`.

    How it ended is in the audit log, and in the events.
    """
    failure: AudiencekitError
    events.tell_by(progress.tell)
    try:
        found = await _erase(receipt, records, client, store, settings, progress=progress, limiter=limiter)
    except AudiencekitError as error:
        failure = error.bare()
        with suppress(AudiencekitError):  # the failure that came first is the one that is told
            _log(receipt, settings, "ended")
        _tell(receipt, events, "ended", failure)
    else:
        _log(found, settings, "ended")
        _tell(found, events, "ended")
        return found
    raise failure


async def _erase(
    receipt: Receipt,
    records: HashedRecords,
    client: AdsClient,
    store: ErasureStore,
    settings: Settings,
    *,
    progress: Progress,
    limiter: RateLimiter | None,
) -> Receipt:
    time = RunClock()
    key, forgotten = find_state_key(settings.state_dir, settings.key), read_forgotten(settings.state_dir, settings.key)
    if forgotten is None or not forgotten.holds_any(records).all():  # another memory was accepted since it was begun
        _remember(receipt, records, key, settings)
        forgotten = read_forgotten(settings.state_dir, settings.key)
    receipt.sealed_rejections += remove_sealed(settings.state_dir)
    async with open_limiter(settings, AUDIENCE.quota, clock=time.clock, given=limiter) as pace:
        resources = erasure_resources(receipt, settings, key, forgotten, limiter=pace, time=time)
        erasing = Erasing(receipt, records, client, resources, profile=settings.profile, store=store, progress=progress)
        complete = await erasing.run()
        store.sign(complete, key)
        return complete


def _log(receipt: Receipt, settings: Settings, step: Step) -> None:
    """Put into the audit log how far an erasure is: by its number and counts. Raises as `AuditLog.append`."""
    facts: dict[str, Any] = {
        "of": receipt.erasure_id,
        "service": receipt.address,
        "account": receipt.account_id,
        "identifiers": receipt.identifiers,
        "do_not_reach": receipt.do_not_reach_until is not None,
    }
    if step == "ended":
        facts |= {
            "state": receipt.state,
            "audiences": _audiences_of(receipt),
            "records": sum(one.records for one in receipt.targets),
        }
    AuditLog.of(settings).append("forget", step, **facts)


def _audiences_of(receipt: Receipt) -> dict[str, int]:
    return {"confirmed": receipt.settled, "all": len(receipt.audiences), "skipped": len(receipt.skipped)}


def _tell(receipt: Receipt, events: RunEvents, step: Step, error: AudiencekitError | None = None) -> None:
    """Write the event of a step: many people see it, so that a count of people below ten is not told."""
    facts = {"state": receipt.state, "people": in_tens(receipt.asked), "audiences": _audiences_of(receipt)}
    events.erasure(step, facts | {"requests": sum(one.requests for one in receipt.targets)}, error)


def _remember(receipt: Receipt, records: HashedRecords, key: StateKey, settings: Settings) -> None:
    """Remember these people, so that uploads leave them out from now on. Raises as `remember`."""
    mark, is_noted = remember(settings.state_dir, key, records)
    receipt.remembered, receipt.memory = True, {**mark.to_json(), "noted_outside": is_noted}
