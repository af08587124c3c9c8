"""The columnar path for ids of the platform says what the definition says, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiencekit.identifiers.placeholders import WORDS
from audiencekit.identifiers.platform_id import normalize_platform_id
from audiencekit.identifiers.reasons import Reason
from audiencekit.preparation.columnar import platform_ids
from audiencekit.preparation.columnar.checks import OPENING, SPACES
from audiencekit.preparation.columnar.decisions import code_of
from audiencekit.preparation.columnar.platform_ids import decide_platform_ids

LARGEST = str(2**63 - 1)
WHOLE = ["12345", "'12", '="12"', "1.0E+5", LARGEST]
PARTS = [
    "0",
    "1",
    "9",
    "00",
    "'",
    '="',
    '"',
    "=",
    "#",
    "##",
    ".",
    ",",
    ".0",
    ".00",
    "E+",
    "e",
    "+",
    "-",
    "123456",
    LARGEST,
    "a",
]
PARTS += [
    LARGEST[:-1],
    "1" * 18,
    "2" * 19,
    "3" * 20,
    " ",
    "\n",
    "\t",
    "\x00",
    "\u200b",
    "٣",
    "１",
    "²",
    "null",
    "f" * 64,
]
ODD = [
    "",
    "0",
    "000",
    "0012",
    "-1",
    "+1",
    "1,000",
    "1.5",
    "12345.0",
    "12345.000000",
    "12345.0000000",
    "1.0",
    "x1.0",
    "x\n1.0",
]
ODD += [str(2**63 + offset) for offset in (-2, -1, 0, 1)] + [
    "0" + LARGEST,
    "0" * 30 + "7",
    "8" + "9" * 18,
    "9" * 19,
    "1" * 20,
]
ODD += [
    "'12",
    "' 12",
    "''12",
    "'",
    '="12"',
    '=" 12\t"',
    '=""',
    '="1"2"',
    '="12',
    "=12",
    "=\n12",
    "'=12",
    "'##",
    "###",
    "1e5",
    "1.e5",
]
ODD += [
    "1E5",
    "1E+5",
    "1,2e-5",
    "e5",
    "1e",
    "1.",
    "1,",
    ".5",
    "+1.5",
    "'0",
    "'1.0",
    "'f",
    "f" * 64,
    "1" * 64,
    "12 34",
    *sorted(WORDS),
]
LADDERS = [("OPENING", at) for at in range(len(OPENING))] + [
    ("_NUMBER_CHECKS", at) for at in range(len(platform_ids._NUMBER_CHECKS) - 1)
]


@pytest.fixture(scope="module")
def texts(assembled: Callable[..., list[str]]) -> list[str]:
    """Values of the kind and what people take for them."""
    return [*ODD, *assembled(PARTS, 6_000)]


@pytest.fixture(scope="module")
def answers(texts: list[str]) -> list[Any]:
    """What the definition says of `texts`."""
    return [normalize_platform_id(text) for text in texts]


def test_same_as_definition(texts: list[str], answers: list[Any], differing: Callable[..., list[int]]) -> None:
    """Whatever is decided equals the definition, text or reason."""
    assert differing(decide_platform_ids(pa.array(texts)), answers) == []


@given(st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=5).map("".join), max_size=20))
@settings(max_examples=100, deadline=None)
def test_same_as_definition_for_any_text(differing: Callable[..., list[int]], texts: list[str]) -> None:
    """No text makes the two differ."""
    decisions = decide_platform_ids(pa.array(texts, pa.string()))
    assert differing(decisions, [normalize_platform_id(text) for text in texts]) == []


def test_same_as_definition_in_public_corpora(corpus_texts: list[str], differing: Callable[..., list[int]]) -> None:
    """The inputs of public test suites get the definition's answers."""
    assert (
        differing(decide_platform_ids(pa.array(corpus_texts)), [normalize_platform_id(text) for text in corpus_texts])
        == []
    )


def test_every_ascii_character_at_every_place(differing: Callable[..., list[int]]) -> None:
    """One foreign ASCII character at any place of a value is judged as the definition does."""
    texts = [
        whole[:at] + chr(code) + whole[at:] for whole in WHOLE for at in range(len(whole) + 1) for code in range(128)
    ]
    assert differing(decide_platform_ids(pa.array(texts)), [normalize_platform_id(text) for text in texts]) == []


def test_ascii_is_decided(texts: list[str]) -> None:
    """Only texts that are not ASCII are left to the definition."""
    left = decide_platform_ids(pa.array(texts)).undecided
    assert len(left)
    assert not any(texts[index].strip(SPACES).isascii() for index in left)


def test_null_and_blank_are_empty() -> None:
    """Missing, blank and invisible cells are EMPTY, also in a slice; a column of no values is fine."""
    column = pa.array(["x", None, "", " \t", "\xa0\u2003", "\ufeff\u200b"])
    assert set(decide_platform_ids(column.slice(1)).reasons.to_pylist()) == {code_of(Reason.EMPTY)}
    assert len(decide_platform_ids(column.slice(0, 0))) == 0


BROKEN: list[tuple[str, str, Any]] = [
    ("leading zeros are plain", "_PLAIN", r"\A[0-9]{1,18}\z"),
    ("longer ids are plain", "_PLAIN", r"\A[1-9][0-9]*\z"),
    ("any end", "_PLAIN", r"\A[1-9][0-9]{0,17}"),
    ("no formulas", "_FORMULA", r"\z."),
    ("formulas with quotes inside", "_FORMULA", r'\A="(?s:.*)"\z'),
    ("a larger largest id", "MAX_PLATFORM_ID", 2**63),
    ("a smaller largest id", "MAX_PLATFORM_ID", 2**63 - 2),
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
    assert getattr(platform_ids, attribute) != broken
    monkeypatch.setattr(platform_ids, attribute, broken)
    assert differing(decide_platform_ids(pa.array(texts)), answers)


@pytest.mark.parametrize(("ladder", "position"), LADDERS)
def test_every_check_is_needed(
    ladder: str,
    position: int,
    texts: list[str],
    answers: list[Any],
    differing: Callable[..., list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without any one of the checks the comparison fails."""
    checks = getattr(platform_ids, ladder)
    monkeypatch.setattr(platform_ids, ladder, checks[:position] + checks[position + 1 :])
    assert differing(decide_platform_ids(pa.array(texts)), answers)
