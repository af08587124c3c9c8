"""The page about the specification says what is so."""

from __future__ import annotations

import ast
from functools import cache

from tests.cases import each_case
from tests.specification.features import TESTS, Feature, features, write_page

PAGE = TESTS.parent / "docs" / "specification.md"
SPECIFICATION = TESTS.parent.parent / "shared" / "spec"


@cache
def _tests_of(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def test_there_are_82() -> None:
    """Each with a name of its own; at most five are not here."""
    assert len({feature.name for feature in features()}) == 82
    assert sum(bool(feature.none) for feature in features()) <= 5


@each_case("feature", features())
def test_a_feature_is_shown_or_has_no_endpoint(feature: Feature) -> None:
    """By tests that are there, or by a sentence that the specification has."""
    for test in feature.shown_by:
        path, _, name = test.partition("::")
        assert f"test_{name}" in _tests_of(path)
    assert bool(feature.shown_by) != bool(feature.none)
    if feature.none and SPECIFICATION.exists():
        (part,) = SPECIFICATION.glob(f"part-{feature.place[0]}-*.md")
        assert feature.none in part.read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    """`python -m tests.specification > docs/specification.md` writes it."""
    assert PAGE.read_text(encoding="utf-8") == write_page()
