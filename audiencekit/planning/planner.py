"""Pass one: read a source, or a kept spool, to its end and plan every request. Nothing is sent here."""

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
    ignored_operation,
    no_records_left,
    refuse_few,
    refuse_losses,
    refuse_shared_by_members,
    to_plan,
    unknown_consent,
)
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.reading import (
    BatchResults,
    Listeners,
    ReadSource,
    SpoolReader,
    SpoolWriter,
    WholeBatches,
    read_batches,
)
from audiencekit.planning.shared_values import SharedOutcome, leave_out_shared_values
from audiencekit.planning.suppression import ReadList, SuppressedPeople, notes_of, read_lists, unmatched, warnings_of
from audiencekit.process.memory import give_back
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.chunks import RecordChunk
from audiencekit.records.losses import find_losses
from audiencekit.records.plan_times import PlanTimes
from audiencekit.records.refusal_bounds import judge
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Plan
from audiencekit.reporting.sealed_rejections import Sealing
from audiencekit.selection.key_sets import KeySets
from audiencekit.selection.selection import Selection
from audiencekit.selection.shared_values import SharedValueSearch
from audiencekit.selection.tags import Tagger
from audiencekit.sources.files import AnySource, FilePath, Item, paths_among
from audiencekit.sources.source import Source, open_source
from audiencekit.state.spool import KeptSpool, SealedFile, Spool

# --- Pass one: source -> text -> records -> plan. Everything is read and judged here; nothing is sent ---

# Makes the plan of a source, as `plan_run` does.
Planner: TypeAlias = Callable[[tuple[Item, ...], PlanTerms, PlanResources], PlannedRun]


def plan_run(
    source: AnySource,
    terms: PlanTerms,
    resources: PlanResources,
    *,
    tagger: Tagger | None = None,
    revise: Revise | None = None,
) -> PlannedRun:
    """Read the source to its end and plan every request.

    `revise` may choose other records to be sent, and add records that are not in the source; `tagger` makes the tags
    that it compares. Raises SourceRefused for a source that cannot be read to its end. A source that was read but must
    not be sent gives a plan with `refusals`.
    """
    opened = open_planned(source, terms, resources)
    return plan_opened(opened, terms, resources, tagger=tagger, revise=revise)


def open_planned(source: AnySource, terms: PlanTerms, resources: PlanResources) -> Source:
    """Return the source, looked at and mapped. Raises for one that fits neither the options nor the destination."""
    paths = tuple(os.fspath(path) for path in paths_among(source))
    refuse_options(terms.options, paths, terms.destination)
    refuse_written_over((*paths, *terms.options.suppress), resources.rejections)
    # A list of people to be kept or taken out counts whole: the rest is about those who are put in.
    puts_in = terms.destination.suppresses and terms.options.operation_type == "Update"
    opened = open_source(source, replace(terms.options.source, puts_in=puts_in))
    refuse_other_kinds(opened.mapping, terms.destination)
    return opened


def plan_opened(
    opened: Source,
    terms: PlanTerms,
    resources: PlanResources,
    *,
    tagger: Tagger | None = None,
    revise: Revise | None = None,
    choose: Choose | None = None,
) -> PlannedRun:
    """Do the same as `plan_run` for a source that is open. `choose` leaves records out of those that would be sent."""
    gathered, lists = begin_plan(opened.mapping, terms, resources, spool=resources.kept_spool, tagger=tagger)
    spool_writer = None if resources.kept_spool is None else SpoolWriter(resources.kept_spool, gathered.scratch)
    with Listeners(resources.rejections, resources.on_records, resources.sealing, resources.rejected) as listeners:
        batches = read_batches(
            opened, terms.options, terms.form, gathered.keysets, gathered.spool,
            with_chunks=resources.on_records is not None, sealing=resources.sealing, rejected=resources.rejected,
        )  # fmt: skip
        reading = resources.reading(opened)
        for batch in batches:
            gathered.add(batch)
            listeners.on_batch(batch)
            if spool_writer is not None:
                spool_writer.add(batch)
            reading.step(gathered.tally.rows_read)
        found = ReadSource.of(opened)
        if spool_writer is not None:
            spool_writer.finish(found)
        shared = leave_out_shared_values(gathered, found.mapping, terms, listeners, resources.progress)
    if listeners.sealed is not None:
        resources.progress.tell(listeners.sealed.in_words())
    return assemble(found, gathered, shared, terms, lists, revise=revise, choose=choose)


