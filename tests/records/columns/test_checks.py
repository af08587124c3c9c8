"""Checks decide in their order, each value once."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.phone_number import normalize_phone_number
from audiencekit.identifiers.texts import WORDS, has_invisible, is_placeholder, trim, trim as trim_text
from audiencekit.records.columns import checks, hashes, international, plain_emails as emails, small_kinds
from audiencekit.records.columns.arrays import PENDING, VALID
from audiencekit.records.columns.checks import (
    BREAK,
    CODE_POINTS,
    CONTROL,
    DOUBT,
    FEW,
    MARK,
    Check,
    begin_codes,
    decide_in_order,
    matches,
    pattern_of,
    signs,
    trim_texts,
)
from audiencekit.records.phones import plain_numbers as phone_numbers
from benchmarks.values import emails as email_values, handles as handle_values, platform_ids as platform_id_values
from tests.cases import each_case
from tests.shortened import shortened

_CODES = [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE2000)]
_NEAR = [*range(0x700), *range(0x1600, 0x1900), *range(0x2000, 0x2100), *range(0x2FF0, 0x3100), *range(0xFE00, 0x10000)]


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


@pytest.mark.parametrize("codes", shortened([_NEAR, _CODES], 1), ids=["where they are", "everywhere"])
def test_trim(codes: list[int]) -> None:
    """White space and marks go from both ends as in the definition; control characters and inner space stay."""
    texts = [f"{chr(one)}{chr(two)}a b{chr(one)}" for one in codes for two in (9, 32, 28, 97)]
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


@each_case("text", ["a.b", "a|b", "(a", "a\\b", "^$", "a b", "–"])
def test_one_of_takes_texts_literally(text: str) -> None:
    """Characters that mean something in patterns stand for themselves."""
    assert matches(pa.array([text, "axb", f"{text} "]), pattern_of([text])).tolist() == [True, False, False]


PATTERNS = [
    *(check.pattern for check in checks.OPENING),
    *(check.pattern for check in emails._checks()),
    *(check.pattern for check in phone_numbers._CHECKS),
    *(check.pattern for check in small_kinds._NAME_CHECKS),
    *(check.pattern for check in small_kinds._DEVICE_ID_CHECKS),
    *(check.pattern for check in small_kinds._NUMBER_CHECKS),
    *(check.pattern for check in hashes._CHECKS),
    *(emails._PLAIN, emails._PLACEHOLDER, emails._special_use(), international._certain_form()),
    *(small_kinds._ADDRESS, small_kinds._PAGE),
    *(small_kinds._PLAIN_HANDLE, small_kinds._PLAIN_PLATFORM_ID, small_kinds._PLAIN_PARTNER_ID),
    *(phone_numbers._TWO.format(sign=sign) for sign in "/ "),
    phone_numbers._DECORATED,
]


@pytest.fixture(scope="module")
def texts(assembled: Callable[..., list[str]]) -> list[str]:
    """Of all kinds, and with what is read in two ways."""
    texts = [*assembled([*email_values.PARTS, *handle_values.PARTS], 1_500), *assembled(platform_id_values.PARTS, 500)]
    odd = ("", "\n", "a\n", "\na", "a\n\n", "\x00", "é", "ſ", "\u212a", "٣", "1\n.0", "x@y.zz\n", "'\n1", "=\n")
    return [*texts, *odd]


@each_case("pattern", PATTERNS)
def test_a_few_texts_match_as_many_do(pattern: str, texts: list[str]) -> None:
    """`re`, which matches a few texts, says what RE2 says of many, whatever stands in them."""
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


_EVERY = [chr(code) for code in range(CODE_POINTS)]


def test_the_ends_of_a_value() -> None:
    """White space and marks come off, and nothing else does."""
    trimmed = [trim(character) == "" for character in _EVERY]
    assert np.isin(signs(), (BREAK, MARK, ord(" "))).tolist() == trimmed


def test_invisible_characters() -> None:
    """Marks and control characters are refused inside, and nothing else is."""
    assert np.isin(signs(), (MARK, CONTROL)).tolist() == [has_invisible(character) for character in _EVERY]


def test_digits_of_every_script() -> None:
    """Each digit of Unicode is the one of ASCII, and no other character is a digit."""
    values = [unicodedata.decimal(character, None) for character in _EVERY]
    digits = [None if value is None else ord("0") + value for value in values]
    is_digit = (signs() >= ord("0")) & (signs() <= ord("9"))
    found = [int(sign) if is_one else None for sign, is_one in zip(signs(), is_digit, strict=True)]
    assert found == digits


@pytest.mark.slow
def test_signs_in_a_number() -> None:
    """A number with a character in it is the one with the sign of the table, and none where that has none."""
    for code in np.flatnonzero(signs()[0x80:] != DOUBT) + 0x80:
        sign = int(signs()[code])
        given, meant = (normalize_phone_number(f"+1 201{character}5550123") for character in (chr(code), chr(sign)))
        assert given == meant if sign > CONTROL else isinstance(given, Reason)
