"""Stored cells as text, by a rule for each type; a cell that cannot be an identifier is a fault.

A number that is whole and below 2**53 is its digits: Excel shows and rounds larger ones. A date, a fraction, and true
or false are no identifier, and would pass for one as digits. An error of a formula is the text that people see, which
the rules of identifiers know as a placeholder. A formula without a value was never computed. In a sample every cell is
text, a date in ISO 8601.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.errors import SourceRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.texts import WORDS
from audiencekit.limits import MAX_CELL_BYTES
from audiencekit.records.columns.arrays import arrow_array
from audiencekit.sources.excel.sheet_cells import CellColumn, CellType
from audiencekit.sources.excel.workbook import Container, Workbook, damaged
from audiencekit.sources.excel.xml_rows import read_strings, unescaped
from audiencekit.sources.sampling import NO_VALUE

MAX_SHARED_BYTES: Final = 64_000_000  # of the shared texts of some thousand cells: far more than people have
_LOOK: Final = "look at the sheet, and save its list as CSV UTF-8"
INEXACT: Final = 2**53  # from here on a number may stand for its neighbours
_PLAIN_DIGITS: Final = 15  # so many are below it
_DIGITS: Final = np.isin(np.arange(256), np.frombuffer(b"0123456789", dtype=np.uint8))
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
_DAY_ZERO: Final = datetime.date(1899, 12, 30)
_DAY_ZERO_1904: Final = datetime.date(1904, 1, 1)
_TRUTHS: Final = {"1": "true", "0": "false", "true": "true", "false": "false"}


class Use(Enum):
    """The use of a column: for identifiers, for words such as an operation, or for a sample."""

    IDENTIFIER = "identifier"
    WORD = "word"
    SAMPLE = "sample"


@dataclass(frozen=True, slots=True, repr=False)
class ReadCells:
    """The cells of a column as text, null for one at fault; which of them are, and why."""

    texts: Any  # pa.StringArray
    faults: tuple[tuple[int, Reason], ...]


@dataclass(frozen=True, slots=True, repr=False)
class CellReader:
    """Reads stored cells: `strings` are the shared texts, `dates` the styles that show dates, from `day_zero` on."""

    strings: Any
    dates: frozenset[int]
    day_zero: datetime.date = _DAY_ZERO

    @classmethod
    def of(cls, container: Container, workbook: Workbook) -> Self:
        """A reader for the sheets of `workbook`."""
        day_zero = _DAY_ZERO_1904 if workbook.counts_from_1904 else _DAY_ZERO
        return cls(read_strings(container, workbook.strings), workbook.dates, day_zero)

    def read(self, column: CellColumn, use: Use) -> ReadCells:
        """The cells of `column` as text. Raises SourceRefused for those that are not sound."""
        types = self._types(column)
        pieces: list[Any] = []
        places: list[npt.NDArray[np.int64]] = []
        faults: list[tuple[int, Reason]] = []
        for kind in CellType:
            at = np.flatnonzero(types == kind)
            if not len(at):
                continue
            texts = column.texts if len(at) == len(types) else column.texts.take(arrow_array(at))
            read = self._of_type(kind, texts, use)
            pieces.append(read.texts)
            places.append(at)
            faults += [(int(at[place]), reason) for place, reason in read.faults]
        if len(pieces) == 1:
            return ReadCells(pieces[0], tuple(faults))
        order = np.argsort(np.concatenate(places)) if places else np.empty(0, dtype=np.int64)
        together = pa.concat_arrays(pieces) if pieces else pa.array([], pa.string())
        return ReadCells(together.take(arrow_array(order)), tuple(sorted(faults)))

    def _types(self, column: CellColumn) -> npt.NDArray[np.uint8]:
        """The types of the cells; a number that is shown as a date is one."""
        are_dates = (column.types == CellType.NUMBER) & np.isin(column.styles, list(self.dates))
        return np.where(are_dates, np.uint8(CellType.DATE), column.types) if are_dates.any() else column.types

    def _of_type(self, kind: CellType, texts: Any, use: Use) -> ReadCells:
        match kind:
            case CellType.SHARED:
                return _bounded(self._shared(texts))
            case CellType.TEXT:
                return _bounded(unescaped(texts))
            case CellType.NUMBER:
                return _numbers(texts, use)
            case CellType.BOOLEAN:
                return _one_by_one(texts, lambda text: _truth(text, use))
            case CellType.ERROR:
                return _one_by_one(texts, lambda text: _error(text, use))
            case CellType.UNCOMPUTED:
                return _one_by_one(texts, lambda _: Reason.NOT_TEXT)
            case _:
                return _one_by_one(texts, lambda text: _date(text, use, self.day_zero))

    def _shared(self, texts: Any) -> Any:
        """The shared texts at the places that `texts` say."""
        if _are_digits(texts) and pc.max(pc.binary_length(texts)).as_py() <= _PLAIN_DIGITS:
            places = texts.cast(pa.int64())
            if pc.max(places).as_py() < len(self.strings):
                if pc.sum(pc.binary_length(self.strings).take(places)).as_py() > MAX_SHARED_BYTES:
                    raise SourceRefused("cells of the sheet share long texts: they would fill the memory", hint=_LOOK)
                return self.strings.take(places)
        raise damaged("a cell shares a text that is not there")


def _bounded(texts: Any) -> ReadCells:
    """Texts that may be cells; one that is too large for an identifier is a fault."""
    if (pc.max(pc.binary_length(texts)).as_py() or 0) <= MAX_CELL_BYTES:
        return ReadCells(texts, ())
    are_large = pc.greater(pc.binary_length(texts), MAX_CELL_BYTES)
    places = np.flatnonzero(are_large.to_numpy(zero_copy_only=False)).tolist()
    return ReadCells(pc.if_else(are_large, None, texts), tuple((place, Reason.TOO_LARGE) for place in places))


def _numbers(texts: Any, use: Use) -> ReadCells:
    if _are_digits(texts) and pc.max(pc.binary_length(texts)).as_py() <= _PLAIN_DIGITS:
        return ReadCells(texts.cast(pa.int64()).cast(pa.string()), ())
    return _one_by_one(texts, lambda text: _number(text, use))


def _number(text: str, use: Use) -> str | Reason:
    value = _value_of(text)
    if value is None:
        raise damaged("a number has other letters than digits")
    if value == math.floor(value) and abs(value) < INEXACT:
        return str(int(value))
    return repr(value) if use is Use.SAMPLE else Reason.EXCEL_MANGLED


def _truth(text: str, use: Use) -> str | Reason:
    said = _TRUTHS.get(text.strip(), text)
    if use is not Use.IDENTIFIER:
        return said
    return NO_VALUE if said == "false" else Reason.NOT_TEXT


def _error(text: str, use: Use) -> str | Reason:
    return text if use is Use.SAMPLE or text.strip().lower() in WORDS else Reason.NOT_TEXT


def _date(text: str, use: Use, day_zero: datetime.date) -> str | Reason:
    """A date in ISO 8601, for a sample."""
    if use is not Use.SAMPLE:
        return Reason.NOT_TEXT
    number = _value_of(text)
    if number is None:
        return text  # ISO 8601 already
    try:
        return (day_zero + datetime.timedelta(days=number)).isoformat()
    except OverflowError:
        return text


def _value_of(text: str) -> float | None:
    """The number that `text` is; None for anything else, infinity included."""
    number = float(text) if _NUMBER.fullmatch(text.strip()) else math.inf
    return number if math.isfinite(number) else None


def _one_by_one(texts: Any, rule: Callable[[str], str | Reason]) -> ReadCells:
    found = [rule(text) for text in texts.to_pylist()]
    faults = tuple((place, result) for place, result in enumerate(found) if isinstance(result, Reason))
    texts = [None if isinstance(result, Reason) else result for result in found]
    return ReadCells(pa.array(texts, pa.string()), faults)


def _are_digits(texts: Any) -> bool:
    """Whether all of `texts` (a pa.StringArray without nulls) consist of digits, and none is empty."""
    begin, end = (texts.offset, texts.offset + len(texts))
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int32)
    letters = np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8)[offsets[begin] : offsets[end]]
    return bool(_DIGITS[letters].all()) and bool((np.diff(offsets[begin : end + 1]) > 0).all())