def plan_kept(spool: KeptSpool, terms: PlanTerms, resources: PlanResources) -> PlannedRun:
    """Return the plan that `plan_run` made when it filled `spool`, given the same terms. The source is not read.

    Suppression sources are read again: they are not in the spool.
    """
    spool_reader = SpoolReader(spool)
    gathered, lists = begin_plan(spool_reader.source.mapping, terms, resources, spool=spool)
    with Listeners(resources.rejections, resources.on_records) as listeners:
        batches = spool_reader.batches(terms.form, gathered.keysets, with_chunks=resources.on_records is not None)
        for number, batch in enumerate(batches, 1):
            gathered.add(batch)
            listeners.on_batch(batch)
            resources.progress.step("reading what was kept", number, spool_reader.batch_count, unit="batches")
        shared = leave_out_shared_values(gathered, spool_reader.source.mapping, terms, listeners, resources.progress)
    return assemble(spool_reader.source, gathered, shared, terms, lists)


# --- A preview: pass one without storing the records; no files are left ---


def preview(
    source: AnySource,
    terms: PlanTerms,
    *,
    rejections: FilePath | None,
    progress: Progress,
    sealing: Sealing | None = None,
) -> Plan:
    """Return the plan of `source` for people and programs. Raises what `plan_run` raises."""
    with ExitStack() as stack:
        resources = PlanResources(
            stack=stack, progress=progress, rejections=rejections, sealing=sealing, keeps_records=False
        )
        plan = to_plan(plan_run(source, terms, resources))
    give_back()
    return plan


# --- The beginning of pass one: spools, key sets, and people of suppression sources, before the first row ---


def begin_plan(
    mapping: ColumnMapping,
    terms: PlanTerms,
    resources: PlanResources,
    *,
    spool: SealedFile | None,
    tagger: Tagger | None = None,
) -> tuple[BatchResults, tuple[ReadList, ...]]:
    """Return the results, without batches yet but with all suppressed people, and the facts of the suppression sources.

    The records go into `spool`, or a new one.
    """
    scratch = resources.stack.enter_context(Spool(resources.spool_dir))
    most = terms.options.shared_people
    keysets = KeySets(
        scratch, mixed=mapping.operation is not None, suppressing=terms.options.suppresses,
        memories=terms.memories, tagger=tagger, search=None if most is None else SharedValueSearch(scratch, most),
    )  # fmt: skip
    people = SuppressedPeople(scratch)

    def on_forms(forms: Sequence[RecordChunk]) -> None:
        for chunk in forms:
            resources.on_suppressed(chunk)
        if most is not None:
            people.add(forms)

    lists = read_lists(terms.options, keysets, progress=resources.progress, on_records=on_forms)
    records = resources.stack.enter_context(Spool(resources.spool_dir)) if spool is None else spool
    keeps = _keeps_records(mapping, terms, resources)
    return BatchResults(records, scratch, keysets, terms.form, people, keeps_records=keeps), lists


def _keeps_records(mapping: ColumnMapping, terms: PlanTerms, resources: PlanResources) -> bool:
    """Whether the plan needs the records themselves, not only their tags.

    Where values are shared, erased people are found by their hashes, and users with texts are measured again. Members
    of an audience are compared by hashes, too.
    """
    holds_texts = any(not column.kind.is_hashed for column in mapping.columns)
    return resources.keeps_records or bool(terms.memories) or terms.members is not None or holds_texts


# --- The end of pass one: requests are made of all that was gathered, and refusals are found ---

# Chooses what is sent of what was gathered, in the place of what pass one chose.
Revise: TypeAlias = Callable[[BatchResults, Selection, PlanTimes], Selection]
# Leaves out some of what was chosen. Raises Refused.
Choose: TypeAlias = Callable[[BatchResults, Selection], Selection]


def assemble(
    source: ReadSource,
    gathered: BatchResults,
    shared: SharedOutcome | None,
    terms: PlanTerms,
    lists: tuple[ReadList, ...],
    *,
    revise: Revise | None = None,
    choose: Choose | None = None,
) -> PlannedRun:
    """Return the plan of all that was gathered, without the `shared` values."""
    options, times = terms.options, terms.times
    selection = gathered.keysets.select()
    consent = unknown_consent(gathered.tally, source.mapping)
    alone = no_records_left(selection, options, consent)  # of all that were read, not only of those to be sent
    if revise is not None:
        selection = revise(gathered, selection, times)
    if choose is not None:
        selection = choose(gathered, selection)
    layout, requests = gathered.plan(selection)
    changed = selection.chosen.count() if revise is None and terms.destination.suppresses else 0
    apart, unmatched_warnings = unmatched(lists, gathered.tally, source.mapping, requests)
    warnings = source.warnings + warnings_of(lists) + unmatched_warnings
    warnings += find_losses(gathered.tally, source.mapping)
    refusals = [
        *ignored_operation(source, options, is_revised=revise is not None),
        *judge(gathered.tally, source.mapping, options.bounds, notes=source.notes),
        *apart,
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
        suppression_notes=notes_of(lists) + _memory_notes(terms, selection) + consent,
    )


def _memory_notes(terms: PlanTerms, selection: Selection) -> tuple[str, ...]:
    """Return the notes of memories that held a key. Nothing is suppressed where all records are Deletes."""
    return tuple(memory.note for memory in terms.memories if memory.note and selection.suppressed)
