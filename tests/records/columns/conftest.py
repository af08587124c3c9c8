"""Lists of made-up texts, and the comparison with the definition, for the tests of the columnar path."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from audiencekit.identifiers.kinds import Reason
from audiencekit.records.columns.arrays import Decisions
from benchmarks.differential import compare
from benchmarks.values.kinds import AROUND

Answers = Sequence[str | Reason]


@pytest.fixture(scope="session")
def assembled() -> Callable[[Sequence[str], int], list[str]]:
    """Texts made of the given fragments by a seeded generator, some with white space or in capitals, none twice."""

    def make(fragments: Sequence[str], count: int) -> list[str]:
        chance = random.Random(len(fragments) + count)
        made = ["".join(chance.choices(fragments, k=chance.choice((1, 2, 2, 3, 3, 4, 5, 7)))) for _ in range(count)]
        framed = [chance.choice(AROUND) + text + chance.choice(AROUND) for text in made[: count // 10]]
        return sorted({*made, *framed, *(text.upper() for text in made[: count // 4])})

    return make


@pytest.fixture(scope="session")
def differing() -> Callable[[Decisions, Answers], list[int]]:
    """Where decisions say another thing than the definition: indices, never values. EMPTY must be decided."""
    return compare
