"""The parts of a page, before anything is drawn or marked up: headings, tables and the numbers of their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

FLOOR: Final = 10  # people; a smaller cell of a table may point at one of them

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of a table: its text, and where it stands in the JSON document; None for one that is derived."""

    text: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    name: str
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Bars from the left: (name, length, label) each. Every picture of a page has another `name`."""

    name: str
    bars: Sequence[tuple[str, int, str]]
    is_loss: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """One column a step, `more` on top of it in the colour of loss, and a mark over those of `marked`.

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
    """Sets that overlap: of each column the places of its sets among `sets`, and how many belong to just these."""

    name: str
    sets: Sequence[str]
    columns: Sequence[tuple[Sequence[int], int]]


Picture: TypeAlias = Bars | Columns | Overlap


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section: pictures, the table of their numbers, and what saves what is lost."""

    heading: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Row]
    text: str = ""
    pictures: Sequence[Picture] = ()
    remedies: Sequence[Mapping[str, str]] = ()

    @property
    def wide(self) -> bool:
        """Whether a narrow window has to scroll the table."""
        return len(self.columns) > 3


def count(number: int | None) -> str:
    """The number with separators; a word for one that is not known."""
    return "not known" if number is None else f"{number:,}"


def many(number: int | None, one: str) -> str:
    """The number and the noun `one`, in the plural where it belongs."""
    return f"{count(number)} {one}" if number == 1 else f"{count(number)} {one}s"


def share(number: int, whole: int) -> Cell:
    """The number in percent of the whole; empty where there is none."""
    return Cell(f"{100 * number / whole:.1f} %" if whole else "")


def code_in_words(code: str) -> str:
    """A code of a document as people read it."""
    return code.replace("_", " ")
