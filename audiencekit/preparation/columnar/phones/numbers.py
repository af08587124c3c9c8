"""Phone numbers in bulk, for every region: those of digits and usual punctuation; of others only what is certain."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
import phonenumbers
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.kinds import Reason, Rules
from audiencekit.identifiers.phone_number import day_form
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.columnar.checks import (
    ALWAYS,
    NOT_ASCII,
    OPENING,
    Check,
    decide_in_order,
    matches,
    trim_texts,
)
from audiencekit.preparation.columnar.decisions import PENDING, UNDECIDED, Codes, Decisions, code_of, put
from audiencekit.preparation.columnar.phones.column import NumberColumn, Regions
from audiencekit.preparation.columnar.phones.digits import MAX_WRITTEN_BYTES, TWO_GROUPS, read_digits
from audiencekit.preparation.columnar.signs import signs

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
        return Decisions(column.written(rules), arrow_array(column.codes))
    again, codes = _decide_decorated(trimmed.take(arrow_array(left)), (regions[0], regions[1][left]), rules)
    numbers = put(column.written(rules), left, again)
    column.codes[left] = codes
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
    """Numbers and codes of texts behind spreadsheet marks, `tel:` or `p:`, or with signs that are not ASCII.

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


def regions_of(countries: Any | None, size: int, rules: Rules) -> Regions:
    """Regions that have phone numbers (None: no such), and which of them each row has."""
    default = _supported(find_country(rules.default_country or ""))
    if countries is None or not size:
        return [default], np.zeros(size, dtype=np.int32)
    encoded = countries if pa.types.is_dictionary(countries.type) else countries.dictionary_encode()
    found = [find_country(code or "") for code in encoded.dictionary.to_pylist()]
    regions = [*(_supported(code) if code else default for code in found), default]
    places = encoded.indices.cast(pa.int32())  # which may be of any size of numbers
    return regions, pc.fill_null(places, pa.scalar(len(found), pa.int32())).to_numpy(zero_copy_only=False)


def _supported(region: str | None) -> str | None:
    return region if region in phonenumbers.SUPPORTED_REGIONS else None
