"""Every command names the settings that a file in the working directory gives."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]
COMMANDS = [
    ("check", "list.csv", "--json"), ("prepare", "list.csv", "--out", "out", "--json"), ("runs", "--json"),
    ("report",), ("upload", "list.csv", "--audience", "x1"), ("resume", "last"), ("audiences", "list"),
    ("sync", "list.csv", "--audience", "x1", "--plan"), ("expiry", "--audience", "x1"), ("whoami",), ("hash", "email"),
    ("forget",), ("do-not-reach", "show"), ("api", "list_accounts"), ("audiences", "wait", "x1"), ("logout",),
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_says_it_once(command: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    """On stderr; what `--json` prints is one document all the same."""
    (tmp_path / "list.csv").write_text("email\nada@canarymail.com\n")
    (tmp_path / "audiencekit.toml").write_text("concurrency = 3\n")
    done = run(*command, AUDIENCEKIT_ACCOUNT_ID="1a", AUDIENCEKIT_ADS_URL="http://127.0.0.1:9")
    assert done.stderr.count("audiencekit.toml' gives concurrency = 3") == 1, done.stderr
    if done.returncode == 0 and "--json" in command:
        json.loads(done.stdout)


@pytest.mark.parametrize("key", ["state_dir", "account_id", "profile"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_heeds_a_file_that_says_where_to(
    command: tuple[str, ...], key: str, run: Run, tmp_path: Path
) -> None:
    """It ends with the sentence that says where the key belongs; nothing is made where the file wanted it."""
    (tmp_path / "list.csv").write_text("email\nada@canarymail.com\n")
    (tmp_path / "audiencekit.toml").write_text(f'{key} = ".elsewhere"\n')
    done = run(*command, AUDIENCEKIT_ADS_URL="http://127.0.0.1:9")
    assert done.returncode == 2
    assert f"set AUDIENCEKIT_{key.upper()} in the environment" in done.stderr
    assert not (tmp_path / ".elsewhere").exists()


def test_commands_have_their_settings_from_one_place() -> None:
    """Where what the file gives is told. `demo` and the search for a setup read no file."""
    pattern = re.compile(r"\bload_settings\(")
    found = {path.name for path in (ROOT / "audiencekit/cli").glob("*.py") if pattern.search(path.read_text("utf-8"))}
    assert found == {"commandsettings.py", "demo.py", "setupfile.py"}
