"""`audiencekit do-not-reach` as people and programs use it: real processes against a real emulator process."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service


@pytest.fixture
def run(run: Run, service: Service) -> Run:
    """Runs `audiencekit` with the settings of the emulator."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run(*arguments, **service.env)

    return call


def test_the_list_lives_and_dies(run: Run) -> None:
    """Shown, created once, deleted with all people on it."""
    none = run("do-not-reach", "show", "--json")
    assert (none.returncode, none.stdout, "has no do-not-reach list" in none.stderr) == (0, "null\n", True)
    made = run("do-not-reach", "create", "--description", "opted out", "--json")
    shown = json.loads(made.stdout)
    assert (made.returncode, shown["description"], made.stderr) == (0, "opted out", "")
    again = run("do-not-reach", "create")
    assert again.stdout.startswith(f"{shown['id']}  size unknown  'opted out'")
    assert "nothing was created or changed" in again.stderr
    assert run("do-not-reach", "show").stdout == again.stdout
    asked = run("do-not-reach", "delete")
    assert (asked.returncode, "give --yes" in asked.stderr) == (2, True)
    gone = run("do-not-reach", "delete", "--yes", "--json")
    assert json.loads(gone.stdout) == {"deleted": shown["id"]}
    twice = run("do-not-reach", "delete", "--yes")
    assert (twice.returncode, twice.stdout, "nothing was deleted" in twice.stderr) == (0, "", True)


def test_an_upload_is_a_run_like_any_other(run: Run, tmp_path: Path) -> None:
    """It says what the list does not do before it sends, and stands among the runs by its own name."""
    path = tmp_path / "optouts.csv"
    path.write_text("email\nada@example.com\nbob@example.com\n")
    done = run("do-not-reach", "upload", str(path), "--keep-spool", "--max-minutes", "5", "--json")
    report = json.loads(done.stdout)
    assert "its records are kept, sealed" in done.stderr
    assert (done.returncode, report["rows"]["sent"], report["audience_id"]) == (0, 2, None)
    told = done.stderr.index("it takes no one out of an audience")
    assert told < done.stderr.index("sending:")
    assert "was created" in done.stderr
    name = f"do-not-reach list {report['target']['id']}"
    assert name in run("runs").stdout
    assert f"update {name}" in run("report").stdout
    assert json.loads(run("runs", "--json").stdout)[0]["target"] == report["target"]
    again = run("resume", report["run_id"], "--json")
    assert (again.returncode, json.loads(again.stdout)) == (0, report)


def test_handles_are_refused_by_name(run: Run, tmp_path: Path) -> None:
    """With what to do, and no list is made."""
    path = tmp_path / "optouts.csv"
    path.write_text("email,handle\nada@example.com,ada_l\nbob@example.com,bob_b\n")
    done = run("do-not-reach", "upload", str(path), "--json")
    assert (done.returncode, json.loads(done.stdout)["state"]) == (3, "refused")
    assert "handle (handle)" in done.stderr
    assert "--map email=COLUMN" in done.stderr
    assert run("do-not-reach", "show", "--json").stdout == "null\n"
