"""The columnar path for columns that arrive hashed says what the definition says, or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiencekit.identifiers.hashing import accept_hashed
from audiencekit.identifiers.placeholders import WORDS
from audiencekit.identifiers.reasons import Reason
from audiencekit.preparation.columnar import hashed
from audiencekit.preparation.columnar.checks import HASHED, SPACES
from audiencekit.preparation.columnar.decisions import code_of
from audiencekit.preparation.columnar.hashed import decide_hashed

GOOD = "5e884898da28047151d0e56f8dc6292773603d0d6aabbd62a11ef721d1542d8a"
KNOWN = [hashlib.sha256(text.encode()).hexdigest() for text in ("", "null", "NULL", "test@test.com", "0", "1111111")]
WHOLE = [GOOD, GOOD.upper()]
PARTS = [
    "0" * 64,
    "a" * 64,
    "F" * 64,
    "b" * 63,
    "0" * 63,
    "0" * 32,
    "0",
    " ",
    "g",
    "null",
    "\u200b",
    "１",
    GOOD,
    *KNOWN,
]
ODD = [
    "",
    GOOD,
    GOOD.upper(),
    f" {GOOD}\n",
    GOOD[:-1],
    GOOD + "0",
    "0" * 64,
    "0" * 63,
    "0" * 65,
    "\x00" + GOOD,
    *sorted(WORDS),
]
ODD += [
    "0" * 63 + "1",
    *KNOWN,
    *(text.upper() for text in KNOWN),
    f"sha256:{GOOD}",
    GOOD[:32],
    GOOD * 2,
    f"\ufeff{GOOD}",
]
LADDERS = [("_CHECKS", at) for at in range(len(hashed._CHECKS) - 1)]


@pytest.fixture(scope="module")
def texts(assembled: Callable[..., list[str]]) -> list[str]:
    """Values of the kind and what people take for them."""
    return [*ODD, *assembled(PARTS, 6_000)]


@pytest.fixture(scope="module")
def answers(texts: list[str]) -> list[Any]:
    """What the definition says of `texts`."""
    return [accept_hashed(text) for text in texts]


def test_same_as_definition(texts: list[str], answers: list[Any], differing: Callable[..., list[int]]) -> None:
    """Whatever is decided equals the definition, text or reason."""
    assert differing(decide_hashed(pa.array(texts)), answers) == []


@given(st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=5).map("".join), max_size=20))
@settings(max_examples=100, deadline=None)
def test_same_as_definition_for_any_text(differing: Callable[..., list[int]], texts: list[str]) -> None:
    """No text makes the two differ."""
    decisions = decide_hashed(pa.array(texts, pa.string()))
    assert differing(decisions, [accept_hashed(text) for text in texts]) == []


def test_same_as_definition_in_public_corpora(corpus_texts: list[str], differing: Callable[..., list[int]]) -> None:
    """The inputs of public test suites get the definition's answers."""
    assert differing(decide_hashed(pa.array(corpus_texts)), [accept_hashed(text) for text in corpus_texts]) == []


def test_every_ascii_character_at_every_place(differing: Callable[..., list[int]]) -> None:
    """One foreign ASCII character at any place of a value is judged as the definition does."""
    texts = [
        whole[:at] + chr(code) + whole[at:] for whole in WHOLE for at in range(len(whole) + 1) for code in range(128)
    ]
    assert differing(decide_hashed(pa.array(texts)), [accept_hashed(text) for text in texts]) == []


def test_ascii_is_decided(texts: list[str]) -> None:
    """Only texts that are not ASCII are left to the definition."""
    left = decide_hashed(pa.array(texts)).undecided
    assert len(left)
    assert not any(texts[index].strip(SPACES).isascii() for index in left)


def test_null_and_blank_are_empty() -> None:
    """Missing, blank and invisible cells are EMPTY, also in a slice; a column of no values is fine."""
    column = pa.array(["x", None, "", " \t", "\xa0\u2003", "\ufeff\u200b"])
    assert set(decide_hashed(column.slice(1)).reasons.to_pylist()) == {code_of(Reason.EMPTY)}
    assert len(decide_hashed(column.slice(0, 0))) == 0


BROKEN: list[tuple[str, str, Any]] = [
    ("zeros are a hash", "_REFUSED", pa.array(KNOWN)),
    ("nothing is known", "_REFUSED", pa.array(["0" * 64])),
    ("a good one is known", "_REFUSED", pa.array([GOOD])),
    ("any hex", "HASHED", HASHED._replace(pattern=r"\A[0-9a-f]+\z")),
    ("any letters", "HASHED", HASHED._replace(pattern=r"\A[0-9a-z]{64}\z")),
    ("any end", "HASHED", HASHED._replace(pattern=r"\A[0-9a-f]{64}")),
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
    assert getattr(hashed, attribute) != broken
    monkeypatch.setattr(hashed, attribute, broken)
    assert differing(decide_hashed(pa.array(texts)), answers)


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
    checks = getattr(hashed, ladder)
    monkeypatch.setattr(hashed, ladder, checks[:position] + checks[position + 1 :])
    assert differing(decide_hashed(pa.array(texts)), answers)
