"""Pass one, from options to a plan: it is begun, read, and requests are made of all that was gathered."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TypeAlias

from audiencekit.planning.options import refuse_options, refuse_other_kinds, refuse_written_over
from audiencekit.planning.plan import (
    PlannedRun,
    expired,
    no_records_left,
    refuse_few,
    refuse_losses,
    refuse_shared_by_members,
    to_plan,
    unheeded_operation,
)
from audiencekit.planning.plan_inputs import Means, Terms
from audiencekit.planning.reading import (
    BatchResults,
    Keeping,
    KeptReading,
    Listeners,
    ReadSource,
    WholeBatches,
    read_batches,
)
from audiencekit.planning.shared_values import SharedOutcome, leave_out_shared_values
from audiencekit.planning.suppression import ReadList, SuppressedPeople, notes_of, read_lists
from audiencekit.process.memory import give_back
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.chunks import RecordChunk
from audiencekit.records.losses import find_losses
from audiencekit.records.plan_times import PlanTimes
from audiencekit.records.refusal_bounds import judge
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Plan
from audiencekit.selection.key_sets import KeySets
from audiencekit.selection.selection import Selection
from audiencekit.selection.shared_values import SharedValueSearch
from audiencekit.selection.tags import Tagger
from audiencekit.sources.files import AnySource, FilePath, Item, paths_among
from audiencekit.sources.source import open_source
from audiencekit.state.spool import KeptSpool, SealedFile, Spool

# --- The end of pass one: requests are made of all that was gathered, and reasons not to send them are found ---

# Chooses what is sent of what was gathered, in the place of what pass one chose.
Revise: TypeAlias = Callable[[BatchResults, Selection, PlanTimes], Selection]


def assemble(
    source: ReadSource,
    gathered: BatchResults,
    shared: SharedOutcome | None,
    terms: Terms,
    lists: tuple[ReadList, ...],
    *,
    revise: Revise | None = None,
) -> PlannedRun:
    """The plan of all that was gathered, the `shared` values left out of it."""
    options, times = terms.options, terms.times
    selection = gathered.keysets.select()
    alone = no_records_left(selection, options)  # of all that were read, not only of those to be sent
    if revise is not None:
        selection = revise(gathered, selection, times)
    layout, requests = gathered.plan(selection)
    changed = selection.chosen.count() if revise is None and terms.destination.suppresses else 0
    warnings = source.warnings + find_losses(gathered.tally, source.mapping)
    refusals = [
        *unheeded_operation(source, options, is_revised=revise is not None),
        *judge(gathered.tally, source.mapping, options.bounds, notes=source.notes),
        *(shared.refusals(options) if shared is not None else ()),
        *(refuse_losses(warnings) if options.fails_on_warnings else ()),
        *(refuse_shared_by_members(gathered, selection, terms) if revise is None else ()),
        *alone,
        *refuse_few(changed, options, terms.destination),
        *expired(requests, times, terms.now),
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
        batches=WholeBatches(gathered.spool, len(gathered.batch_records)),
        profile=terms.profile,
        destination=terms.destination,
        form=terms.form,
        shared=shared,
        people_changed=changed,
        suppression=lists,
        suppression_notes=notes_of(lists) + _memory_notes(terms, selection),
    )


def _memory_notes(terms: Terms, selection: Selection) -> tuple[str, ...]:
    """Of memories that held a key; where all of these are to be taken out, nothing is suppressed."""
    return tuple(memory.note for memory in terms.memories if memory.note and selection.suppressed)


# --- The beginning of pass one: spools, key sets, and the people of suppression sources, before the first row is read


def begin_plan(
    mapping: ColumnMapping, terms: Terms, means: Means, *, spool: SealedFile | None, tagger: Tagger | None = None
) -> tuple[BatchResults, tuple[ReadList, ...]]:
    """The results, without batches yet but with all who are suppressed, and what was read of these.

    The records go into `spool`, or a new one.
    """
    aside = means.stack.enter_context(Spool(means.spool_dir))
    most = terms.options.shared_people
    keysets = KeySets(
        aside, mixed=mapping.operation is not None, suppressing=terms.options.suppresses,
        memories=terms.memories, tagger=tagger, search=None if most is None else SharedValueSearch(aside, most),
    )  # fmt: skip
    people = SuppressedPeople(aside)

    def hear(forms: Sequence[RecordChunk]) -> None:
        for chunk in forms:
            means.on_suppressed(chunk)
        if most is not None:
            people.add(forms)

    lists = read_lists(terms.options, keysets, progress=means.progress, on_records=hear)
    records = means.stack.enter_context(Spool(means.spool_dir)) if spool is None else spool
    keeps = _keeps_records(mapping, terms, means)
    return BatchResults(records, aside, keysets, terms.form, people, keeps_records=keeps), lists


def _keeps_records(mapping: ColumnMapping, terms: Terms, means: Means) -> bool:
    """Whether the plan needs the records themselves, beside their tags.

    Where values are shared, erased people are known by their hashes, and users that hold texts are measured again. The
    members of an audience are compared by hashes, too.
    """
    holds_texts = any(not column.kind.is_hashed for column in mapping.columns)
    return means.keeps_records or bool(terms.memories) or terms.members is not None or holds_texts


# --- A plan that is only looked at: pass one without the records themselves, and nothing of it left behind ---


def preview(source: AnySource, terms: Terms, *, rejections: FilePath | None, progress: Progress) -> Plan:
    """Return the plan of `source` for people and programs. Raises what `plan_run` raises."""
    with ExitStack() as stack:
        means = Means(stack=stack, progress=progress, rejections=rejections, keeps_records=False)
        plan = to_plan(plan_run(source, terms, means))
    give_back()
    return plan


# --- Pass one: source -> text -> records -> plan. Everything is read and judged here; nothing is sent ---

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
    # A list of people to be kept or taken out counts whole: the rest is about those who are put in.
    puts_in = terms.destination.suppresses and terms.options.operation_type == "Update"
    opened = open_source(source, replace(terms.options.source, puts_in=puts_in))
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
