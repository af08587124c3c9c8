"""The plan of one run: its requests, the counts of its records, and notes on both for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audiencekit.destinations.destination import Destination
from audiencekit.errors import Refused
from audiencekit.planning.options import Options
from audiencekit.planning.plannedrequests import PlannedRequests
from audiencekit.planning.plannotes import few_note, small_losses
from audiencekit.planning.planrefusals import refuse_few
from audiencekit.planning.sharedoutcome import SharedOutcome
from audiencekit.planning.sourcefacts import Origin
from audiencekit.planning.suppression import ReadList
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.losses import Loss, find_losses
from audiencekit.preparation.plantimes import PlanTimes
from audiencekit.preparation.tally import Tally
from audiencekit.reporting.counts import RowCounts
from audiencekit.selection.selection import Selection


@dataclass(slots=True, kw_only=True)
class PlannedRun(PlannedRequests):
    """The plan of one run, as it was judged."""

    source: Origin
    options: Options
    times: PlanTimes
    tally: Tally
    selection: Selection
    refusals: list[Refused]
    destination: Destination
    suppression_notes: tuple[str, ...]
    suppression: tuple[ReadList, ...] = ()
    shared: SharedOutcome | None = None
    people_changed: int = 0  # who are put into an audience or taken out

    @property
    def mapping(self) -> ColumnMapping:
        """Which columns carried what."""
        return self.source.mapping

    @property
    def operation(self) -> str:
        """The operation on the rows, in words; the records of a prepared source say it themselves."""
        if self.mapping.operation is None or self.options.source.operation_column is not None:
            return self.options.operation
        done = {
            "update": any(each.updates for each in self.requests),
            "delete": any(each.deletes for each in self.requests),
        }
        return " and ".join(verb for verb, is_done in done.items() if is_done) or self.options.operation

    @property
    def records(self) -> int:
        """Records that the plan sends."""
        return self.selection.chosen.count()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the source and on the plan, for people."""
        return self.source.notes + self.plan_notes

    @property
    def warnings(self) -> tuple[Loss, ...]:
        """Losses that the owner of the source would want to hear of, the most values first."""
        return find_losses(self.tally, self.mapping)

    @property
    def plan_notes(self) -> tuple[str, ...]:
        """Notes to read before anything is sent: causes of lost matches, and effects that sending does not have."""
        updates, deletes = (sum(getattr(request, verb) for request in self.requests) for verb in ("updates", "deletes"))
        done = self.destination.notes(updates=updates, deletes=deletes, suppressing=self.options.suppresses)
        return self.suppression_notes + self.small_losses + self.few_notes + done

    @property
    def few_notes(self) -> tuple[str, ...]:
        """A note when the plan changes few people."""
        return few_note(self.people_changed, self.options, self.destination)

    @property
    def few_refusals(self) -> list[Refused]:
        """A refusal in its place, for an owner who wants none."""
        return refuse_few(self.people_changed, self.options, self.destination)

    @property
    def small_losses(self) -> tuple[str, ...]:
        """Notes on numbers and rows that an option would save, too few for a warning; and on shared values."""
        shared = () if self.shared is None else self.shared.notes
        return small_losses(self.tally, self.mapping, self.warnings) + shared

    @property
    def changes(self) -> dict[str, Any]:
        """The changes against an earlier state of the audience; empty for a plan that compares with none."""
        return {}

    def row_counts(self, *, sent: int = 0, refused: int = 0) -> RowCounts:
        """Where every row is when `sent` records were confirmed and the service refused others one by one."""
        return RowCounts(
            read=self.tally.rows_read,
            sent=sent,
            rejected=self.tally.rows_rejected + refused,
            duplicate=self.selection.duplicates,
            superseded=self.selection.superseded,
            suppressed=self.selection.suppressed,
            pending=self.records - sent - refused,
        )

    def fill_ratio(self) -> float | None:
        """Bytes of all bodies but the last over what they could hold; None for one request, and without a limit."""
        full, most = [request.body_bytes for request in self.requests[:-1]], self.destination.max_body_bytes
        return sum(full) / (len(full) * most) if full and most else None

    def minutes(self) -> float | None:
        """The shortest time that the rate of the service allows; None where it has none."""
        rate = self.destination.requests_per_minute
        return len(self.requests) / rate if rate else None
