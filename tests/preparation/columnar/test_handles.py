"""The columnar path for handles says what the definition says, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiencekit.identifiers.handle import normalize_handle
from audiencekit.identifiers.placeholders import WORDS
from audiencekit.identifiers.reasons import Reason
from audiencekit.preparation.columnar import handles
from audiencekit.preparation.columnar.checks import SPACES
from audiencekit.preparation.columnar.decisions import code_of
from audiencekit.preparation.columnar.handles import decide_handles

WHOLE = ["@anna_b9", "https://www.x.com/#!/@anna?b", "a" * 15]
PARTS = [
    "@",
    "@@",
    "a",
    "B",
    "_",
    "bob",
    "x.com/",
    "twitter.com/",
    "https://",
    "http://",
    "www.",
    "mobile.",
    "m.",
    "#!/",
    "/",
]
PARTS += ["?", "#", "i", "home", "intent", "nobody", "null", "-", " ", "\x01", "\u200b", "＠", "K", "ı", "\n", "."]
PARTS += ["a" * 13, "b" * 14, "c" * 15, "9", "x.com/anna", "twitter.com/Anna/status/1"]
ODD = [
    "",
    "@",
    "@@bob",
    "@ bob",
    "bo b",
    "f" * 64,
    "@" + "f" * 64,
    "F" * 63,
    "x.com/",
    "x.com/@",
    "xx.com/bob",
    "x.com/" + "a" * 16,
]
ODD += [
    "x.com/bob/\x01",
    "x.com/i/bob",
    "x.com/intent?a",
    "x.com/I",
    "x.com/ibob",
    "@home",
    "home",
    "b\x01b",
    "@b\x7f",
    "x.com/b\n/",
]
ODD += [
    "https://x.com/bob",
    "HTTPS://X.COM/Bob",
    "http://m.twitter.com/#!/bob",
    "ftp://x.com/bob",
    "x.com//bob",
    "x_com/bob",
]
ODD += [f"{prefix}{word}" for word in sorted(WORDS) for prefix in ("", "@", "@@", "x.com/", "x.com/a/")]
# No word of today begins as a handle or address does, so the last check of whole texts decides nothing yet.
LADDERS = [("_WHOLE_CHECKS", at) for at in range(len(handles._WHOLE_CHECKS) - 1)] + [
    ("_NAME_CHECKS", at) for at in range(len(handles._NAME_CHECKS) - 1)
]


@pytest.fixture(scope="module")
def texts(assembled: Callable[..., list[str]]) -> list[str]:
    """Values of the kind and what people take for them."""
    return [*ODD, *assembled(PARTS, 6_000)]


@pytest.fixture(scope="module")
def answers(texts: list[str]) -> list[Any]:
    """What the definition says of `texts`."""
    return [normalize_handle(text) for text in texts]


def test_same_as_definition(texts: list[str], answers: list[Any], differing: Callable[..., list[int]]) -> None:
    """Whatever is decided equals the definition, text or reason."""
    assert differing(decide_handles(pa.array(texts)), answers) == []


@given(st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=5).map("".join), max_size=20))
@settings(max_examples=100, deadline=None)
def test_same_as_definition_for_any_text(differing: Callable[..., list[int]], texts: list[str]) -> None:
    """No text makes the two differ."""
    decisions = decide_handles(pa.array(texts, pa.string()))
    assert differing(decisions, [normalize_handle(text) for text in texts]) == []


def test_same_as_definition_in_public_corpora(corpus_texts: list[str], differing: Callable[..., list[int]]) -> None:
    """The inputs of public test suites get the definition's answers."""
    assert differing(decide_handles(pa.array(corpus_texts)), [normalize_handle(text) for text in corpus_texts]) == []


def test_every_ascii_character_at_every_place(differing: Callable[..., list[int]]) -> None:
    """One foreign ASCII character at any place of a value is judged as the definition does."""
    texts = [
        whole[:at] + chr(code) + whole[at:] for whole in WHOLE for at in range(len(whole) + 1) for code in range(128)
    ]
    assert differing(decide_handles(pa.array(texts)), [normalize_handle(text) for text in texts]) == []


def test_ascii_is_decided(texts: list[str]) -> None:
    """Only texts that are not ASCII are left to the definition."""
    left = decide_handles(pa.array(texts)).undecided
    assert len(left)
    assert not any(texts[index].strip(SPACES).isascii() for index in left)


def test_null_and_blank_are_empty() -> None:
    """Missing, blank and invisible cells are EMPTY, also in a slice; a column of no values is fine."""
    column = pa.array(["x", None, "", " \t", "\xa0\u2003", "\ufeff\u200b"])
    assert set(decide_handles(column.slice(1)).reasons.to_pylist()) == {code_of(Reason.EMPTY)}
    assert len(decide_handles(column.slice(0, 0))) == 0


BROKEN: list[tuple[str, str, Any]] = [
    ("longer handles", "_PLAIN", handles._PLAIN.replace("15", "16")),
    ("dots in handles", "_PLAIN", handles._PLAIN.replace("a-z", "a-z.")),
    ("empty handles", "_PLAIN", handles._PLAIN.replace("{1,", "{0,")),
    ("no addresses", "_ADDRESS", r"\A()\z"),
    ("a host too many", "_ADDRESS", handles._ADDRESS.replace("(?:x|", "(?:x+|")),
    ("any dot", "_ADDRESS", handles._ADDRESS.replace(r"\.com", ".com")),
    ("no line breaks behind", "_ADDRESS", handles._ADDRESS.replace("(?s:.*)", ".*")),
    ("a page forgotten", "_PAGE", handles._PAGE.replace("intent|", "")),
    ("a page too many", "_PAGE", handles._PAGE.replace("intent|", "intent|bob|")),
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
    assert getattr(handles, attribute) != broken
    monkeypatch.setattr(handles, attribute, broken)
    assert differing(decide_handles(pa.array(texts)), answers)


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
    checks = getattr(handles, ladder)
    monkeypatch.setattr(handles, ladder, checks[:position] + checks[position + 1 :])
    assert differing(decide_handles(pa.array(texts)), answers)
