"""Clients of npm work against an emulator with profile `x`, unchanged; NODE_PATH leads to their packages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from audiencekit.testing import run_emulator
from tests.emulator.strangers.leading import OPTIONS, environment_of
from tests.moments import PATIENCE_SECONDS

pytestmark = pytest.mark.integrations
SCRIPT = Path(__file__).with_name("call.js")
PACKAGES = ("twitter-api-v2", "twitter-ads")


def _has(package: str) -> bool:
    folders = os.environ.get("NODE_PATH", "").split(os.pathsep)
    return shutil.which("node") is not None and any(Path(folder, package).is_dir() for folder in folders if folder)


@pytest.mark.parametrize("package", PACKAGES)
def test_it_makes_and_changes_a_campaign(package: str) -> None:
    """The first with parameters in a form, the second in the query; each signs in its own way."""
    if not _has(package):
        pytest.skip(f"node, or the package {package} of npm, is missing")
    with run_emulator(OPTIONS) as emulator:
        environment = {**os.environ, **environment_of(emulator), "NODE_NO_WARNINGS": "1"}
        done = subprocess.run(
            ["node", SCRIPT, package],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["Spring & more: a+b 100%", "Summer", 1]
