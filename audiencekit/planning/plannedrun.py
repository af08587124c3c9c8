"""Pass one: source -> text -> records -> plan. Everything is read and judged here; nothing is sent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from audiencekit.delivery.keptspool import KeptSpool
from audiencekit.delivery.spool import SealedFile, Spool
from audiencekit.errors import Refused, UsageError
from audiencekit.limits import MAX_BODY_BYTES, PACED_REQUESTS_PER_MINUTE
from audiencekit.personal import HashedRecords
from audiencekit.planning.gathering import Gathered, Listeners
from audiencekit.planning.keptreading import Keeping, KeptReading
from audiencekit.planning.options import Options
from audiencekit.planning.reading import ReadBatch, read_batches
from audiencekit.planning.readsource import ReadSource
from audiencekit.planning.remarks import (
    lost_numbers,
    nobody_left,
    refuse_options,
    refuse_other_kinds,
    unheeded_operation,
    what_it_does,
)
from audiencekit.planning.suppression import suppress_listed
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.bits import Indices
from audiencekit.preparation.chunks import RecordChunk
from audiencekit.preparation.judgement import judge
from audiencekit.preparation.keysets import KeySets
from audiencekit.preparation.plan import Packing, PlannedRequest
from audiencekit.preparation.selection import Layout, Selection, Wave
from audiencekit.preparation.suppression import KeyMemory
from audiencekit.preparation.tags import Tagger
from audiencekit.preparation.tally import Tally
from audiencekit.preparation.target import TargetKind
from audiencekit.preparation.times import PlanTimes, format_time, parse_time, pin_list_times, pin_times
from audiencekit.preparation.users import EncodedUsers, encode_users
from audiencekit.profile import Profile
from audiencekit.reporting.counts import RowCounts, identifier_counts
from audiencekit.reporting.plan import Plan, Verdict
from audiencekit.reporting.progress import Progress
from audiencekit.sources.files import AnySource, paths_among
from audiencekit.sources.source import open_source
from audiencekit.sources.table import Description, Part

_NEIGHBOURS: Final = 4  # batches that stay unsealed: two requests often share one


# Chooses what is sent of what was gathered, in the place of what pass one chose.
Revise: TypeAlias = Callable[[Gathered, Selection, PlanTimes], Selection]


class Origin(Protocol):
    """What a plan says of where its records come from: a source, or what was kept of one."""

    @property
    def description(self) -> Description:
        """What it was found to be, for people."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know of it."""

    @property
    def parts(self) -> tuple[Part, ...]:
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
    layout: Layout
    requests: list[PlannedRequest]
    refusals: list[Refused]
    unsealed: Callable[[int], HashedRecords]  # the records of one batch, from the spool
    profile: Profile
    target: TargetKind
    suppression_notes: tuple[str, ...]

    @property
    def mapping(self) -> ColumnMapping:
        """Which columns carried what."""
        return self.source.mapping

    @property
    def operation(self) -> str:
        """What is done with the rows, in words; of a prepared source its records say it."""
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
        """What people should know of the source and of the plan, in words."""
        return self.source.notes + self.warnings

    @property
    def warnings(self) -> tuple[str, ...]:
        """What they should know before anything is sent: what costs matches, and what sending does not do."""
        updates, deletes = (sum(getattr(request, verb) for request in self.requests) for verb in ("updates", "deletes"))
        done = what_it_does(self.target, updates, deletes=deletes, suppressing=self.options.suppresses)
        return self.suppression_notes + lost_numbers(self.tally, self.mapping) + done

    @property
    def changes(self) -> dict[str, Any]:
        """What a plan that compares the source with what was sent before says of that; nothing for others."""
        return {}

    def kept_records(self) -> Iterator[tuple[HashedRecords, Indices]]:
        """The batches, in row order, and the places of the records that are sent."""
        for batch in self.layout.batches():
            yield self.unsealed(batch), np.flatnonzero(self.layout.kept(batch))

    def users_of(self, request: PlannedRequest) -> tuple[EncodedUsers, EncodedUsers]:
        """The encoded Updates and Deletes of one request, from the spool. May be called from any thread."""
        return (
            self._users((request.wave, False), request.first_update, request.updates),
            self._users((request.wave, True), request.first_delete, request.deletes),
        )

    def _users(self, wave: Wave, first: int, count: int) -> EncodedUsers:
        stretch = self.layout.stretch(wave, first, count)
        return EncodedUsers.joined(
            encode_users(self.unsealed(batch), places, self.profile) for batch, places in stretch
        )

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
        """Bytes of all bodies but the last over what they could hold; None for a single request."""
        full = [request.body_bytes for request in self.requests[:-1]]
        return sum(full) / (len(full) * MAX_BODY_BYTES) if full else None

    def to_plan(self) -> Plan:
        """The plan as people and programs read it."""
        verdict: Verdict = "refused" if self.refusals else "ready" if self.requests else "empty"
        return Plan(
            source=self.source.description,
            sources=tuple(part.to_json() for part in self.source.parts),
            columns=self.mapping.names_by_kind(),
            rows=self.row_counts(),
            identifiers=identifier_counts(self.tally, self.mapping),
            rejections=dict(self.tally.reasons),
            requests=len(self.requests),
            operations=sum(request.operations for request in self.requests),
            records=self.records,
            bytes=sum(request.body_bytes for request in self.requests),
            minutes=len(self.requests) / PACED_REQUESTS_PER_MINUTE,
            fill_ratio=self.fill_ratio(),
            plan_time=format_time(self.times.plan_time),
            expires_at=format_time(self.times.expires_at),
            effective_at=format_time(self.times.effective_at) if self.times.effective_at else None,
            verdict=verdict,
            is_repeatable=self.source.repeatable,
            refusals=tuple(self.refusals),
            notes=self.notes,
            changes=self.changes,
        )


