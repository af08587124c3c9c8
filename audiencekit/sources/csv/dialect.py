"""The delimiter of cells: one of four characters, by how evenly it divides the records of a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kind_table import is_identifier
from audiencekit.sources.columns.header import names_person_data
from audiencekit.sources.sampling import most_frequent, sample_records

DELIMITERS: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}
CANDIDATES: Final = (",", ";", "\t", "|")
MIN_EVEN_SHARE: Final = 0.5  # of the records have the usual width: below that, the character is no delimiter
MIN_DIVIDED_SHARE: Final = 0.8  # of the records are divided at all, however unevenly: better refused than one column
CLOSE_SHARE: Final = 0.05  # two candidates nearer than this are told apart by their cells
JUDGED_RECORDS: Final = 50


@dataclass(frozen=True, slots=True)
class Division:
    """The records of the sample as one candidate divides them."""

    delimiter: str
    records: list[list[str]] = field(repr=False)
    widths: Counter[int] = field(init=False, repr=False)  # how many records have so many cells

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", Counter(map(len, self.records)))

    @property
    def width(self) -> int:
        return most_frequent(self.widths)

    @property
    def even_share(self) -> float:
        """The share of records with the usual width."""
        return self.widths[self.width] / len(self.records)

    @property
    def divided_share(self) -> float:
        """The share of records with more than one cell."""
        return sum(count for width, count in self.widths.items() if width > 1) / len(self.records)

    @property
    def fits_first(self) -> bool:
        """Whether the first record, which names the columns as a rule, has the usual width."""
        return len(self.records[0]) == self.width

    @property
    def identifiers(self) -> int:
        """Count the cells that are exactly an identifier: with a wrong delimiter they have other characters around
        them."""
        return sum(is_identifier(cell.strip()) for cells in self.records[:JUDGED_RECORDS] for cell in cells)

    @property
    def stray_quotes(self) -> int:
        """Minus the cells that hold a quote: a wrong delimiter cuts between quotes."""
        return -sum('"' in cell for cells in self.records[:JUDGED_RECORDS] for cell in cells)


def show_delimiter(delimiter: str) -> str:
    """The name of a delimiter for people."""
    return DELIMITERS.get(delimiter, ascii(delimiter))


def find_delimiter(text: str, *, whole: bool, but: str | None = None) -> str:
    """The delimiter of `text`, a comma when there is one column only; never `but`, which separates within cells.

    Raises SourceRefused when two candidates divide the records equally well: it is never guessed.
    """
    divisions = [
        Division(mark, sample_records(text, mark, whole=whole)) for mark in CANDIDATES if mark in text and mark != but
    ]
    likely = [d for d in divisions if d.records and d.width > 1 and d.even_share >= MIN_EVEN_SHARE]
    likely = likely or [d for d in divisions if d.records and d.divided_share >= MIN_DIVIDED_SHARE]
    if not likely:
        return _unused_candidate(divisions)
    best = _best_by(likely, lambda division: division.fits_first)
    top = max(division.even_share for division in best)
    best = [d for d in best if d.even_share == 1.0] or [d for d in best if d.even_share >= top - CLOSE_SHARE]
    for evidence in (_identifiers, _stray_quotes):
        best = _best_by(best, evidence)
    if len(best) == 1 and _divides_cells_only(best[0]):
        return _unused_candidate(divisions)
    if len(best) > 1:
        names = [show_delimiter(division.delimiter) for division in best]
        raise SourceRefused(
            f"the delimiter is ambiguous: {' and '.join(names)} divide the rows equally well",
            hint="say which with `delimiter=`",
        )
    return best[0].delimiter


def _divides_cells_only(division: Division) -> bool:
    """Whether the first record is the name of one column, so that the rows hold several values in one cell."""
    first = division.records[0]
    return len(first) == 1 and names_person_data(first[0])


def _identifiers(division: Division) -> float:
    return division.identifiers


def _stray_quotes(division: Division) -> float:
    return division.stray_quotes


def _best_by(divisions: list[Division], evidence: Callable[[Division], float]) -> list[Division]:
    if len(divisions) < 2:
        return divisions
    marks = [evidence(division) for division in divisions]
    return [division for division, mark in zip(divisions, marks, strict=True) if mark == max(marks)]


def _unused_candidate(divisions: list[Division]) -> str:
    """A candidate that divides no record of a one-column file, the comma first."""
    dividing = {division.delimiter for division in divisions if any(len(cells) > 1 for cells in division.records)}
    return next((mark for mark in CANDIDATES if mark not in dividing), CANDIDATES[0])
