"""The differential run counts, finds differences, and names them so that they can be made again."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from audiencekit.identifiers.reasons import Reason
from benchmarks import differential
from benchmarks.differential import BEGIN, BLOCK, END, Block, blocks, decide_block, main, value_at
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
    """A line a kind; a difference by either way is named by kind, seed and index, and makes the status 1."""
    block = Block("email", 10, 9, differing, 4)
    monkeypatch.setattr(differential, "run_differential", lambda count, seed, kinds, processes: iter([block]))
    assert main(["--count", "10", "--seed", "5"]) == status
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "10 values of seed 5, decided without kernels and by them:"
    assert lines[4] == f"| email | 10 | 0.9000 | 0.4000 | {len(differing)} | 0 |"
    assert lines[len(KINDS) + 4 :] == [f"differs: email, seed 5, index {index}" for index in differing]


def test_a_difference_of_the_kernels_counts_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Both ways are compared, each has its column, and the table goes between the marks of a file."""
    out = tmp_path / "RESULTS.md"
    out.write_text(f"{BEGIN}\n{END}\n")
    block = Block("email", 10, 9, (), 4, (3,))
    monkeypatch.setattr(differential, "run_differential", lambda count, seed, kinds, processes: iter([block]))
    assert main(["--count", "10", "--out", str(out)]) == 1
    assert "| email | 10 | 0.9000 | 0.4000 | 0 | 1 |" in out.read_text()
    assert capsys.readouterr().out == "differs: email, seed 1, index 3\n"


def test_a_run_ends_in_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    """It tells how many values were done until then."""
    assert main(["--count", "10_000_000", "--minutes", "0", "--processes", "1"]) == 0
    assert capsys.readouterr().out.startswith("2,000 values of seed 1")


def test_two_processes() -> None:
    """Small runs end, and both paths agree in them."""
    done = list(differential.run_differential(300, 1))
    assert sum(block.values for block in done) >= 300
    assert not any(block.differing for block in done)
