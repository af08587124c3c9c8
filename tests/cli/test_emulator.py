"""`audiencekit emulator`: what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from audiencekit.cli import cli


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--state", "state", "--sink"], "--sink applies nothing"),
        (["--state", "no/folder/state"], "cannot be opened"),
        (["--state", "other"], "no state file"),
        (["--rate", "0/60"], "N/SECONDS"),
    ],
)
def test_what_cannot_be_started_is_a_usage_error(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, a message, and nothing on stdout."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text("no database" * 100)
    result = CliRunner().invoke(cli, ["emulator", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
