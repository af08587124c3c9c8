"""The patterns of telephone metadata mean the same as automata as they mean to `re`."""

from __future__ import annotations

import random
import re
from typing import Any

import phonenumbers
import phonenumbers.data
import pytest
from phonenumbers import PhoneMetadata, PhoneNumber

from audiencekit.errors import Bug
from audiencekit.identifiers.texts import is_repeated
from audiencekit.records.phones import plans as phone_metadata
from audiencekit.records.phones.plans import (
    MAX_NATIONAL,
    NumberingPlan,
    Opening,
    Program,
    RegionalPlan,
    digest_in_memory,
    digest_of_unread,
    of_phonenumbers,
    regions_of_code,
)
from tests.cases import each_case
from tests.shortened import shortened

FORMS = [
    *("", "0", "06", "0|80?", "[08]", "0(1\\d)?", "(183[12])|0"),
    *("([24-9]\\d{2})$|0", "(0?)(?:1|12)3{0,2}", "1{2}|1?"),
]
FORMS += ["0?(?:(11|2(?:2|3))15)?", "(?:0|90)(?:(1[245]|99)(\\d{3,4}))?", "00|1(?:0(?:01|[12]0)|100)", "\\d{2,3}"]


def _texts(count: int) -> list[str]:
    chance = random.Random(count)
    return ["".join(chance.choices("0123459", k=chance.randrange(8))) for _ in range(count)]


def _matched(opening: Opening, text: str) -> tuple[int, bool] | None:
    """Where the match of `opening` ends in `text`, and whether it went through the last group."""
    threads, match = opening.start()
    found = None if match is None else (0, match)
    for place, digit in enumerate(text):
        threads, match = opening.step(threads, int(digit))
        found = found if match is None else (place + 1, match)
    return (len(text), True) if opening.ends(threads) else found


def _expected(pattern: str, text: str) -> tuple[int, bool] | None:
    match = re.match(pattern, text) if pattern else None
    return match and (match.end(), bool(match.re.groups) and match[match.re.groups] is not None)


@each_case("pattern", FORMS)
def test_opening_matches_as_re_does(pattern: str) -> None:
    """The end of the match and the last group's part in it are those of `re.match`."""
    opening = Opening(pattern)
    texts = _texts(400)
    assert [_matched(opening, text) for text in texts] == [_expected(pattern, text) for text in texts]


def test_prefixes_of_all_regions_match_as_re_does() -> None:
    """So they are for every prefix in the metadata, beginning as the prefix does."""
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        metadata: Any = PhoneMetadata.metadata_for_region(region)
        for pattern in {metadata.national_prefix_for_parsing, metadata.international_prefix} - {None}:
            opening = Opening(pattern)
            texts = [front + text for front in ("", "0", "00", "1", "8", "90") for text in _texts(10)]
            assert [_matched(opening, text) for text in texts] == [_expected(pattern, text) for text in texts], region


@each_case("pattern", [form for form in FORMS if form and "$" not in form])
def test_program_accepts_what_re_matches_fully(pattern: str) -> None:
    """A text reaches the accepting node if and only if `re.fullmatch` matches it."""
    program = Program()
    first = program.add(pattern, 7)
    for text in _texts(300):
        leaves = {leaf for leaf, _ in program.leaves(first)}
        for digit in map(int, text):
            nodes = [program.nodes[leaf] for leaf in leaves]
            passed = [node.ways[0] for node in nodes if node.digits is not None and digit in node.digits]
            leaves = {leaf for way in passed for leaf, _ in program.leaves(way)}
        assert any(program.nodes[leaf].accept == 7 for leaf in leaves) == bool(re.fullmatch(pattern, text))


@each_case("pattern", ["a", "1*", "1+", "[^1]", ".", "(1", "1)", "^1", "(?=1)", r"\w"])
def test_unknown_grammar_is_a_bug(pattern: str) -> None:
    """A pattern that needs more than the known grammar is refused, and never misread."""
    with pytest.raises(Bug):
        Program().add(pattern, 0)


@pytest.mark.parametrize(("code", "region"), [(49, "DE"), (800, "001")])
def test_every_attribute_of_metadata_counts(code: int, region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attribute counts, and a text is not asked for any more."""
    before = digest_in_memory(code, region)
    assert digest_in_memory(code, region) == before
    assert digest_of_unread(code, region) is None
    metadata = PhoneMetadata.metadata_for_region_or_calling_code(code, region)
    assert metadata is not None
    monkeypatch.setattr(metadata, "_mutable", True)
    monkeypatch.setattr(metadata, "international_prefix", "7")
    assert digest_in_memory(code, region) != before


@pytest.mark.parametrize("missing", ["_READ", "_REGIONS"])
def test_a_release_that_reads_otherwise_is_asked_for_all(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No text is believed where it is not known how metadata is read."""
    monkeypatch.setattr(phone_metadata, missing, None if missing == "_READ" else {})
    assert all(digest_of_unread(1, region) is None for region in regions_of_code(1))


def test_the_reading_function_must_be_of_phonenumbers_itself() -> None:
    """A program that has put a function of its own in the place of theirs may read anything."""
    theirs = vars(phonenumbers.data)["_load_region"]
    assert of_phonenumbers(theirs) is theirs
    assert of_phonenumbers(lambda code: theirs(code)) is None
    assert of_phonenumbers(None) is None


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


@pytest.mark.parametrize("count", shortened([12, 40], 1))
def test_validity_and_length_of_all_codes(count: int) -> None:
    """For every calling code the same numbers are valid, and the same lengths possible."""
    chance, valid = random.Random(4), 0
    for code in CODES:
        plan = NumberingPlan(code)
        for number in _numbers(code, chance, count):
            state, parsed = _state(plan, number), _parsed(code, number)
            assert plan.is_valid(state) == phonenumbers.is_valid_number(parsed), code
            possible = phonenumbers.is_possible_number_with_reason(parsed) == phonenumbers.ValidationResult.IS_POSSIBLE
            assert plan.lengths[0].are_possible(plan.length(state)) == possible, code
            valid += plan.is_valid(state)
    assert valid > len(CODES) * count / 4


@each_case("code", [1, 39, 44, 49, 61, 262, 800])
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


@each_case("region", ["US", "DE", "IT", "AR"])
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


@each_case("number", ["", "0", "0000", "0" * 17, "0" * 18, "001", "5555", "55555", "5" * 17, "155555"])
def test_one_digit_over_and_over(number: str) -> None:
    """A number of one digit is known as what the definition calls a placeholder, up to the longest number."""
    plan = NumberingPlan(49)
    assert plan.is_repeated(_state(plan, number)) is (is_repeated(number) and len(number) <= MAX_NATIONAL)
