"""The patterns of telephone metadata mean the same as automata as they mean to `re`."""

from __future__ import annotations

import random
import re
from typing import Any

import phonenumbers
import pytest
from phonenumbers import PhoneMetadata

from audiencekit.errors import Bug
from audiencekit.preparation.columnar.phones.patterns import Opening, Program

FORMS = [
    "",
    "0",
    "06",
    "0|80?",
    "[08]",
    "0(1\\d)?",
    "(183[12])|0",
    "([24-9]\\d{2})$|0",
    "(0?)(?:1|12)3{0,2}",
    "1{2}|1?",
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


@pytest.mark.parametrize("pattern", FORMS)
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
            texts = [front + text for front in ("", "0", "00", "1", "8", "90") for text in _texts(25)]
            assert [_matched(opening, text) for text in texts] == [_expected(pattern, text) for text in texts], region


@pytest.mark.parametrize("pattern", [form for form in FORMS if form and "$" not in form])
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


@pytest.mark.parametrize("pattern", ["a", "1*", "1+", "[^1]", ".", "(1", "1)", "^1", "(?=1)", r"\w"])
def test_unknown_grammar_is_a_bug(pattern: str) -> None:
    """A pattern that needs more than the known grammar is refused, and never misread."""
    with pytest.raises(Bug):
        Program().add(pattern, 0)
