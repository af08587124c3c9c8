"""Cases that share one test are all tried, and each failure says which one it is."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.cases import each_case


def test_every_case_is_tried_and_each_failure_is_named() -> None:
    """One that fails hides no other. Several tables make all pairs, and fixtures stay parameters."""
    tried = []

    @each_case("text", ["a", "b"])
    @each_case("number, expected", [(1, 1), (2, 3)])
    def test(number: int, expected: int, text: str, tmp_path: Path) -> None:
        tried.append((text, number, tmp_path.name))
        assert number == expected

    assert list(inspect.signature(test).parameters) == ["tmp_path"]
    with pytest.raises(ExceptionGroup, match="2 of 2 cases") as caught:
        test(tmp_path=Path("x"))
    assert tried == [("a", 1, "x"), ("a", 2, "x"), ("b", 1, "x"), ("b", 2, "x")]
    for group, letter in zip(caught.value.exceptions, "ab", strict=True):
        assert isinstance(group, ExceptionGroup)
        assert [*group.__notes__, *group.exceptions[0].__notes__] == [f"text = '{letter}'", "number, expected = 2, 3"]


def test_a_table_that_would_try_nothing_is_refused() -> None:
    """Without cases, or of an unknown parameter."""
    for names, cases, test in (("case", [], print), ("other", [1], lambda case: case)):
        with pytest.raises(AssertionError):
            each_case(names, cases)(test)


async def test_cases_of_a_coroutine_are_awaited() -> None:
    """Each of them: one that no one awaits would pass."""

    @each_case("case", [1, 2])
    async def test(case: int) -> None:
        raise AssertionError(case)

    with pytest.raises(ExceptionGroup, match="2 of 2 cases"):
        await test()
