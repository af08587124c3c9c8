"""The columnar path for partner user ids says what the definition says, or nothing."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiencekit.identifiers.partner_user_id import normalize_partner_user_id
from audiencekit.identifiers.placeholders import WORDS
from audiencekit.identifiers.reasons import Reason
from audiencekit.preparation.columnar import partner_user_ids
from audiencekit.preparation.columnar.decisions import VALID, code_of
from audiencekit.preparation.columnar.partner_user_ids import decide_partner_user_ids

PARTS = [
    "a",
    "B9",
    "_",
    "-",
    ".",
    ":",
    "=",
    "==",
    "+",
    "/",
    "@",
    "＠",
    "x.com/",
    "twitter.com/",
    "tel:",
    "(",
    ")",
    " ",
    ",",
]
PARTS += [
    "1",
    "12",
    "123",
    "4567",
    "0151",
    "Anna",
    "Muster",
    "é",
    "名前",
    "\t",
    "\n",
    "\x00",
    "\u200b",
    "\ufffd",
    "null",
]
ODD = [
    "",
    "123-456-7890",
    "123.456.7890",
    "1-123-456-7890",
    "0151-2345678",
    "0151/2345678",
    "+491512345678",
    "tel:+491512345",
]
ODD += [
    "@anna",
    "anna@b",
    "anna@b.de",
    "Anna Muster",
    "Anna",
    "anna,",
    "x.com/anna",
    "a/x.com/anna",
    "a/b",
    "a+b==",
    "+123a4567",
]
ODD += [
    " 12",
    "12 ",
    "\t12",
    "12\n",
    "1" * 30,
    "a_b:c.d",
    "12-34",
    "12.34",
    "1=2",
    "(123)4567890",
    "é",
    "éé",
    "a\ufffd",
    "\xa0",
]
ODD += [shape for word in sorted(WORDS) for shape in (word, word.upper(), f" {word}")]


@pytest.fixture(scope="module")
def texts(assembled: Callable[..., list[str]]) -> list[str]:
    """Ids and what people take for them."""
    return [*ODD, *assembled(PARTS, 6_000)]


@pytest.fixture(scope="module")
def answers(texts: list[str]) -> list[Any]:
    """What the definition says of `texts`."""
    return [normalize_partner_user_id(text) for text in texts]


def test_same_as_definition(texts: list[str], answers: list[Any], differing: Callable[..., list[int]]) -> None:
    """Whatever is decided equals the definition, text or reason."""
    assert differing(decide_partner_user_ids(pa.array(texts)), answers) == []


@given(st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=5).map("".join), max_size=20))
@settings(max_examples=100, deadline=None)
def test_same_as_definition_for_any_text(differing: Callable[..., list[int]], texts: list[str]) -> None:
    """No text makes the two differ."""
    decisions = decide_partner_user_ids(pa.array(texts, pa.string()))
    assert differing(decisions, [normalize_partner_user_id(text) for text in texts]) == []


def test_same_as_definition_in_public_corpora(corpus_texts: list[str], differing: Callable[..., list[int]]) -> None:
    """The inputs of public test suites, phone numbers above all, get the definition's answers."""
    decisions = decide_partner_user_ids(pa.array(corpus_texts))
    assert differing(decisions, [normalize_partner_user_id(text) for text in corpus_texts]) == []


@pytest.mark.parametrize("form", ["digits", "uuid", "hex", "dotted"])
def test_clean_lists_are_decided(form: str) -> None:
    """Of the usual forms of ids nothing is left to the definition."""
    chance = random.Random(5)
    numbers = [chance.getrandbits(128) for _ in range(1_000)]
    forms: dict[str, Callable[[int], str]] = {
        "digits": str,
        "uuid": lambda number: str(uuid.UUID(int=number)),
        "hex": lambda number: f"u{number:032X}",
        "dotted": lambda number: f"crm.{number}:de",
    }
    decisions = decide_partner_user_ids(pa.array([forms[form](number) for number in numbers]))
    assert (decisions.codes == VALID).mean() >= 0.995


def test_null_and_blank_are_empty() -> None:
    """Missing, blank and invisible cells are EMPTY, also in a slice; a column of no values is fine."""
    column = pa.array(["x", None, "", " \t", "\xa0\u2003", "\ufeff\u200b"])
    assert set(decide_partner_user_ids(column.slice(1)).reasons.to_pylist()) == {code_of(Reason.EMPTY)}
    assert len(decide_partner_user_ids(column.slice(0, 0))) == 0


PLAIN = partner_user_ids._PLAIN
BROKEN: list[tuple[str, str, Any]] = [
    ("digits with separators", "_PLAIN", PLAIN.replace("[0-9]+", "[0-9.-]+")),
    ("digits with a slash", "_PLAIN", PLAIN.replace("[0-9]+", "[0-9/]+")),
    ("plus without a letter", "_PLAIN", PLAIN.replace("[A-Za-z][A-Za-z0-9+/]", "[A-Za-z0-9+/]")),
    ("white space", "_PLAIN", PLAIN.replace("[A-Za-z0-9_.", "[A-Za-z0-9 _.")),
    ("dots and slashes", "_PLAIN", PLAIN.replace("+/]", "+/.]")),
    ("at signs", "_PLAIN", PLAIN.replace("_.:", "_@.:")),
    ("any end", "_PLAIN", PLAIN.removesuffix(r"\z")),
    ("any beginning", "_PLAIN", PLAIN.removeprefix(r"\A")),
    ("no blanks", "_CHECKS", partner_user_ids._CHECKS[1:]),
]


@pytest.mark.parametrize(("attribute", "broken"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_broken_patterns_are_found(
    attribute: str,
    broken: Any,
    texts: list[str],
    answers: list[Any],
    differing: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The comparison fails for every pattern that is broken on purpose."""
    assert getattr(partner_user_ids, attribute) != broken
    monkeypatch.setattr(partner_user_ids, attribute, broken)
    assert differing(decide_partner_user_ids(pa.array(texts)), answers)
