"""The end of pass one: requests are made of all that was gathered, and reasons not to send them are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from audiencekit.planning.batchresults import BatchResults
from audiencekit.planning.batchspool import WholeBatches
from audiencekit.planning.knownmembers import refuse_shared_by_members
from audiencekit.planning.planinputs import Terms
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.planning.planrefusals import expired, no_records_left, refuse_few, refuse_losses, unheeded_operation
from audiencekit.planning.sharedoutcome import SharedOutcome
from audiencekit.planning.sourcefacts import ReadSource
from audiencekit.planning.suppression import ReadList, notes_of
from audiencekit.preparation.plantimes import PlanTimes
from audiencekit.preparation.refusalbounds import judge
from audiencekit.selection.selection import Selection

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
    refusals = [
        *unheeded_operation(source, options, is_revised=revise is not None),
        *judge(gathered.tally, source.mapping, options.bounds, notes=source.notes),
        *(shared.refusals(options) if shared is not None else ()),
        *(refuse_losses(gathered.tally, source.mapping) if options.fails_on_warnings else ()),
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
