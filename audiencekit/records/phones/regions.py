"""Facts of phone numbers in columns: the regions of rows, calling codes, placeholders, the codes of outcomes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
import phonenumbers
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.countries import country_of_row, find_country
from audiencekit.identifiers.kinds import Reason, Rules
from audiencekit.identifiers.phone_number import PLAIN
from audiencekit.identifiers.texts import is_placeholder_number
from audiencekit.records.columns.arrays import UNDECIDED, VALID, Places, code_of
from audiencekit.records.phones.readings import DigitOutcome
from audiencekit.records.phones.tables import calling_codes, number_of

# Regions that have phone numbers (None: no such), and which of them each row has.
Regions: TypeAlias = tuple[list[str | None], Places]

MAX_DIGITS: Final = 30  # as `kernels/src/digits.rs`: two numbers without a sign between; the definition has longer ones
COUNTS: Final = ("1234567890", "0123456789", "9876543210", "0987654321")
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
_CODE_DIGITS: Final = 3  # as many are looked at for a calling code
DIALLED: Final = number_of(DigitOutcome.INTERNATIONAL)
CALLING_CODES: Final = calling_codes()
PLACEHOLDERS: Final = pa.array(
    sorted(
        text
        for text in {
            *(str(digit) * size for digit in range(10) for size in range(1, MAX_DIGITS + 1)),
            *(count[:size] for count in COUNTS for size in range(1, len(count) + 1)),
        }
        if is_placeholder_number(text)
    )
)


def regions_of(countries: Any | None, size: int, rules: Rules) -> Regions:
    """Regions that have phone numbers (None: no such, or unknown), and which of them each row has."""
    default = _supported(find_country(rules.default_country or ""))
    if countries is None or not size:
        return [default], np.zeros(size, dtype=np.int32)
    encoded = countries if pa.types.is_dictionary(countries.type) else countries.dictionary_encode()
    found = [country_of_row(code or "") for code in encoded.dictionary.to_pylist()]
    regions = [*(_supported(code) if code else default for code in found), default]
    places = encoded.indices.cast(pa.int32())  # which may be of any size of numbers
    return regions, pc.fill_null(places, pa.scalar(len(found), pa.int32())).to_numpy(zero_copy_only=False)


def _supported(region: str | None) -> str | None:
    return region if region in phonenumbers.SUPPORTED_REGIONS else None


_PLUSES: Final = re.compile(f"[{re.escape(''.join(map(chr, (code for code, sign in PLAIN.items() if sign == '+'))))}+]")
_DIGIT: Final = re.compile(r"\d")
_ABROAD: Final = "00"  # is read as a plus, too


def written_codes(text: str, region: str | None) -> Iterator[int]:
    """Return the calling codes that `text` may have: after a plus or two zeros, or as `region` dials abroad.

    Holds raw values.
    """
    digits = "".join(_DIGIT.findall(text))
    if not digits.isascii():
        digits = "".join(str(unicodedata.decimal(digit)) for digit in digits)
    begins = {0} if _PLUSES.search(text) else {len(_ABROAD)} if digits.startswith(_ABROAD) else set()
    if region is not None and (dialled := _dialled_abroad(region).match(digits)):
        begins.add(dialled.end())
    for begin in begins:
        head = digits[begin : begin + _CODE_DIGITS]
        if len(head) == _CODE_DIGITS and (code := int(CALLING_CODES[int(head)])):
            yield code


@cache
def _dialled_abroad(region: str) -> re.Pattern[str]:
    plan = phonenumbers.PhoneMetadata.metadata_for_region(region)
    return re.compile((plan and plan.international_prefix) or r"(?!)")
