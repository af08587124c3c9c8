"""The differential run counts, finds differences, and names them so that they can be made again."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import pytest

from audiencekit.identifiers.reasons import Reason
from benchmarks import differential
from benchmarks.differential import BLOCK, Block, blocks, decide_block, main, value_at
from benchmarks.values.kinds import KINDS


def test_blocks_hold_all_values() -> None:
    """Every kind has its part, in blocks that are numbered from 0."""
    sizes: Counter[str] = Counter()
    numbers: dict[str, list[int]] = {}
    for name, number, size in blocks(100_000):
        sizes[name] += size
        numbers.setdefault(name, []).append(number)
        assert 0 < size <= BLOCK
    assert 100_000 <= sizes.total() < 100_000 + len(KINDS)
    assert numbers.keys() == {kind.name for kind in KINDS}
    assert all(found == list(range(len(found))) for found in numbers.values())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_values_can_be_made_again(kind: Any) -> None:
    """Seed, kind and index give one value, the same each time; another seed gives others."""
    rows = kind.rows(3, 1, 40)
    assert value_at(kind.name, 3, BLOCK + 39) == rows[39]
    assert kind.rows(3, 1, 40) == rows
    assert kind.rows(4, 1, 40) != rows


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a definition says something else the index is told, counted through all blocks."""
    kind = next(kind for kind in KINDS if kind.name == "handle")
    other = dataclasses.replace(kind, define=lambda text, country: Reason.TOO_LONG)
    monkeypatch.setitem(differential._KINDS, "handle", other)
    found = decide_block("handle", 1, 2, 50)
    assert found.differing
    assert all(2 * BLOCK <= index < 2 * BLOCK + 50 for index in found.differing)


@pytest.mark.parametrize(("differing", "status"), [((), 0), ((7,), 1)])
def test_outcome(
    differing: tuple[int, ...], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line a kind; a difference is named by kind, seed and index, and makes the status 1."""
    monkeypatch.setattr(
        differential, "run_differential", lambda count, seed, kinds: iter([Block("email", 10, 9, differing, 4)])
    )
    assert main(["--count", "10", "--seed", "5"]) == status
    lines = capsys.readouterr().out.splitlines()
    shares = ["0.9000", "in", "bulk", "0.4000", "by", "kernels"]
    assert lines[0].split() == ["email", "10", "values", *shares, str(len(differing)), "differences"]
    assert lines[len(KINDS) :] == [f"differs: email, seed 5, index {index}" for index in differing]


def test_two_processes() -> None:
    """Small runs end, and both paths agree in them."""
    done = list(differential.run_differential(300, 1))
    assert sum(block.values for block in done) >= 300
    assert not any(block.differing for block in done)
