"""Numbers and the codes that are in columns of their own, put together."""

from __future__ import annotations

import re
from typing import Any, Final

import pyarrow as pa

from audiencekit.records.columns.arrays import arrow_array, list_offsets

WHOLE_DIGITS: Final = 10  # a national number of so many digits has its area code
_NONE: Final = "?"  # a mask: no number that has one is read


def digits_of(text: str) -> str:
    """The digits of `text`."""
    return "".join(filter(str.isdecimal, text))


def is_international(number: str) -> bool:
    """Whether a number begins with a plus, or the two zeros in its place."""
    return number.lstrip(" (").startswith("+") or digits_of(number).startswith("00")


def apart_from(code: str, number: str) -> bool:
    """Whether the digits `number` do not begin with those of `code`, with or without its trunk digit."""
    significant = code.lstrip("0")
    is_whole = number.startswith(code)
    if len(significant) > 1:  # one digit begins many a number
        is_whole = is_whole or number.lstrip("0").startswith(significant)
    return not is_whole


def with_area(area: str | None, number: str) -> str:
    """Return `number` after its area code, whose trunk digit is kept. A complete number is returned unchanged.

    A number that may or may not have its area code, and a short one whose area code is missing, is made one that is
    rejected as `invalid_syntax`: each way to read it could be another person's.
    """
    digits, code = digits_of(number), digits_of(area or "")
    if not digits or is_international(number) or digits.startswith("0"):
        return number
    if not code:
        return number if len(digits) >= WHOLE_DIGITS else f"{_NONE} {number}"
    if not apart_from(code, digits):
        return number if len(digits) >= WHOLE_DIGITS else f"{area} {_NONE} {number}"
    return f"{area} {number}"


def with_areas(areas: Any, numbers: Any) -> Any:
    """`numbers` (string or list<string>) with the area codes of their rows (string), as `with_area` says."""
    if pa.types.is_list(numbers.type):
        owners = numbers.value_parent_indices()
        values = with_areas(areas.take(owners), numbers.flatten())
        offsets = list_offsets(numbers)
        return pa.ListArray.from_arrays(arrow_array(offsets - offsets[0]), values, mask=numbers.is_null())
    pairs = zip(areas.to_pylist(), numbers.to_pylist(), strict=True)
    return pa.array([None if number is None else with_area(area, number) for area, number in pairs], pa.string())


_GROUPS: Final = re.compile(r"[0-9]+")
_FRACTION: Final = re.compile(r"\.0+\s*$")
_NORTH_AMERICA: Final = "1"  # of whose countries some are written with their area code: +1-684
_NORTH_AMERICAN_DIGITS: Final = (1, 4)  # of the calling code, alone and with an area code
_MOST_DIGITS: Final = 3  # of a calling code


def calling_code_of(cell: str) -> str | None:
    """The calling code in a cell, with a plus: of `49`, `0049`, `+49 (DE)` and `Germany (+49)`; None without one."""
    groups = _GROUPS.findall(_FRACTION.sub("", cell))
    if not groups:
        return None
    code = groups[0].removeprefix("00")
    if code.startswith(_NORTH_AMERICA):
        return f"+{_NORTH_AMERICA}" if len(code + "".join(groups[1:])) in _NORTH_AMERICAN_DIGITS else None
    is_code = len(groups) == 1 and len(code) <= _MOST_DIGITS and not code.startswith("0")
    return f"+{code}" if is_code else None


def calling_codes_of(cells: Any) -> Any:
    """The calling codes in `cells` (pa.StringArray) with a plus, each other cell as it is."""
    encoded = cells.dictionary_encode()
    codes = [calling_code_of(cell) or cell for cell in encoded.dictionary.to_pylist()]
    return pa.array(codes, pa.string()).take(encoded.indices)
