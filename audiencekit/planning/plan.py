"""The plan of one run: its requests, the counts of its records, and notes on both for people."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from audiencekit import __version__
from audiencekit.destinations.destination import Destination, RequestForm
from audiencekit.destinations.requests.packing import BatchesOfRecords, RequestRecords, UsersOf, pack_requests
from audiencekit.destinations.requests.request_plan import PlannedRequest
from audiencekit.destinations.target import Target
from audiencekit.errors import MappingRefused, PlanRefused, Refused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import FEW_PEOPLE
from audiencekit.packed_request import PackedRequest
from audiencekit.personal import HashedRecords, guarded
from audiencekit.planning.options import Options
from audiencekit.planning.plan_inputs import PlanTerms
from audiencekit.planning.reading import BatchResults, Origin, ReadSource
from audiencekit.planning.shared_values import SharedOutcome
from audiencekit.planning.suppression import ReadList, unmatched, warnings_of
from audiencekit.profile import Profile
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.chunks import PREPARED_FORMAT
from audiencekit.records.findings import find_causes
from audiencekit.records.losses import Loss, find_losses
from audiencekit.records.plan_times import PlanTimes, format_time
from audiencekit.records.record_bits import Bools, Indices
from audiencekit.records.refusal_bounds import NAME_COUNTRIES
from audiencekit.records.tally import MOST_CONSENTS, ColumnTally, Tally
from audiencekit.reporting.report import Plan, RowCounts, Verdict, combination_counts, identifier_counts
from audiencekit.selection.selection import Selection, SelectionLayout
from audiencekit.settings import Settings
from audiencekit.sources.manifest import NamedPart
from audiencekit.state.keys import find_state_key
from audiencekit.text import option

if TYPE_CHECKING:
    from audiencekit.snapshots.store import SnapshotStore


# --- The requests of a plan: the records of each, and their bodies, made from the sealed spool ---


@dataclass(slots=True, kw_only=True)
class PlannedRequests:
    """The requests, and the sealed spool from which their bodies are made. It is closed by the stack that opened it."""

    layout: SelectionLayout
    requests: list[PlannedRequest]
    batches: BatchesOfRecords
    profile: Profile
    form: RequestForm

    def chosen_records(self, batch: int) -> tuple[HashedRecords, Indices]:
        """Return one batch of the layout, and the places of its records that are sent. For any thread."""
        return self.batches.find(batch, np.flatnonzero(self.layout.sent(batch)))

    @property
    def users_of(self) -> UsersOf:
        """The encoded Updates and Deletes of each request. For any thread."""
        return RequestRecords(self.layout, self.batches, self.profile).users_of

    def packed(self, is_wanted: Callable[[int], bool]) -> Iterator[PackedRequest]:
        """Return the wanted requests, in order, with their bodies."""
        wanted = (request for request in self.requests if is_wanted(request.number))
        return pack_requests(wanted, self.users_of, self.form)


# --- The plan of one run: its requests, the counts of its records, and notes on both for people ---


@dataclass(slots=True, kw_only=True)
class PlannedRun(PlannedRequests):
    """The plan of one run, with its refusals."""

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
    rejected_before: int | None = None  # rows that the run rejected whose repaired rows are sent
    repair_notes: tuple[str, ...] = ()
    lost_kinds: tuple[Loss, ...] = ()  # of members, in a sync

    @property
    def mapping(self) -> ColumnMapping:
        """The mapping from columns to kinds."""
        return self.source.mapping

    @property
    def operation(self) -> str:
        """The operation on the rows, in words; the records of a prepared source have it themselves."""
        if self.mapping.operation is None or self.options.source.operation_column is not None:
            return self.options.operation
        done = {
            "update": any(each.updates for each in self.requests),
            "delete": any(each.deletes for each in self.requests),
        }
        return " and ".join(verb for verb, is_done in done.items() if is_done) or self.options.operation

    @property
    def records(self) -> int:
        """The number of records that the plan sends."""
        return self.selection.chosen.count()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the source and on the plan, for people."""
        return self.source.notes + self.plan_notes

    @property
    def warnings(self) -> tuple[Loss, ...]:
        """Losses that the owner of the source would want to hear of, the most values first."""
        losses = self.lost_kinds + find_losses(self.tally, self.mapping)
        _, apart = unmatched(self.suppression, self.tally, self.mapping, self.requests)
        return self.source.warnings + warnings_of(self.suppression) + apart + losses

    @property
    def plan_notes(self) -> tuple[str, ...]:
        """Notes to read before anything is sent: causes of lost matches, and effects that people may not expect."""
        updates, deletes = (sum(getattr(request, verb) for request in self.requests) for verb in ("updates", "deletes"))
        done = self.destination.notes(updates=updates, deletes=deletes, suppressing=self.options.suppresses)
        return self.repair_notes + self.suppression_notes + self.small_losses + self.few_notes + done

    @property
    def few_notes(self) -> tuple[str, ...]:
        """A note when the plan changes few people."""
        return few_note(self.people_changed, self.options, self.destination)

    @property
    def few_refusals(self) -> list[Refused]:
        """A refusal in place of this note, if the setting refuses small changes."""
        return refuse_few(self.people_changed, self.options, self.destination)

    @property
    def small_losses(self) -> tuple[str, ...]:
        """Notes on shared values, and on losses that an option would save, too few for a warning."""
        shared = () if self.shared is None else self.shared.notes
        return small_losses(self.tally, self.mapping, self.warnings) + shared

    @property
    def changes(self) -> dict[str, Any]:
        """The changes against an earlier state of the audience; empty for a plan that compares with none."""
        return {}

    def row_counts(self, *, sent: int = 0, refused: int = 0) -> RowCounts:
        """Return where every row is when `sent` records were confirmed and the service refused others one by one."""
        return RowCounts(
            read=self.tally.rows_read,
            sent=sent,
            rejected=self.tally.rows_rejected + refused,
            duplicate=self.selection.duplicates,
            superseded=self.selection.superseded,
            suppressed=self.selection.suppressed,
            unchanged=self.selection.unchanged,
            pending=self.records - sent - refused,
        )

    def fill_ratio(self) -> float | None:
        """The bytes of all bodies but the last, divided by their limit; None for one request, or without a limit."""
        full, most = [request.body_bytes for request in self.requests[:-1]], self.destination.max_body_bytes
        return sum(full) / (len(full) * most) if full and most else None

    def minutes(self) -> float | None:
        """The shortest time that the rate of the service allows; None without a rate."""
        rate = self.destination.requests_per_minute
        return len(self.requests) / rate if rate else None


