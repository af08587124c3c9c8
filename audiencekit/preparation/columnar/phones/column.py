"""The decisions on one column of phone numbers while they are being made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason, Rules
from audiencekit.identifiers.texts import is_placeholder_number
from audiencekit.preparation.columnar.buffers import Bools, Bytes, Places
from audiencekit.preparation.columnar.decisions import PENDING, UNDECIDED, VALID, Codes, code_of
from audiencekit.preparation.columnar.phones.digits import MAX_DIGITS, Digits
from audiencekit.preparation.columnar.phones.e164 import write_numbers
from audiencekit.preparation.columnar.phones.tables import (
    WIDTH,
    States,
    Tables,
    calling_codes,
    number_of,
    phone_tables,
    unpacked_outcomes,
)
from audiencekit.preparation.columnar.phones.trunks import DigitOutcome

Rows: TypeAlias = npt.NDArray[np.int64]

# Regions that have phone numbers (None: no such), and which of them each row has.
Regions: TypeAlias = tuple[list[str | None], Places]

_COUNTS: Final = ("1234567890", "0123456789", "9876543210", "0987654321")
_COUNT_STARTS: Final = np.isin(np.arange(100), [int(count[:2]) for count in _COUNTS])
_RUN: Final = 5  # equal digits at the end: perhaps the whole national number
_ZEROS_IN_FRONT: Final = 2  # the digits of 00

_CODE_OF_OUTCOME: Final = {
    DigitOutcome.VALID: VALID,
    DigitOutcome.NOT_VALID: code_of(Reason.NOT_VALID),
    DigitOutcome.NOT_POSSIBLE: code_of(Reason.NOT_POSSIBLE),
    DigitOutcome.NO_COUNTRY: code_of(Reason.NO_COUNTRY),
    DigitOutcome.PLACEHOLDER: code_of(Reason.PLACEHOLDER),
    DigitOutcome.INTERNATIONAL: UNDECIDED,
    DigitOutcome.BAD_CODE: UNDECIDED,
    DigitOutcome.UNKNOWN: UNDECIDED,
}
CODES: Final = np.array([_CODE_OF_OUTCOME[outcome] for outcome in DigitOutcome], dtype=np.int8)
DIALLED: Final = number_of(DigitOutcome.INTERNATIONAL)
_CODE_DIGITS: Final = 3  # digits that phonenumbers asks for behind a plus sign or an international prefix
CALLING_CODES: Final = calling_codes()
PLACEHOLDERS: Final = pa.array(
    sorted(
        text
        for text in {
            *(str(digit) * size for digit in range(10) for size in range(1, MAX_DIGITS + 1)),
            *(count[:size] for count in _COUNTS for size in range(1, len(count) + 1)),
        }
        if is_placeholder_number(text)
    )
)


class NumberColumn:
    """The decisions on one column while they are being made: code, digits to drop, calling code of every row."""

    def __init__(self, digits: Digits) -> None:
        size = len(digits.counts)
        self.digits = digits
        self.codes: Codes = np.full(size, PENDING, dtype=np.int8)
        self.dropped: Places = np.zeros(size, dtype=np.int32)
        self.calling_codes: npt.NDArray[np.int16] = np.zeros(size, dtype=np.int16)

    def read(self, regions: Regions) -> None:
        """Decides all rows whose digits were read: behind their plus, without one as their region dials."""
        rows = np.flatnonzero(self.digits.is_read)
        has_plus = self.digits.has_plus.take(rows)
        codes = np.where(has_plus, self._codes_behind(rows, np.int32(0)), 0)
        tables, firsts = _firsts(codes, regions[0], regions[1].take(rows))
        begun = firsts >= 0
        self.codes[rows[~begun]] = np.where(has_plus[~begun], code_of(Reason.NOT_POSSIBLE), code_of(Reason.NO_COUNTRY))
        rows, firsts, has_plus, codes = rows[begun], firsts[begun], has_plus[begun], codes[begun]
        ends = _run(tables, self.digits, self.digits.starts.take(rows), self.digits.counts.take(rows), firsts)
        outcomes = self._take(tables, rows, ends, np.int32(0))
        self._refuse_unknown_codes(rows[has_plus & (codes == 0)])
        self._read_dialled(rows[outcomes == DIALLED])

    def _read_dialled(self, rows: Rows) -> None:
        """Decides what begins with the international prefix of its region, of as many digits as are to be dropped."""
        sizes = self.dropped[rows]
        self.codes[rows] = code_of(Reason.NOT_POSSIBLE)
        tables, ends, known = self._run_behind(rows, sizes)
        self._take(tables, rows[known], ends, sizes[known])

    def _refuse_unknown_codes(self, rows: Rows) -> None:
        """Decides what has a plus and no calling code behind it, and was read as its region dials.

        phonenumbers does so too, and finds no number but behind an international prefix: +0049 is 0049 to it.
        """
        self.codes[rows[self.codes[rows] != UNDECIDED]] = code_of(Reason.NOT_POSSIBLE)

    def read_behind_zeros(self) -> None:
        """Decides what begins with 00: the definition reads it also as if there was a plus.

        What was refused is such a number then, and no one's what was read as another.
        """
        digits = self.digits
        rows = np.flatnonzero(digits.has_zeros & (self.codes >= VALID))
        tables, ends, known = self._run_behind(rows, np.full(len(rows), _ZEROS_IN_FRONT, dtype=np.int32))
        rows = rows[known]
        outcomes, dropped, calling_codes = unpacked_outcomes(tables.readings[ends])
        is_number, was_refused = np.isin(CODES[outcomes], (VALID, UNDECIDED)), self.codes[rows] > VALID
        better = is_number & was_refused
        self._take(tables, rows[better], ends[better], np.int32(_ZEROS_IN_FRONT))
        is_other = calling_codes != self.calling_codes[rows]
        is_doubtful = (CODES[outcomes] == UNDECIDED) | is_other | (dropped + _ZEROS_IN_FRONT != self.dropped[rows])
        doubtful = is_number & ~was_refused & is_doubtful
        is_certain = (CODES[outcomes] == VALID) & is_other
        self.codes[rows[doubtful]] = np.where(is_certain[doubtful], code_of(Reason.NO_COUNTRY), UNDECIDED)
        # Two zeros with something between them are not 00 to the definition.
        apart = np.flatnonzero(digits.is_read & ~digits.has_plus & ~digits.has_zeros & (self._first_two() == 0))
        self.codes[apart] = UNDECIDED

    def leave_national(self) -> None:
        """Leaves what hangs on validity: everything without a plus, and what is possible and not valid."""
        self.codes[self.digits.is_read & ~self.digits.has_plus] = UNDECIDED
        self.codes[self.digits.is_read & (self.codes == code_of(Reason.NOT_VALID))] = UNDECIDED

    def find_placeholders(self) -> None:
        """Decides digits that repeat or count as they were written."""
        digits = self.digits
        runs = self._ends_in_run() & digits.is_read
        counts = _COUNT_STARTS.take(self._first_two()) & (digits.counts <= len(_COUNTS[0]))
        asked = np.flatnonzero(digits.is_read & (runs | counts | (digits.counts < _RUN)))
        if len(asked):
            found = pc.is_in(digits.texts(asked), value_set=PLACEHOLDERS).to_numpy(zero_copy_only=False)
            self.codes[asked[found]] = code_of(Reason.PLACEHOLDER)

    def written(self, rules: Rules) -> Any:
        """The numbers of the rows that are VALID, null for the others."""
        valid, plus = self.codes == VALID, rules.phone_form == "e164"
        return write_numbers(self.digits, valid, self.dropped, self.calling_codes, plus=plus)

    def _ends_in_run(self) -> Bools:
        """Which rows end in _RUN equal digits."""
        values, counts = self.digits.values, self.digits.counts
        same = values[1:] == values[:-1]
        run = same[: -_RUN + 2].copy()
        for place in range(1, _RUN - 1):
            run &= same[place : len(run) + place]
        begin = np.maximum(self.digits.starts + counts - np.int32(_RUN), 0)
        found: Bools = run.take(begin) & (counts >= _RUN)
        return found

    def _first_two(self) -> Bytes:
        """The first two digits of each row as a number."""
        values, starts = self.digits.values, self.digits.starts
        firsts: Bytes = values.take(starts) * np.uint8(10) + values.take(starts + np.int32(1))
        return firsts

    def _codes_behind(self, rows: Rows, sizes: Any) -> Places:
        """The calling code that `rows` have behind `sizes` digits, 0: none."""
        values, begin = self.digits.values, self.digits.starts.take(rows) + sizes
        heads = values.take(begin) * np.int16(100)
        heads += values.take(begin + np.int32(1)) * np.int16(10)
        heads += values.take(begin + np.int32(2))
        has_code = self.digits.counts.take(rows) - sizes >= _CODE_DIGITS
        return np.where(has_code, CALLING_CODES.take(heads), 0)

    def _run_behind(self, rows: Rows, sizes: Places) -> tuple[Tables, States, Bools]:
        """Tables, the states behind the rows that have a calling code, and which do; `sizes` digits are passed over."""
        codes = self._codes_behind(rows, sizes)
        known = codes > 0
        tables, firsts = _firsts(codes[known], [], codes[known])
        begin, counts = self.digits.starts.take(rows) + sizes, self.digits.counts.take(rows) - sizes
        return tables, _run(tables, self.digits, begin[known], counts[known], firsts), known

    def _take(self, tables: Tables, rows: Rows, ends: States, passed: Places | np.int32) -> States:
        """Takes over what the tables say of `rows`, and gives its outcomes; `passed` digits were not shown to them."""
        outcomes, dropped, calling_codes = unpacked_outcomes(tables.readings.take(ends))
        self.codes[rows] = CODES.take(outcomes)
        self.dropped[rows] = dropped + passed
        self.calling_codes[rows] = calling_codes
        return outcomes


def _firsts(codes: Places, names: Sequence[str | None], regions: Places) -> tuple[Tables, States]:
    """Tables, and where each row begins: with its calling code, where that is 0 with its region; -1 without both."""
    found = np.flatnonzero(np.bincount(codes, minlength=1)[1:]) + 1
    tables = phone_tables().covering((name for name in names if name), found.tolist())
    if not names:
        return tables, tables.international.take(codes)
    national = np.array([tables.national[name] if name else -1 for name in names], dtype=np.int32)
    return tables, np.where(codes > 0, tables.international.take(codes), national.take(regions))


def _run(tables: Tables, digits: Digits, starts: Places, counts: Places, begin: States) -> States:
    """The row of the table where each number ends. The longest first, so that at every place the open ones lead."""
    order = np.argsort(counts.astype(np.uint8), kind="stable")[::-1]
    states, places = begin.take(order), starts.take(order)
    still_open = len(counts) - np.cumsum(np.bincount(counts, minlength=MAX_DIGITS + 1))
    for number in still_open.tolist():
        if not number:
            break
        moved = digits.values.take(places[:number]) + states[:number]
        states[:number] = tables.following.take(moved)
        places[:number] += 1
    ends = np.empty_like(states)
    ends[order] = states // WIDTH
    return ends
