"""Groups of rows: the first has the words of all, such as a company with its country and, below it, its contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from audiencekit.records.batches import MappedColumn
from audiencekit.sources.columns.header import Header
from audiencekit.sources.sampling import Sample

MIN_CHILDREN: Final = 2  # rows below others
PATH: Final = "/"  # divides the name of a field of a list within a record from that of the list: Odoo's Contacts/Email


@dataclass(frozen=True, slots=True)
class Group:
    """A filled cell in `column` begins a group, whose rows have one `country`.

    `is_certain` says that it is beyond doubt: the names of the identifiers say that they are fields of a list.
    """

    column: int
    country: int
    is_certain: bool


def find_group(header: Header, sample: Sample, columns: Sequence[MappedColumn], country: int) -> Group | None:
    """The groups of the rows; None where a row without a country may be anyone's.

    Rows below the first of a group have identifiers, and are blank in the country and in a column of words that begins
    groups. Most groups have a country.
    """
    words = [place for place in range(len(sample.columns)) if place not in {column.position for column in columns}]
    words = [place for place in words if place != country and sample.filled(place)]
    filled = {place: {row for row, cell in enumerate(sample.columns[place]) if cell.strip()} for place in words}
    rows = set(range(len(sample.columns[country]) if sample.columns else 0))
    of_country = {row for row in rows if sample.columns[country][row].strip()}
    begins = [place for place in words if 0 in filled[place] and of_country <= filled[place] < rows]
    if not begins:
        return None
    first = max(begins, key=lambda place: (len(filled[place]), -place))
    below = rows - filled[first]
    identified = {row for row in below for column in columns if sample.columns[column.position][row].strip()}
    if len(below) < MIN_CHILDREN or identified != below or 2 * len(of_country) <= len(filled[first]):
        return None
    names = header.names or ()
    path, *others = {_path(names, column.position) for column in columns}
    is_certain = bool(path) and not others and _path(names, country) != path
    are_blank = all(not filled[place] & below for place in words if _path(names, place) != path)
    return Group(first, country, is_certain and are_blank)


def _path(names: Sequence[str], place: int) -> str:
    name = names[place] if place < len(names) else ""
    before, divider, _ = name.rpartition(PATH)
    return before.strip().casefold() if divider else ""
