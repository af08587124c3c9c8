"""`rejections open`: rejected rows for the owner of the key."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Run

pyrage = pytest.importorskip("pyrage", reason="the extra age is not installed")


def test_rejected_rows_are_sealed_and_opened(tmp_path: Path, run: Run) -> None:
    """On stdout or in a new file, for the owner of the key alone; the opened file is a list that can be checked."""
    identity, path, opened = pyrage.x25519.Identity.generate(), tmp_path / "list.csv", tmp_path / "repair.jsonl"
    (tmp_path / "identity").write_text(str(identity))
    (tmp_path / "identity").chmod(0o600)
    path.write_text("email,country,name\nada at example.com,DE,Ada\nben@example.com,FR,Ben\n")
    checked = run("check", str(path), "--seal-rejections", str(identity.to_public()), "--max-rejected-share", "1")
    assert "1 row with a rejection is sealed for 30 days" in checked.stderr
    row = {"row": 1, "rejections": [["email", "invalid_syntax"]], "email": "ada at example.com", "country": "DE"}
    key = ("--identity-file", str(tmp_path / "identity"))
    assert json.loads(run("rejections", "open", "last", *key).stdout) == row
    written = run("rejections", "open", "last", *key, "--out", str(opened))
    assert (written.stdout, written.returncode) == ("", 0)
    assert "in the clear" in written.stderr
    assert (json.loads(opened.read_text()), stat.S_IMODE(opened.stat().st_mode)) == (row, 0o600)
    assert run("rejections", "open", "last", *key, "--out", str(opened)).returncode == 74
    opened.write_text(opened.read_text().replace(" at ", "@"))
    assert "1 of 1 people ready" in run("check", str(opened)).stdout


def test_a_dry_run_seals_nothing(tmp_path: Path, run: Run) -> None:
    """`check` does."""
    recipient = str(pyrage.x25519.Identity.generate().to_public())
    refused = run("upload", "list.csv", "--audience", "h1ab2", "--dry-run", "--seal-rejections", recipient)
    assert refused.returncode == 2
    assert "a dry run keeps nothing" in refused.stderr
