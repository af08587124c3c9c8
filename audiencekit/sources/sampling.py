"""The first rows of a source, to decide dialect, header and mapping by. They never leave the room."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from audiencekit.identifiers.countries import country_of_row
from audiencekit.limits import SAMPLE_ROWS

SAMPLE_BYTES: Final = 1_048_576
OBJECT_ROWS: Final = 200  # are looked at for fields of objects
_SAMPLED_LINES: Final = SAMPLE_ROWS + 3  # the line that tells Excel the delimiter, the header, and one too many
# Words that stand for nothing in a cell; such cells say nothing about a column.
NOTHING: Final = frozenset({"", "-", "--", "n/a", "na", "nan", "none", "null", "nil", "#n/a", "unknown", "\\n", "."})

NO_VALUE: Final = "n/a"  # in the place of false, which some exports (Odoo) write where a value is missing


@dataclass(frozen=True, slots=True)
class Sample:
    """Sampled cells by column, and the header's own words (None without a header). Both are personal data.

    `objects` are the first cells, as objects of Python, of columns by position that may hold objects: no text.
    """

    names: tuple[str, ...] | None
    columns: tuple[tuple[str, ...], ...]
    objects: Mapping[int, Sequence[object]] = field(default_factory=dict)
    _filled: dict[int, list[str]] = field(default_factory=dict, init=False, compare=False)

    def __repr__(self) -> str:
        return f"<Sample of {len(self.columns)} columns: not shown>"

    def filled(self, position: int) -> list[str]:
        """The cells of a column that say something."""
        if position not in self._filled:
            self._filled[position] = list(filter(is_filled, self.columns[position]))
        return self._filled[position]

    def with_cells(self, position: int, cells: Iterable[str]) -> Sample:
        """The same sample, with other cells in the column at `position`."""
        columns = (*self.columns[:position], tuple(cells), *self.columns[position + 1 :])
        return Sample(self.names, columns, self.objects)

    def countries(self, position: int | None, default: str | None) -> list[str | None]:
        """The country of each sampled row: what its cell in the column at `position` names, else `default`."""
        rows = max((len(cells) for cells in self.columns), default=0)
        if position is None:
            return [default] * rows
        found = {cell: country_of_row(cell) or default for cell in set(self.columns[position])}
        return [found[cell] for cell in self.columns[position]]


def is_filled(cell: str) -> bool:
    """Whether a cell says something."""
    return cell.strip().casefold() not in NOTHING


def sampled_part(data: bytes) -> bytes:
    """The beginning of `data`, UTF-8, from which `sample_records` takes what it takes from all, whatever divides cells.

    That is so many lines as it may take, when none is blank and none can go on in the next.
    """
    lines = data.split(b"\n", _SAMPLED_LINES)
    if len(lines) <= _SAMPLED_LINES or any(not line.strip(b"\r") for line in lines[:-1]):
        return data
    part = data[: len(data) - len(lines[-1])]
    return data if b'"' in part else part


def sample_records(text: str, delimiter: str, *, whole: bool) -> list[list[str]]:
    """Up to SAMPLE_ROWS non-blank records of `text`, a header not counted. The last one is left out unless `whole`."""
    records: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for cells in reader:
            if cells:
                records.append(cells)
            if len(records) > SAMPLE_ROWS + 1:
                return records[:-1]
    except csv.Error:
        # An oversize field: what came before it is sample enough, and the reader will say where it stands.
        return records
    return records if whole or len(records) < 2 else records[:-1]


def usual_width(records: Iterable[list[str]]) -> int:
    """The most frequent number of cells; the larger one of two that are equally frequent."""
    return most_frequent(Counter(map(len, records)))


def most_frequent(widths: Counter[int]) -> int:
    """The width that was counted most often; the larger one of two that are equally frequent."""
    return max(widths, key=lambda width: (widths[width], width), default=0)


def by_column(records: list[list[str]], width: int) -> tuple[tuple[str, ...], ...]:
    """The cells of `records` by column; a short record has empty cells at its end."""
    padded = [cells[:width] + [""] * (width - len(cells)) for cells in records]
    return tuple(tuple(row[position] for row in padded) for position in range(width))
