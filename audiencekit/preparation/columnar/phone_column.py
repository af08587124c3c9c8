"""The decisions on one column of phone numbers while they are being made."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.placeholders import is_placeholder_number
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.rules import Rules

from .checks import PENDING
from .decisions import UNDECIDED, VALID, Codes, code_of
from .digits import MAX_DIGITS, Bools, Digits, Places
from .e164 import write_numbers
from .phone_tables import WIDTH, States, Tables, calling_codes, number_of, phone_tables
from .phone_trunks import Outcome

Rows: TypeAlias = npt.NDArray[np.int64]

# Regions that have phone numbers (None: no such), and which of them each row has.
Regions: TypeAlias = tuple[list[str | None], Places]

_COUNTS: Final = ("1234567890", "0123456789", "9876543210", "0987654321")
_RUN: Final = 5  # equal digits at the end: perhaps the whole national number
_ZEROS_IN_FRONT: Final = 2  # the digits of 00

_CODE_OF_OUTCOME: Final = {
    Outcome.VALID: VALID,
    Outcome.NOT_VALID: code_of(Reason.NOT_VALID),
    Outcome.NOT_POSSIBLE: code_of(Reason.NOT_POSSIBLE),
    Outcome.NO_COUNTRY: code_of(Reason.NO_COUNTRY),
    Outcome.INTERNATIONAL: UNDECIDED,
    Outcome.BAD_CODE: UNDECIDED,
    Outcome.UNKNOWN: UNDECIDED,
}
_CODES: Final = np.array([_CODE_OF_OUTCOME[outcome] for outcome in Outcome], dtype=np.int8)
_CODE_DIGITS: Final = 3  # digits that phonenumbers asks for behind a plus sign or an international prefix
_CALLING_CODES: Final = calling_codes()
_PLACEHOLDERS: Final = pa.array(
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
        # Rows that the region's own international prefix opened, and how many digits it has.
        self._dialled: Rows = np.zeros(0, dtype=np.int64)
        self._prefix_sizes: Places = np.zeros(0, dtype=np.int32)

    def read_nationally(self, regions: Regions) -> None:
        """Decides what has no plus; what an international prefix opens is kept for `read_internationally`."""
        names, indices = regions
        tables = phone_tables().covering((name for name in names if name), ())
        starts = np.array([tables.national[name] if name else -1 for name in names], dtype=np.int32)[indices]
        rows = np.flatnonzero(self.digits.is_read & ~self.digits.has_plus)
        begin = starts[rows]
        self.codes[rows[begin < 0]] = code_of(Reason.NO_COUNTRY)
        has_region = begin >= 0
        rows, begin = rows[has_region], begin[has_region]
        ends = _run(tables, self.digits, self.digits.starts[rows], self.digits.counts[rows], begin)
        self._take(tables, rows, ends, 0)
        dialled = tables.outcomes[ends] == number_of(Outcome.INTERNATIONAL)
        self._dialled, self._prefix_sizes = rows[dialled], tables.dropped[ends[dialled]].astype(np.int32)

    def read_internationally(self) -> None:
        """Decides what has a plus or the international prefix of its region."""
        rows = np.flatnonzero(self.digits.is_read & self.digits.has_plus)
        tables, ends, known = self._run_international(rows, np.zeros(len(rows), dtype=np.int32))
        self.codes[rows] = UNDECIDED  # phonenumbers reads it nationally where no calling code follows
        self._take(tables, rows[known], ends, 0)
        self._read_dialled(self._dialled, self._prefix_sizes)

    def _read_dialled(self, rows: Rows, sizes: Places) -> None:
        tables, ends, known = self._run_international(rows, sizes)
        self.codes[rows] = code_of(Reason.NOT_POSSIBLE)
        self._take(tables, rows[known], ends, sizes[known])

    def read_behind_zeros(self) -> None:
        """Decides what begins with 00 and was refused: the definition then reads it as if there was a plus."""
        doubted = self.digits.has_zeros & (self.codes > VALID)
        rows = np.flatnonzero(doubted)
        sizes = np.full(len(rows), _ZEROS_IN_FRONT, dtype=np.int32)
        tables, ends, known = self._run_international(rows, sizes)
        rows = rows[known]
        better = np.isin(_CODES[tables.outcomes[ends]], (VALID, UNDECIDED))
        self._take(tables, rows[better], ends[better], _ZEROS_IN_FRONT)
        # Two zeros with something between them are not 00 to the definition.
        values, starts = self.digits.values, self.digits.starts
        apart = self.digits.is_read & ~self.digits.has_plus & ~self.digits.has_zeros
        apart &= (values[starts] == 0) & (values[starts + 1] == 0)
        self.codes[apart] = UNDECIDED

    def leave_national(self) -> None:
        """Leaves what hangs on validity: everything without a plus, and what is possible and not valid."""
        self.codes[self.digits.is_read & ~self.digits.has_plus] = UNDECIDED
        self.codes[self.digits.is_read & (self.codes == code_of(Reason.NOT_VALID))] = UNDECIDED

    def find_placeholders(self, trimmed: Any) -> None:
        """Decides digits that repeat or count; leaves those whose national part may repeat."""
        rows = np.flatnonzero(self.digits.is_read)
        runs = self._ends_in_run(rows)
        heads = self._heads(rows)
        counts = np.isin(heads, [int(count[:3]) for count in _COUNTS]) & (self.digits.counts[rows] <= len(_COUNTS[0]))
        self.codes[rows[runs]] = UNDECIDED
        asked = rows[runs | counts | (self.digits.counts[rows] < _RUN)]
        if len(asked):
            plain = pc.replace_substring_regex(trimmed.take(pa.array(asked)), r"[^0-9]", "")
            found = pc.is_in(plain, value_set=_PLACEHOLDERS).to_numpy(zero_copy_only=False)
            self.codes[asked[found]] = code_of(Reason.PLACEHOLDER)

    def written(self, rules: Rules) -> Any:
        """The numbers of the rows that are VALID, null for the others."""
        valid, plus = self.codes == VALID, rules.phone_form == "e164"
        return write_numbers(self.digits, valid, self.dropped, self.calling_codes, plus=plus)

    def _ends_in_run(self, rows: npt.NDArray[np.int64]) -> Bools:
        """Which of `rows` end in _RUN equal digits."""
        values = self.digits.values
        same = values[1:] == values[:-1]
        run = same[: -_RUN + 2] & same[1 : -_RUN + 3] & same[2 : -_RUN + 4] & same[_RUN - 2 :]
        counts = self.digits.counts[rows]
        begin = self.digits.starts[rows] + counts - np.int32(_RUN)
        found: Bools = run[np.maximum(begin, 0)] & (counts >= _RUN)
        return found

    def _heads(self, rows: Any, sizes: Any = 0) -> npt.NDArray[np.int16]:
        """The first three digits of `rows` behind `sizes` digits, as a number."""
        values, begin = self.digits.values, self.digits.starts[rows] + sizes
        heads: npt.NDArray[np.int16] = values[begin] * np.int16(100)
        heads += values[begin + 1] * np.int16(10)
        heads += values[begin + 2]
        return heads

    def _run_international(self, rows: Any, sizes: Places) -> tuple[Tables, States, Bools]:
        """Tables, the states behind the rows that have a calling code, and which do; `sizes` digits are passed over."""
        begin, counts = self.digits.starts[rows] + sizes, self.digits.counts[rows] - sizes
        codes = np.where(counts >= _CODE_DIGITS, _CALLING_CODES[self._heads(rows, sizes)], 0)
        known = codes > 0
        tables = phone_tables().covering((), np.flatnonzero(np.bincount(codes[known])).tolist())
        firsts = tables.international[codes[known]]
        return tables, _run(tables, self.digits, begin[known], counts[known], firsts), known

    def _take(self, tables: Tables, rows: Any, ends: States, passed: Any) -> None:
        """Takes over what the tables say of `rows`; `passed` digits were not shown to them."""
        self.codes[rows] = _CODES[tables.outcomes[ends]]
        self.dropped[rows] = tables.dropped[ends] + passed
        self.calling_codes[rows] = tables.codes[ends]


def _run(tables: Tables, digits: Digits, starts: Places, counts: Places, begin: States) -> States:
    """The row of the table where each number ends. The longest first, so that at every place the open ones lead."""
    order = np.argsort(counts.astype(np.uint8), kind="stable")[::-1]
    states, places = begin[order], starts[order]
    still_open = len(counts) - np.cumsum(np.bincount(counts, minlength=MAX_DIGITS + 1))
    for number in still_open.tolist():
        if not number:
            break
        moved = states[:number] + digits.values.take(places[:number])
        states[:number] = tables.following.take(moved)
        places[:number] += 1
    ends = np.empty_like(states)
    ends[order] = states // WIDTH
    return ends
