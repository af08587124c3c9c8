"""Pass one: source -> text -> records -> plan. Everything is read and judged here; nothing is sent."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

from audiencekit.machine.keptspool import KeptSpool
from audiencekit.planning.batchresults import Listeners
from audiencekit.planning.planassembly import Revise, assemble
from audiencekit.planning.planbeginning import begin_plan
from audiencekit.planning.planinputs import Means, Terms
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.planning.reading import read_batches
from audiencekit.planning.sharedvaluefilter import leave_out_shared_values
from audiencekit.planning.sourcefacts import ReadSource
from audiencekit.planning.spooledsource import Keeping, KeptReading
from audiencekit.planning.unfitoptions import refuse_options, refuse_other_kinds, refuse_written_over
from audiencekit.selection.tags import Tagger
from audiencekit.sources.files import AnySource, Item, paths_among
from audiencekit.sources.sourceopening import open_source

# Makes the plan of a source, as `plan_run` does.
Planner: TypeAlias = Callable[[tuple[Item, ...], Terms, Means], PlannedRun]


def plan_run(
    source: AnySource, terms: Terms, means: Means, *, tagger: Tagger | None = None, revise: Revise | None = None
) -> PlannedRun:
    """Read the source to its end and plan every request.

    `revise` may choose others to be sent, and add records that are not of the source; `tagger` makes the tags that it
    compares. Raises SourceRefused for what cannot be read to the end; what was read but must not be sent stands in
    `refusals`.
    """
    paths = tuple(os.fspath(path) for path in paths_among(source))
    refuse_options(terms.options, paths, terms.destination)
    refuse_written_over((*paths, *terms.options.suppress), means.rejections)
    opened = open_source(source, terms.options.source)
    refuse_other_kinds(opened.mapping, terms.destination)
    gathered, lists = begin_plan(opened.mapping, terms, means, spool=means.keep, tagger=tagger)
    keeping = None if means.keep is None else Keeping(means.keep, gathered.aside)
    with Listeners(means.rejections, means.on_records) as listeners:
        batches = read_batches(
            opened, terms.options, terms.form, gathered.keysets, gathered.spool,
            with_chunks=means.on_records is not None,
        )  # fmt: skip
        reading = means.reading(opened)
        for batch in batches:
            gathered.add(batch)
            listeners.hear(batch)
            if keeping is not None:
                keeping.add(batch)
            reading.step(gathered.tally.rows_read)
        found = ReadSource.of(opened)
        if keeping is not None:
            keeping.finish(found)
        shared = leave_out_shared_values(gathered, found.mapping, terms, listeners)
    return assemble(found, gathered, shared, terms, lists, revise=revise)


def plan_kept(spool: KeptSpool, terms: Terms, means: Means) -> PlannedRun:
    """The plan that `plan_run` made when it kept `spool`, given the same terms. The source is not touched.

    Suppression sources are: what they say is not kept.
    """
    reading = KeptReading(spool)
    gathered, lists = begin_plan(reading.source.mapping, terms, means, spool=spool)
    with Listeners(means.rejections, means.on_records) as listeners:
        batches = reading.batches(terms.form, gathered.keysets, with_chunks=means.on_records is not None)
        for number, batch in enumerate(batches, 1):
            gathered.add(batch)
            listeners.hear(batch)
            means.progress.step("reading what was kept", number, reading.batch_count, unit="batches")
        shared = leave_out_shared_values(gathered, reading.source.mapping, terms, listeners)
    return assemble(reading.source, gathered, shared, terms, lists)
