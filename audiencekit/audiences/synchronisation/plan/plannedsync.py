"""The plan of a sync: what differs from the snapshot, with the counts of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from audiencekit.planning.plan import PlannedRun
from audiencekit.reporting.report import RowCounts, rows_among
from audiencekit.snapshots.changes import RecordsOf


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncChanges:
    """The changes of a sync, in records. `returned` are taken out together with other people, and put back.

    `members` are those before, `members_after` those after it. `waves` counts the records of each wave: those put in,
    those taken out, those put back, and so on.
    """

    additions: int = 0
    renewals: int = 0
    removals: int = 0
    returned: int = 0
    unchanged: int = 0
    members: int = 0
    members_after: int = 0
    waves: list[int] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class PlannedSync(PlannedRun):
    """The plan of a sync.

    Its `batches` have the records of the bodies; `whole_records` gives them with all their keys, to be noted.
    """

    sync: SyncChanges
    remarks: tuple[str, ...]
    whole_records: RecordsOf

    @property
    def changes(self) -> dict[str, Any]:
        """The differences from the snapshot."""
        return asdict(self.sync)

    @property
    def plan_notes(self) -> tuple[str, ...]:
        """Notes to read before anything is sent."""
        return self.suppression_notes + self.small_losses + self.few_notes + self.remarks

    def row_counts(self, *, sent: int = 0, refused: int = 0) -> RowCounts:
        """Where every row is; of the records that are done, those that are taken out are no rows."""
        put_in = sum(self.sync.waves[::2])
        done = rows_among(self.sync.waves, sent + refused)
        return RowCounts(
            read=self.tally.rows_read,
            sent=done - refused,
            rejected=self.tally.rows_rejected + refused,
            duplicate=self.selection.duplicates,
            superseded=self.selection.superseded,
            suppressed=self.selection.suppressed,
            unchanged=self.sync.members_after - put_in,
            pending=put_in - done,
        )
