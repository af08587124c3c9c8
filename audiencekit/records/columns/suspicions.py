"""How many values of a column are bare digits, and how many of them read as phone numbers, and of which country."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers import texts as invisible
from audiencekit.identifiers.bare_numbers import (
    COUNTER,
    LARGE_COUNTRIES,
    MAX_DIGITS,
    MIN_DIGITS,
    MIN_INTERNATIONAL,
    MIN_LENGTH,
    NOT_OF_IT,
    PAYMENT_NUMBER,
    WRITTEN,
    is_payment_number,
    mobile_lengths,
    mobile_pattern,
    own_pattern,
    reads_as_international,
    trunked_pattern,
)
from audiencekit.identifiers.kinds import DEFAULT_RULES, Reason
from audiencekit.identifiers.partner_user_id import (
    BRACKETED_AT,
    CONTAINED,
    ENCODED,
    GROUPED_DIGITS,
    HANDLE,
    IN_ANY_DIGITS,
    IN_GROUPS,
    IP_ADDRESS,
    LAYERS,
    LONGEST_IP,
    MAX_SPELLED,
    NAME,
    PHONE_NUMBERS,
    SPELLED_AT,
    SPOKEN_AT,
    decoded_forms,
)
from audiencekit.identifiers.texts import plain_signs
from audiencekit.kernels.library import choose
from audiencekit.records.columns.arrays import (
    PENDING,
    UNDECIDED,
    VALID,
    Bools,
    Codes,
    arrow_array,
    code_of,
    put,
    text_buffers,
)
from audiencekit.records.columns.certain_values import decide_phone_numbers
from audiencekit.records.columns.checks import are_ascii, matches, matches_among, trim_texts
from audiencekit.records.columns.shapes import ODD, shapes_of
from audiencekit.records.columns.text_kernels import TextKernels
from audiencekit.records.record_bits import Indices
from audiencekit.records.tally import BareNumbers, PaymentNumbers

_WRITTEN: Final = rf"\A(?:{WRITTEN})\z"
# Digits alone that no phone number can be: most ids that are digits.
_NO_NUMBER: Final = rf"\A(?:[0-9]{{0,{MIN_DIGITS - 1}}}|[0-9]{{{MAX_DIGITS + 1},}})\z"
_MAY_HAVE_OTHERS: Final = r"\.0|[xX]"  # as in all of NOT_OF_IT
_LONGEST_BYTES: Final = 256  # of a number with all that may be written in it
PLAIN: Final = "+"  # in a form: with a country's code or a trunk prefix
_ZERO_BIT, _LENGTH_BIT = 57, 58  # in a mask, above the bits of the countries
_LEAST_FIRST: Final = 100


def count_bare_numbers(texts: Any, countries: Any | None, default_country: str | None) -> BareNumbers:
    """The readings of `texts` (pa.StringArray), by the patterns of `identifiers.bare_numbers`.

    `countries` (codes; None: no row names one) are those of the rows, `default_country` of the others. Holds raw
    values: to be called from a guarded function only.
    """
    trimmed = _trimmed(texts)
    written = matches(trimmed, _WRITTEN)
    is_short = pc.binary_length(trimmed).to_numpy(zero_copy_only=False) <= _LONGEST_BYTES
    places = np.flatnonzero(written & is_short & ~matches(trimmed, _NO_NUMBER))
    digits = _bare(trimmed.take(arrow_array(places)))
    lengths = pc.binary_length(digits).to_numpy(zero_copy_only=False)
    fitting = np.flatnonzero((lengths >= MIN_DIGITS) & (lengths <= MAX_DIGITS))
    if not len(fitting):
        return BareNumbers()
    digits, places = digits.take(arrow_array(fitting)), places[fitting]
    plain = _of_pattern(digits, trunked_pattern()) | _are_international(digits)
    regions = None if countries is None else countries.take(arrow_array(places))
    counted_up = matches(digits, rf"\A(?:{COUNTER})")
    own = {country: reading & ~counted_up for country, reading in _of_large_countries(digits).items()}
    readings = {country: plain | of_country for country, of_country in own.items()}
    readings[""] = plain | (_of_own_country(digits, regions, default_country) & ~counted_up)
    counts = Counter({country: int(reading.sum()) for country, reading in readings.items() if reading.any()})
    forms = _forms(digits, {PLAIN: plain, **own})
    return BareNumbers(len(digits), int(plain.sum()), counts, forms, _reach(digits))


def _forms(digits: Any, readings: dict[str, Bools]) -> Counter[str]:
    """How many of `digits` may be read as what, by names of `readings`: see BareNumbers."""
    masks = pc.binary_length(digits).to_numpy(zero_copy_only=False).astype(np.uint64) << np.uint64(_LENGTH_BIT)
    masks |= pc.starts_with(digits, "0").to_numpy(zero_copy_only=False).astype(np.uint64) << np.uint64(_ZERO_BIT)
    for bit, reading in enumerate(readings.values()):
        masks |= reading.astype(np.uint64) << np.uint64(bit)
    found, counts = np.unique(masks, return_counts=True)
    named = Counter[str]()
    for mask, count in zip(found.tolist(), counts.tolist(), strict=True):
        size = "0" * (mask >> _ZERO_BIT & 1) + str(mask >> _LENGTH_BIT)
        named[" ".join([size, *(name for bit, name in enumerate(readings) if mask >> bit & 1)])] += count
    return named


def _reach(digits: Any) -> dict[str, tuple[int, int]]:
    """The least and the greatest first three digits of those of each size that begin with no zero."""
    sizes = pc.binary_length(digits).to_numpy(zero_copy_only=False)
    firsts = pc.cast(pc.utf8_slice_codeunits(digits, 0, 3), pa.int16()).to_numpy(zero_copy_only=False)
    found = {}
    for size in range(MIN_DIGITS, MAX_DIGITS + 1):
        of_size = firsts[(sizes == size) & (firsts >= _LEAST_FIRST)]
        if len(of_size):
            found[str(size)] = int(of_size.min()), int(of_size.max())
    return found


def _trimmed(texts: Any) -> Any:
    """Trim as the definition does: other scripts have more white space than ASCII, and more dashes.

    What no sign of ASCII stands for is left as it is: it is no number.
    """
    trimmed = trim_texts(texts)
    others = np.flatnonzero(~are_ascii(trimmed))
    if not len(others):
        return trimmed
    foreign = trimmed.take(arrow_array(others))
    likely = np.flatnonzero(matches(shapes_of(foreign).texts, rf"{_WRITTEN}|\x{ODD:x}"))
    by_definition = [plain_signs(invisible.trim(text)) for text in foreign.take(arrow_array(likely)).to_pylist()]
    return put(trimmed, others[likely], pa.array(by_definition, trimmed.type))


def _bare(written: Any) -> Any:
    """The digits of each. Hardly any have digits that are none of the number, and to take them out costs the most."""
    rows = np.flatnonzero(matches(written, _MAY_HAVE_OTHERS))
    own = written.take(arrow_array(rows))
    for pattern in NOT_OF_IT if len(rows) else ():
        own = pc.replace_substring_regex(own, pattern, r"\1")
    offsets, data = text_buffers(put(written, rows, own))
    are_digits = (data >= ord("0")) & (data <= ord("9"))
    begins = np.concatenate([[0], np.cumsum(are_digits)])[offsets].astype(np.int32)
    return pa.StringArray.from_buffers(len(written), pa.py_buffer(begins), pa.py_buffer(data[are_digits]))


def _of_own_country(digits: Any, regions: Any | None, default: str | None) -> Bools:
    """Which are a number of the country that the row names, else of the default."""
    own: list[str | None] = [None] * len(digits) if regions is None else regions.to_pylist()
    names = np.array([country or default or "" for country in own])
    found = np.zeros(len(digits), dtype=bool)
    for country in set(names.tolist()) - {""}:
        of_country = np.flatnonzero(names == country)
        found[of_country] = _of_pattern(digits.take(arrow_array(of_country)), own_pattern(country))
    return found


def _of_large_countries(digits: Any) -> dict[str, Bools]:
    """Which are a mobile number of each large country. No one looks for it among those of another length."""
    sizes = pc.binary_length(digits).to_numpy(zero_copy_only=False)
    by_lengths: dict[range, tuple[Indices, Any]] = {}
    found = {}
    for country in LARGE_COUNTRIES:
        lengths = mobile_lengths(country)
        if lengths not in by_lengths:
            places = np.flatnonzero((sizes >= lengths.start) & (sizes < lengths.stop))
            by_lengths[lengths] = places, digits.take(arrow_array(places))
        places, of_length = by_lengths[lengths]
        found[country] = np.zeros(len(digits), dtype=bool)
        if len(places):
            found[country][places] = _of_pattern(of_length, mobile_pattern(country))
    return found


def _of_pattern(digits: Any, pattern: str) -> Bools:
    return matches(digits, rf"\A(?:{pattern})\z") if pattern else np.zeros(len(digits), dtype=bool)


def _codes_by_kernels(library: ctypes.CDLL) -> Callable[[Any], Codes]:
    kernels = TextKernels(library)
    return lambda texts: decide_phone_numbers(texts, None, DEFAULT_RULES, kernels)[0]


def _plain_codes() -> Callable[[Any], Codes]:
    from audiencekit.records.phones import plain_numbers

    return lambda texts: plain_numbers.decide_phone_numbers(texts, None, DEFAULT_RULES).codes


_CODES_OF_NUMBERS: Final = choose(_codes_by_kernels, _plain_codes)


def _are_international(digits: Any) -> Bools:
    numbers = pc.replace_substring_regex(digits, r"\A00", "")
    codes = _CODES_OF_NUMBERS(pc.binary_join_element_wise("+", numbers, ""))
    valid: Bools = codes == VALID
    left = np.flatnonzero((codes == PENDING) | (codes == UNDECIDED))
    texts = digits.take(arrow_array(left)).to_pylist()
    valid[left] = np.fromiter(map(reads_as_international, texts), np.bool_, len(texts))
    long_enough: Bools = pc.binary_length(numbers).to_numpy(zero_copy_only=False) >= MIN_INTERNATIONAL
    return valid & long_enough


_PERCENT: Final = "%[0-9A-Fa-f]{2}"
_ENCODED: Final = rf"\A(?:{ENCODED})\z"
_NO_DIGIT: Final = 16
_VALUES: Final = np.full(256, _NO_DIGIT, dtype=np.uint8)
for _digits in (b"0123456789abcdef", b"0123456789ABCDEF"):
    _VALUES[list(_digits)] = np.arange(_NO_DIGIT)


def shown_texts(texts: Any) -> Iterator[tuple[npt.NDArray[np.int64], Any]]:
    """Rows of `texts` (a pa.StringArray) with a percent sign or an entity, and the texts that are meant.

    Holds raw values: to be called from a guarded function only.
    """
    coded = np.flatnonzero(matches(texts, _PERCENT))
    if len(coded):
        yield coded, unquoted(texts.take(arrow_array(coded)))
    with_sign = np.flatnonzero(matches(texts, "&"))
    if not len(with_sign):
        return
    from html import unescape  # its table of entities is large, and hardly any list has one

    places = with_sign[matches(texts.take(arrow_array(with_sign)), _entities())]
    if len(places):
        yield places, pa.array(map(unescape, texts.take(arrow_array(places)).to_pylist()), pa.string())


def hold_others(texts: Any, are_asked: Bools) -> Bools:
    """Which of the asked `texts` are the encoding of another text. Holds raw values, as before."""
    places = np.flatnonzero(matches_among(texts, are_asked, _ENCODED))
    found = np.zeros(len(texts), dtype=bool)
    found[places] = [any(decoded_forms(text)) for text in texts.take(arrow_array(places)).to_pylist()]
    return found


def unquoted(texts: Any) -> Any:
    """Each of `texts` (a pa.StringArray without nulls) as `urllib.parse.unquote` reads it."""
    offsets, data = text_buffers(texts)
    behind = np.append(data, [0, 0]).astype(np.uint8)
    high, low = _VALUES[behind[1:-1]], _VALUES[behind[2:]]
    begins = np.zeros(len(data) + 2, dtype=bool)
    begins[offsets] = True
    are_coded = (data == ord("%")) & (high < _NO_DIGIT) & (low < _NO_DIGIT) & ~begins[1:-1] & ~begins[2:]
    at = np.flatnonzero(are_coded)
    written, kept = data.copy(), np.ones(len(data), dtype=bool)
    written[at] = high[at] * _NO_DIGIT + low[at]
    kept[at + 1] = kept[at + 2] = False
    places = (offsets - 2 * np.searchsorted(at, offsets)).astype(np.int32)
    found = pa.StringArray.from_buffers(len(texts), pa.py_buffer(places), pa.py_buffer(written[kept]))
    try:
        found.validate(full=True)
    except pa.ArrowInvalid:  # of which a decoder replaces what it does not know
        return pa.array(map(unquote, texts.to_pylist()), pa.string())
    return found


@cache
def _entities() -> str:
    """A pattern for all that may be one, by its number or by a name that HTML knows also without a semicolon."""
    from html.entities import html5

    names = sorted(name for name in html5 if not name.endswith(";"))
    return f"&(?:#[0-9xX]|[A-Za-z0-9]{{1,31}};|{'|'.join(names)})"


_PERSONAL: Final = code_of(Reason.LOOKS_PERSONAL)
_CERTAIN: Final = rf"(?i:{CONTAINED}|{BRACKETED_AT})|\A(?:{'|'.join((NAME, HANDLE, *PHONE_NUMBERS))})\z"
_WORD: Final = r"\A[^\W\d_]{2,}\z"
# All others hang on something else: a length, the script, the value of digits.
_ODD: Final = "[^ -~]"
_GROUPED: Final = rf"\A{IN_GROUPS}\z"
_GROUPED_DIGITS: Final = rf"\A{GROUPED_DIGITS}\z"
_SPOKEN: Final = rf"(?i:{SPOKEN_AT})\z"
_SPELLED: Final = rf"(?i:{SPELLED_AT})\z"
_INTERNET: Final = rf"\A{IP_ADDRESS}\z"
_DIGITS: Final = rf"\A{IN_ANY_DIGITS}\z"
_LIKELY: Final = "|".join((_ODD, _GROUPED, _SPOKEN, _SPELLED, _INTERNET, _DIGITS, _WORD))

# An address of the internet as `ipaddress` takes it (RFC 4291, section 2.2), but for brackets and the one in the other.
_BYTE: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_GROUP: Final = "[0-9A-Fa-f]{1,4}"
_CUT: Final = "|".join(f"(?:{_GROUP}:){{1,{7 - behind}}}(?::{_GROUP}){{1,{behind}}}" for behind in range(1, 7))
_IPV6: Final = rf"(?:{_GROUP}:){{7}}{_GROUP}|(?:{_GROUP}:){{1,7}}:|{_CUT}|:(?::{_GROUP}){{1,7}}|::"
_IP: Final = rf"\A(?:{_BYTE}(?:\.{_BYTE}){{3}}(?::[0-9]{{1,5}})?|{_IPV6})\z"
_RARE_IP: Final = r"[\[\]]|:.*\..*\."


def judge_likeness(texts: Any) -> Codes:
    """VALID for those of `texts` (a trimmed pa.StringArray) that look like no person's data, or LOOKS_PERSONAL.

    UNDECIDED where that is not certain. Holds raw values: to be called from a guarded function only.
    """
    return _judge(texts, LAYERS)


def _judge(texts: Any, layers: int) -> Codes:
    codes = _judge_shapes(texts)
    if not layers:
        return codes
    for rows, shown in shown_texts(texts):
        found = _judge(trim_texts(shown), layers - 1)
        codes[rows] = np.where(codes[rows] == _PERSONAL, _PERSONAL, np.where(found == VALID, codes[rows], found))
    codes[hold_others(texts, codes == VALID)] = UNDECIDED
    return codes


def _judge_shapes(texts: Any) -> Codes:
    are_foreign = ~are_ascii(texts)
    have_digits, have_at = np.zeros(len(texts), dtype=bool), np.zeros(len(texts), dtype=bool)
    others = np.flatnonzero(are_foreign)
    if len(others):
        shapes = shapes_of(texts.take(arrow_array(others)))
        have_digits[others], have_at[others] = shapes.have_digits, shapes.have_at
        texts = put(texts, others, shapes.texts)
    are_certain = matches(texts, _CERTAIN)
    codes = np.where(are_certain, _PERSONAL, np.where(have_at, UNDECIDED, VALID)).astype(np.int8)
    likely = np.flatnonzero(matches(texts, _LIKELY))
    if len(likely):
        are_likely, is_left = _judge_likely(texts.take(arrow_array(likely)), are_foreign[likely], have_digits[likely])
        codes[likely[are_likely]] = _PERSONAL
        codes[likely[is_left]] = UNDECIDED
    return codes


def _judge_likely(shapes: Any, are_foreign: Bools, have_digits: Bools) -> tuple[Bools, Bools]:
    """Which of `shapes` are a person's, and of which that is not certain."""
    lengths = pc.binary_length(shapes).to_numpy(zero_copy_only=False)
    in_groups = matches(shapes, _GROUPED)
    personal = matches_among(shapes, in_groups, _GROUPED_DIGITS)
    are_digits = matches_among(shapes, are_foreign & ~personal, _DIGITS)
    internet = matches_among(shapes, ~in_groups & (lengths <= LONGEST_IP), _INTERNET)
    are_others = ~in_groups & ~internet & (lengths <= MAX_SPELLED)
    spelled = matches_among(shapes, are_others, _SPELLED)
    personal |= matches_among(shapes, are_others, _SPOKEN)
    personal |= spelled & ~are_foreign
    personal |= matches_among(shapes, internet & ~are_foreign, _IP)
    personal |= matches_among(shapes, are_foreign & ~in_groups, _WORD)
    personal |= are_digits & have_digits
    left = are_foreign & (spelled | internet | are_digits) | matches_among(shapes, internet, _RARE_IP)
    return personal, (left & ~personal) | matches_among(shapes, ~in_groups, _ODD)


_CARD_SIGNS: Final = rf"\A{PAYMENT_NUMBER}\z"
_LONGEST: Final = 44  # characters: 34 of an IBAN, with signs between groups of four and a few blanks
# Of a batch, evenly, since a share is wanted: so many of such lengths, and of those that are written so.
_TRIED: Final = 20_000
_LOOKED_AT: Final = 1_000


def count_payment_numbers(texts: Any) -> PaymentNumbers:
    """The counts of `texts` (pa.StringArray). Holds raw values: to be called from a guarded function only."""
    lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False)
    fitting = _evenly(np.flatnonzero((lengths >= MIN_LENGTH) & (lengths <= _LONGEST)), _TRIED)
    likely = trim_texts(texts.take(arrow_array(fitting)))
    written = _evenly(np.flatnonzero(matches(likely, _CARD_SIGNS)), _LOOKED_AT)
    looked_at = likely.take(arrow_array(written)).to_pylist()
    return PaymentNumbers(len(looked_at), sum(map(is_payment_number, looked_at)))


def _evenly(places: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    return places[:: max(1, -(-len(places) // most))]
