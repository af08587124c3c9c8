"""The names of columns: whether there are any, how they are compared, which of them may be shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Self

from audiencekit.errors import MappingRefused
from audiencekit.identifiers.kind_table import is_identifier
from audiencekit.identifiers.texts import in_form
from audiencekit.optiontext import option
from audiencekit.sources.columns.naming import names_person_data
from audiencekit.sources.columns.vocabulary import is_showable

MANY_DIGITS: Final = 7  # a cell of digits from here on is data, unless it is a date
MAX_LISTED: Final = 40  # names in one message
_DATE: Final = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|(?:19|20)\d{6}")
_ALIAS: Final = re.compile(r"column([1-9][0-9]{0,5})")


def compare_key(name: str) -> str:
    """`name` as names are compared: case-folded, trimmed, one space for many, without byte order mark."""
    return " ".join(in_form("NFC", name.replace("\ufeff", "")).casefold().split())


def is_header(cells: list[str], given: tuple[str, ...] = ()) -> bool:
    """Whether the first record names the columns: with a name that the user gave, or when no cell is personal.

    A cell that is an identifier, or a long number, belongs to a person.
    """
    if {compare_key(cell) for cell in cells} & set(map(compare_key, given)):
        return True
    return not any(is_identifier(cell.strip()) or _is_long_number(cell.strip()) for cell in cells)


def _is_long_number(cell: str) -> bool:
    digits = sum(letter.isdecimal() for letter in cell)
    return digits >= MANY_DIGITS and not any(map(str.isalpha, cell)) and _DATE.fullmatch(cell) is None


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a source. `names` are its own words (None without a header), `given` what the user wrote.

    `evident` are the positions of names that may be shown although their words are not known.
    """

    names: tuple[str, ...] | None
    width: int
    given: frozenset[str] = frozenset()
    evident: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        return f"<Header of {self.width} columns>"

    @classmethod
    def of(cls, names: tuple[str, ...] | None, width: int, given: tuple[str, ...]) -> Self:
        """A header whose names may be shown when they stand in `given`."""
        return cls(names, width, frozenset(map(compare_key, given)))

    def showing(self, evident: frozenset[int]) -> Self:
        """The same header, of which the names at the positions `evident` may be shown."""
        return replace(self, evident=evident)

    def key(self, position: int) -> str:
        """The name of a column as it is compared; empty without a header."""
        return compare_key(self.names[position]) if self.names is not None and position < len(self.names) else ""

    def shown(self, position: int) -> str:
        """The name for people: the own one when it may be shown, else `column4`, counted from 1."""
        key = self.key(position)
        own = " ".join(self.names[position].replace("\ufeff", "").split()) if key and self.names is not None else ""
        may_be_shown = own.isprintable() and (key in self.given or position in self.evident or is_showable(own))
        return own if own and may_be_shown else f"column{position + 1}"

    def find(self, name: str) -> int:
        """The position of the column called `name`. Raises MappingRefused when there is none, or more than one."""
        key = compare_key(name)
        places = [position for position in range(self.width) if key and self.key(position) == key]
        if len(places) > 1:
            self.refuse_same_name(places)
        if places:
            return places[0]
        alias = _ALIAS.fullmatch(key)
        if alias is not None and int(alias[1]) <= self.width:
            return int(alias[1]) - 1
        without = "" if self.names is not None else ", and the source has no header"
        raise MappingRefused(f"there is no column {name!a}{without}", hint=f"the columns are: {self.listed()}")

    def has(self, name: str) -> bool:
        """Whether there is a column called `name`, or several."""
        key = compare_key(name)
        alias = _ALIAS.fullmatch(key)
        is_place = alias is not None and int(alias[1]) <= self.width
        return is_place or any(key and self.key(position) == key for position in range(self.width))

    def refuse_same_name(self, positions: list[int]) -> None:
        """Raises MappingRefused for columns that are wanted and cannot be told apart by name."""
        aliases = [f"column{position + 1}" for position in positions]
        raise MappingRefused(
            f"{' and '.join(aliases)} have the same name, {self.shown(positions[0])}",
            hint=f"say which is meant by its place, for example {option('columns', {'KIND': aliases[0]})}",
        )

    def listed(self) -> str:
        """The shown names of all columns, for a message."""
        names = [self.shown(position) for position in range(min(self.width, MAX_LISTED))]
        return ", ".join(names) + (f" and {self.width - MAX_LISTED} more" if self.width > MAX_LISTED else "")


def is_whole_file(cells: list[str]) -> bool:
    """Whether the only record of a file holds names and people both: what is left when line ends are lost."""
    has_people = any(is_identifier(cell.strip()) for cell in cells)
    return has_people and any('"' in cell or names_person_data(cell) for cell in cells)
