"""The kernels decide certain phone numbers as the definition does."""

from __future__ import annotations

import dataclasses
import hashlib
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.kinds import Kind, Reason, Rules
from audiencekit.kernels.layouts import Words
from audiencekit.records.columns import certain_values as plain
from audiencekit.records.columns.arrays import PENDING, VALID, code_of
from audiencekit.records.phones.tables import PhoneTables
from benchmarks.values.phone_numbers import FEW, ODD as ODD_NUMBERS, REGIONS, Numbers, Row
from tests.cases import each_case
from tests.examples import examples
from tests.records.columns.certain import decided, decided_numbers, differing_numbers, needs_kernels

pytestmark = needs_kernels


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Numbers of every region, and odd texts."""
    odd = [(text, country) for text in ODD_NUMBERS for country in (None, "DE", "US")]
    return [*Numbers(random.Random(11), REGIONS).rows(2_500), *odd]


def test_numbers_as_the_definition(rows: list[Row]) -> None:
    """Whatever a kernel decides has the definition's hash."""
    assert differing_numbers(rows) == []


@each_case(
    "rules",
    [
        Rules(phone_form="digits"),
        Rules(default_country="DE"),
        Rules(default_country="AQ"),
        Rules(phone_validity="possible", default_country="US"),
    ],
)
def test_numbers_under_other_rules(rules: Rules) -> None:
    """The rules of the run mean the same."""
    rows = [*Numbers(random.Random(12), FEW).rows(800), *((text, None) for text in ODD_NUMBERS)]
    assert differing_numbers(rows, rules) == []


@each_case("size", [pa.int8(), pa.uint16(), pa.int64()])
def test_countries_of_any_dictionary(size: Any, rows: list[Row]) -> None:
    """The places in a dictionary of countries may be numbers of any size."""
    few = [(text, "DE" if number % 3 else None) for number, (text, _) in enumerate(rows)]
    texts, countries = (pa.array(list(column), pa.string()) for column in zip(*few, strict=True))
    encoded = countries.dictionary_encode()
    sized = pa.DictionaryArray.from_arrays(encoded.indices.cast(size), encoded.dictionary)
    expected_codes, expected_hashes = decided_numbers(few)  # at first: it has the plans compiled
    codes, hashes = decided(texts, Kind.PHONE_NUMBER, sized)
    assert codes.tolist() == expected_codes.tolist()
    assert (hashes == expected_hashes)[codes == VALID].all()


@each_case("sign", [" ", "/"])
def test_two_numbers_in_a_cell_as_the_definition(sign: str) -> None:
    """Around the sizes from which two groups of digits are two numbers."""
    sizes = [(first, second) for first in range(5, 12) for second in range(5, 12)]
    cells = [f"{'0301234567'[:first]:7<{first}}{sign}{'7012345689'[:second]:7<{second}}" for first, second in sizes]
    assert differing_numbers([(cell, country) for cell in cells for country in ("DE", "US", None)]) == []


@each_case("sign", ["\n", "\r\n", "\t", "\x85", "\u2028", " \n "])
def test_cells_of_several_lines_are_decided(sign: str) -> None:
    """As the definition does, whatever stands in the lines."""
    parts = [
        *("+14155550132", "0151 1234567", "'", "=", '="', '"', "tel:", "P: ", "x1", ".0", "-1,0", "##", "n/a"),
        *("é", "١.٠"),
    ]
    cells = [before + sign + behind for before in parts for behind in parts]
    cells += [f"{front}{cell}" for cell in cells for front in ("'", "tel:", "=")]
    assert differing_numbers([(cell, "DE") for cell in cells]) == []
    numbers = [before + sign + behind for before in parts[:2] for behind in (*parts[:2], "x1")]
    assert PENDING not in decided_numbers([(number, "DE") for number in numbers])[0]


@each_case("country", ["SB", "FK", "DE", "US", None])
def test_few_digits_are_decided(country: str | None) -> None:
    """Where phonenumbers takes two of them for a number, or those before a tilde."""
    fronts = ("", "+", "(", "00", "+00", "'", "011")
    digits = ("0", "9", "47", "74", "677", "6774", "4901")
    behind = ("", ")", "~", "~123", " ~ 12345", ")~12345", "-~12", "～1234", "⁓123", "~1234567890")
    rows = [(f"{front}{own}{end}", country) for front in fronts for own in digits for end in behind]
    assert differing_numbers(rows) == []
    assert PENDING not in decided_numbers([row for row in rows if not row[0].startswith(("+00", "00"))])[0]


