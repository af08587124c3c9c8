"""`python -m benchmarks.start`, one round."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.start import CHECK, commands, main, steps


def test_the_last_step_checks_the_list(tmp_path: Path) -> None:
    """It is the command that people give, and a list that is not there fails it."""
    script = steps(tmp_path)[CHECK]
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode != 0


def test_every_step_and_command_has_a_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With its time in all."""
    main(["--rounds", "1"])
    lines = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith(("| `", "| the "))]
    assert [name.removeprefix("| ") for name, *_ in lines] == [*steps(tmp_path), CHECK, *commands(tmp_path)]
    assert all(float(time) > 0 for _, time, *_ in lines)
