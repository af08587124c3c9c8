"""Checks decide in their order, each value once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.identifiers.invisible import trim as trim_text
from audiencekit.identifiers.placeholders import WORDS, is_placeholder
from audiencekit.preparation.columnar import checks
from audiencekit.preparation.columnar.checks import PENDING, Check, begin, decide_in_order, matches, one_of, trim
from audiencekit.preparation.columnar.decisions import VALID


def test_first_check_wins() -> None:
    """The first check that holds decides; `holds=False` asks for no match; decided texts are not asked again."""
    texts = pa.array(["ab", "b", "c", "a"])
    codes = begin(np.array([False, False, False, True]))
    decide_in_order(texts, codes, [Check("a", 5), Check("b", 6), Check("a", 7, holds=False)])
    assert codes.tolist() == [5, 6, 7, VALID]


def test_pending_stays_without_a_check() -> None:
    """What no check holds for stays PENDING."""
    codes = begin(np.array([False, False]))
    decide_in_order(pa.array(["a", "b"]), codes, [Check("b", 1)])
    assert codes.tolist() == [PENDING, 1]


def test_trim_of_ascii() -> None:
    """ASCII white space goes from both ends as in the definition; control characters and inner space stay."""
    texts = [f"{chr(one)}{chr(two)}a b{chr(one)}" for one in range(128) for two in (9, 32, 28, 97)]
    assert trim(pa.array(texts)).to_pylist() == [trim_text(text) for text in texts]
    assert trim(pa.array([None, " "])).to_pylist() == ["", ""]


def test_blank_is_what_the_definition_trims_away() -> None:
    """Every single character of the planes in use is blank exactly if the definition trims it."""
    codes = [*range(0xD800), *range(0xE000, 0x20000), *range(0xE0000, 0xE2000)]
    characters = [chr(code) for code in codes]
    blank = matches(pa.array(characters), checks.BLANK.pattern)
    assert [not trim_text(character) for character in characters] == blank.tolist()


def test_words_are_the_definitions() -> None:
    """Placeholder words match in lower case, and nothing around them."""
    texts = [f"{before}{word}{after}" for word in sorted(WORDS) for before, after in (("", ""), ("x", ""), ("", "\n"))]
    assert matches(pa.array(texts), checks.WORD.pattern).tolist() == [is_placeholder(text) for text in texts]


@pytest.mark.parametrize("text", ["a.b", "a|b", "(a", "a\\b", "^$", "a b", "–"])
def test_one_of_takes_texts_literally(text: str) -> None:
    """Characters that mean something in patterns stand for themselves."""
    assert matches(pa.array([text, "axb", f"{text} "]), one_of([text])).tolist() == [True, False, False]
