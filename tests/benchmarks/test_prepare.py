"""`python -m benchmarks.prepare`, on a small list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.contacts import write_contacts
from benchmarks.dry_upload import run_dry
from benchmarks.prepare import main


def test_ours_and_the_loop_are_measured_in_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both read every row; medians and the ratio are printed and written."""
    out = tmp_path / "out.json"
    main(["--rows", "300", "--runs", "2", "--json", str(out)])
    document = json.loads(out.read_text())
    assert [run["contestant"] for run in document["runs"]] == ["audiencekit", "plain loop"] * 2
    assert {run["rows"] for run in document["runs"]} == {300}
    printed = capsys.readouterr().out
    assert "rows/s" in printed
    assert all(name in printed for name in document["ratios"])


def test_a_dry_upload_packs_everything_it_planned(tmp_path: Path) -> None:
    """Records and bytes are those of finished bodies: each record of one hash takes 79 bytes with its comma."""
    path = tmp_path / "contacts.csv"
    path.write_text("email\n" + "".join(f"person{number}@larch.example\n" for number in range(3_000)))
    figures = run_dry(path)
    assert (figures["rows"], figures["records"], figures["requests"]) == (3_000, 3_000, 1)
    assert 79 * 3_000 < figures["body_bytes"] < 79 * 3_000 + 2_500 * 120


def test_a_list_of_the_maker_is_never_refused(tmp_path: Path) -> None:
    """Its dirt stays within the bounds, or nothing could be measured."""
    path = tmp_path / "contacts.csv"
    write_contacts(path, rows=2_000)
    figures = run_dry(path)
    assert figures["rows"] == 2_000
    assert figures["records"] > 1_900
