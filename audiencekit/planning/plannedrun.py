"""The plan of one run: what is sent, from which records, and what people are told of it before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from audiencekit.destinations.destination import Destination, RequestForm
from audiencekit.destinations.requests.packing import BatchesOfRecords, RequestRecords, UsersOf, pack_requests
from audiencekit.destinations.requests.requestplan import PlannedRequest
from audiencekit.errors import Refused
from audiencekit.identifiers.reasons import Reason
from audiencekit.packedrequest import PackedRequest
from audiencekit.personal import HashedRecords
from audiencekit.planning.options import Options
from audiencekit.planning.plannotes import few_note, lost_numbers, lost_rows, refuse_few
from audiencekit.planning.sharedoutcome import SharedOutcome
from audiencekit.planning.suppression import ReadList
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.bits import Indices
from audiencekit.preparation.findings import find_causes
from audiencekit.preparation.losses import Loss, find_losses
from audiencekit.preparation.tally import Tally
from audiencekit.preparation.times import PlanTimes, format_time
from audiencekit.profile import Profile
from audiencekit.reporting.counts import RowCounts, combination_counts, identifier_counts
from audiencekit.reporting.plan import Plan, Verdict
from audiencekit.selection.selection import Selection, SelectionLayout
from audiencekit.sources.table import Description, SourcePart


class Origin(Protocol):
    """The origin of the records of a plan: a source, or the spool that was kept of one."""

    @property
    def description(self) -> Description:
        """Its format and size, for people."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on it, for people."""

    @property
    def parts(self) -> tuple[SourcePart, ...]:
        """Its files."""

    @property
    def mapping(self) -> ColumnMapping:
        """Which columns carry what."""

    @property
    def repeatable(self) -> bool:
        """Whether all of it can be read again."""


@dataclass(slots=True, kw_only=True)
class PlannedRun:
    """The plan of one run, and the sealed spool that its bodies are made from. Close it with the stack it came from."""

    source: Origin
    options: Options
    times: PlanTimes
    tally: Tally
    selection: Selection
    layout: SelectionLayout
    requests: list[PlannedRequest]
    refusals: list[Refused]
    batches: BatchesOfRecords
    profile: Profile
    destination: Destination
    form: RequestForm
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
        return self.selection.kept.count()

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
        warned = {loss.column for loss in self.warnings if loss.code == Reason.NO_COUNTRY}
        shared = () if self.shared is None else self.shared.notes
        rows = () if any(loss.code == Reason.ENCODING for loss in self.warnings) else lost_rows(self.tally)
        return lost_numbers(self.tally, self.mapping, warned) + rows + shared

    @property
    def changes(self) -> dict[str, Any]:
        """The changes against an earlier state of the audience; empty for a plan that compares with none."""
        return {}

    def kept_records(self, batch: int) -> tuple[HashedRecords, Indices]:
        """One batch of the layout, and the places of the records that are sent. May be called from any thread."""
        return self.batches.find(batch, np.flatnonzero(self.layout.kept(batch)))

    @property
    def users_of(self) -> UsersOf:
        """The encoded Updates and Deletes of each request. To be called from any thread."""
        return RequestRecords(self.layout, self.batches, self.profile).users_of

    def packed(self, is_wanted: Callable[[int], bool]) -> Iterator[PackedRequest]:
        """The requests whose number is wanted, in order, with their bodies."""
        wanted = (request for request in self.requests if is_wanted(request.number))
        return pack_requests(wanted, self.users_of, self.form)

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

    def to_plan(self) -> Plan:
        """The plan as people and programs read it."""
        warnings = self.warnings
        ready: Verdict = "ready_with_warnings" if warnings else "ready"
        verdict: Verdict = "refused" if self.refusals else ready if self.requests else "empty"
        return Plan(
            source=self.source.description,
            sources=tuple(part.to_json() for part in self.source.parts),
            columns=self.mapping.names_by_kind(),
            rows=self.row_counts(),
            identifiers=identifier_counts(self.tally, self.mapping),
            combinations=combination_counts(self.tally),
            rejections=dict(self.tally.reasons),
            requests=len(self.requests),
            operations=sum(request.operations for request in self.requests),
            records=self.records,
            bytes=sum(request.body_bytes for request in self.requests),
            minutes=self.minutes(),
            fill_ratio=self.fill_ratio(),
            plan_time=format_time(self.times.plan_time),
            expires_at=format_time(self.times.expires_at) if self.times.expires_at else None,
            effective_at=format_time(self.times.effective_at) if self.times.effective_at else None,
            verdict=verdict,
            is_repeatable=self.source.repeatable,
            refusals=tuple(self.refusals),
            warnings=warnings,
            findings=find_causes(self.tally, self.mapping),
            notes=self.notes,
            changes=self.changes,
            suppression=tuple(asdict(each) for each in self.suppression),
        )
