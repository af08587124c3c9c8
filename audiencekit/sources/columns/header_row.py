"""The row that names the columns: the first one, or one below titles, filters and headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kind_table import is_identifier, is_phone_shaped
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.evidence import MIN_PLAUSIBLE_SHARE, TELLING, plausible_share
from audiencekit.sources.columns.header import compare_key, is_header, named_kind, names_something_else
from audiencekit.sources.columns.ownership import names_not_to_use, names_other
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.sampling import is_filled
from audiencekit.text import option

LOOKED_AT_ROWS: Final = 20
MOST_TITLES: Final = 10  # rows of one cell above a header whose words are not known

Records = Sequence[list[str]]


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """The place of the header among the first records; None without one. `first_row` is that of the first person."""

    place: int | None
    first_row: int


def find_header_row(records: Records, numbers: Sequence[int], options: SourceOptions, *, is_sheet: bool) -> HeaderRow:
    """The header among the first `records`, which stand in lines of a file, or in rows of a sheet, with these numbers.

    Raises SourceRefused where it may be one below the first, and nothing says that it is.
    """
    line = "row" if is_sheet else "line"
    if options.header_row is not None:
        return _behind(records, _place_of(options.header_row, numbers, line))
    if options.header is not None:
        return HeaderRow(0, 1) if options.header else HeaderRow(None, 0)
    place = _given_place(records, options)
    if place is None:
        place, named = _naming_place(records)
        if not named and is_sheet:
            place = _count_titles(records)
        elif _holds_person(records[:place], named):
            if options.puts_in:
                raise SourceRefused(
                    f"the header seems to be {line} {numbers[place]:,}, but the lines above it may be people",
                    hint=f"say {option('header_row', numbers[place])} if it is, or {option('header', False)} for a list"
                    " without one",
                )
            place = 0
    if place == 0 and not is_header(records[0], options.wanted_names):
        return HeaderRow(None, 0)
    return _behind(records, place)


def _count_titles(records: Records) -> int:
    """Count the rows of one cell above a header of several: a title, the day of the export and the like."""
    widths = [sum(bool(cell.strip()) for cell in record) for record in records[: MOST_TITLES + 1]]
    titles = next((place for place, width in enumerate(widths) if width > 1), 0)
    return titles if all(map(is_header, records[: titles + 1])) else 0


def _place_of(number: int, numbers: Sequence[int], line: str) -> int:
    if number in numbers:
        return list(numbers).index(number)
    raise SourceRefused(
        f"{option('header_row', number)}: {line} {number:,} is blank, or not among the first rows",
        hint=f"count the {line}s from 1 on, blank ones, too",
    )


def _behind(records: Records, place: int) -> HeaderRow:
    """The header at `place`; a line of signs below it is a part of it."""
    first_row = place + 1
    while place and first_row < len(records) and _is_line(records[first_row]):
        first_row += 1
    return HeaderRow(place, first_row)


def _is_line(cells: list[str]) -> bool:
    text = "".join(cells).strip()
    return bool(text) and not any(map(str.isalnum, text))


def _given_place(records: Records, options: SourceOptions) -> int | None:
    """The first row with a name that the user gave."""
    given = set(map(compare_key, options.wanted_names))
    found = (place for place, cells in enumerate(records[:LOOKED_AT_ROWS]) if given & set(map(compare_key, cells)))
    place = next(found, None)
    return place if place == 0 or (place is not None and is_header(records[place])) else None


def _naming_place(records: Records) -> tuple[int, dict[int, Kind]]:
    """The row that names most of the cells below it, and the columns of these."""
    best, most = 0, _named_cells(records, 0) if is_header(records[0]) else {}
    for place in range(1, min(LOOKED_AT_ROWS, len(records) - 1)):
        if is_header(records[place]):
            named = _named_cells(records, place)
            # Of a header on top, no row below it may have a person before it: the second is that of another list.
            if len(named) > len(most) and not (most and _holds_person(records[:place], most)):
                best, most = place, named
    return best, most


def _named_cells(records: Records, place: int) -> dict[int, Kind]:
    """The columns whose cell in a row names the kind of those below it."""
    found = {}
    for position, name in enumerate(records[place]):
        kind = named_kind(name)
        if kind not in TELLING:
            continue
        below = (cells[position] for cells in records[place + 1 :] if position < len(cells))
        if plausible_share(kind, list(filter(is_filled, below))) >= MIN_PLAUSIBLE_SHARE:
            found[position] = kind
    return found


def _holds_person(records: Records, named: dict[int, Kind]) -> bool:
    """Whether one of the rows may be a person: below the header `named` it has an address or a number."""
    return any(
        is_identifier(cell) or _could_be_of(named.get(position), cell)
        for cells in records
        for position, cell in enumerate(map(str.strip, cells))
    )


def _could_be_of(kind: Kind | None, cell: str) -> bool:
    return (kind is Kind.EMAIL and "@" in cell) or (kind is Kind.PHONE_NUMBER and is_phone_shaped(cell))


def header_names(records: Records, place: int, *, puts_in: bool) -> tuple[str, ...]:
    """The names in the header at `place`, with the heading above them where that says whose they are.

    A heading stands above the first of its columns. It is needed where two names are the same, and where it speaks of
    other people. In a list of people who are kept or taken out each column counts, and the name is enough.
    """
    names = records[place]
    if not place or not puts_in:
        return tuple(names)
    headings = _filled_on(records[place - 1], len(names))
    counts = Counter(map(compare_key, names))
    return tuple(
        f"{heading} {name}"
        if name.strip() and heading and (counts[compare_key(name)] > 1 or _speaks_of_others(heading))
        else name
        for heading, name in zip(headings, names, strict=True)
    )


def _filled_on(cells: list[str], width: int) -> list[str]:
    """Each cell, or the last one before it that is not blank; blank throughout below a title of one cell."""
    if sum(bool(cell.strip()) for cell in cells) < 2:
        return [""] * width
    found, last = [], ""
    for position in range(width):
        cell = cells[position].strip() if position < len(cells) else ""
        last = cell or last
        found.append(last)
    return found


def _speaks_of_others(heading: str) -> bool:
    return names_other(heading) or names_not_to_use(heading) or names_something_else(heading)