# --- The members of an audience under sync, in its snapshot: they are checked before people are taken out ---

_HINT: Final = (
    "leave the column of these identifiers out (`ignore=`), or say `shared_values='keep'` to take out all who have one;"
    " other identifiers of the same people take out them alone"
)


def known_members(target: Target, settings: Settings) -> SnapshotStore | None:
    """Return the snapshot of the target; None if the target is not under sync from this state directory."""
    if not target.destination.can_sync:
        return None
    from audiencekit.snapshots.store import SnapshotStore

    account_id = settings.require_account()
    if target.id not in SnapshotStore.audiences(settings.state_dir, account_id):
        return None
    key = find_state_key(settings.state_dir, settings.key)
    return SnapshotStore(settings.state_dir, account_id, target.id, key)


def refuse_shared_by_members(gathered: BatchResults, selection: Selection, terms: PlanTerms) -> list[Refused]:
    """Return the refusal of Deletes by a value that more members share than the terms allow."""
    members, most = terms.members, terms.options.shared_people
    if members is None or most is None or not selection.deletes.count():
        return []
    from audiencekit.snapshots.shared_keys import refuse_shared

    try:
        refuse_shared(_taken_out(gathered, selection), most, members, hint=_HINT)
    except PlanRefused as refusal:
        return [refusal]
    return []


def _taken_out(gathered: BatchResults, selection: Selection) -> Iterator[HashedRecords]:
    """Yield the records to be taken out, batch by batch."""
    layout, start = SelectionLayout(selection, gathered.batch_records), 0
    for number, count in enumerate(gathered.batch_records):
        chosen = layout.sent(number) & selection.deletes.slice(start, start + count)
        start += count
        if chosen.any():
            yield _those(gathered.spool.unseal(number), chosen)


