"""The stored vectors, read once, and a few of them for tests of the ways to a pipeline."""

from __future__ import annotations

from collections import Counter

import pytest

from audiencekit.conformance import verifying
from audiencekit.conformance.vectors import Vector, read_vectors

OF_A_SPELLING = 3


@pytest.fixture(scope="session")
def every_vector() -> list[Vector]:
    """Those of the specification, in their order."""
    return list(read_vectors())


@pytest.fixture
def few_vectors(every_vector: list[Vector], monkeypatch: pytest.MonkeyPatch) -> list[Vector]:
    """Three of each kind and spelling, with a country, without one, and of Germany: all that a pipeline gets."""
    met, few = Counter[tuple[str, ...]](), list[Vector]()
    for vector in every_vector:
        key = (vector.kind, vector.spelling, "of others" if vector.country not in (None, "DE") else str(vector.country))
        met[key] += 1
        if met[key] <= OF_A_SPELLING:
            few.append(vector)
    monkeypatch.setattr(verifying, "read_vectors", lambda: iter(few))
    return few
