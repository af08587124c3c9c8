"""The parts of a page before they are drawn and marked up: headings, tables and the numbers of their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

FLOOR: Final = 10  # people; a smaller cell of a table may point at one of them

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a table: its text, and its place in the JSON document; None if it is derived."""

    text: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    name: str
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Horizontal bars, each (name, length, label). Every picture of a page has another `name`."""

    name: str
    bars: Sequence[tuple[str, int, str]]
    is_loss: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """One column for each step, with `more` on top in the colour of loss, and a mark over each of `marked`.

    `step` and `of` name the two axes, `names` the columns.
    """

    name: str
    values: Sequence[float]
    step: str
    of: str
    more: Sequence[float] = ()
    marked: Sequence[bool] = ()
    names: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Overlapping sets: for each column the indexes of its sets among `sets`, and how many members have just these."""

    name: str
    sets: Sequence[str]
    columns: Sequence[tuple[Sequence[int], int]]


Picture: TypeAlias = Bars | Columns | Overlap


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section: pictures, the table of their numbers, and remedies for losses."""

    heading: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Row]
    text: str = ""
    pictures: Sequence[Picture] = ()
    remedies: Sequence[Mapping[str, str]] = ()

    @property
    def wide(self) -> bool:
        """Whether the table has to scroll in a narrow window."""
        return len(self.columns) > 3


def count(number: int | None) -> str:
    """Return the number with separators; a word if it is not known."""
    return "not known" if number is None else f"{number:,}"


def many(number: int | None, one: str) -> str:
    """Return the number and the noun `one`, in the plural where needed."""
    return f"{count(number)} {one}" if number == 1 else f"{count(number)} {one}s"


def share(number: int, whole: int) -> Cell:
    """Return the number in percent of the whole; an empty text if the whole is 0."""
    return Cell(f"{100 * number / whole:.1f} %" if whole else "")


def code_in_words(code: str) -> str:
    """Return a code of a document in words."""
    return code.replace("_", " ")
