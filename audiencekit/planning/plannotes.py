"""Refusals of a plan, and notes to read before it is sent."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from datetime import datetime

from audiencekit.destinations.destination import Destination
from audiencekit.destinations.requests.requestplan import PlannedRequest
from audiencekit.errors import MappingRefused, PlanRefused, Refused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import FEW_PEOPLE
from audiencekit.optiontext import option
from audiencekit.planning.options import Options
from audiencekit.planning.sourcefacts import ReadSource
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.losses import find_losses
from audiencekit.preparation.tally import Tally
from audiencekit.preparation.times import PlanTimes, format_time
from audiencekit.selection.selection import Selection
from audiencekit.sources.bytes.standardinput import STANDARD_INPUT
from audiencekit.sources.files import FilePath


def refuse_options(options: Options, paths: tuple[str, ...], destination: Destination) -> None:
    """Raises UsageError for options that cannot be together, with the destination, or with these paths."""
    if not destination.suppresses and (options.suppress or options.consent is not None):
        raise UsageError(f"a {destination.words.noun} keeps people out: suppression has no meaning for it")
    if [*paths, *options.suppress].count(STANDARD_INPUT) > 1:
        raise UsageError("standard input is named twice, and can be read only once")


def refuse_other_kinds(mapping: ColumnMapping, destination: Destination) -> None:
    """Raises MappingRefused, which names them, for columns whose kind the destination does not take."""
    if alien := [column for column in mapping.columns if column.kind not in destination.kinds]:
        named = ", ".join(f"{column.name} ({column.kind})" for column in alien)
        kinds = [kind.value for kind in Kind if kind in destination.kinds]
        raise MappingRefused(
            f"a {destination.words.noun} takes {' and '.join(kinds)} only, and other columns are mapped: {named}",
            hint=f"name the columns to be sent: {option('columns', dict.fromkeys(kinds, 'COLUMN'))}",
        )


def unheeded_operation(source: ReadSource, options: Options, *, is_revised: bool) -> list[Refused]:
    """People who are to be taken out must not be put in because an option was forgotten; `is_revised` for a sync."""
    if source.operation_hint is None or options.operation_was_given:
        return []
    name = source.operation_hint
    hint = f"give {option('operation_column', name)}, in which each cell is to be update or delete; or `operation=`"
    hint += " update or delete for every row"
    if is_revised:
        hint = "the source must hold the future members: select their rows with `sql=`, without that column"
    what = f"column {name} says update, delete or the like for each row, and no option names it"
    return [MappingRefused(what, hint=hint)]


def no_records_left(selection: Selection, options: Options) -> list[Refused]:
    """Refuse a source of which all records are suppressed: it is more likely a mistake than not."""
    if not selection.suppressed or selection.kept.count() or options.bounds.allow_empty:
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
    return [PlanRefused(_of_few(people, destination), hint=hint)]


def few_note(people: int, options: Options, destination: Destination) -> tuple[str, ...]:
    """The same as a note, for all others."""
    if not 0 < people < FEW_PEOPLE:
        return ()
    return (_of_few(people, destination) + (": allowed by `few_people=`" if options.few_people == "allow" else ""),)


def _of_few(people: int, destination: Destination) -> str:
    return destination.words.few_people.format(people="1 person" if people == 1 else f"{people} people")


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


def lost_numbers(tally: Tally, mapping: ColumnMapping, warned: Container[str | None]) -> tuple[str, ...]:
    """Columns whose phone numbers are lost because nothing says their country, in words, unless `warned` of."""
    found = []
    for column in (column for column in mapping.columns if column.name not in warned):
        seen = tally.columns.get(column.position)
        if count := seen.reasons["no_country"] if seen else 0:
            what = "number" if count == 1 else "numbers"
            found.append(
                f"{count:,} {what} without a country in column {column.name}: give `country=` or `country_column=`"
            )
    return tuple(found)


def lost_rows(tally: Tally) -> tuple[str, ...]:
    """Rows that another encoding would save, in words."""
    count = tally.reasons["encoding"]
    if not count:
        return ()
    rows = "1 row is" if count == 1 else f"{count:,} rows are"
    return (f"{rows} lost, with bytes that are not text in this encoding: give `encoding='cp1252'`, or another one",)


def refuse_written_over(read: tuple[str, ...], rejections: FilePath | None) -> None:
    """Raises UsageError when the rejections would be written over a file that is read."""
    if rejections is not None and any(_is_same_file(path, rejections) for path in read):
        raise UsageError("the rejections would be written over the source", hint="give them another name")


def _is_same_file(one: FilePath, other: FilePath) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
