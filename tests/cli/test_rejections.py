"""`rejections open`: rejected rows for the owner of the key."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service

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
    for command in ("upload", "sync"):
        refused = run(command, "list.csv", "--audience", "h1ab2", "--dry-run", "--seal-rejections", recipient)
        assert refused.returncode == 2
        assert "a dry run keeps nothing" in refused.stderr


def test_only_repaired_rows_are_sent(tmp_path: Path, run: Run, service: Service) -> None:
    """From the list, or from the file that was opened with the state key; a dry run says how many, and sends none."""
    path, opened = tmp_path / "list.csv", tmp_path / "repair.jsonl"
    path.write_text("email\nada@example.com\nben at example.com\ncleo at example.com\n")
    to = ("--audience", service.audience_id, "--max-rejected-share", "1", "--max-rejected-column-share", "1")
    env = {**service.env, "AUDIENCEKIT_KEY": "1a" * 32}
    sealed = run("upload", str(path), *to, "--run-id", "the-first-run", "--seal-rejections", "state", **env)
    assert sealed.returncode == 0, sealed.stderr
    assert run("rejections", "open", "last", "--out", str(opened), **env).returncode == 0
    first, second = opened.read_text().splitlines()
    opened.write_text(first.replace(" at ", "@") + "\n")
    path.write_text("email\nada@example.com\nben@example.com\ncleo@example.com\n")
    dry = run("upload", str(path), *to, "--only-rejected", "the-first-run", "--dry-run", "--json", **env)
    assert json.loads(dry.stdout)["plan"]["records"] == 2
    for source, count in ((opened, 1), (path, 1), (path, 0)):
        done = run("upload", str(source), *to, "--only-rejected", "last", "--json", **env)
        assert json.loads(done.stdout)["rows"]["sent"] == count, done.stderr
    assert "nothing is sent" in done.stderr
    shown = run("report", "the-first-run", **env).stdout
    assert shown.count("repaired and sent: 1 of 2 rows with a rejection, by run") == 2
    refused = run("upload", str(path), "--audience", "zzzz9", *to[2:], "--only-rejected", "the-first-run", **env)
    assert refused.returncode == 3
    assert second


def test_a_sync_seals_rejections(tmp_path: Path, run: Run, service: Service) -> None:
    """For the owner of an identity, without a proof: the next sync sends what was repaired."""
    identity, path = pyrage.x25519.Identity.generate(), tmp_path / "list.csv"
    (tmp_path / "identity").write_text(str(identity))
    (tmp_path / "identity").chmod(0o600)
    path.write_text("email\nada@example.com\nben at example.com\n")
    recipient = ("--seal-rejections", str(identity.to_public()))
    done = run("sync", str(path), "--audience", service.audience_id, *recipient, **service.env)
    assert done.returncode == 0, done.stderr
    shown = run("rejections", "open", "last", "--identity-file", str(tmp_path / "identity"))
    assert json.loads(shown.stdout) == {
        "row": 2, "rejections": [["email", "invalid_syntax"]], "email": "ben at example.com",
    }  # fmt: skip
