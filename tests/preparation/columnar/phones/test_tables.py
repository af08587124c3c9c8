"""Tables grow as regions and calling codes are asked for, and stay what they were."""

from __future__ import annotations

import phonenumbers
import pytest

from audiencekit.preparation.columnar.phones import plans as phone_plans, tables as phone_tables
from audiencekit.preparation.columnar.phones.tables import (
    WIDTH,
    PhoneTables,
    Tables,
    calling_codes,
    number_of,
    unpacked_outcomes,
)
from audiencekit.preparation.columnar.phones.trunks import DigitOutcome


def _end(tables: Tables, start: int, digits: str) -> int:
    place = start
    for digit in digits:
        place = int(tables.following[place + int(digit)])
    return place // WIDTH


def _read(tables: Tables, start: int, digits: str) -> tuple[DigitOutcome, int]:
    outcome, dropped, _ = unpacked_outcomes(tables.readings[_end(tables, start, digits)])
    return list(DigitOutcome)[int(outcome)], int(dropped)


@pytest.mark.parametrize(
    ("region", "digits", "expected"),
    [
        ("US", "4155550132", (DigitOutcome.VALID, 0)),
        ("US", "14155550132", (DigitOutcome.VALID, 1)),
        ("US", "0114915112345678", (DigitOutcome.INTERNATIONAL, 3)),
        ("US", "415555", (DigitOutcome.NOT_POSSIBLE, 0)),
        ("US", "0005550132", (DigitOutcome.NOT_VALID, 0)),
        ("DE", "015112345678", (DigitOutcome.VALID, 1)),
        ("DE", "4915112345678", (DigitOutcome.NO_COUNTRY, 0)),
        ("DE", "0049", (DigitOutcome.INTERNATIONAL, 2)),
        ("IT", "0612345678", (DigitOutcome.VALID, 0)),
        ("HU", "0612345678", (DigitOutcome.VALID, 2)),
        ("GB", "447911123456", (DigitOutcome.VALID, 2)),
        ("GB", "4407911123456", (DigitOutcome.VALID, 3)),
        ("GG", "756789", (DigitOutcome.UNKNOWN, 0)),
    ],
)
def test_national(region: str, digits: str, expected: tuple[DigitOutcome, int]) -> None:
    """Digits are read as a person in the region dials them."""
    tables = PhoneTables().covering([region], ())
    assert _read(tables, tables.national[region], digits) == expected


@pytest.mark.parametrize(
    ("code", "digits", "expected"),
    [
        (49, "4915112345678", (DigitOutcome.VALID, 2)),
        (49, "49015112345678", (DigitOutcome.VALID, 3)),
        (49, "4", (DigitOutcome.BAD_CODE, 0)),
        (49, "48", (DigitOutcome.BAD_CODE, 0)),
        (49, "4915", (DigitOutcome.NOT_POSSIBLE, 0)),
        (39, "390612345678", (DigitOutcome.VALID, 2)),
        (800, "80012345678", (DigitOutcome.VALID, 3)),
    ],
)
def test_international(code: int, digits: str, expected: tuple[DigitOutcome, int]) -> None:
    """Digits are read as behind a plus sign."""
    tables = PhoneTables().covering((), [code])
    assert _read(tables, int(tables.international[code]), digits) == expected


def test_tables_grow() -> None:
    """Compiled regions are not compiled again, and earlier tables stay right."""
    growing = PhoneTables()
    first = growing.covering(["FR"], ())
    assert growing.covering(["FR"], ()) is first
    second = growing.covering(["FR", "US"], [44])
    assert second.national["FR"] == first.national["FR"]
    assert _read(first, first.national["FR"], "0612345678") == _read(second, second.national["FR"], "0612345678")
    assert first.international[44] < 0 <= second.international[44]


def test_unknown_patterns_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metadata with patterns that are not understood leaves its numbers to the definition, and those alone."""
    known = phone_plans._leading
    monkeypatch.setattr(phone_plans, "_leading", lambda metadata: "1+" if metadata.id == "FR" else known(metadata))
    tables = PhoneTables().covering(["FR", "DE"], [33])
    assert _read(tables, tables.national["FR"], "0612345678") == (DigitOutcome.UNKNOWN, 0)
    assert _read(tables, int(tables.international[33]), "33612345678") == (DigitOutcome.UNKNOWN, 0)
    assert _read(tables, tables.national["DE"], "015112345678") == (DigitOutcome.VALID, 1)


def test_equal_states_are_one() -> None:
    """The regions that share a calling code share most of their states."""
    alone = len(PhoneTables().covering(["US"], ()).readings)
    both = len(PhoneTables().covering(["US", "CA"], ()).readings)
    assert both < alone * 1.5


def test_calling_codes() -> None:
    """The first three digits tell the calling code, as phonenumbers extracts it."""
    codes = calling_codes()
    for head in range(1000):
        found = phonenumbers.phonenumberutil._extract_country_code(f"{head:03}0000000")[0]
        assert codes[head] == found


def test_numbers_of_outcomes() -> None:
    """Each outcome has its own number."""
    assert len({number_of(outcome) for outcome in DigitOutcome}) == len(DigitOutcome)


def test_the_code_of_each_region_is_that_of_the_library() -> None:
    """It is told without reading what else is known of the region."""
    known = {region: phonenumbers.country_code_for_region(region) for region in phonenumbers.SUPPORTED_REGIONS}
    assert known.items() <= phone_tables._CODE_OF_REGION.items()


def test_a_calling_code_that_gets_more_states_keeps_its_earlier_ones() -> None:
    """Regions of one calling code that are met one after the other are read as those that are met at once."""
    growing = PhoneTables()
    first = growing.covering(["US"], ())
    later = growing.covering(["CA", "FR"], [1])
    at_once = PhoneTables().covering(["CA", "FR", "US"], [1])
    for region, number in (("US", "2015550123"), ("CA", "5062345678"), ("FR", "0612345678")):
        expected = _read(at_once, at_once.national[region], number)
        assert expected[0] is DigitOutcome.VALID
        assert _read(later, later.national[region], number) == expected
    assert _read(first, first.national["US"], "2015550123") == (DigitOutcome.VALID, 0)
    assert _read(later, int(later.international[1]), "12015550123") == (DigitOutcome.VALID, 1)
