"""Comparing a table of cases, and reading the public corpora, for the tests of identifiers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from audiencekit.identifiers.kinds import Reason

Cases = Iterable[tuple[str, str, str]]

CORPORA = Path(__file__).resolve().parents[2].parent / "shared" / "corpora"


@pytest.fixture
def wrong() -> Callable[[Callable[[str], str], Cases], list[str]]:
    """The names of those cases (name, text, expected) whose answer differs; never their values."""

    def names(rule: Callable[[str], str], cases: Cases) -> list[str]:
        return [name for name, text, expected in cases if not _same(rule(text), expected)]

    return names


def _same(answer: str, expected: str) -> bool:
    # A Reason equals its code as text, so the types must agree as well.
    return answer == expected and isinstance(answer, Reason) == isinstance(expected, Reason)


@pytest.fixture
def corpus() -> Callable[[str], list[dict[str, Any]]]:
    """The cases of one file of the corpora; skips where they are not at hand."""

    def cases(path: str) -> list[dict[str, Any]]:
        if not (CORPORA / path).exists():
            pytest.skip("the corpora are not at hand")
        found: list[dict[str, Any]] = json.loads((CORPORA / path).read_text(encoding="utf-8"))["cases"]
        return found

    return cases
