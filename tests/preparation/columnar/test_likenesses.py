"""Looking for a person's data in bulk says what the definition says of each text, or nothing."""

from __future__ import annotations

import ipaddress
import random
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.partner_user_id import looks_personal
from audiencekit.identifiers.texts import trim
from audiencekit.preparation.columnar import likenesses
from audiencekit.preparation.columnar.decisions import UNDECIDED, VALID, code_of
from audiencekit.preparation.columnar.likenesses import judge_likeness
from benchmarks.values.partner_user_ids import ODD, PARTS
from tests.examples import examples

PERSONAL = code_of(Reason.LOOKS_PERSONAL)

BITS = ["%", "&", "&amp;", "&#64;", "&#x40;", "&commat;", "%40", "%2540", "%C3%A9", "%FC", "%20", "%", "%2B", "%2e"]
BITS += [
    "anna",
    "B",
    "7",
    "12",
    "0",
    "4",
    "３",
    "٤",
    "٤٥٦",
    "５５",
    "é",
    "e\u0301",
    "я",
    "名",
    "안",
    "ก็",
    "า",
    "²",
    "Ⓐ",
    "ª",
    "ⅷ",
]
BITS += [
    "@",
    "＠",
    "﹫",
    "+",
    "＋",
    "²",
    " ",
    "\xa0",
    "\u3000",
    "\u1680",
    "-",
    "–",
    "―",
    "－",
    ".",
    "．",
    ",",
    "'",
    "’",
    "（",
]
BITS += [
    "）",
    "(",
    ")",
    "[",
    "]",
    "{at}",
    " at ",
    " dot ",
    ".at.",
    "x.com/",
    "ｘ.com/",
    "twıtter.com/",
    "twitter.com/",
    "tel:",
]
BITS += [
    "ſ",
    "İ",
    "\u212a",
    "::",
    ":",
    "1.2.3.4",
    "a:",
    "2001:db8",
    "😀",
    "!",
    "~",
    "Q",
    "YW5uYUBiLmRl",
    "616e6e6140622e6465",
]


def _differing(texts: list[str]) -> list[str]:
    """Those of which the two say another thing."""
    texts = [trim(text) for text in texts]
    found = judge_likeness(pa.array(texts, pa.string())).tolist()
    expected = [PERSONAL if looks_personal(text) else VALID for text in texts]
    return [text for text, one, other in zip(texts, found, expected, strict=True) if one not in (UNDECIDED, other)]


def _put_together(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices(BITS, k=chance.choice((1, 2, 2, 3, 3, 4, 6)))) for _ in range(count)]


def test_same_as_definition() -> None:
    """Texts made of all that a pattern asks for, in long columns and in short ones."""
    texts = [*_put_together(40_000, 1), *(text for text in ODD if len(text) < 2_048 and text.isprintable())]
    assert _differing(texts) == []
    assert [text for start in range(0, 5_000, 100) for text in _differing(texts[start : start + 100])] == []


@given(st.lists(st.lists(st.sampled_from(BITS + PARTS) | st.text(max_size=2), max_size=6).map("".join), max_size=20))
@settings(max_examples=examples(60), deadline=None)
def test_same_as_definition_for_any_text(texts: list[str]) -> None:
    """However they are put together, encoded once more or not."""
    assert _differing([*texts, *map(quote, texts)]) == []


@given(st.lists(st.ip_addresses().map(str) | st.from_regex(r"[0-9a-f:]{2,20}", fullmatch=True), max_size=40))
@settings(max_examples=examples(60), deadline=None)
def test_addresses_of_the_internet_are_those_of_the_standard_library(texts: list[str]) -> None:
    """In all their forms, and cut anywhere."""
    cut = [text[at:] for text in texts for at in (0, 1, 3)] + [f"{text}:80" for text in texts]
    assert _differing(cut) == []
    exploded = [ipaddress.ip_address(text).exploded for text in texts if ":" in text and _is_address(text)]
    assert (judge_likeness(pa.array(exploded, pa.string())) == PERSONAL).all()


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
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
    assert _differing(texts) == []


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
@pytest.mark.parametrize(("name", "broken"), BROKEN, ids=[f"{at}: {name}" for at, (name, _) in enumerate(BROKEN)])
def test_broken_patterns_are_found(name: str, broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails for every pattern that is broken on purpose."""
    texts = [*_put_together(40_000, 1), *(text for text in ODD if len(text) < 2_048 and text.isprintable())]
    assert getattr(likenesses, name) != broken
    monkeypatch.setattr(likenesses, name, broken)
    assert _differing(texts)


def test_no_texts() -> None:
    """A column of none has no decisions."""
    assert judge_likeness(pa.array([], pa.string())).dtype == np.int8
