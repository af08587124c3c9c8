"""Phone numbers where there are no kernels: the certain ones of a column, digit by digit of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason, Rules
from audiencekit.identifiers.phone_number import day_form
from audiencekit.records.columns.arrays import (
    PENDING,
    UNDECIDED,
    VALID,
    Bools,
    Bytes,
    Codes,
    Decisions,
    Places,
    arrow_array,
    code_of,
    put,
    text_buffers,
)
from audiencekit.records.columns.checks import (
    ALWAYS,
    NOT_ASCII,
    OPENING,
    Check,
    decide_in_order,
    matches,
    signs,
    trim_texts,
)
from audiencekit.records.columns.other_spellings import leave_numbers
from audiencekit.records.phones.regions import (
    CALLING_CODES,
    CODES,
    COUNTS,
    DIALLED,
    MAX_DIGITS,
    PLACEHOLDERS,
    Regions,
    regions_of,
)
from audiencekit.records.phones.tables import WIDTH, States, Tables, phone_tables, unpacked_outcomes

MAX_WRITTEN_BYTES: Final = 100  # as in identifiers/phone_number.py; only ASCII is read here
MIN_DIGITS: Final = 3  # phonenumbers reads two digits only where nothing stands beside them
FRONT: Final = 4  # zeros before the first digit of the column, room for what is written there

_TWO_NUMBERS: Final = 14  # digits; from here on a slash may divide two numbers
TWO_GROUPS: Final = 16  # digits; from here on a space may

# The weight of a byte: one sum tells how many of each sort a text of MAX_WRITTEN_BYTES has. A byte that is not among
# the known ones is as bad as a plus too many; a tilde is none of these, for it may begin an extension.
_DIGIT, _PLUS, _DIVIDER, _DOT = 1, 1 << 7, 1 << 16, 1 << 23
_MAX_PLUSES: Final = 2  # in front; both are one to the definition
_OTHER: Final = (_MAX_PLUSES + 1) * _PLUS
_COUNT: Final = (1 << 7) - 1
_PLUS_COUNT: Final = (1 << 9) - 1
_ZERO: Final = ord("0")


def _weights() -> Any:
    weights = np.full(256, _OTHER, dtype=np.uint32)
    for letters, weight in {"+": _PLUS, "/ ": _DIVIDER, ".": _DOT, "-()[]": 0, "0123456789": _DIGIT}.items():
        weights[[ord(sign) for sign in letters]] = weight
    return weights


_WEIGHTS: Final = _weights()


@dataclass(frozen=True, slots=True, repr=False)
class Digits:
    """All digits of a column, joined, with the beginning and the number of the digits of each text.

    `values` are 0 to 9, with zeros before the first (FRONT) and behind the last (MAX_DIGITS), so that a look beyond
    stays inside. `is_read` says that the text is ASCII and holds nothing but digits and known punctuation, pluses only
    in front. The others hold only for what is read: `has_zeros` says that 00 is in front, `may_be_two` that a slash or
    a space may divide two numbers. Holds raw values.
    """

    values: Bytes
    starts: Places
    counts: Places
    is_read: Bools
    has_plus: Bools
    has_zeros: Bools
    has_dot: Bools
    may_be_two: Bools

    def texts(self, rows: npt.NDArray[np.int64]) -> Any:
        """The digits of `rows` as a column of texts. Holds raw values."""
        starts, counts = self.starts.take(rows), self.counts.take(rows)
        offsets = np.zeros(len(rows) + 1, dtype=np.int32)
        np.cumsum(counts, dtype=np.int32, out=offsets[1:])
        shifted = np.arange(offsets[-1], dtype=np.int32) + np.repeat(starts - offsets[:-1], counts)
        data = self.values.take(shifted) + np.uint8(_ZERO)
        return pa.StringArray.from_buffers(len(rows), pa.py_buffer(offsets), pa.py_buffer(data))


def read_digits(texts: Any) -> Digits:
    """The digits of `texts` (pa.StringArray without nulls, trimmed); none of texts that are too long.

    Holds raw values.
    """
    offsets, data = text_buffers(texts)
    sizes = np.diff(offsets)
    if sizes.max(initial=0) > MAX_WRITTEN_BYTES:
        offsets, data = text_buffers(pc.if_else(arrow_array(sizes > MAX_WRITTEN_BYTES), _NOTHING, texts))
    if not len(data):
        return _no_digits(len(sizes))
    sums = _sums(offsets, data)
    counts = (sums & _COUNT).astype(np.int32)
    pluses, dividers = sums >> 7 & _PLUS_COUNT, sums >> 16 & _COUNT
    has_plus = pluses > 0
    first, second, third = (data.take(offsets[:-1] + place, mode="clip") for place in range(3))
    is_read = (counts >= MIN_DIGITS) | ((counts == MIN_DIGITS - 1) & (sizes == MIN_DIGITS - 1))
    is_read &= (counts <= MAX_DIGITS) & (pluses == _pluses_in_front(first, second, third))
    may_be_two = (dividers > 0) & (counts >= _TWO_NUMBERS)
    values, starts = _values(data, counts)
    has_zeros = is_read & ~has_plus & _has_zeros_in_front(first, second, third)
    return Digits(values, starts, counts, is_read, has_plus, has_zeros, sums >= _DOT, may_be_two)


_NOTHING: Final = pa.scalar("", pa.string())


def _no_digits(size: int) -> Digits:
    none = np.zeros(size, dtype=bool)
    places = np.zeros(size, dtype=np.int32)
    values = np.zeros(FRONT + MAX_DIGITS, dtype=np.uint8)
    return Digits(values, places + np.int32(FRONT), places, none, none, none, none, none)


def _sums(offsets: Places, data: Bytes) -> Any:
    """For each text the weights of its bytes together."""
    sums = _WEIGHTS.take(data)
    np.cumsum(sums, dtype=np.uint32, out=sums)
    before = sums.take(np.maximum(offsets - np.int32(1), 0))
    before[offsets == 0] = 0
    return np.diff(before)


def _values(data: Bytes, counts: Places) -> tuple[Bytes, Places]:
    starts = np.empty(len(counts) + 1, dtype=np.int32)
    starts[0] = FRONT
    np.cumsum(counts, dtype=np.int32, out=starts[1:])
    starts[1:] += FRONT
    digits = data - np.uint8(_ZERO)  # what is no digit is more than nine then
    values = np.zeros(int(starts[-1]) + MAX_DIGITS, dtype=np.uint8)
    values[FRONT : int(starts[-1])] = digits[digits < 10]
    return values, starts[:-1]


def _pluses_in_front(first: Bytes, second: Bytes, third: Bytes) -> Bytes:
    """Count the pluses at the beginning of each text, _MAX_PLUSES at most, perhaps after an opening bracket."""
    has_bracket = (first == ord("(")) | (first == ord("["))
    has_one = np.where(has_bracket, second, first) == ord("+")
    has_two = has_one & (np.where(has_bracket, third, second) == ord("+"))
    pluses: Bytes = has_one.astype(np.uint8) + has_two
    return pluses


def _has_zeros_in_front(first: Bytes, second: Bytes, third: Bytes) -> Bools:
    """Return which texts begin with two adjacent zeros, perhaps after an opening bracket."""
    bracketed = (first == ord("(")) & (second == _ZERO) & (third == _ZERO)
    has_zeros: Bools = ((first == _ZERO) & (second == _ZERO)) | bracketed
    return has_zeros


Rows: TypeAlias = npt.NDArray[np.int64]

_CODE_DIGITS: Final = 3  # digits that phonenumbers asks for behind a plus sign or an international prefix
_COUNT_STARTS: Final = np.isin(np.arange(100), [int(count[:2]) for count in COUNTS])
_RUN: Final = 5  # equal digits at the end: perhaps the whole national number
_ZEROS_IN_FRONT: Final = 2  # the digits of 00


class NumberColumn:
    """The decisions on one column while they are being made: code, digits to drop, calling code of every row."""

    def __init__(self, digits: Digits) -> None:
        size = len(digits.counts)
        self.digits = digits
        self.codes: Codes = np.full(size, PENDING, dtype=np.int8)
        self.dropped: Places = np.zeros(size, dtype=np.int32)
        self.calling_codes: npt.NDArray[np.int16] = np.zeros(size, dtype=np.int16)

    def read(self, regions: Regions) -> None:
        """Decide all rows whose digits were read: with a plus as international, without one as their region dials."""
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
        """Decide numbers with a plus and no calling code after it, which were read as their region dials.

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
        """Leave open all numbers without a plus, and those that are possible and not valid: their decision depends on
        validity."""
        self.codes[self.digits.is_read & ~self.digits.has_plus] = UNDECIDED
        self.codes[self.digits.is_read & (self.codes == code_of(Reason.NOT_VALID))] = UNDECIDED

    def find_placeholders(self) -> None:
        """Decides digits that repeat or count as they were written."""
        digits = self.digits
        runs = self._ends_in_run() & digits.is_read
        counts = _COUNT_STARTS.take(self._first_two()) & (digits.counts <= len(COUNTS[0]))
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
        """Return the calling code of `rows` after `sizes` digits, 0 for none."""
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
        """Store the results of the tables for `rows`, and return the outcomes; `passed` digits were not given to the
        tables."""
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


