"""Reasons not to send a plan, found when its source was read to the end."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from audiencekit.destinations.destination import Destination
from audiencekit.destinations.requests.requestplan import PlannedRequest
from audiencekit.errors import MappingRefused, PlanRefused, Refused
from audiencekit.limits import FEW_PEOPLE
from audiencekit.optiontext import option
from audiencekit.planning.options import Options
from audiencekit.planning.plannotes import of_few
from audiencekit.planning.sourcefacts import ReadSource
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.losses import find_losses
from audiencekit.preparation.plantimes import PlanTimes, format_time
from audiencekit.preparation.tally import Tally
from audiencekit.selection.selection import Selection


def unheeded_operation(source: ReadSource, options: Options, *, is_revised: bool) -> list[Refused]:
    """People who are to be taken out must not be put in because an option was forgotten; `is_revised` for a sync."""
    if source.operation_hint is None or options.operation_was_given:
        return []
    name = source.operation_hint
    hint = f"give {option('operation_column', name)}, in which each cell is to be update or delete; or `operation=`"
    hint += " update or delete for every row"
    if is_revised:
        hint = "the source must hold the future members: write a file of their rows, without that column"
    what = f"column {name} says update, delete or the like for each row, and no option names it"
    return [MappingRefused(what, hint=hint)]


def no_records_left(selection: Selection, options: Options) -> list[Refused]:
    """Refuse a source of which all records are suppressed: it is more likely a mistake than not."""
    if not selection.suppressed or selection.chosen.count() or options.bounds.allow_empty:
        return []
    causes = "`suppress=` and `consent_column=`" if options.suppresses else "who was erased by `forget`"
    hint = f"look at {causes}; give `allow_empty=True` if that is expected"
    return [
        PlanRefused(f"all of {selection.suppressed:,} records are suppressed: no record is left to send", hint=hint)
    ]


def refuse_few(people: int, options: Options, destination: Destination) -> list[Refused]:
    """Refuse a change of few people, for an owner who wants none."""
    if options.few_people != "refuse" or not 0 < people < FEW_PEOPLE:
        return []
    hint = f"collect at least {FEW_PEOPLE} people for a run, or say `few_people='allow'`"
    return [PlanRefused(of_few(people, destination), hint=hint)]


def expired(requests: Iterable[PlannedRequest], times: PlanTimes, now: datetime) -> list[Refused]:
    """Refuse entries that have expired: they add no one, and the sender would not notice."""
    if not times.is_over(now) or not any(request.updates for request in requests):
        return []
    told = f"the entries would have expired on {format_time(times.end)}: they would add no one"
    return [PlanRefused(told, hint="choose a later `expires_at=` or `plan_time=`, or leave them out")]


def refuse_losses(tally: Tally, mapping: ColumnMapping) -> list[Refused]:
    """Refusals in the place of warnings, for an owner who wants none."""
    again = "or leave out `fail_on_warnings=True`"
    return [
        PlanRefused(loss.message, hint=f"{loss.remedy or 'read the rejections (`rejections=FILE`)'}; {again}")
        for loss in find_losses(tally, mapping)
    ]