@guarded
def _those(records: HashedRecords, chosen: Bools) -> HashedRecords:
    return HashedRecords(records.unwrap().filter(pa.array(chosen)))


# --- The plan of a run as people and programs read it ---


def to_plan(planned: PlannedRun) -> Plan:
    """Return the document of the plan. It has counts of records only."""
    warnings = planned.warnings
    ready: Verdict = "ready_with_warnings" if warnings else "ready"
    verdict: Verdict = "refused" if planned.refusals else ready if planned.requests else "empty"
    return Plan(
        source=planned.source.description,
        sources=tuple(part.to_json() for part in planned.source.parts),
        column_uses=tuple(asdict(use) for use in planned.source.uses),
        columns=planned.mapping.names_by_kind(),
        rows=planned.row_counts(),
        identifiers=identifier_counts(planned.tally, planned.mapping),
        combinations=combination_counts(planned.tally),
        rejections=dict(planned.tally.reasons),
        requests=len(planned.requests),
        operations=sum(request.operations for request in planned.requests),
        records=planned.records,
        bytes=sum(request.body_bytes for request in planned.requests),
        minutes=planned.minutes(),
        fill_ratio=planned.fill_ratio(),
        plan_time=format_time(planned.times.plan_time),
        expires_at=format_time(planned.times.expires_at) if planned.times.expires_at else None,
        effective_at=format_time(planned.times.effective_at) if planned.times.effective_at else None,
        verdict=verdict,
        is_repeatable=planned.source.repeatable,
        refusals=tuple(planned.refusals),
        warnings=warnings,
        findings=find_causes(planned.tally, planned.mapping),
        notes=planned.notes,
        changes=planned.changes,
        suppression=tuple(asdict(each) for each in planned.suppression),
    )


def to_manifest(planned: PlannedRun, plan: Plan, records: NamedPart) -> dict[str, Any]:
    """Return the document `plan` with its file of `records` and the sizes of each request, as `prepare` writes it."""
    listed = [
        {
            "number": request.number,
            "wave": request.wave,
            "records": request.records,
            "operations": request.operations,
            "bytes": request.body_bytes,
        }
        for request in planned.requests
    ]
    written = {"format": PREPARED_FORMAT, "audiencekit": __version__, "parts": [records.to_json()]}
    return {**written, **plan.to_json(), "requests": listed}


# --- Notes on a plan, to read before it is sent ---


def few_note(people: int, options: Options, destination: Destination) -> tuple[str, ...]:
    """Return a note on a change of few people: the reach before and after it can tell about each of them."""
    if not 0 < people < FEW_PEOPLE:
        return ()
    return (of_few(people, destination) + (": allowed by `few_people=`" if options.few_people == "allow" else ""),)


def of_few(people: int, destination: Destination) -> str:
    """Return a sentence that a plan changes so few people."""
    return destination.words.few_people.format(people="1 person" if people == 1 else f"{people} people")


def small_losses(tally: Tally, mapping: ColumnMapping, warnings: Sequence[Loss]) -> tuple[str, ...]:
    """Return notes on numbers and rows that an option would save, and that are too few for one of the `warnings`."""
    warned = {loss.column for loss in warnings if loss.code == Reason.NO_COUNTRY}
    rows = () if any(loss.code == Reason.ENCODING for loss in warnings) else _lost_rows(tally)
    return _lost_numbers(tally, mapping, warned) + rows


def _lost_numbers(tally: Tally, mapping: ColumnMapping, warned: Container[str | None]) -> tuple[str, ...]:
    """Return notes on columns of phone numbers without a country, unless they are `warned` about."""
    found: list[str] = []
    for column in (column for column in mapping.columns if column.name not in warned):
        seen = tally.columns.get(column.key, ColumnTally())
        if count := seen.reasons["no_country"]:
            unnamed = column.country_remedy or "give `country=` or `country_column=`"
            causes = (
                (count - seen.unknown_countries, "without a country", unnamed),
                (seen.unknown_countries, "with an unknown country", NAME_COUNTRIES),
            )
            found += [
                f"{number:,} {'number' if number == 1 else 'numbers'} {why} in column {column.name}: {remedy}"
                for number, why, remedy in causes
                if number
            ]
    return tuple(found)


