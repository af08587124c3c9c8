"""Checks decide in their order, each value once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.identifiers.texts import WORDS, has_invisible, is_placeholder, trim as trim_text
from audiencekit.preparation.columnar import (
    checks,
    device_ids,
    emails,
    handles,
    hashed,
    international,
    partner_user_ids,
    platform_ids,
)
from audiencekit.preparation.columnar.checks import (
    FEW,
    Check,
    begin_codes,
    decide_in_order,
    matches,
    pattern_of,
    trim_texts,
)
from audiencekit.preparation.columnar.decisions import PENDING, VALID
from audiencekit.preparation.columnar.phones import numbers as phone_numbers
from benchmarks.values import emails as email_values, handles as handle_values, platform_ids as platform_id_values

_CODES = [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE2000)]


def test_first_check_wins() -> None:
    """The first check that holds decides; `holds=False` asks for no match; decided texts are not asked again."""
    texts = pa.array(["ab", "b", "c", "a"])
    codes = begin_codes(np.array([False, False, False, True]))
    decide_in_order(texts, codes, [Check("a", 5), Check("b", 6), Check("a", 7, holds=False)])
    assert codes.tolist() == [5, 6, 7, VALID]


def test_pending_stays_without_a_check() -> None:
    """A text for which no check holds stays PENDING."""
    codes = begin_codes(np.array([False, False]))
    decide_in_order(pa.array(["a", "b"]), codes, [Check("b", 1)])
    assert codes.tolist() == [PENDING, 1]


def test_trim() -> None:
    """White space and marks go from both ends as in the definition; control characters and inner space stay."""
    texts = [f"{chr(one)}{chr(two)}a b{chr(one)}" for one in _CODES for two in (9, 32, 28, 97)]
    assert trim_texts(pa.array(texts)).to_pylist() == [trim_text(text) for text in texts]
    assert trim_texts(pa.array([None, " "])).to_pylist() == ["", ""]


def test_invisible_is_what_the_definition_refuses() -> None:
    """Every single character of the planes in use is invisible exactly if the definition says so."""
    characters = [chr(code) for code in _CODES]
    found = matches(pa.array(characters), checks.INVISIBLE.pattern)
    assert [has_invisible(character) for character in characters] == found.tolist()


def test_blank_is_what_the_definition_trims_away() -> None:
    """Every single character of the planes in use is blank exactly if the definition trims it."""
    characters = [chr(code) for code in _CODES]
    blank = matches(pa.array(characters), checks.BLANK.pattern)
    assert [not trim_text(character) for character in characters] == blank.tolist()


def test_words_are_the_definitions() -> None:
    """Placeholder words match in lower case, and nothing around them."""
    texts = [f"{before}{word}{after}" for word in sorted(WORDS) for before, after in (("", ""), ("x", ""), ("", "\n"))]
    texts += [text.replace("k", checks.KELVIN) for text in texts]
    assert matches(pa.array(texts), checks.WORD.pattern).tolist() == [is_placeholder(text) for text in texts]
    assert {chr(code) for code in _CODES if code > 127 and chr(code).lower().isascii()} == {checks.KELVIN}


@pytest.mark.parametrize("text", ["a.b", "a|b", "(a", "a\\b", "^$", "a b", "–"])
def test_one_of_takes_texts_literally(text: str) -> None:
    """Characters that mean something in patterns stand for themselves."""
    assert matches(pa.array([text, "axb", f"{text} "]), pattern_of([text])).tolist() == [True, False, False]


PATTERNS = [
    *(check.pattern for check in checks.OPENING),
    *(check.pattern for check in emails._checks()),
    *(check.pattern for check in phone_numbers._CHECKS),
    *(check.pattern for check in handles._NAME_CHECKS),
    *(check.pattern for check in device_ids._FORM_CHECKS),
    *(check.pattern for check in platform_ids._NUMBER_CHECKS),
    *(check.pattern for check in hashed._CHECKS),
    *(emails._PLAIN, emails._PLACEHOLDER, emails._special_use(), international._certain_form()),
    *(handles._ADDRESS, handles._PAGE, handles._PLAIN, platform_ids._PLAIN, partner_user_ids._PLAIN),
    *(phone_numbers._TWO.format(sign=sign) for sign in "/ "),
    phone_numbers._DECORATED,
]


@pytest.mark.parametrize("pattern", PATTERNS, ids=range(len(PATTERNS)))
def test_a_few_texts_match_as_many_do(pattern: str, assembled: Callable[..., list[str]]) -> None:
    """`re`, which matches a few texts, says what RE2 says of many, whatever stands in them."""
    texts = [*assembled([*email_values.PARTS, *handle_values.PARTS], 1_500), *assembled(platform_id_values.PARTS, 500)]
    texts += ["", "\n", "a\n", "\na", "a\n\n", "\x00", "é", "ſ", "\u212a", "٣", "1\n.0", "x@y.zz\n", "'\n1", "=\n"]
    parts = [texts[start : start + FEW] for start in range(0, len(texts), FEW)]
    few = [matches(pa.array(part), pattern).tolist() for part in parts]
    assert [found for part in few for found in part] == matches(pa.array(texts), pattern).tolist()


def test_short_texts_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check for longer texts than there are is passed over, as one that does not match."""
    asked: list[str] = []
    monkeypatch.setattr(checks, "matches", lambda texts, pattern: asked.append(pattern) or matches(texts, pattern))
    codes = begin_codes(np.array([False, False]))
    long = Check("a{9}", 5, least=9)
    decide_in_order(pa.array(["ab", "b"]), codes, [long, Check("b{4}", 6, holds=False, least=4)])
    assert codes.tolist() == [6, 6]
    assert asked == []
    codes = begin_codes(np.array([False]))
    decide_in_order(pa.array(["a" * 9]), codes, [long])
    assert codes.tolist() == [5]
