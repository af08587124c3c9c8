"""Letters asked of many at once: those that are taken alone, with few questions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from audiencekit.preparation.columnar.acceptance import accepted


@given(st.sets(st.characters()), st.sets(st.characters()), st.integers(1, 9))
def test_those_that_are_taken(good: set[str], bad: set[str], at_once: int) -> None:
    """Wherever the refused ones stand among them."""
    letters = sorted(good | bad)
    assert list(accepted(letters, lambda some: bad.isdisjoint(some), at_once=at_once)) == sorted(good - bad)


@pytest.mark.parametrize(("bad", "questions"), [("", 4), ("a", 4 + 2 * 4)])
def test_few_are_asked(bad: str, questions: int) -> None:
    """One question for many letters, and two for each halving around one that is refused."""
    asked = 0

    def takes(letters: Sequence[str]) -> bool:
        nonlocal asked
        asked += 1
        return bad not in letters if bad else True

    found = list(accepted([chr(code) for code in range(ord("a"), ord("a") + 64)], takes, at_once=16))
    assert (len(found), asked) == (64 - len(bad), questions)
