"""Numbering plans judge national numbers as phonenumbers does."""

from __future__ import annotations

import random

import phonenumbers
import pytest
from phonenumbers import PhoneMetadata, PhoneNumber

from audiencekit.identifiers.texts import is_repeated
from audiencekit.preparation.columnar.phones.plans import MAX_NATIONAL, NumberingPlan, RegionalPlan

CODES = sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)


def _numbers(calling_code: int, chance: random.Random, count: int) -> list[str]:
    """National numbers near the examples of the calling code's regions, and others."""
    examples = ["".join(chance.choices("0123456789", k=chance.randrange(2, MAX_NATIONAL)))]
    for region in phonenumbers.COUNTRY_CODE_TO_REGION_CODE[calling_code]:
        for kind in phonenumbers.PhoneNumberType.values():
            example = phonenumbers.example_number_for_type(region, kind) if region != "001" else None
            examples += [phonenumbers.national_significant_number(example)] if example else []
    if (example := phonenumbers.example_number_for_non_geo_entity(calling_code)) is not None:
        examples.append(phonenumbers.national_significant_number(example))
    return [_changed(chance.choice(examples), chance) for _ in range(count)]


def _changed(number: str, chance: random.Random) -> str:
    kept = chance.randrange(len(number) + 1)
    size = len(number) - kept + chance.choice([0, 0, 0, 0, -1, 1])
    return (number[:kept] + "".join(chance.choices("0123456789", k=max(size, 0)))) or "1"


def _state(plan: NumberingPlan, number: str) -> int:
    state = 0
    for digit in number:
        state = plan.row(state)[int(digit)]
    return state


def _parsed(calling_code: int, number: str) -> PhoneNumber:
    """`number` as a national number, whose zeros in front belong to it."""
    zeros = min(len(number) - len(number.lstrip("0")), len(number) - 1)
    return PhoneNumber(
        country_code=calling_code,
        national_number=int(number),
        italian_leading_zero=bool(zeros) or None,
        number_of_leading_zeros=zeros if zeros > 1 else None,
    )


def test_validity_and_length_of_all_codes() -> None:
    """For every calling code the same numbers are valid, and the same lengths possible."""
    chance, valid = random.Random(4), 0
    for code in CODES:
        plan = NumberingPlan(code)
        for number in _numbers(code, chance, 40):
            state, parsed = _state(plan, number), _parsed(code, number)
            assert plan.is_valid(state) == phonenumbers.is_valid_number(parsed), code
            possible = phonenumbers.is_possible_number_with_reason(parsed) == phonenumbers.ValidationResult.IS_POSSIBLE
            assert plan.lengths[0].are_possible(plan.length(state)) == possible, code
            valid += plan.is_valid(state)
    assert valid > len(CODES) * 10


@pytest.mark.parametrize("code", [1, 39, 44, 49, 61, 262, 800])
def test_regional_plan_keeps_all_facts(code: int) -> None:
    """Folded for a region, a plan says the same of every number."""
    plan, chance = NumberingPlan(code), random.Random(code)
    for region in range(len(plan.regions)):
        folded = RegionalPlan(plan, region)
        for number in _numbers(code, chance, 30):
            state = folded.start
            for digit in number:
                state = folded.rows[state][int(digit)]
            facts, whole = folded.facts[state], _state(plan, number)
            assert facts.is_valid == plan.is_valid(whole)
            assert facts.is_general == plan.is_general(whole, region)
            assert facts.length == len(number)


@pytest.mark.parametrize("region", ["US", "DE", "IT", "AR"])
def test_general_form(region: str) -> None:
    """`is_general` asks for the whole of the region's general pattern, whatever the length."""
    code = phonenumbers.country_code_for_region(region)
    plan, chance = NumberingPlan(code), random.Random(code)
    metadata = PhoneMetadata.metadata_for_region(region)
    pattern = phonenumbers.re_util.re.compile(metadata.general_desc.national_number_pattern)
    for number in _numbers(code, chance, 200):
        assert plan.is_general(_state(plan, number), plan.regions.index(region)) == bool(pattern.fullmatch(number))


def test_beyond_the_longest_number() -> None:
    """A number may be of any length: beyond the longest nothing changes."""
    plan = NumberingPlan(49)
    state = _state(plan, "1" * (MAX_NATIONAL + 1))
    assert plan.row(state) == (state,) * 10
    assert plan.length(state) == MAX_NATIONAL + 1


@pytest.mark.parametrize("number", ["", "0", "0000", "0" * 17, "0" * 18, "001", "5555", "55555", "5" * 17, "155555"])
def test_one_digit_over_and_over(number: str) -> None:
    """A number of one digit is known as what the definition calls a placeholder, up to the longest number."""
    plan = NumberingPlan(49)
    assert plan.is_repeated(_state(plan, number)) is (is_repeated(number) and len(number) <= MAX_NATIONAL)
