"""Pass one: source -> text -> records -> plan. Everything is read and judged here; nothing is sent."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from audiencekit.delivery.keptspool import KeptSpool
from audiencekit.delivery.spool import SealedFile, Spool
from audiencekit.errors import MappingRefused, Refused, UsageError
from audiencekit.limits import MAX_BODY_BYTES, MIN_TARGETABLE_PEOPLE, PACED_REQUESTS_PER_MINUTE
from audiencekit.personal import HashedRecords
from audiencekit.planning.gathering import Gathered, Listeners
from audiencekit.planning.keptreading import Keeping, KeptReading
from audiencekit.planning.options import Options
from audiencekit.planning.reading import read_batches, unseal
from audiencekit.planning.readsource import ReadSource
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.bits import Indices
from audiencekit.preparation.chunks import RecordChunk
from audiencekit.preparation.judgement import judge
from audiencekit.preparation.keysets import KeySets
from audiencekit.preparation.plan import Packing, PlannedRequest, Sizes, plan_requests
from audiencekit.preparation.selection import Layout, Selection, Wave
from audiencekit.preparation.tally import Tally
from audiencekit.preparation.times import PlanTimes, format_time, parse_time, pin_times
from audiencekit.preparation.users import EncodedUsers, encode_users
from audiencekit.profile import Profile
from audiencekit.reporting.counts import RowCounts, identifier_counts
from audiencekit.reporting.plan import Plan, Verdict
from audiencekit.reporting.progress import Progress
from audiencekit.sources.files import FilePath, paths_of
from audiencekit.sources.source import open_source

_NEIGHBOURS: Final = 4  # batches that stay unsealed: two requests often share one


@dataclass(slots=True, kw_only=True)
class PlannedRun:
    """The plan of one run, and the sealed spool that its bodies are made from. Close it with the stack it came from."""

    source: ReadSource
    options: Options
    times: PlanTimes
    tally: Tally
    selection: Selection
    layout: Layout
    requests: list[PlannedRequest]
    refusals: list[Refused]
    unsealed: Callable[[int], HashedRecords]  # the records of one batch, from the spool
    profile: Profile

    @property
    def mapping(self) -> ColumnMapping:
        """Which columns carried what."""
        return self.source.mapping

    @property
    def records(self) -> int:
        """Records that the plan sends."""
        return self.selection.kept.count()

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know of the source and of the plan, in words."""
        updates = sum(request.updates for request in self.requests)
        return self.source.notes + warnings(self.tally, self.mapping, updates=updates)

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
        )


def plan_run(
    source: FilePath | Sequence[FilePath],
    options: Options,
    *,
    profile: Profile,
    now: datetime,
    progress: Progress,
    stack: ExitStack,
    spool_dir: Path | None = None,
    rejections: str | os.PathLike[str] | None = None,
    on_records: Callable[[RecordChunk], None] | None = None,
    keep: KeptSpool | None = None,
) -> PlannedRun:
    """Read the source to its end and plan every request; what it opens is closed with `stack`.

    `on_records` is called with the records of every batch, in the order of the source. `keep`, an empty spool, holds
    all that `plan_kept` needs when this returns. Raises SourceRefused for what cannot be read to the end; what was
    read but must not be sent stands in `refusals`.
    """
    times = _pinned(options, now)
    if rejections is not None and any(_is_same_file(path, rejections) for path in paths_of(source)):
        raise UsageError("the rejections would be written over the source", hint="give them another name")
    opened = open_source(source, options.source)
    directory = spool_dir or Path(tempfile.gettempdir())
    aside = stack.enter_context(Spool(directory))
    spool = stack.enter_context(Spool(directory)) if keep is None else keep
    keysets = KeySets(aside, mixed=opened.mapping.operation is not None)
    keeping = None if keep is None else Keeping(keep, aside)
    gathered = Gathered(aside, keysets)
    with Listeners(rejections, on_records) as listeners:
        for batch in read_batches(opened, options, profile, keysets, spool):
            gathered.add(batch)
            listeners.hear(batch)
            if keeping is not None:
                keeping.add(batch)
            progress.step("reading", opened.bytes_read, opened.bytes_total, unit="bytes")
    found = ReadSource.of(opened)
    if keeping is not None:
        keeping.finish(found)
    return _planned(found, gathered, spool, options, times, profile)


