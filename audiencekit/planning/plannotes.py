"""Notes on a plan, to read before it is sent."""

from __future__ import annotations

from collections.abc import Container, Sequence

from audiencekit.destinations.destination import Destination
from audiencekit.identifiers.reasons import Reason
from audiencekit.limits import FEW_PEOPLE
from audiencekit.planning.options import Options
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.losses import Loss
from audiencekit.preparation.tally import Tally


def few_note(people: int, options: Options, destination: Destination) -> tuple[str, ...]:
    """A note on a change of few people, whose reach can tell about each of them."""
    if not 0 < people < FEW_PEOPLE:
        return ()
    return (of_few(people, destination) + (": allowed by `few_people=`" if options.few_people == "allow" else ""),)


def of_few(people: int, destination: Destination) -> str:
    """Say that a plan changes so few people."""
    return destination.words.few_people.format(people="1 person" if people == 1 else f"{people} people")


def small_losses(tally: Tally, mapping: ColumnMapping, warnings: Sequence[Loss]) -> tuple[str, ...]:
    """Numbers and rows that an option would save, too few for one of the `warnings`, in words."""
    warned = {loss.column for loss in warnings if loss.code == Reason.NO_COUNTRY}
    rows = () if any(loss.code == Reason.ENCODING for loss in warnings) else _lost_rows(tally)
    return _lost_numbers(tally, mapping, warned) + rows


def _lost_numbers(tally: Tally, mapping: ColumnMapping, warned: Container[str | None]) -> tuple[str, ...]:
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


def _lost_rows(tally: Tally) -> tuple[str, ...]:
    """Rows that another encoding would save, in words."""
    count = tally.reasons["encoding"]
    if not count:
        return ()
    rows = "1 row is" if count == 1 else f"{count:,} rows are"
    return (f"{rows} lost, with bytes that are not text in this encoding: give `encoding='cp1252'`, or another one",)