# While it is written a number has so many bytes: plus sign and calling code end where the first four do, digits follow.
# A valid number has 17 of these at most. A multiple of FRONT.
_WIDTH: Final = FRONT + 20
_ZERO_BYTE: Final = np.uint8(ord("0"))


def write_numbers(
    digits: Digits, written: Bools, dropped: Places, calling_codes: npt.NDArray[np.int16], *, plus: bool
) -> Any:
    """For each row that is `written`: plus sign, calling code, digits without the first `dropped`; null for others."""
    heads, head_sizes = _heads(plus=plus)
    rows = np.flatnonzero(written)
    codes, first = calling_codes.take(rows), dropped.take(rows)
    kept = digits.counts.take(rows) - first
    wide = _windows(digits.values)[digits.starts.take(rows) + first - np.int32(FRONT)].view(np.uint8)
    wide += _ZERO_BYTE
    wide.view(np.uint32)[:: _WIDTH // FRONT] = heads.take(codes)
    inside = _insides()[head_sizes.take(codes) * np.int32(_WIDTH) + kept].view(np.bool_)
    text = wide[inside]
    sizes = np.zeros(len(written) + 1, dtype=np.int32)
    sizes[rows + 1] = kept + head_sizes.take(codes)
    offsets = np.cumsum(sizes, dtype=np.int32)
    nulls = arrow_array(written).buffers()[1]
    return pa.StringArray.from_buffers(len(written), pa.py_buffer(offsets), pa.py_buffer(text), nulls)


def _windows(values: Bytes) -> Any:
    """At each place, the next _WIDTH bytes as one value, without a copy."""
    return np.ndarray((len(values) - _WIDTH + 1,), f"V{_WIDTH}", values, strides=(1,))


@cache
def _heads(*, plus: bool) -> tuple[npt.NDArray[np.uint32], Places]:
    """The text before the digits for each calling code, the last bytes of four, and its size."""
    texts = [f"{'+' if plus else ''}{code}".encode() for code in range(1000)]
    sizes = np.array([len(text) for text in texts], dtype=np.int32)
    return np.frombuffer(b"".join(text.rjust(FRONT) for text in texts), dtype=np.uint32), sizes


@cache
def _insides() -> Any:
    """Which of the bytes belong to the number, at `size of the head` * _WIDTH + `count of digits`."""
    places = np.arange(_WIDTH)
    sizes = np.arange(FRONT + 1)[:, None, None]
    counts = np.arange(_WIDTH)[:, None]
    inside = (places >= FRONT - sizes) & (places < FRONT + counts)
    return np.ascontiguousarray(inside).reshape(-1).view(f"V{_WIDTH}")


# Forms of a text that is not read as digits, in the definition's order; the second and third are those of
# identifiers/texts.py.
_MANGLED: Final = r"(?s)\A(?:[+-]?[0-9]+(?:[.,][0-9]*)?e[+-]?[0-9]+|#{2,}|=.*|[1-9][0-9]{0,2}(?:,[0-9]{3}){2,})\z"
_ROUNDED: Final = r"(?s)\A(?:[+-]?[0-9]{5,}[.,]0{1,6}|.*[0-9][.,]0)\z"
_WRITTEN: Final = r"\A[(\[ ]*\+{0,2}[0-9\-/()\[\].~ ]+\z"
_EXTENDED: Final = (
    r"\A[(\[ ]*\+{0,2}(?:[\-/()\[\].~ ]*[0-9]){7,}[\-/()\[\].~ ]*"
    r"(?:x|ext\.?|extn\.?|extension|#|;ext=)[ .:]*[0-9]{1,6}\z"
)
# Two whole numbers, divided by a sign; each has seven digits or more.
_TWO: Final = r"(?:[0-9][^0-9{sign}]*){{7}}[^{sign}]*{sign}(?s:.*)(?:[0-9][^0-9{sign}]*){{7}}"
_DAY: Final = rf"\A(?:{day_form('/', '.-')})\z"
_DIGITS_OF_DAY: Final = range(4, 9)
_CHECKS: Final = (
    *OPENING,
    Check(rf"\A(?s:.{{{MAX_WRITTEN_BYTES + 1}}})", code_of(Reason.INVALID_SYNTAX)),
    NOT_ASCII,
    Check(r"""\A(?:'|="|tel:|p:)""", UNDECIDED),
    Check(_MANGLED, code_of(Reason.EXCEL_MANGLED)),
    Check(_ROUNDED, code_of(Reason.EXCEL_MANGLED)),
    Check(_EXTENDED, code_of(Reason.EXTENSION)),
    Check(_WRITTEN, code_of(Reason.INVALID_SYNTAX), holds=False),
    Check(ALWAYS, UNDECIDED),
)

# A text that may be a plain number under signs that the definition takes off or reads as ASCII.
_DECORATED: Final = r"""\A(?:'|=|(?i:tel:|p:))|[^\x00-\x7f]|~"""
# Of signs of a number: its last tilde begins no extension, which has nine digits and nothing between, and three digits
# before it where there is a plus.
_TILDE_BETWEEN: Final = (
    r"\A[^+~]*\+[^0-9]*(?:[0-9][^0-9]*){0,2}~[^~]*\z|~[^~]*[0-9][^0-9~]+[0-9][^~]*\z|~[^0-9]*[0-9]{10}[^~]*\z"
)


def decide_phone_numbers(texts: Any, countries: Any | None, rules: Rules) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the number as the definition gives it, or its reason.

    `countries` (pa.StringArray of codes, or a dictionary of them; null where the row names none; None: no row does) are
    those of the rows. Holds raw values: to be called from a guarded function only.
    """
    trimmed = trim_texts(texts)
    regions = regions_of(countries, len(texts), rules)
    column = _read(trimmed, regions, rules)
    _decide_unread(trimmed, column)
    left = np.flatnonzero((column.codes == UNDECIDED) & ~column.digits.is_read)
    left = left[matches(trimmed.take(arrow_array(left)), _DECORATED)]
    if not len(left):
        leave_numbers(trimmed, column.codes, *regions, UNDECIDED)
        return Decisions(column.written(rules), arrow_array(column.codes))
    again, codes = _decide_decorated(trimmed.take(arrow_array(left)), (regions[0], regions[1][left]), rules)
    numbers = put(column.written(rules), left, again)
    column.codes[left] = codes
    leave_numbers(trimmed, column.codes, *regions, UNDECIDED)
    return Decisions(numbers, arrow_array(column.codes))


def _read(texts: Any, regions: Regions, rules: Rules) -> NumberColumn:
    """The decisions on all texts that are digits and known punctuation; the others stay PENDING."""
    column = NumberColumn(read_digits(texts))
    column.read(regions)
    column.read_behind_zeros()
    if rules.phone_validity != "valid":
        column.leave_national()
    column.find_placeholders()
    for suspects, pattern, reason in (
        (column.digits.may_be_two, _TWO.format(sign="/"), Reason.INVALID_SYNTAX),
        (column.digits.may_be_two & (column.digits.counts >= TWO_GROUPS), _TWO.format(sign=" "), Reason.INVALID_SYNTAX),
        (np.isin(column.digits.counts, list(_DIGITS_OF_DAY)), _DAY, Reason.INVALID_SYNTAX),
        (column.digits.has_dot, _ROUNDED, Reason.EXCEL_MANGLED),
    ):
        rows = np.flatnonzero(column.digits.is_read & suspects)
        rows = rows[matches(texts.take(arrow_array(rows)), pattern)]
        column.codes[rows] = code_of(reason)
    return column


def _decide_unread(trimmed: Any, column: NumberColumn) -> None:
    """Decides the texts that are no plain number. They are often the same: the word for a missing value."""
    unread = np.flatnonzero(column.codes == PENDING)
    if len(unread):
        left = pc.ascii_lower(trimmed.take(arrow_array(unread))).dictionary_encode()
        codes = np.full(len(left.dictionary), PENDING, dtype=np.int8)
        decide_in_order(left.dictionary, codes, _CHECKS)
        column.codes[unread] = codes.take(left.indices.to_numpy())


def _decide_decorated(texts: Any, regions: Regions, rules: Rules) -> tuple[Any, Codes]:
    """Return the numbers and codes of texts with a spreadsheet mark, `tel:` or `p:` before them, or with signs beyond
    ASCII.

    Only what is a plain number without them is decided. The spreadsheet's rounding is left: its forms know ASCII signs.
    """
    column = _read(_undecorated(texts), regions, rules)
    column.codes[~column.digits.is_read | (column.codes == code_of(Reason.EXCEL_MANGLED))] = UNDECIDED
    return column.written(rules), column.codes


def _undecorated(texts: Any) -> Any:
    """`texts` with ASCII signs for their like, and without one apostrophe, `="…"`, and `tel:` or `p:` in front.

    A tilde that is punctuation is another sign then.
    """
    like = _like()
    texts = trim_texts(pa.array([text.translate(like) for text in texts.to_pylist()], pa.string()))
    behind = pc.ascii_ltrim(pc.utf8_slice_codeunits(texts, 1, None), " ")
    unquoted = pc.replace_substring_regex(texts, r'\A="([^"]*)"\z', r"\1")
    texts = trim_texts(pc.if_else(pc.starts_with(texts, "'"), behind, unquoted))
    texts = trim_texts(pc.replace_substring_regex(texts, r"\A(?i:tel:|p:)", ""))
    return pc.if_else(arrow_array(matches(texts, _TILDE_BETWEEN)), pc.replace_substring(texts, "~", "]"), texts)


@cache
def _like() -> dict[int, str]:
    """The sign of ASCII for each character that is like one: a digit, a dash, a space, a slash, a bracket or a plus."""
    found = np.flatnonzero(signs() >= ord(" "))
    return {point: chr(signs()[point]) for point in found.tolist() if not chr(point).isascii()}
