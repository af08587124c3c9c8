"""The parts of a page before they are drawn and marked up: headings, numbers and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from audiencekit.reporting.page.privacy import Cell

Colour: TypeAlias = Literal["good", "there", "wait", "kept", "same", "lost", "lost2", "lost3"]  # variables of the page


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    name: str
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar: its name, its length, its number, a word behind it, and the remedies for what it counts."""

    name: str
    length: int
    cell: Cell
    beside: str = ""
    remedies: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Horizontal bars, one below the other."""

    bars: Sequence[Bar]
    is_loss: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One part of a whole: its name, its length, its number and its share."""

    name: str
    length: int
    cell: Cell
    share: str
    colour: Colour


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """One bar of a whole, in segments, with their names and numbers below."""

    segments: Sequence[Segment]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """One column for each step, with `more` on top in the colour of loss, and a dot over each of `marked`.

    `step` and `of` name the two axes.
    """

    values: Sequence[float]
    step: str
    of: str
    more: Sequence[float] = ()
    marked: Sequence[bool] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through (name, value), from the first to the last; `unit` follows a value."""

    points: Sequence[tuple[str, float]]
    of: str
    unit: str = ""
    most: float | None = None  # the top of the picture; None for the largest value


Picture: TypeAlias = Bars | Stack | Columns | Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section: text, messages, pictures, and the table of its numbers, which is folded."""

    heading: str
    text: str = ""
    messages: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    caption: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Row] = ()

    @property
    def wide(self) -> bool:
        """Whether the table has to scroll in a narrow window."""
        return len(self.columns) > 3


@dataclass(frozen=True, slots=True)
class Fact:
    """A number beside the headline: its name, its text, and a note below."""

    name: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The one big number, and the words behind it; the facts beside it."""

    number: str
    words: str
    facts: Sequence[Fact] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The view of a page: `is_floored` hides small counts; `spelled` writes the options in a text."""

    is_floored: bool = False
    spelled: Callable[[str], str] = str


def count(number: int | None) -> str:
    """Return the number with separators; a word if it is not known."""
    return "not known" if number is None else f"{number:,}"


def many(number: int | None, one: str) -> str:
    """Return the number and the noun `one`, in the plural where needed."""
    return f"{count(number)} {one}" if number == 1 else f"{count(number)} {one}s"


def percent(number: int, whole: int) -> str:
    """Return the number in percent of the whole; an empty text if the whole is 0. Only all of it is 100 %."""
    if not whole:
        return ""
    share = 100 * number / whole
    return f"{min(share, 99.9) if number < whole else share:.1f}\u00a0%"


def code_in_words(code: str) -> str:
    """Return a code of a document in words."""
    return code.replace("_", " ")