def plan_run(
    source: AnySource,
    options: Options,
    *,
    profile: Profile,
    now: datetime,
    progress: Progress,
    stack: ExitStack,
    spool_dir: Path | None = None,
    rejections: str | os.PathLike[str] | None = None,
    on_batch: Callable[[ReadBatch], None] | None = None,
    on_suppressed: Callable[[RecordChunk], None] = lambda chunk: None,
    memories: Sequence[KeyMemory] = (),
    target: TargetKind = TargetKind.AUDIENCE,
    tagger: Tagger | None = None,
    revise: Revise | None = None,
    keep: KeptSpool | None = None,
) -> PlannedRun:
    """Read the source to its end and plan every request; what it opens is closed with `stack`.

    `on_batch` is called with every batch, in the order of the source, `on_suppressed` with the records of suppression
    sources. Nobody whose key one of `memories` holds is put into an audience. `revise` may choose others to be sent,
    and add records that are not of the source; `tagger` makes the tags that it compares. `keep`, an empty spool, holds
    all that `plan_kept` needs of the source when this returns. Raises SourceRefused for what cannot be read to the end;
    what was read but must not be sent stands in `refusals`.
    """
    times = _pinned(options, now, target)
    paths = tuple(os.fspath(path) for path in paths_among(source))
    refuse_options(options, paths, target)
    if rejections is not None and any(_is_same_file(path, rejections) for path in (*paths, *options.suppress)):
        raise UsageError("the rejections would be written over the source", hint="give them another name")
    opened = open_source(source, options.source)
    refuse_other_kinds(opened.mapping, target)
    gathered, suppression_notes = _begin(
        opened.mapping, options, profile, progress, stack, spool_dir, on_suppressed, memories, target,
        tagger=tagger, spool=keep,
    )  # fmt: skip
    keeping = None if keep is None else Keeping(keep, gathered.aside)
    with Listeners(rejections, on_batch) as listeners:
        for batch in read_batches(opened, options, profile, gathered.keysets, gathered.spool):
            gathered.add(batch)
            listeners.hear(batch)
            if keeping is not None:
                keeping.add(batch)
            progress.step("reading", opened.bytes_read, opened.bytes_total, unit="bytes")
    found = ReadSource.of(opened)
    if keeping is not None:
        keeping.finish(found)
    return _planned(found, gathered, options, times, profile, target, suppression_notes, memories, revise)