def plan_kept(
    spool: KeptSpool,
    options: Options,
    *,
    profile: Profile,
    now: datetime,
    progress: Progress,
    stack: ExitStack,
    spool_dir: Path,
    rejections: str | os.PathLike[str],
    on_records: Callable[[RecordChunk], None],
) -> PlannedRun:
    """The plan that `plan_run` made when it kept `spool`, given the same options. The source is not touched."""
    reading = KeptReading(spool)
    aside = stack.enter_context(Spool(spool_dir))
    keysets = KeySets(aside, mixed=reading.source.mapping.operation is not None)
    gathered = Gathered(aside, keysets)
    with Listeners(rejections, on_records) as listeners:
        for number, batch in enumerate(reading.batches(profile, keysets), 1):
            gathered.add(batch)
            listeners.hear(batch)
            progress.step("reading what was kept", number, reading.batch_count, unit="batches")
    return _planned(reading.source, gathered, spool, options, _pinned(options, now), profile)


def _pinned(options: Options, now: datetime) -> PlanTimes:
    return pin_times(
        parse_time(options.plan_time, "--plan-time") if options.plan_time else now.astimezone(UTC),
        expires_at=options.expires_at,
        ttl_days=options.ttl_days,
        effective_at=options.effective_at,
    )


def _planned(
    source: ReadSource, gathered: Gathered, spool: SealedFile, options: Options, times: PlanTimes, profile: Profile
) -> PlannedRun:
    """The plan of all that was gathered; the records are in `spool`."""
    selection = gathered.keysets.select()
    layout = Layout(selection, gathered.batch_records)

    def sizes_of(wave: int, deletes: bool) -> Iterator[Sizes]:
        for number, chosen in layout.of_wave((wave, deletes)):
            yield gathered.sizes(number)[chosen]

    packing = Packing() if options.max_body_bytes is None else Packing(max_body_bytes=options.max_body_bytes)
    requests = plan_requests(selection.waves(), sizes_of, times=times, packing=packing)
    refusals = _unheeded_operation(source, options) + judge(
        gathered.tally, source.mapping, options.bounds, notes=source.notes
    )
    return PlannedRun(
        source=source,
        options=options,
        times=times,
        tally=gathered.tally,
        selection=selection,
        layout=layout,
        requests=requests,
        refusals=refusals,
        unsealed=lru_cache(_NEIGHBOURS)(lambda batch: unseal(batch, spool)),
        profile=profile,
    )


def _is_same_file(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _unheeded_operation(source: ReadSource, options: Options) -> list[Refused]:
    """People who are to be taken out must not be put in because an option was forgotten."""
    if source.operation_hint is None or options.operation_was_given:
        return []
    name = source.operation_hint
    hint = f"give --operation-column {name}, or --operation update or delete for every row"
    return [MappingRefused(f"column {name} says update or delete for each row, and no option names it", hint=hint)]


def warnings(tally: Tally, mapping: ColumnMapping, *, updates: int) -> tuple[str, ...]:
    """What costs matches or keeps the audience from being targeted although it refuses nothing, in words.

    `updates` are the records that the plan puts in.
    """
    found = []
    for column in mapping.columns:
        seen = tally.columns.get(column.position)
        reasons: Counter[str] = seen.reasons if seen else Counter()
        if reasons["no_country"]:
            count = reasons["no_country"]
            what = "number" if count == 1 else "numbers"
            found.append(
                f"{count:,} {what} without a country in column {column.name}: give --country or --country-column"
            )
    if 0 < updates < MIN_TARGETABLE_PEOPLE:
        records = "1 record is" if updates == 1 else f"{updates} records are"
        found.append(
            f"{records} put in: the service must know {MIN_TARGETABLE_PEOPLE} people of an audience before it can be"
            " targeted, so these alone are too few"
        )
    return tuple(found)
