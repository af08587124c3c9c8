"""How a user says that a source is read; and the separators of several values in one cell."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from audiencekit.errors import UsageError
from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.kinds import Kind
from audiencekit.text import option

GOOGLE: Final = " ::: "  # of Google Contacts; it stands in no value
SEMICOLON: Final = ";"
LINE_BREAK: Final = "\n"
SEPARATORS: Final = (GOOGLE, SEMICOLON, LINE_BREAK)
# A semicolon that divides nothing: in a quoted local part (RFC 5321), before a parameter such as ;ext=12 (RFC 3966).
ONE_VALUE: Final = r'"|;\s*[A-Za-z-]+='
_IS_ONE_VALUE: Final = re.compile(ONE_VALUE, re.ASCII)
_SHOWN: Final = {LINE_BREAK: "line breaks"}


def is_one_value(cell: str, separator: str) -> bool:
    """Whether a cell with `separator` in it is a single value all the same."""
    return separator == SEMICOLON and _IS_ONE_VALUE.search(cell) is not None


def show_separator(separator: str) -> str:
    """Return the name of a separator for people."""
    return _SHOWN.get(separator, f"'{separator}'")


EVERY_SHEET: Final = "*"  # no sheet may be called so
TAB_WORDS: Final = frozenset({"tab", "\\t"})  # a tab is hard to type in a shell
# Python's text codecs that no file of rows is written in; some of them run through the whole text for each read.
UNSUITABLE_ENCODINGS: Final = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7", "mbcs", "oem"}
)
_ENCODINGS: Final = (
    "for example utf-8, utf-16, shift_jis, or cp1252, which Windows calls ANSI in Western Europe and America (cp1250 in"
    " Central Europe)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How to read a source, checked at construction. Raises UsageError for invalid options.

    `columns` pairs kinds with column names, and then no other identifier column is looked for. `country` is an ISO code
    or an English name and is kept as the code. `area_code_column` and `country_code_column` hold the area codes of
    phone numbers and the calling codes of their countries. `fill_down` names columns of which a blank cell is as the
    one above it. `hashed` are the kinds whose columns hold SHA-256 already. `ignore` names columns that are taken for
    nothing, neither for identifiers nor for the country. `header` False says that the first record is data, True that
    it is not, None that it is looked at. `header_row` is the line of the header, or its row in a sheet. `sheet` names a
    sheet of a workbook, or several that are one list; EVERY_SHEET means all that people see and that hold cells.
    `one_operation` True says that a prepared file's operations are not looked at.

    `puts_in` says that the people of the list are put into an audience. What is not theirs beyond doubt is left out
    then; else each column of a kind counts, since a person who is missed would be reached.

    `every_form` is for lists that are compared and never sent: columns of hashes are mapped beside those in the clear,
    and the options may be meant for another of several lists. What a list has no use for is passed over, and of the
    kinds that `columns` does not name in it, columns are recognised.

    `rejected_columns` are those of the run whose opened rejections may be the list: kind, name, and whether it holds
    hashes. They are used where `columns` names none.
    """

    columns: tuple[tuple[Kind, str], ...] = ()
    country: str | None = None
    country_column: str | None = None
    country_code_column: str | None = None
    area_code_column: str | None = None
    operation_column: str | None = None
    consent_column: str | None = None
    fill_down: tuple[str, ...] = ()
    hashed: frozenset[Kind] = frozenset()
    ignore: tuple[str, ...] = ()
    every_form: bool = False
    split_cells: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    header_row: int | None = None
    sheet: str | tuple[str, ...] | None = None
    one_operation: bool = False
    puts_in: bool = False
    rejected_columns: tuple[tuple[Kind, str, bool], ...] = ()

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "country", _checked_country(self.country))
        set_field(self, "encoding", _checked_encoding(self.encoding))
        set_field(self, "delimiter", _checked_character("delimiter", self.delimiter))
        set_field(self, "split_cells", _checked_character("split_cells", self.split_cells))
        if self.sheet is not None and not isinstance(self.sheet, str):
            set_field(self, "sheet", tuple(self.sheet) or None)
        self._check_together()

    def _check_together(self) -> None:
        if self.delimiter is not None and self.delimiter == self.split_cells:
            raise UsageError("`delimiter=` and `split_cells=` are the same character")
        if any(not kind.is_hashed for kind in self.hashed):
            raise UsageError("`hashed=['partner_user_id']`: this kind is never hashed")
        if any(not name.strip() for _, name in self.columns):
            raise UsageError(
                "`columns=` names no column",
                hint="write `columns={'email': 'NAME'}`, or `columns={'email': 'column3'}`",
            )
        if self.country_column is not None and self.country_code_column is not None:
            raise UsageError("`country_column=` and `country_code_column=` were both given", hint="give one of them")
        if not all(isinstance(name, str) and name.strip() for name in self.sheets):
            raise UsageError("`sheet=` names no sheet")
        names = {name.strip().casefold() for name in self.sheets}
        if len(names) < len(self.sheets) or (EVERY_SHEET in names and len(names) > 1):
            raise UsageError("`sheet=` names a sheet twice", hint=f"give each once, or {option('sheet', EVERY_SHEET)}")
        if self.header_row is not None and self.header is not None:
            raise UsageError(
                f"{option('header', self.header)} and `header_row=` were both given", hint="give one of them"
            )
        if not all(name.strip() for name in self.fill_down):
            raise UsageError("`fill_down=` names no column", hint="write `fill_down=['NAME']`")
        if not all(name.strip() for name in self.ignore):
            raise UsageError("`ignore=` names no column", hint="write `ignore=['NAME']`, or `ignore=['column3']`")

    @property
    def sheets(self) -> tuple[str, ...]:
        """The sheets that are named, in that order."""
        return () if self.sheet is None else (self.sheet,) if isinstance(self.sheet, str) else self.sheet

    @property
    def is_about_columns(self) -> bool:
        """Whether an option describes columns or cells, which the file then does not decide."""
        if self.every_form:
            return False
        singles = (*self._single_columns, self.split_cells)
        several = self.columns or self.hashed or self.ignore or self.fill_down
        return bool(several) or any(name is not None for name in singles)

    @property
    def counts_cells(self) -> bool:
        """Whether many unreadable cells refuse a list, as unreadable rows do: where people are kept or taken out.

        There a person whose cell cannot be read would be missed. Of people who are put in, the other identifiers go on.
        """
        return not self.puts_in or self.operation_column is not None

    @property
    def wanted_names(self) -> tuple[str, ...]:
        """Every column name that the user gave."""
        others = (*self._single_columns, *self.ignore, *self.fill_down)
        return tuple(name for _, name in self.columns) + tuple(name for name in others if name is not None)

    @property
    def _single_columns(self) -> tuple[str | None, ...]:
        codes = (self.country_code_column, self.area_code_column)
        return (self.country_column, *codes, self.operation_column, self.consent_column)


def _checked_country(country: str | None) -> str | None:
    if country is None:
        return None
    found = find_country(country)
    if found is None:
        raise UsageError("`country=` is not a country", hint="give an ISO code such as DE or an English name")
    return found


def _checked_encoding(encoding: str | None) -> str | None:
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # refuses the codecs that do not make text
    except (LookupError, ValueError):
        name = ""
    if not name or name.replace("_", "-") in UNSUITABLE_ENCODINGS:
        raise UsageError("`encoding=` is not a text encoding", hint=_ENCODINGS)
    return name


def _checked_character(name: str, text: str | None) -> str | None:
    if text is None:
        return None
    character = "\t" if text.lower() in TAB_WORDS else text
    if len(character) != 1 or not character.isascii() or character in '"\r\n\0':
        raise UsageError(
            f"{option(name)} must be one ASCII character, and not a quote or a line end",
            hint=f"for example {option(name, ';')}",
        )
    return character
