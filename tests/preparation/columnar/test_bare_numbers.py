"""Counting bare numbers in bulk says what the definition says of each."""

from __future__ import annotations

import random
import re

import pyarrow as pa
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.bare_numbers import (
    COUNTER,
    LARGE_COUNTRIES,
    _matches,
    digits_of,
    is_plain_number,
    mobile_pattern,
    own_pattern,
)
from audiencekit.preparation.columnar.bare_numbers import count_bare_numbers
from audiencekit.preparation.tally import BareNumbers
from tests.examples import examples
from tests.personalvalues import BARE, own_ids, personal_values

BITS = [
    "0",
    "00",
    "49",
    "151",
    "0151",
    "1",
    "20",
    "2015550001",
    "9",
    "12345678",
    "-",
    " ",
    ".",
    "(",
    ")",
    "/",
    "+",
    "a",
    "\xa0",
    ".0",
    "'",
    '="',
    "x1",
    " ext 12",
    "tel:",
    "p:",
    "_",
    "–",
    "\u2010",
    "－",
    "１",
    "1000",
    "2024000",
]


def _one_by_one(texts: list[str | None], countries: list[str | None] | None, default: str | None) -> BareNumbers:
    counted = BareNumbers()
    reach: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        if digits := digits_of(text or ""):
            counted.seen += 1
            plain = is_plain_number(digits)
            counted.plain += plain
            own = (countries[place] if countries else None) or default
            is_counted_up = re.match(COUNTER, digits) is not None
            if plain or (own and not is_counted_up and _matches(own_pattern(own), digits)):
                counted.by_country[""] += 1
            read = [c for c in LARGE_COUNTRIES if not is_counted_up and _matches(mobile_pattern(c), digits)]
            counted.by_country.update(LARGE_COUNTRIES if plain else read)
            size = f"{'0' * digits.startswith('0')}{len(digits)}"
            counted.forms[" ".join([size, *(["+"] if plain else []), *read])] += 1
            if digits[0] != "0":
                reach.setdefault(size, []).append(int(digits[:3]))
    counted.reach = {size: (min(firsts), max(firsts)) for size, firsts in reach.items()}
    counted.by_country = +counted.by_country
    return counted


def test_same_as_the_definition_of_people_and_ids() -> None:
    """Every style of both, in one column with countries of rows."""
    chance = random.Random(7)
    styles = personal_values(8)
    texts: list[str | None] = [value for style in BARE for value in styles[style]]
    texts += [value for ids in own_ids(20).values() for value in ids] + [None, "", " "]
    chance.shuffle(texts)
    countries = [chance.choice(["DE", "NO", "AQ", None]) for _ in texts]
    expected = _one_by_one(texts, countries, "ES")
    column = pa.array(countries, pa.string())
    assert expected.plain > 300
    assert count_bare_numbers(pa.array(texts), column, "ES") == expected
    assert count_bare_numbers(pa.array(texts), column.dictionary_encode(), "ES") == expected


@given(st.lists(st.lists(st.sampled_from(BITS), max_size=6).map("".join), max_size=12))
@settings(max_examples=examples(60), deadline=None)
def test_same_as_the_definition_for_any_text(texts: list[str]) -> None:
    """However digits and signs are put together."""
    assert count_bare_numbers(pa.array(texts, pa.string()), None, "GB") == _one_by_one(list(texts), None, "GB")
