"""`python -m benchmarks.upload`, on a small list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.benchmark import CONTACTS, EMAILS
from benchmarks.upload import main


@pytest.mark.benchmarks
@pytest.mark.parametrize(("sink", "columns"), [("--sink", EMAILS), ("--no-sink", CONTACTS)])
def test_every_run_ends_complete(sink: str, columns: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The emulator confirmed every request; rates and shares of the ceiling are printed and written."""
    out = tmp_path / "out.json"
    main(["--rows", "400", "--runs", "1", sink, "--columns", columns, "--json", str(out)])
    document = json.loads(out.read_text())
    (run,) = document["runs"]
    assert (run["rows"], run["requests"]) == (400, 1)
    assert 300 < run["records"] <= 400
    assert run["reading_seconds"] + run["sending_seconds"] <= run["seconds"]
    assert document["settings"]["sink"] is (sink == "--sink")
    printed = capsys.readouterr().out
    assert "requests/s" in printed
    assert all(name in printed for name in document["ratios"])
