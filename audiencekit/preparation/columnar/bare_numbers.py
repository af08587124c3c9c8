"""How many values of a column are bare digits, and how many of them read as phone numbers, and of which country."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers import texts as invisible
from audiencekit.identifiers.bare_numbers import (
    COUNTER,
    LARGE_COUNTRIES,
    MAX_DIGITS,
    MIN_DIGITS,
    MIN_INTERNATIONAL,
    NOT_OF_IT,
    WRITTEN,
    mobile_lengths,
    mobile_pattern,
    own_pattern,
    reads_as_international,
    trunked_pattern,
)
from audiencekit.identifiers.kinds import DEFAULT_RULES
from audiencekit.identifiers.texts import plain_signs
from audiencekit.preparation.columnar.buffers import Bools, arrow_array, text_buffers
from audiencekit.preparation.columnar.checks import are_ascii, matches, trim_texts
from audiencekit.preparation.columnar.decisions import UNDECIDED, VALID, put
from audiencekit.preparation.columnar.phones.numbers import decide_phone_numbers
from audiencekit.preparation.columnar.shapes import ODD, shapes_of
from audiencekit.preparation.recordbits import Indices
from audiencekit.preparation.tally import BareNumbers

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
    """As the definition trims: of other scripts there is more than ASCII white space at the ends, and more dashes.

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


def _are_international(digits: Any) -> Bools:
    numbers = pc.replace_substring_regex(digits, r"\A00", "")
    codes = decide_phone_numbers(pc.binary_join_element_wise("+", numbers, ""), None, DEFAULT_RULES).codes
    valid: Bools = codes == VALID
    undecided = np.flatnonzero(codes == UNDECIDED)
    left = digits.take(arrow_array(undecided)).to_pylist()
    valid[undecided] = np.fromiter(map(reads_as_international, left), np.bool_, len(left))
    long_enough: Bools = pc.binary_length(numbers).to_numpy(zero_copy_only=False) >= MIN_INTERNATIONAL
    return valid & long_enough
