"""Counting bare numbers in bulk says what the definition says of each."""

from __future__ import annotations

import ipaddress
import random
import re
from collections.abc import Iterable
from html import unescape
from html.entities import html5
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pytest
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
from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.partner_user_id import looks_personal
from audiencekit.identifiers.texts import trim
from audiencekit.records.columns import suspicions as likenesses
from audiencekit.records.columns.arrays import UNDECIDED, VALID, code_of
from audiencekit.records.columns.suspicions import (
    count_bare_numbers,
    count_payment_numbers,
    judge_likeness,
    shown_texts,
    unquoted,
)
from audiencekit.records.tally import BareNumbers, PaymentNumbers
from benchmarks.values.partner_user_ids import ODD, PARTS
from tests.cases import each_case
from tests.examples import examples
from tests.personalvalues import BARE, own_ids, personal_values
from tests.shortened import shortened

BITS = [
    *("0", "00", "49", "151", "0151", "1", "20", "2015550001", "9", "12345678", "-", " ", ".", "(", ")", "/"),
    *("+", "a", "\xa0", ".0", "'", '="', "x1", " ext 12", "tel:", "p:", "_", "–", "\u2010", "－"),
    *("１", "1000", "2024000"),
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


BITS_DISGUISES = [
    *("%", "%4", "4", "0", "%40", "%C3%A9", "%C3", "%A9", "%fC", "é", "名", "a", "G", "%25"),
    *("40", "%00", "%F0%9F%98%80"),
]


@given(st.lists(st.lists(st.sampled_from(BITS_DISGUISES) | st.text(max_size=2), max_size=6).map("".join), max_size=12))
@settings(max_examples=examples(150), deadline=None)
def test_percent_signs(texts: list[str]) -> None:
    """Also those that are cut at the end of a text, and those that come to no text."""
    assert unquoted(pa.array(["%4", *texts], pa.string()).slice(1)).to_pylist() == list(map(unquote, texts))


@given(
    st.lists(st.lists(st.sampled_from(["&", "&amp", "&#", "64", "x40", ";", "lt", "b", "é"]), max_size=5), max_size=9)
)
@settings(max_examples=examples(80), deadline=None)
def test_entities(parts: list[list[str]]) -> None:
    """Every text that HTML reads otherwise than it stands there is shown as it is read."""
    texts = list(map("".join, parts))
    assert _shown(texts) == {row: unescape(text) for row, text in enumerate(texts) if unescape(text) != text}


def test_every_entity_by_its_name() -> None:
    """Also without a semicolon, where HTML knows it so, and with more behind it."""
    texts = [f"a&{name}{rest}" for name in html5 for rest in ("", "b", " 1")]
    assert _shown(texts) == {row: unescape(text) for row, text in enumerate(texts) if unescape(text) != text}


def _shown(texts: list[str]) -> dict[int, str]:
    found = {row: text for rows, shown in shown_texts(pa.array(texts, pa.string())) for row, text in
             zip(rows.tolist(), shown.to_pylist(), strict=True)}  # fmt: skip
    return {row: text for row, text in found.items() if text != texts[row]}


PERSONAL = code_of(Reason.LOOKS_PERSONAL)

BITS_LIKENESSES = [
    *("%", "&", "&amp;", "&#64;", "&#x40;", "&commat;", "%40", "%2540", "%C3%A9", "%FC", "%20"),
    *("%", "%2B", "%2e"),
]
BITS_LIKENESSES += [
    *("anna", "B", "7", "12", "0", "4", "３", "٤", "٤٥٦", "５５", "é", "e\u0301", "я", "名", "안", "ก็", "า", "²"),
    *("Ⓐ", "ª", "ⅷ"),
]
BITS_LIKENESSES += [
    *("@", "＠", "﹫", "+", "＋", "²", " ", "\xa0", "\u3000", "\u1680", "-", "–", "―", "－", ".", "．", ","),
    *("'", "’", "（"),
]
BITS_LIKENESSES += [
    *("）", "(", ")", "[", "]", "{at}", " at ", " dot ", ".at.", "x.com/", "ｘ.com/", "twıtter.com/"),
    *("twitter.com/", "tel:"),
]
BITS_LIKENESSES += [
    *("ſ", "İ", "\u212a", "::", ":", "1.2.3.4", "a:", "2001:db8", "😀", "!", "~"),
    *("Q", "YW5uYUBiLmRl", "616e6e6140622e6465"),
]


Judged = dict[str, int]  # texts, and what the definition says of each


def _judged(texts: Iterable[str]) -> Judged:
    return {text: PERSONAL if looks_personal(text) else VALID for text in map(trim, texts)}


def _differing(judged: Judged) -> list[str]:
    """Those of which the two say another thing."""
    found = judge_likeness(pa.array(judged, pa.string())).tolist()
    return [text for (text, other), one in zip(judged.items(), found, strict=True) if one not in (UNDECIDED, other)]


@pytest.fixture(scope="module", params=shortened([8_000, 40_000], 1))
def judged(request: pytest.FixtureRequest) -> Judged:
    """Texts made of all that a pattern asks for."""
    chance, sizes = random.Random(1), (1, 2, 2, 3, 3, 4, 6)
    made = ["".join(chance.choices(BITS_LIKENESSES, k=chance.choice(sizes))) for _ in range(request.param)]
    return _judged([*made, *(text for text in ODD if len(text) < 2_048 and text.isprintable())])


def test_same_as_definition(judged: Judged) -> None:
    """In long columns and in short ones."""
    assert _differing(judged) == []
    texts = list(judged.items())
    assert [text for start in range(0, 3_000, 100) for text in _differing(dict(texts[start : start + 100]))] == []


@given(
    st.lists(
        st.lists(st.sampled_from(BITS_LIKENESSES + PARTS) | st.text(max_size=2), max_size=6).map("".join), max_size=20
    )
)
@settings(max_examples=examples(60), deadline=None)
def test_same_as_definition_for_any_text(texts: list[str]) -> None:
    """However they are put together, encoded once more or not."""
    assert _differing(_judged([*texts, *map(quote, texts)])) == []


@given(st.lists(st.ip_addresses().map(str) | st.from_regex(r"[0-9a-f:]{2,20}", fullmatch=True), max_size=40))
@settings(max_examples=examples(60), deadline=None)
def test_addresses_of_the_internet_are_those_of_the_standard_library(texts: list[str]) -> None:
    """In all their forms, and cut anywhere."""
    cut = [text[at:] for text in texts for at in (0, 1, 3)] + [f"{text}:80" for text in texts]
    assert _differing(_judged(cut)) == []
    exploded = [ipaddress.ip_address(text).exploded for text in texts if ":" in text and _is_address(text)]
    assert (judge_likeness(pa.array(exploded, pa.string())) == PERSONAL).all()


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@each_case(
    "text",
    [
        *("a%2Fb{}", "user%3A{}%20x", "müller%C3%A9{}", "{}%", "a&b={}", "a&amp;{}", "клиент{}", "名{}", "ลูกค้า{}"),
        *("id\xa0{}", "€{}", "😀{}", "4111 1111 1111 {}", "{},000", "{}/7", "#{}", "~{}", "'{}", "2001:db8::{}"),
        *("10.0.7.{}", "aa:bb:cc:dd:ee:{}", "10:30:{}", "anna at b{}.example", "anna.at.b{}.example", "٣٤٥{}"),
    ],
)
def test_spellings_of_real_exports_are_decided(text: str) -> None:
    """Of columns that are written so throughout nothing is left to the definition."""
    texts = [text.format(number) for number in range(10, 99)]
    assert UNDECIDED not in judge_likeness(pa.array(texts))
    assert _differing(_judged(texts)) == []


BROKEN: list[tuple[str, Any]] = [
    ("_CERTAIN", likenesses._CERTAIN.replace("(?i:", "(?:", 1)),
    ("_CERTAIN", likenesses._CERTAIN.replace(likenesses.NAME, "zz")),
    ("_CERTAIN", likenesses._CERTAIN.replace(likenesses.HANDLE, "zz")),
    *(("_CERTAIN", likenesses._CERTAIN.replace(form, "zz")) for form in likenesses.PHONE_NUMBERS),
    ("_CERTAIN", likenesses._CERTAIN.replace(likenesses.BRACKETED_AT, "zz")),
    ("_LIKELY", likenesses._LIKELY.replace(likenesses._ODD, r"\z.")),
    ("_ODD", r"\z."),
    ("_GROUPED", r"\z."),
    ("_GROUPED_DIGITS", r"\A"),
    ("_SPOKEN", r"\z."),
    ("_SPELLED", r"\z."),
    ("_DIGITS", r"\z."),
    ("_WORD", r"\z."),
    ("_IP", likenesses._IP.replace("{3}", "{4}")),
    ("_RARE_IP", r"\z."),
    ("hold_others", lambda texts, are_asked: np.zeros(len(texts), dtype=bool)),
    ("MAX_SPELLED", 8),
    ("LONGEST_IP", 8),
    ("LAYERS", 1),
]


@pytest.mark.slow
@pytest.mark.parametrize("judged", [40_000], indirect=True)
@pytest.mark.parametrize(("name", "broken"), BROKEN, ids=[f"{at}: {name}" for at, (name, _) in enumerate(BROKEN)])
def test_broken_patterns_are_found(name: str, broken: Any, judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails for every pattern that is broken on purpose."""
    assert getattr(likenesses, name) != broken
    monkeypatch.setattr(likenesses, name, broken)
    assert _differing(judged)


def test_no_texts() -> None:
    """A column of none has no decisions."""
    assert judge_likeness(pa.array([], pa.string())).dtype == np.int8


def test_those_that_are_written_so_and_those_that_check() -> None:
    """With white space at their ends; other ids are not looked at."""
    texts = ["4111111111111111", " 4111 1111 1111 1111 ", "4111111111111112", "DE89370400440532013000", "crm-1", ""]
    assert count_payment_numbers(pa.array(texts)) == PaymentNumbers(looked_at=4, right=3)
    assert count_payment_numbers(pa.array([], pa.string())) == PaymentNumbers()


def test_of_many_a_thousand_are_looked_at() -> None:
    """Evenly over the batch, so that the share is that of all."""
    texts = ["4111111111111111"] * 5_000 + ["4111111111111112"] * 5_000
    assert count_payment_numbers(pa.array(texts)) == PaymentNumbers(looked_at=1_000, right=500)
