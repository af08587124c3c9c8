"""The soak: turns that differ, steps that are written down, failures that are not forgotten."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest

from benchmarks.soak import Step, main, soak, steps_of

GOOD = Step("good", ("-c", "print('first'); print('all is well')"))
BAD = Step(
    "bad", ("-c", "import os; print('what went wrong'); raise SystemExit(int(os.environ['CODE']))"), {"CODE": "3"}
)


def test_every_step_is_written_down_until_the_time_is_over(tmp_path: Path) -> None:
    """Turn after turn; a step that failed with all that it said and what repeats it."""
    seconds = count(0, 900)  # a quarter of an hour a look
    found = soak(1.0, tmp_path / "out", steps=lambda turn: (GOOD, BAD), monotonic=lambda: float(next(seconds)))
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [(one.turn, one.step.name, one.exit_code) for one in found] == [(0, "good", 0), (0, "bad", 3)]
    assert [line["step"] for line in lines] == ["good", "bad"]
    assert [line["said"] for line in lines] == ["all is well", "what went wrong\n"]
    assert lines[1]["command"].startswith("CODE=3 python -c")


def test_turns_differ() -> None:
    """In seeds and in places of kills."""
    commands = [
        step.command for turn in range(3) for step in steps_of(turn) if step.name in ("simulated runs", "kills")
    ]
    assert len(set(commands)) == len(commands) == 6


def test_no_time_is_no_proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It ends with 1."""
    assert main(["--hours", "0", "--out", str(tmp_path / "out")]) == 1
    assert "0 steps" in capsys.readouterr().out


def test_the_modules_and_tests_of_the_steps_are_there() -> None:
    """By name."""
    for step in steps_of(0):
        paths = [part for part in step.arguments if part.startswith("tests/")]
        paths += [f"{part.replace('.', '/')}" for part in step.arguments if part.startswith(("tests.", "benchmarks."))]
        root = Path(__file__).resolve().parents[2]
        assert paths
        assert all((root / path).exists() or (root / f"{path}.py").exists() for path in paths), step.name
