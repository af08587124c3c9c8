"""Two paths, one truth: 200,000 made-up values, and those of public corpora, decided by both (design 4.2)."""

from __future__ import annotations

import pyarrow as pa
import pytest

from benchmarks.differential import BLOCK, compare, decide_block
from benchmarks.values.kinds import KINDS, ValueKind

# The definition takes its time over phone numbers, less over addresses, and hardly any over the rest.
COUNTS = {"email": 24_000, "phone_number": 10_000, "phone_number, possible": 2_000, "phone_number, digits": 2_000}
OTHERS = 34_000
SEED = 20_261_121


def _count(kind: ValueKind) -> int:
    return COUNTS.get(kind.name, OTHERS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_both_paths_say_the_same(kind: ValueKind) -> None:
    """No value of any kind is decided otherwise than by the definition."""
    blocks = [decide_block(kind.name, SEED, number) for number in range(_count(kind) // BLOCK)]
    differing = [index for block in blocks for index in block.differing]
    assert differing == [], f"python -m benchmarks.differential --show {kind.name!r} {SEED} INDEX shows the value"
    assert sum(block.decided for block in blocks) > _count(kind) // 10


def test_there_are_enough_values() -> None:
    """All kinds together are 200,000 values or more."""
    assert sum(map(_count, KINDS)) >= 200_000


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_both_paths_say_the_same_of_public_corpora(kind: ValueKind, corpus_texts: list[str]) -> None:
    """The inputs of public test suites get the definition's answers, whatever kind they are mapped to."""
    texts, countries = pa.array(corpus_texts), pa.array([None] * len(corpus_texts), pa.string())
    assert compare(kind.decide(texts, countries), [kind.define(text, None) for text in corpus_texts]) == []
