"""Dry runs: each command up to its first request that would change something."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Unpack

from audiencekit.api.calls import check_identifier
from audiencekit.api.opening import open_client
from audiencekit.audiences.do_not_reach import find_list
from audiencekit.audiences.erasure.erasing import list_account
from audiencekit.audiences.erasure.forms import count_by_kind, refuse_shared_in_any, to_records
from audiencekit.audiences.erasure.people import People, check_access
from audiencekit.audiences.erasure.resources import Preview
from audiencekit.audiences.sync.planner import plan_renewal
from audiencekit.audiences.sync.run import HeldSnapshot
from audiencekit.audiences.sync.sync import DEFAULT_BEFORE, plan_sync
from audiencekit.delivery.retry import RetryPolicy, SystemClock
from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.destinations.destination import Session
from audiencekit.destinations.target import Target
from audiencekit.durations import parse_duration
from audiencekit.errors import Refused
from audiencekit.pipeline import check
from audiencekit.planning.options import Keywords, SourceKeywords, plain_keywords, read_keywords
from audiencekit.planning.plan import known_members, to_plan
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import preview
from audiencekit.reporting.progress import Progress, Stoppable, progress_or_default
from audiencekit.reporting.report import Plan
from audiencekit.runs.beginning import hold_target
from audiencekit.runs.first_pass import in_thread
from audiencekit.runs.keywords import RunOptions
from audiencekit.runs.only_rejected import RejectedRun, plan_repaired
from audiencekit.runs.run import RunArguments
from audiencekit.runs.start import audience_id_of, check_settings, look_at_target
from audiencekit.runs.store import new_run_id
from audiencekit.runs.uploads import check_upload
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import AnySource, FilePath, items_of
from audiencekit.state.keys import existing_state_key

# --- The dry run of an erasure: the people who are named, and the audiences. They are not remembered ---


async def dry_forget_async(
    identifiers: Iterable[str] | None = None,
    *,
    source: AnySource | None = None,
    skip_rejected: bool = False,
    settings: Settings,
    progress: Progress,
    **keywords: Unpack[SourceKeywords],
) -> Preview:
    """Return the preview of `forget`: it reads the people and asks the service in the same way.

    Raises what refuses it.
    """
    people = People.given(identifiers, source, keywords, settings.profile)
    del identifiers, source  # no traceback of what follows is to show them
    client, stoppable = open_client(settings), Stoppable(progress)
    asked = await in_thread(functools.partial(people.read, stoppable), stoppable)
    asked.check(what=people.noun, skip_rejected=skip_rejected)
    records, account_id = to_records(asked.keys), settings.require_account()
    if (key := existing_state_key(settings.state_dir, settings.key)) is not None:
        refuse_shared_in_any(
            records, people.shared_people, state_dir=settings.state_dir, account_id=account_id, key=key
        )
    policy = RetryPolicy.seeded(SystemClock())
    async with client:
        await check_access(client, account_id)
        account = await list_account(client, account_id, policy)
    return Preview(
        asked=asked.rows,
        identifiers=dict(asked.identifiers),
        forms=count_by_kind(records),
        audiences=[(one.id, one.name) for one in account.owned],
        skipped=[(one.id, one.name) for one in account.skipped],
    )


# --- The dry run of an upload to the do-not-reach list of the account ---


async def dry_upload_async(
    source: AnySource,
    *,
    settings: Settings,
    progress: Progress,
    rejections: FilePath | None = None,
    **keywords: Unpack[Keywords],
) -> Plan:
    """Return the plan of `do_not_reach_upload_async`; nothing is created or sent. Raises what refuses it."""
    source = items_of(source)
    check_upload(RunOptions.of(settings=settings, progress=progress), source, keywords)
    async with open_client(settings) as client:
        found = await find_list(client)
    given: dict[str, Any] = {"settings": settings, "rejections": rejections}
    if found is not None:
        return await plan_upload_async(found.target, source, progress=progress, **given, **keywords)
    if read_keywords(plain_keywords(keywords), settings.profile).operation == "delete":
        raise Refused("the account has no do-not-reach list: there is no one to take off it")
    progress.tell("the account has no do-not-reach list: the upload would create it")
    plan = functools.partial(check, source, destination=DO_NOT_REACH_LIST, **given, **keywords)
    return await plan_in_thread(progress, lambda progress: plan(progress=progress))


# --- The steps of every dry run that gives a plan: a check of the target, then the plan in a thread ---


async def look_and_plan(session: Session, progress: Progress, plan: Callable[[Progress], Plan]) -> Plan:
    """Check the target as a run does first, and return the plan that `plan` makes.

    `plan` is called in a thread, with a progress that stops it when this is cancelled. Raises what refuses the target.
    """
    await look_at_target(session, progress, RetryPolicy.seeded(SystemClock()))
    return await plan_in_thread(progress, plan)


async def plan_in_thread(progress: Progress, plan: Callable[[Progress], Plan]) -> Plan:
    """Return the plan that `plan` makes, when there is no target to check yet."""
    stoppable = Stoppable(progress)
    return await in_thread(functools.partial(plan, stoppable), stoppable)


# --- The dry run of a renewal: a check of the audience, then the plan by the present snapshot ---


async def dry_renewal_async(
    *,
    audience: str,
    before: str = DEFAULT_BEFORE,
    expires_at: str | None = None,
    ttl_days: int | None = None,
    settings: Settings,
    progress: Progress,
) -> Plan:
    """Return the plan of `renew`, after the checks of a run; nothing is sent.

    `before` and the times are those of `renew_async`. Raises its errors from before the first request.
    """
    days = math.ceil(parse_duration(before, "`before=`") / timedelta(days=1))
    check_settings(settings)
    target, now = Target.audience(await audience_id_of(audience, settings)), datetime.now(UTC)

    def plan(progress: Progress) -> Plan:
        with ExitStack() as stack:
            hold_target(target, settings, stack, now)
            snapshot = HeldSnapshot(settings, target.id, stack)
            keywords = plain_keywords(Keywords(expires_at=expires_at, ttl_days=ttl_days))
            resources = PlanResources(stack=stack, progress=progress)
            terms = PlanTerms.of(keywords, settings, now=now)
            return to_plan(plan_renewal(snapshot, days, (), terms, resources))

    return await look_and_plan(target.connect(settings), progress, plan)


# --- The dry run of a sync: a check of the audience, then the plan by the present snapshot ---


async def dry_sync_async(
    source: AnySource, *, audience: str, settings: Settings, progress: Progress, **given: Any
) -> Plan:
    """Return the plan of `sync`, after the checks of a run; nothing is sent. Raises the errors of both."""
    check_settings(settings)
    audience_id = await audience_id_of(audience, settings)
    session = Target.audience(audience_id).connect(settings)
    plan = functools.partial(plan_sync, source, audience=audience_id, settings=settings, **given)
    return await look_and_plan(session, progress, lambda progress: plan(progress=progress))


# --- The dry run of an upload: pass one, and no pass two ---


async def plan_upload_async(
    target: Target,
    source: AnySource,
    *,
    settings: Settings | None = None,
    rejections: FilePath | None = None,
    progress: Progress | None = None,
    only_rejected: str | None = None,
    **keywords: Unpack[Keywords],
) -> Plan:
    """Return the plan of the run that `upload_to` would make. The target is checked; nothing is sent or stored.

    Raises the errors of `upload_to` from before its first request, but for those in the plan's `refusals`.
    """
    source, settings, progress = items_of(source), settings or load_settings(), progress_or_default(progress)
    given = RunOptions.of(settings=settings, progress=progress, only_rejected=only_rejected)
    options, plain = check_upload(given, source, keywords)
    run = RunArguments(source=source, target=target, keywords=plain, options=options)
    session = target.connect(settings)
    check_identifier(target.destination.words.noun, target.id)

    def plan_source(progress: Progress) -> Plan:
        terms = PlanTerms.of(keywords, settings, now=datetime.now(UTC), destination=target.destination)
        terms = replace(terms, members=known_members(target, settings))
        if options.only_rejected is None:
            return preview(source, terms, rejections=rejections, progress=progress)
        rejected = RejectedRun.of(run.facts(new_run_id(time.time()), datetime.now(UTC)), settings)
        with ExitStack() as stack:
            resources = PlanResources(stack=stack, progress=progress, rejections=rejections)
            return to_plan(plan_repaired(rejected, source, terms, resources)[0])

    return await look_and_plan(session, progress, plan_source)