def test_a_number_behind_a_plus_and_an_international_prefix() -> None:
    """phonenumbers reads +0049 as its region dials 0049."""
    rows = [(text, country) for text in ("+004930901820", "+0011 14155550132", "+00") for country in ("DE", "AU", None)]
    assert differing_numbers(rows) == []
    assert decided_numbers([("+00 49 30 901820", "DE"), ("+004930901820", "US")])[0].tolist()[0] == VALID


def test_one_digit_over_and_over_as_the_definition() -> None:
    """Behind the calling code it is a placeholder, also where the plan knows such numbers."""
    numbers = [
        (code, digit * size) for code in ("39", "49", "46", "1") for digit in "0123456789" for size in range(1, 34)
    ]
    rows = [(f"{front}{number}", "IT") for code, number in numbers for front in (f"+{code} ", f"00{code}", code, "")]
    assert differing_numbers(rows) == []


def test_doubts_behind_two_zeros_are_left() -> None:
    """Where a plan changes numbers as it reads them, the reason without a plus is not the last word."""
    fronts = {"00261": ("2123456", "212345678"), "00672": ("81234", "06609", "22123")}
    texts = [f"{front}{number}" for front, numbers in fronts.items() for number in numbers]
    assert differing_numbers([(text, country) for text in texts for country in ("AU", "BR", "JP", "US", None)]) == []


def test_odd_texts_are_left_or_those_of_the_definition() -> None:
    """Also in rows of the countries whose old numbers get new digits."""
    assert differing_numbers([(text, country) for text in ODD_NUMBERS for country in ("BR", "BJ", "US", None)]) == []


def test_two_numbers_behind_two_zeros_are_certain() -> None:
    """Behind a carrier's code or by the prefix of a region, and as if there was a plus."""
    rows = [("0055 51 98123-4567", "BR"), ("0055 11 98123-4567", "BR"), ("0057 351 351 2110", "CO")]
    assert differing_numbers(rows) == []
    codes, _ = decided_numbers(rows)
    assert codes.tolist() == [code_of(Reason.NO_COUNTRY), VALID, code_of(Reason.NO_COUNTRY)]


def test_numbers_behind_two_zeros_are_those_of_the_definition() -> None:
    """Where the international prefix is longer, or begins with other digits."""
    chance = random.Random(8)
    digits = ["".join(chance.choices("0123456789", k=chance.randrange(8, 12))) for _ in range(300)]
    codes = {"BR": 55, "CO": 57, "KR": 82, "TH": 66, "SG": 65, "JP": 81, "US": 1}
    rows = [(f"00{code}{number}", country) for country, code in codes.items() for number in digits]
    assert differing_numbers(rows) == []


PIECES = [
    *("+", "~", "00", "0", "1", "49", "44", "7911", "151", "415", "123456", "555", "0132", " ", "-", "(", ")"),
    *(".", "/"),
]


TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=7).map("".join)


@given(st.lists(st.tuples(TEXTS, st.sampled_from([*FEW, None, "ZZ", "", "Germany"])), min_size=1, max_size=20))
@settings(max_examples=examples(100), deadline=None)
def test_any_number_as_the_definition(rows: list[Row]) -> None:
    """No text makes them differ."""
    assert differing_numbers(rows) == []


@each_case("number", ["+14155550132", "(0301) 23.45-6", "00491511234567"])
def test_every_character_at_every_place_of_a_number(number: str) -> None:
    """One foreign character anywhere."""
    signs = [*map(chr, range(128)), *"\xa0\u2010\u3000＋９"]
    assert differing_numbers([(number[:at] + sign + number[at:], "DE") for at in range(15) for sign in signs]) == []


