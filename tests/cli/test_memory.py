"""Commands that may not have the memory that they need.

Where a limit of the system strikes in the middle of a run differs by version and chance: tests/crashes/test_memory.py
lets memory end at every named point instead. MEMORY_STEP, in megabytes, tries one real limit after the other as well.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service
from tests.moments import PATIENCE_SECONDS
from tests.processes import COMMAND, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere addresses are not limited")

ROWS = 2_000
MILLION = 1_000_000
STEP = int(os.environ.get("MEMORY_STEP", "0"))
TOLD = "error: there is not enough memory\n  what to do: give the process more, or end other programs\n"


def _limited(service: Service, directory: Path, megabytes: int) -> subprocess.CompletedProcess[str]:
    (directory / "list.csv").write_text("email\n" + "".join(f"person{number}@example.com\n" for number in range(ROWS)))
    return subprocess.run(
        [*COMMAND, "upload", "list.csv", "--audience", service.audience_id, "--json"],
        env=environment(directory / "state", service.env), cwd=directory, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * MILLION,) * 2),
    )  # fmt: skip


@pytest.mark.parametrize("megabytes", [100, 150, 200])
def test_too_little_to_begin_with_is_told(service: Service, tmp_path: Path, megabytes: int) -> None:
    """Before libraries are loaded that would end the process in their own ways: 74, and nothing is begun."""
    ended = _limited(service, tmp_path, megabytes)
    assert (ended.returncode, ended.stderr) == (74, TOLD)
    assert json.loads(ended.stdout)["state"] == "incomplete"
    assert not (tmp_path / "state" / "runs").exists()


@pytest.mark.skipif(not STEP, reason="MEMORY_STEP is not set")
def test_wherever_it_runs_out_the_run_can_be_finished(run: Run, service: Service, tmp_path: Path) -> None:
    """74 and a word of it, or the whole list. Nothing hangs, and no person is told."""
    wrong, megabytes, ended = {}, 200, None
    while ended is None or ended.returncode:
        ended = _limited(service, tmp_path, megabytes := megabytes + STEP)
        is_told = not ended.returncode or any(word in ended.stderr for word in ("enough memory", "no new thread"))
        if ended.returncode not in (0, 74) or not is_told or "@example.com" in ended.stderr:
            wrong[megabytes] = (ended.returncode, ended.stderr[:1_000])
    assert wrong == {}
    for listed in json.loads(run("runs", "--json").stdout):
        if listed["state"] == "incomplete":
            again = run("resume", listed["run_id"], "--json", **service.env)
            assert again.returncode == 0, (listed, again.stderr)
            assert json.loads(again.stdout)["rows"]["sent"] == ROWS, again.stderr