def plan_kept(
    spool: KeptSpool,
    options: Options,
    *,
    profile: Profile,
    now: datetime,
    progress: Progress,
    stack: ExitStack,
    spool_dir: Path,
    rejections: str | os.PathLike[str] | None,
    on_batch: Callable[[ReadBatch], None],
    on_suppressed: Callable[[RecordChunk], None] = lambda chunk: None,
    memories: Sequence[KeyMemory] = (),
    target: TargetKind = TargetKind.AUDIENCE,
) -> PlannedRun:
    """The plan that `plan_run` made when it kept `spool`, given the same options. The source is not touched.

    Suppression sources are: what they say is not kept.
    """
    reading = KeptReading(spool)
    gathered, suppression_notes = _begin(
        reading.source.mapping, options, profile, progress, stack, spool_dir, on_suppressed, memories, target,
        spool=spool,
    )  # fmt: skip
    with Listeners(rejections, on_batch) as listeners:
        for number, batch in enumerate(reading.batches(profile, gathered.keysets), 1):
            gathered.add(batch)
            listeners.hear(batch)
            progress.step("reading what was kept", number, reading.batch_count, unit="batches")
    times = _pinned(options, now, target)
    return _planned(reading.source, gathered, options, times, profile, target, suppression_notes, memories)


def _begin(
    mapping: ColumnMapping,
    options: Options,
    profile: Profile,
    progress: Progress,
    stack: ExitStack,
    spool_dir: Path | None,
    on_suppressed: Callable[[RecordChunk], None],
    memories: Sequence[KeyMemory],
    target: TargetKind,
    *,
    tagger: Tagger | None = None,
    spool: SealedFile | None = None,
) -> tuple[Gathered, tuple[str, ...]]:
    """Where the batches are gathered, with all who are suppressed read already, and what that has shown."""
    directory = spool_dir or Path(tempfile.gettempdir())
    aside = stack.enter_context(Spool(directory))
    keysets = KeySets(
        aside, mixed=mapping.operation is not None, suppressing=options.suppresses,
        memories=memories if target.is_audience else (), tagger=tagger,
    )  # fmt: skip
    notes = suppress_listed(options, keysets, progress, on_suppressed)
    if spool is None:  # one that is given is empty as yet, and false
        spool = stack.enter_context(Spool(directory))
    return Gathered(spool, aside, keysets, profile), notes


def _planned(
    source: ReadSource,
    gathered: Gathered,
    options: Options,
    times: PlanTimes,
    profile: Profile,
    target: TargetKind,
    suppression_notes: tuple[str, ...],
    memories: Sequence[KeyMemory],
    revise: Revise | None = None,
) -> PlannedRun:
    """The plan of all that was gathered."""
    selection = gathered.keysets.select()
    alone = nobody_left(selection, options)  # of those who were read, whoever of them is to be sent
    if revise is not None:
        selection = revise(gathered, selection, times)
    packing = Packing() if options.max_body_bytes is None else Packing(max_body_bytes=options.max_body_bytes)
    layout, requests = gathered.plan(selection, times, packing)
    refusals = [
        *unheeded_operation(source, options, is_revised=revise is not None),
        *judge(gathered.tally, source.mapping, options.bounds, notes=source.notes),
        *alone,
    ]
    return PlannedRun(
        source=source,
        options=options,
        times=times,
        tally=gathered.tally,
        selection=selection,
        layout=layout,
        requests=requests,
        refusals=refusals,
        unsealed=lru_cache(_NEIGHBOURS)(gathered.unsealed),
        profile=profile,
        target=target,
        suppression_notes=suppression_notes + tuple(memory.note for memory in memories if memory.note),
    )


def _pinned(options: Options, now: datetime, target: TargetKind) -> PlanTimes:
    plan_time = parse_time(options.plan_time, "--plan-time") if options.plan_time else now.astimezone(UTC)
    wishes = {"expires_at": options.expires_at, "effective_at": options.effective_at}
    if target.is_audience:
        return pin_times(plan_time, ttl_days=options.ttl_days, **wishes)
    return pin_list_times(plan_time, now, ttl_days=options.ttl_days, **wishes)


def _is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
