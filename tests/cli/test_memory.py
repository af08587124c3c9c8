"""Commands that may not have the memory that they need."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service
from tests.processes import COMMAND, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere addresses are not limited")

ROWS = 2_000
MILLION = 1_000_000
# From where the interpreter has just begun to where little is missing; what the libraries take differs by version.
LIMITS = (80, 110, 125, 160, 185, 205, 215, 250, 300)


def test_no_memory_is_no_bug(run: Run, service: Service, tmp_path: Path) -> None:
    """Wherever it runs out: 74 and a word of it, or the whole list. Nothing hangs; what was begun can be finished."""
    source = tmp_path / "list.csv"
    source.write_text("email\n" + "".join(f"person{number}@example.com\n" for number in range(ROWS)))
    upload = [*COMMAND, "upload", str(source), "--audience", service.audience_id, "--json"]
    codes = []
    for limit in LIMITS:
        ended = subprocess.run(
            upload, env=environment(tmp_path / "state", service.env), cwd=tmp_path, capture_output=True, text=True,
            timeout=120, check=False,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit * MILLION,) * 2),
        )  # fmt: skip
        codes.append(ended.returncode)
        assert ended.returncode in (0, 74), (limit, ended.stderr)
        assert ended.returncode == 0 or any(word in ended.stderr for word in ("memory", "thread")), ended.stderr
        assert "Traceback" not in ended.stderr
        assert "bug:" not in ended.stderr
    assert codes[0] == 74
    for listed in json.loads(run("runs", "--json").stdout):
        if listed["state"] == "incomplete":
            again = run("resume", listed["run_id"], "--json", **service.env)
            assert json.loads(again.stdout)["rows"]["sent"] == ROWS, again.stderr
