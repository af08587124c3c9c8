"""Digits are read as phonenumbers parses them, national ones and those behind a plus sign."""

from __future__ import annotations

import random
from functools import cache

import phonenumbers
import pytest
from phonenumbers import NumberParseException, PhoneMetadata, ValidationResult

from audiencekit.identifiers.texts import is_repeated
from audiencekit.records.phones.plans import NumberingPlan
from audiencekit.records.phones.readings import DigitOutcome, DigitReading, International, National, StateRows, Trunks
from tests.cases import each_case
from tests.shortened import shortened

SAMPLE = ["US", "DE", "GB", "IT", "RU", "AU", "BR", "HU", "FI", "JP", "LT", "GG", "KZ", "MX", "FR", "BY", "GU", "MG"]


def _digits(region: str, code: str, count: int) -> list[str]:
    """Digits near the examples of the region, in several spellings."""
    chance = random.Random(code)
    metadata = PhoneMetadata.metadata_for_region(region)
    fronts = ["", "", metadata.national_prefix or "", "00", "0", code, code + (metadata.national_prefix or "")]
    found = []
    for _ in range(count):
        example = phonenumbers.example_number_for_type(region, chance.choice([0, 1, 1]))
        number = phonenumbers.national_significant_number(example or phonenumbers.example_number(region))
        kept = chance.randrange(2, len(number) + 1)
        size = max(len(number) - kept + chance.choice([0, 0, 0, 1, -1]), 0)
        area = phonenumbers.length_of_geographical_area_code(phonenumbers.parse(number, region))
        found.append(chance.choice(["", code]) + number[area:kept] + "".join(chance.choices("0123456789", k=size)))
        found.append(chance.choice(fronts) + number[:kept] + "".join(chance.choices("0123456789", k=size)))
        found.append(chance.choice(fronts) + chance.choice("0123456789") * chance.randrange(len(number) + 2))
    return [digits for digits in found if len(digits) > 2]


def _parsed(text: str, region: str | None) -> tuple[DigitOutcome, str]:
    """Return the outcome of phonenumbers, and the E.164 digits of a valid number."""
    try:
        number = phonenumbers.parse(text, region)
    except NumberParseException:
        return DigitOutcome.NOT_POSSIBLE, ""
    if is_repeated(phonenumbers.national_significant_number(number)):
        return DigitOutcome.PLACEHOLDER, ""
    if phonenumbers.is_valid_number(number):
        return DigitOutcome.VALID, phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)[1:]
    possible = phonenumbers.is_possible_number_with_reason(number) == ValidationResult.IS_POSSIBLE
    return (DigitOutcome.NOT_VALID if possible else DigitOutcome.NOT_POSSIBLE), ""


def _read(machine: National | International, digits: str) -> DigitReading:
    place = machine.start()
    for digit in digits:
        place = machine.row(place)[int(digit)]  # type: ignore[arg-type]
    return machine.read(place)  # type: ignore[arg-type]


def _said(reading: DigitReading, digits: str) -> tuple[DigitOutcome, str]:
    """Return the outcome of a reading, and the digits of a valid number as its rule rewrites them."""
    if reading.outcome is not DigitOutcome.VALID:
        return reading.outcome, ""
    (rule, kept, skipped), national = reading.rewriting, digits[reading.dropped :]
    return reading.outcome, f"{reading.calling_code}{rule or ''}{national[:kept]}{national[kept + skipped :]}"


@cache
def _trunks(calling_code: int) -> Trunks:
    return Trunks(NumberingPlan(calling_code))


@pytest.mark.parametrize("count", shortened([30, 150], 1))
@each_case("region", SAMPLE)
def test_national(region: str, count: int) -> None:
    """National digits have phonenumbers' outcome and digits; few readings are unknown."""
    code = phonenumbers.country_code_for_region(region)
    machine, unknown = National(_trunks(code), region), 0
    cases = _digits(region, str(code), count)
    for digits in cases:
        reading = _read(machine, digits)
        if reading.outcome is DigitOutcome.INTERNATIONAL:
            assert _parsed(digits, region) == _parsed(f"+{digits[reading.dropped :]}", None)
        elif reading.outcome is DigitOutcome.NO_COUNTRY:
            assert {_parsed(digits, region)[0], _parsed(f"+{digits}", None)[0]} == {DigitOutcome.VALID}
            assert _parsed(digits, region) != _parsed(f"+{digits}", None)
        elif reading.outcome is DigitOutcome.UNKNOWN:
            unknown += 1
        else:
            assert _said(reading, digits) == _parsed(digits, region)
    assert unknown < len(cases) * 0.1


@pytest.mark.parametrize("count", shortened([15, 60], 1))
@each_case("region", SAMPLE)
def test_international(region: str, count: int) -> None:
    """Digits behind a plus sign have phonenumbers' outcome and digits."""
    code = phonenumbers.country_code_for_region(region)
    machine = International(_trunks(code))
    for digits in [f"{code}{digits}" for digits in _digits(region, str(code), count)]:
        reading = _read(machine, digits)
        assert reading.outcome is DigitOutcome.UNKNOWN or _said(reading, digits) == _parsed(f"+{digits}", None)


def test_other_codes_are_bad() -> None:
    """Digits that begin with another calling code, or with a part of the right one, are not read."""
    machine = International(Trunks(NumberingPlan(49)))
    assert {_read(machine, digits).outcome for digits in ("", "4", "1", "4815112345678")} == {DigitOutcome.BAD_CODE}


def test_zero_behind_the_international_prefix() -> None:
    """A zero behind the international prefix takes it back: calling codes begin with no zero."""
    machine = National(Trunks(NumberingPlan(49)), "DE")
    assert _read(machine, "0039061234").outcome is DigitOutcome.INTERNATIONAL
    assert _read(machine, "0003906123").outcome is not DigitOutcome.INTERNATIONAL


def _chain(states: StateRows, *readings: int) -> int:
    state = states.intern(readings[-1], ())
    for reading in reversed(readings[:-1]):
        state = states.intern(reading, (state,) * 10)
    return state


def test_equal_states_are_one() -> None:
    """The same reading and the same that follows give the same number, others another."""
    states = StateRows()
    assert _chain(states, 1, 2, 3) == _chain(states, 1, 2, 3)
    assert _chain(states, 1, 3) != _chain(states, 1, 2, 3)
    assert len(states) == 4
    rows, readings = states.arrays()
    assert rows[0].tolist() == [0] * 10
    assert readings.tolist() == [3, 2, 1, 1]


def test_states_of_another_process() -> None:
    """They are known again, and others come behind them."""
    earlier = StateRows()
    first = _chain(earlier, 1, 2, 3 << 40)
    later = StateRows.unpacked(earlier.packed(), len(earlier))
    assert len(later) == len(earlier)
    assert _chain(later, 1, 2, 3 << 40) == first
    assert _chain(later, 4, 2, 3 << 40) == len(earlier)
    rows, readings = later.arrays()
    assert rows[:-1].tolist() == earlier.arrays()[0].tolist()
    assert (rows[-1].tolist(), int(readings[-1])) == ([1] * 10, 4)
