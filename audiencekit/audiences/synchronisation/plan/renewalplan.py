"""The planner of a renewal: members of the snapshot whose entry expires soon, to be put in once more."""

from __future__ import annotations

from collections.abc import Sequence

from audiencekit.audiences.synchronisation.plan.expiringmembers import Members, gather_expiring
from audiencekit.audiences.synchronisation.plan.guards import warn_of_pace
from audiencekit.audiences.synchronisation.plan.plannedsync import PlannedSync, SyncChanges
from audiencekit.audiences.synchronisation.plan.sentrecords import SentRecords
from audiencekit.audiences.synchronisation.plan.syncplanner import SnapshotOwner
from audiencekit.errors import PlanRefused, Refused
from audiencekit.machine.spool import Spool
from audiencekit.planning.plan_inputs import Means, Terms
from audiencekit.preparation.recordbits import Bits
from audiencekit.selection.selection import Selection
from audiencekit.snapshots.files import Snapshot
from audiencekit.snapshots.members import day_of
from audiencekit.sources.files import Item


def plan_renewal(
    owner: SnapshotOwner,
    before_days: int,
    source: Sequence[Item],
    terms: Terms,
    means: Means,
) -> PlannedSync:
    """The plan of a renewal; there is no source. Raises SnapshotRefused."""
    now, times = terms.now, terms.times
    snapshot, notes = owner.open()
    # No entry is to expire earlier than before.
    last = min(day_of(now) + before_days, day_of(times.end) - 1)
    gathered, suppressed = gather_expiring(snapshot, range(day_of(now) - 1, last + 1), terms, means)
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
        source=Members({"snapshot": snapshot.facts.serial}),
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


def _refusals(snapshot: Snapshot) -> list[Refused]:
    if snapshot.facts.serial:
        return []
    hint = "only `audiencekit sync` keeps what can be renewed; after an upload, upload the source again"
    return [PlanRefused("the audience is not under sync", hint=hint)]
