"""`demo`, on good days and on bad ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from audiencekit.cli import demo as command
from tests.cli.conftest import Run


def test_the_demo_closes(run: Run) -> None:
    """Nothing to set up, and the sums are right."""
    done = run("demo", "--rows", "300", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert rows.pop("read") == 300 == sum(rows.values())
    assert rows["sent"] > 200


def test_the_demo_says_that_there_are_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the first command after pip, which does not say so."""
    monkeypatch.setattr(command, "kernels_warning", lambda: "there are none")
    done = CliRunner().invoke(command.demo, ["--rows", "10"])
    assert done.exit_code == 0, done.stderr
    assert "there are none\n" in done.stderr


def test_the_demo_rehearses_a_bad_day(run: Run, tmp_path: Path) -> None:
    """Each fault is told when it strikes, all are counted, and no member is missing in the end."""
    orders = [
        {"fault": 9, "nth": 2, "match": {"path": "*/users"}, "status": 504},
        {"fault": 13, "where": "after_apply", "nth": 4, "match": {"path": "*/users"}},
    ]
    (tmp_path / "day.json").write_text(json.dumps(orders))
    done = run("demo", "--rows", "200", "--faults", "day.json", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["state"], report["requests"]["planned"] > 4) == ("complete", True)
    assert report["requests"]["attempts"] == report["requests"]["planned"] + 2
    assert "status 504" in done.stderr
    assert "faults that struck: 2" in done.stderr
    assert f"the service has {report['rows']['sent']} people" in done.stderr


def test_the_demo_of_a_day_that_ends_badly_says_so(run: Run) -> None:
    """A revoked token ends it with the code of an upload; a rehearsal that is none is a usage error."""
    done = run("demo", "--rows", "400", "--faults", "revoked")
    assert done.returncode == 77, done.stderr
    assert "faults that struck" in done.stderr
    done = run("demo", "--faults", "calm")
    assert (done.returncode, done.stdout) == (2, "")
