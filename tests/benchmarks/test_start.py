"""`python -m benchmarks.start`, one round."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.start import CHECK, main, steps


def test_the_last_step_checks_the_list(tmp_path: Path) -> None:
    """It is the command that people give, and a list that is not there fails it."""
    script = steps(tmp_path / "none.csv")[CHECK]
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode != 0


def test_every_step_has_a_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With its time in all."""
    main(["--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[4:]] == list(steps(tmp_path))
    assert all(float(line.split(" | ")[1]) > 0 for line in lines[4:])
