"""`renew`: put in again, from the snapshot, the members of an audience whose entry expires soon."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np

from audiencekit.api.opening import open_client
from audiencekit.audiences.synchronisation.plan.guards import warn_of_pace
from audiencekit.audiences.synchronisation.plan.plannedsync import PlannedSync, SyncChanges
from audiencekit.audiences.synchronisation.plan.removals import as_records
from audiencekit.audiences.synchronisation.plan.sentrecords import SentRecords
from audiencekit.audiences.synchronisation.session import Session
from audiencekit.delivery.clock import SystemClock
from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.destinations.target import Target
from audiencekit.durations import parse_duration
from audiencekit.errors import PlanRefused, Refused
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import RENEW_BEFORE_DAYS
from audiencekit.machine.eventloop import blocking
from audiencekit.machine.spool import Spool
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.batchresults import Gathered
from audiencekit.planning.options import Keywords, Time, plain_keywords
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.bits import Bits, Bools
from audiencekit.reporting.progress import Progress, heard_by
from audiencekit.reporting.report import Report
from audiencekit.runs.arguments import RunArguments
from audiencekit.runs.beginning import start_run
from audiencekit.runs.journal.facts import RENEW
from audiencekit.selection.keysets import KeySets
from audiencekit.selection.selection import Selection
from audiencekit.selection.suppression import KeyMemory, held_keys
from audiencekit.settings import Settings, load_settings
from audiencekit.snapshots.members import chosen, day_of, days_of
from audiencekit.snapshots.partsfile import PARTS
from audiencekit.snapshots.snapshot import Snapshot
from audiencekit.sources.files import Item
from audiencekit.sources.table import Description, Part

_NO_COLUMNS: Final = ColumnMapping(columns=())
DEFAULT_BEFORE: Final = f"{RENEW_BEFORE_DAYS}d"


async def renew_async(
    *,
    audience_id: str,
    before: str = DEFAULT_BEFORE,
    expires_at: Time | None = None,
    ttl_days: int | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
) -> Report:
    """Extend the entries of an audience under sync that expire within `before`, such as 30d; the report of the run.

    The rows of the report are the members of the snapshot. Raises the errors of `sync_async`, and PlanRefused for an
    audience that is not under sync.
    """
    settings, progress = settings or load_settings(), heard_by(progress)
    days = math.ceil(parse_duration(before, "`before=`") / timedelta(days=1))
    target = Target.audience(audience_id)
    keywords = plain_keywords(Keywords(expires_at=expires_at, ttl_days=ttl_days))
    client = open_client(settings)
    with ExitStack() as stack:
        async with open_limiter(settings, target.destination.quota, clock=SystemClock(), given=limiter) as pace:
            arguments = RunArguments(source=None, target=target, keywords=keywords, operation=RENEW)
            run = start_run(arguments, settings, stack)
            session = Session(settings, audience_id, stack, progress=progress)
            planner = functools.partial(plan_renewal, session, days)
            return await session.carry_out(run, planner, client, pace)


renew = blocking(renew_async)


@dataclass(frozen=True, slots=True)
class _Members:
    """Where the records of a renewal come from."""

    description: Description
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    mapping: ColumnMapping = _NO_COLUMNS
    repeatable: bool = True


def plan_renewal(
    session: Session,
    before_days: int,
    source: Sequence[Item],
    terms: Terms,
    means: Means,
) -> PlannedSync:
    """The plan of a renewal; there is no source. Raises SnapshotRefused."""
    now, times = terms.now, terms.times
    snapshot, notes = session.open()
    spool, aside = (means.stack.enter_context(Spool(means.spool_dir)) for _ in range(2))
    gathered = Gathered(spool, aside, KeySets(aside, mixed=False), terms.form)
    suppressed = 0
    # No entry is to expire earlier than before.
    last = min(day_of(now) + before_days, day_of(times.end) - 1)
    for part in range(PARTS):
        suppressed += _gather(gathered, snapshot, part, range(day_of(now) - 1, last + 1), terms.memories)
        means.progress.step("reading", part + 1, PARTS, unit="parts of the snapshot")
    records = gathered.tally.records
    sent = SentRecords(gathered.spool.unseal, means.stack.enter_context(Spool(means.spool_dir)))
    selection = Selection(Bits.of(records, True), Bits.of(records, False), suppressed=suppressed)
    layout, requests = gathered.plan(selection)
    members = gathered.tally.rows_read
    changes = SyncChanges(
        renewals=records,
        unchanged=members - suppressed - records,
        members=members,
        members_after=members - suppressed,
        waves=[records],
    )
    refusals = _refusals(snapshot)
    # Of an audience that is not under sync the refusal says all there is to say: it does not come under sync by this.
    told = warn_of_pace(snapshot.facts, now.timestamp(), additions=True, removals=False)
    if not records:
        told = (f"no entry expires within {before_days} days and earlier than a new one would: nothing is sent",)
    return PlannedSync(
        source=_Members({"snapshot": snapshot.facts.serial}),
        options=terms.options,
        times=times,
        tally=gathered.tally,
        selection=selection,
        layout=layout,
        requests=requests,
        refusals=refusals,
        batches=sent,
        profile=terms.profile,
        destination=terms.destination,
        form=terms.form,
        suppression_notes=tuple(memory.note for memory in terms.memories if memory.note),
        sync=changes,
        remarks=() if refusals else notes + told,
        whole_records=sent.at,
    )


def _gather(gathered: Gathered, snapshot: Snapshot, part: int, lapsing: range, memories: Sequence[KeyMemory]) -> int:
    """Take in the members of one part: all are counted, those who are `lapsing` on these days are to be sent.

    But for those with a key that one of `memories` holds; how many these are comes back.
    """
    members = snapshot.members(part)
    days = days_of(members)
    gathered.tally.rows_read += int((days >= lapsing.start).sum())
    places = np.flatnonzero((days >= lapsing.start) & (days < lapsing.stop))
    held = _are_held(chosen(members, places), memories)
    places = places[~held]
    if len(places):
        records = as_records(chosen(members, places), first_row=gathered.tally.records + 1, deletes=False)
        gathered.tally.records += len(places)
        gathered.append(records)
    return int(held.sum())


@guarded
def _are_held(members: HashedRecords, memories: Sequence[KeyMemory]) -> Bools:
    """Of each of `members`, whether one of `memories` holds a key of it."""
    batch = members.unwrap()
    owners = [batch.column(kind.value).value_parent_indices().to_numpy() for kind in Kind]
    held = np.zeros(batch.num_rows, dtype=bool)
    held[np.concatenate(owners)[held_keys(batch, memories)]] = True
    return held


def _refusals(snapshot: Snapshot) -> list[Refused]:
    if snapshot.facts.serial:
        return []
    hint = "only `audiencekit sync` keeps what can be renewed; after an upload, upload the source again"
    return [PlanRefused("the audience is not under sync", hint=hint)]
