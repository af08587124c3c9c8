"""The members of an audience under sync, which its snapshot knows: they are asked before people are taken out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from audiencekit.destinations.target import Target
from audiencekit.errors import PlanRefused, Refused
from audiencekit.machine.keys import find_state_key
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.batchresults import BatchResults
from audiencekit.planning.planinputs import Terms
from audiencekit.preparation.recordbits import Bools
from audiencekit.selection.selection import Selection, SelectionLayout
from audiencekit.settings import Settings

if TYPE_CHECKING:  # hardly any run has members to ask
    from audiencekit.snapshots.store import SnapshotStore

_HINT: Final = (
    "leave the column of these identifiers out (`ignore=`), or say `shared_values='keep'` to take out all who have one;"
    " other identifiers of the same people take out them alone"
)


def known_members(target: Target, settings: Settings) -> SnapshotStore | None:
    """The snapshot of the target; None for one that is not under sync from this state directory."""
    if not target.destination.can_sync:
        return None
    from audiencekit.snapshots.store import SnapshotStore

    account_id = settings.require_account()
    if target.id not in SnapshotStore.audiences(settings.state_dir, account_id):
        return None
    key = find_state_key(settings.state_dir, settings.key)
    return SnapshotStore(settings.state_dir, account_id, target.id, key)


def refuse_shared_by_members(gathered: BatchResults, selection: Selection, terms: Terms) -> list[Refused]:
    """The refusal of Deletes by a value that more members share than the terms allow."""
    members, most = terms.members, terms.options.shared_people
    if members is None or most is None or not selection.deletes.count():
        return []
    from audiencekit.snapshots.sharedkeys import refuse_shared

    try:
        refuse_shared(_taken_out(gathered, selection), most, members, hint=_HINT)
    except PlanRefused as refusal:
        return [refusal]
    return []


def _taken_out(gathered: BatchResults, selection: Selection) -> Iterator[HashedRecords]:
    """The records that are to be taken out, batch by batch."""
    layout, start = SelectionLayout(selection, gathered.batch_records), 0
    for number, count in enumerate(gathered.batch_records):
        chosen = layout.sent(number) & selection.deletes.slice(start, start + count)
        start += count
        if chosen.any():
            yield _those(gathered.spool.unseal(number), chosen)


@guarded
def _those(records: HashedRecords, chosen: Bools) -> HashedRecords:
    return HashedRecords(records.unwrap().filter(pa.array(chosen)))