def test_most_numbers_are_plain() -> None:
    """The usual spellings, with and without a calling code, behind the prefix of a region and behind zeros."""
    written = [
        ("+49 30 901820", None),
        ("030/901820", "DE"),
        ("0044 20 7946 0958", "DE"),
        ("011 44 20 7946 0958", "US"),
    ]
    codes, _ = decided_numbers([*written, ("0044 20 7946 0958", None), ("(415) 555-0132", "US")])
    assert codes.tolist() == [VALID] * 6


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("+44 20 7946 0958", None),
        ("tel:+44-20-7946-0958", "FR"),
        ("\uff0b\uff14\uff14 20 7946 0958", None),
        ("0044 20 7946 0958", "DE"),
        ("011 44 20 7946 0958", "US"),
        ("\u0660\u0660\u0664\u0664 20 7946 0958", "EG"),
        ("0011 44 20 7946 0958", "AU"),
    ],
)
def test_the_first_numbers_of_a_calling_code_are_certain(
    text: str, country: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No earlier value has asked for its plan; the number before it tells nothing."""
    tables = PhoneTables()
    monkeypatch.setattr(plain, "phone_tables", lambda: tables)
    codes, _ = decided_numbers([("12", None)] * 300 + [(text, country)])
    assert codes.tolist()[-1] == VALID


def test_the_first_numbers_of_a_region_are_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No earlier value has asked for its plan."""
    tables = PhoneTables()
    monkeypatch.setattr(plain, "phone_tables", lambda: tables)
    codes, _ = decided_numbers([("256789", "GG"), ("030/901820", "DE"), ("030/901820", None)])
    assert codes.tolist() == [VALID, VALID, code_of(Reason.NO_COUNTRY)]


def _without_run(plans: Any) -> Any:
    following = plans.following.reshape(-1, 16).copy()
    following[:, [3, 4]] = following[:, [4, 3]]
    return dataclasses.replace(plans, following=following.ravel())


def _dropping_less(readings: Any) -> Any:
    return np.where(readings >> 8 & 255, readings - 256, readings)


REWRITTEN = [
    ("011 15-2314-5078", "AR", "+5491123145078"),
    ("02901 15-523456", "AR", "+5492901523456"),
    ("+54 011 15-2314-5078", "AR", "+5491123145078"),
    ("0 15 (11) 96123-4567", "BR", "+5511961234567"),
    ("90 31 21 2345-6789", "BR", "+552123456789"),
    ("460-1234", "AG", "+12684601234"),
    ("256789", "GG", "+441481256789"),
    ("886377", "SM", "+3780549886377"),
    ("1 472-5512", "GU", "+16714725512"),
    ("261 22 41538", "MG", "+261202241538"),
    ("54 011 15-2350-3736", "AR", "+5491123503736"),
]


@each_case("text, country, number", REWRITTEN)
def test_prefixes_that_are_rewritten_are_certain(text: str, country: str, number: str) -> None:
    """Behind Argentina's mobile prefix and Brazil's codes of carriers, and where an area has local numbers only."""
    codes, hashes = decided(pa.array([text]), Kind.PHONE_NUMBER, pa.array([country]))
    assert (codes.tolist(), hashes[0].tobytes()) == ([VALID], hashlib.sha256(number.encode()).digest())


BROKEN_PLANS = {
    "two digits swapped": _without_run,
    "another code": lambda plans: dataclasses.replace(plans, readings=plans.readings + (1 << 16)),
    "a digit too few dropped": lambda plans: dataclasses.replace(plans, readings=_dropping_less(plans.readings)),
    "nothing is rewritten": lambda plans: dataclasses.replace(plans, readings=plans.readings & 0xFFFFFFFF),
    "counts are numbers": lambda plans: dataclasses.replace(plans, placeholders=Words.of([])),
    "all is valid": lambda plans: dataclasses.replace(plans, outcomes=np.zeros_like(plans.outcomes)),
    "no plus": lambda plans: dataclasses.replace(plans, writes_plus=False),
}


@pytest.mark.slow
@pytest.mark.parametrize("broken", BROKEN_PLANS.values(), ids=BROKEN_PLANS.keys())
def test_broken_plans_are_found(broken: Any, rows: list[Row], monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails for every table that is broken on purpose."""
    to_structure = plain._plans
    counted = [("1234567", "US"), ("0123456789", "IT"), *((f"+1 234 567 {number}", None) for number in range(99))]
    monkeypatch.setattr(plain, "_plans", lambda *given: broken(to_structure(*given)))
    assert differing_numbers([*rows, *counted, *((text, country) for text, country, _ in REWRITTEN)])
