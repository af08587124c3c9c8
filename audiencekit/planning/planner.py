"""Pass one: source -> text -> records -> plan. Everything is read and judged here; nothing is sent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from audiencekit.delivery.keptspool import KeptSpool
from audiencekit.delivery.spool import SealedFile, Spool
from audiencekit.errors import UsageError
from audiencekit.planning.gathering import Gathered, Listeners
from audiencekit.planning.keptreading import Keeping, KeptReading
from audiencekit.planning.options import Options
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.planning.reading import ReadBatch, read_batches
from audiencekit.planning.readsource import ReadSource
from audiencekit.planning.remarks import (
    nobody_left,
    refuse_options,
    refuse_other_kinds,
    unheeded_operation,
)
from audiencekit.planning.suppression import suppress_listed
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.chunks import RecordChunk
from audiencekit.preparation.judgement import judge
from audiencekit.preparation.keysets import KeySets
from audiencekit.preparation.plan import Packing
from audiencekit.preparation.selection import Selection
from audiencekit.preparation.suppression import KeyMemory
from audiencekit.preparation.tags import Tagger
from audiencekit.preparation.target import TargetKind
from audiencekit.preparation.times import PlanTimes, parse_time, pin_list_times, pin_times
from audiencekit.profile import Profile
from audiencekit.reporting.progress import Progress
from audiencekit.sources.files import AnySource, paths_among
from audiencekit.sources.opening import open_source

_NEIGHBOURS: Final = 4  # batches that stay unsealed: two requests often share one


# Chooses what is sent of what was gathered, in the place of what pass one chose.
Revise: TypeAlias = Callable[[Gathered, Selection, PlanTimes], Selection]


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
    records = stack.enter_context(Spool(directory)) if spool is None else spool
    return Gathered(records, aside, keysets, profile), notes


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