def _lost_rows(tally: Tally) -> tuple[str, ...]:
    """Return a note on rows that another encoding would save."""
    count = tally.of_rows("encoding")
    if not count:
        return ()
    rows = "1 row is" if count == 1 else f"{count:,} rows are"
    return (f"{rows} lost, with bytes that are not text in this encoding: give `encoding='cp1252'`, or another one",)


# --- Reasons not to send a plan, found when its source was read to the end ---


def ignored_operation(source: ReadSource, options: Options, *, is_revised: bool) -> list[Refused]:
    """Refuse a source that names an operation which the options ignore: a forgotten option must not put people in.

    `is_revised` is True for a sync.
    """
    if source.operation_hint is None or options.operation_was_given:
        return []
    name = source.operation_hint
    hint = f"give {option('operation_column', name)}, in which each cell is to be update or delete; or `operation=`"
    hint += " update or delete for every row"
    if is_revised:
        hint = "the source must hold the future members: write a file of their rows, without that column"
    what = f"column {name} says update, delete or the like for each row, and no option names it"
    return [MappingRefused(what, hint=hint)]


def unknown_consent(tally: Tally, mapping: ColumnMapping) -> tuple[str, ...]:
    """Return a note that no row has the VALUE of `consent_column`; none if a row has it, or no option names one."""
    if mapping.consent is None or not tally.rows_read or any(tally.consents.values()):
        return ()
    others = f"{len(tally.consents):,}" if len(tally.consents) < MOST_CONSENTS else f"at least {MOST_CONSENTS:,}"
    values = "value" if len(tally.consents) == 1 else "values"
    name = mapping.consent_name
    return (f"no row has the VALUE of `consent_column=` in column {name}, which has {others} other {values}",)


def no_records_left(selection: Selection, options: Options, consent: tuple[str, ...] = ()) -> list[Refused]:
    """Refuse a source if all its records are suppressed: this is probably a mistake. `consent`: `unknown_consent`."""
    if not selection.suppressed or selection.chosen.count() or options.bounds.allow_empty:
        return []
    causes = "`suppress=` and `consent_column=`" if options.suppresses else "who was erased by `forget`"
    hint = f"look at {causes}; give `allow_empty=True` if that is expected"
    if consent:
        hint = f"open the source, and give the word of those who agree as VALUE of `consent_column=`; or {hint}"
    why = "".join(f" ({note})" for note in consent)
    message = f"all of {selection.suppressed:,} records are suppressed: no record is left to send{why}"
    return [PlanRefused(message, hint=hint)]


def refuse_few(people: int, options: Options, destination: Destination) -> list[Refused]:
    """Refuse a change of few people, if the setting says so."""
    if options.few_people != "refuse" or not 0 < people < FEW_PEOPLE:
        return []
    hint = f"collect at least {FEW_PEOPLE} people for a run, or say `few_people='allow'`"
    return [PlanRefused(of_few(people, destination), hint=hint)]


def expired(requests: Iterable[PlannedRequest], times: PlanTimes, now: datetime) -> list[Refused]:
    """Refuse entries that have expired: they would add no one, and the sender would not notice."""
    if not times.is_over(now) or not any(request.updates for request in requests):
        return []
    message = f"the entries would have expired on {format_time(times.end)}: they would add no one"
    return [PlanRefused(message, hint="choose a later `expires_at=` or `plan_time=`, or leave them out")]


def refuse_losses(losses: Iterable[Loss]) -> list[Refused]:
    """Refusals in the place of warnings, for an owner who wants none."""
    again = "or leave out `fail_on_warnings=True`"
    return [
        PlanRefused(loss.message, hint=f"{loss.remedy or 'read the rejections (`rejections=FILE`)'}; {again}")
        for loss in losses
    ]
