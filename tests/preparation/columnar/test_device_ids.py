"""The columnar path for device ids says what the definition says, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiencekit.identifiers.device_id import normalize_device_id
from audiencekit.identifiers.placeholders import WORDS
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.rules import Rules
from audiencekit.preparation.columnar import device_ids
from audiencekit.preparation.columnar.checks import ALWAYS, OPENING, SPACES
from audiencekit.preparation.columnar.decisions import code_of
from audiencekit.preparation.columnar.device_ids import decide_device_ids

UUID = "0f8b3a1c-22d4-4e5f-9abc-1234567890ab"
WHOLE = [UUID, "{" + UUID + "}", "0123456789abcdee"]
PARTS = [
    "0",
    "1",
    "a",
    "f",
    "F",
    "-",
    "{",
    "}",
    "0" * 8,
    "1" * 8,
    "-1111" * 3,
    "a" * 12,
    "b" * 8,
    "c" * 16,
    "9" * 32,
    "g",
]
PARTS += [" ", "\x00", "\u200b", "K", "１", "null", "1234", "-1234" * 3, UUID, UUID.upper(), UUID[:8], UUID[8:]]
ODD = [
    "",
    "{" + UUID + "}",
    "0",
    "00-0",
    "{0}",
    "{-}",
    "-",
    "{}",
    "{{" + UUID + "}}",
    "{" + UUID,
    UUID + "}",
    "{ " + UUID + "}",
    "f" * 64,
]
ODD += [f"{digit * 8}-{digit * 4}-{digit * 4}-{digit * 4}-{digit * 12}" for digit in "0123456789abcdefG"]
ODD += [
    *(digit * 16 for digit in "0123456789abcdefG"),
    UUID.replace("-", ""),
    UUID[:-1],
    UUID + "0",
    UUID.upper(),
    "}" + UUID + "{",
]
ODD += ["9774d56d682e549c", "9774D56D682E549C", "{9774d56d682e549c}", "0123456789abcdef", "1" * 8, *sorted(WORDS)]
ODD += [
    "12345678-1234-1234-1234-123456789012",
    "12345678-1234-1234-1234-123456789ABC",
    "12345678-1234-5678-1234-567812345678",
]
PLACEHOLDER = device_ids._FORM_CHECKS[2]
NOBODY = (*device_ids._FORM_CHECKS[:2], PLACEHOLDER._replace(pattern=ALWAYS))
LADDERS = [("OPENING", at) for at in range(len(OPENING))] + [
    ("_FORM_CHECKS", at) for at in range(len(device_ids._FORM_CHECKS) - 1)
]


@pytest.fixture(scope="module")
def texts(assembled: Callable[..., list[str]]) -> list[str]:
    """Values of the kind and what people take for them."""
    return [*ODD, *assembled(PARTS, 6_000)]


@pytest.fixture(scope="module")
def answers(texts: list[str]) -> list[Any]:
    """What the definition says of `texts`."""
    return [normalize_device_id(text) for text in texts]


def test_same_as_definition(texts: list[str], answers: list[Any], differing: Callable[..., list[int]]) -> None:
    """Whatever is decided equals the definition, text or reason."""
    assert differing(decide_device_ids(pa.array(texts)), answers) == []


@given(st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=5).map("".join), max_size=20))
@settings(max_examples=100, deadline=None)
def test_same_as_definition_for_any_text(differing: Callable[..., list[int]], texts: list[str]) -> None:
    """No text makes the two differ."""
    decisions = decide_device_ids(pa.array(texts, pa.string()))
    assert differing(decisions, [normalize_device_id(text) for text in texts]) == []


def test_same_as_definition_in_public_corpora(corpus_texts: list[str], differing: Callable[..., list[int]]) -> None:
    """The inputs of public test suites get the definition's answers."""
    assert (
        differing(decide_device_ids(pa.array(corpus_texts)), [normalize_device_id(text) for text in corpus_texts]) == []
    )


def test_every_ascii_character_at_every_place(differing: Callable[..., list[int]]) -> None:
    """One foreign ASCII character at any place of a value is judged as the definition does."""
    texts = [
        whole[:at] + chr(code) + whole[at:] for whole in WHOLE for at in range(len(whole) + 1) for code in range(128)
    ]
    assert differing(decide_device_ids(pa.array(texts)), [normalize_device_id(text) for text in texts]) == []


def test_ascii_is_decided(texts: list[str]) -> None:
    """Only texts that are not ASCII are left to the definition."""
    left = decide_device_ids(pa.array(texts)).undecided
    assert len(left)
    assert not any(texts[index].strip(SPACES).isascii() for index in left)


def test_null_and_blank_are_empty() -> None:
    """Missing, blank and invisible cells are EMPTY, also in a slice; a column of no values is fine."""
    column = pa.array(["x", None, "", " \t", "\xa0\u2003", "\ufeff\u200b"])
    assert set(decide_device_ids(column.slice(1)).reasons.to_pylist()) == {code_of(Reason.EMPTY)}
    assert len(decide_device_ids(column.slice(0, 0))) == 0


def test_case_as_given(texts: list[str], differing: Callable[..., list[int]]) -> None:
    """With the rule that keeps the case, ids leave as they were written and are judged alike."""
    rules = Rules(device_id_case="as_given")
    expected = [normalize_device_id(text, rules=rules) for text in texts]
    assert differing(decide_device_ids(pa.array(texts), rules), expected) == []


BROKEN: list[tuple[str, str, Any]] = [
    ("longer forms", "_FORM", device_ids._FORM.replace("{12}", "{11,13}")),
    ("any case of digits", "_FORM", device_ids._FORM.replace("a-f", "a-g")),
    ("android ids forgotten", "_FORM", device_ids._FORM.replace("|[0-9a-f]{16}", "|[0-9a-f]{32}")),
    ("shared ids forgotten", "_NOBODYS", device_ids._REPEATED),
    ("a repeated digit forgotten", "_NOBODYS", device_ids._NOBODYS.replace("|7[7-]*", "")),
    ("every id is nobody's", "_FORM_CHECKS", NOBODY),
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
    assert getattr(device_ids, attribute) != broken
    monkeypatch.setattr(device_ids, attribute, broken)
    assert differing(decide_device_ids(pa.array(texts)), answers)


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
    checks = getattr(device_ids, ladder)
    monkeypatch.setattr(device_ids, ladder, checks[:position] + checks[position + 1 :])
    assert differing(decide_device_ids(pa.array(texts)), answers)
