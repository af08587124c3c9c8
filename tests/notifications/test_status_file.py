"""The status file of a command, for a probe."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import InputOutputFailed, PlanRefused, UsageError
from audiencekit.notifications.status_file import StatusFile
from audiencekit.reporting.progress import NoProgress
from tests.notifications.endings import NOW


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def _status(path: Path, **more: Any) -> StatusFile:
    return StatusFile(path, NoProgress(), "sync", now=lambda: NOW, **more)


def test_a_probe_reads_how_far_it_is(tmp_path: Path) -> None:
    """From the beginning to the end; only the owner can read it, and nothing else is left in the directory."""
    path = tmp_path / "status.json"
    with _status(path, every_seconds=0.01) as status:
        assert (_read(path)["state"], _read(path)["phase"]) == ("running", None)
        status.step("sending", 3, 7, unit="requests")
        while _read(path)["phase"] is None:
            pass
        found = _read(path)
    assert [found[name] for name in ("phase", "done", "total", "unit")] == ["sending", 3, 7, "requests"]
    assert (found["command"], found["written_at"]) == ("sync", "2026-11-28T03:30:00Z")
    assert (_read(path)["state"], _read(path)["exit_code"]) == ("complete", 0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["status.json"]


def test_the_end_of_a_failed_command_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    with pytest.raises(PlanRefused), _status(path):
        raise PlanRefused("no")
    assert (_read(path)["state"], _read(path)["exit_code"]) == ("refused", 3)


def test_no_other_file_is_replaced(tmp_path: Path) -> None:
    """A wrong setting must not cost a list; a status file from before is replaced."""
    path = tmp_path / "list.csv"
    path.write_text("email\n")
    with pytest.raises(UsageError), _status(path):
        pass
    assert path.read_text() == "email\n"
    for _ in range(2):
        with _status(tmp_path / "status.json"):
            pass


def test_a_directory_that_is_missing_is_said_at_the_beginning(tmp_path: Path) -> None:
    with pytest.raises(InputOutputFailed), _status(tmp_path / "missing" / "status.json"):
        pass
