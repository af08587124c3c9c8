"""Every command names the settings that a file in the working directory gives."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from audiencekit.cli.command_settings import unread_variables
from audiencekit.settings import VARIABLES, open_secret_files
from tests.cases import each_case

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]
COMMANDS = [
    ("check", "list.csv", "--json"), ("prepare", "list.csv", "--out", "out", "--json"), ("runs", "--json"),
    ("report",), ("upload", "list.csv", "--audience", "x1"), ("resume", "last"), ("audiences", "list"),
    ("sync", "list.csv", "--audience", "x1", "--dry-run", "--offline"), ("expiry", "--audience", "x1"), ("whoami",),
    ("hash", "email"),
    ("forget",), ("do-not-reach", "show"), ("api", "list_accounts"), ("audiences", "wait", "x1"), ("logout",),
]  # fmt: skip


@each_case("command", COMMANDS)
def test_every_command_says_it_once(command: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    """On stderr; what `--json` prints is one document all the same."""
    (tmp_path / "list.csv").write_text("email\nada@canarymail.com\n")
    (tmp_path / "audiencekit.toml").write_text("concurrency = 3\n")
    done = run(*command, AUDIENCEKIT_ACCOUNT_ID="1a", AUDIENCEKIT_ADS_URL="http://127.0.0.1:9")
    assert done.stderr.count("audiencekit.toml' gives concurrency = 3") == 1, done.stderr
    if done.returncode == 0 and "--json" in command:
        json.loads(done.stdout)


@each_case("key", ["state_dir", "account_id", "profile"])
@each_case("command", COMMANDS)
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
    assert found == {"command_settings.py", "emulator.py", "setup.py"}


@each_case(
    "variable, told",
    [
        ("AUDIENCEKIT_STATEDIR", "perhaps AUDIENCEKIT_STATE_DIR is meant"),
        ("AUDIENCEKIT_PROFLE", "perhaps AUDIENCEKIT_PROFILE is meant"),
        ("AUDIENCEKIT_KEYS", "perhaps AUDIENCEKIT_KEY is meant"),
        ("AUDIENCEKIT_ACCESS_TOKEN_SECRT", "perhaps AUDIENCEKIT_ACCESS_TOKEN_SECRET is meant"),
        ("AUDIENCEKIT_ACCOUNTID", "perhaps AUDIENCEKIT_ACCOUNT_ID is meant"),
        ("audiencekit_proxy", "perhaps AUDIENCEKIT_PROXY is meant"),
        ("AUDIENCEKIT_ACCOUNT_SHOP_DE_ACCESS_TOKN", "perhaps AUDIENCEKIT_ACCOUNT_SHOP_DE_ACCESS_TOKEN is meant"),
        ("AUDIENCEKIT_TEST_DATABASE", "no setting has this name"),
        ("AUDIENCEKIT_", "no setting has this name"),
        ("AUDIENCEKIT_ACCOUNT_", "perhaps AUDIENCEKIT_ACCOUNT_ID is meant"),
    ],
)
def test_a_variable_that_nothing_reads_is_told_with_the_nearest(variable: str, told: str) -> None:
    """Another case is another name, and behind the name of an account stands a credential."""
    level = "warning" if "perhaps" in told else "note"
    assert list(unread_variables({variable: "a-secret"})) == [f"{level}: {variable} is not read: {told}"]


def test_variables_that_are_read_and_those_of_others_are_not_told() -> None:
    """Whatever a shell, a test runner or a scheduler sets."""
    ours = {f"AUDIENCEKIT_{name}": "1" for name in (*VARIABLES, "ACCOUNT_SHOP_DE_CONSUMER_KEY")}
    others = dict.fromkeys(("PATH", "_AUDIENCEKIT_COMPLETE", "AIRFLOW_CONN_AUDIENCEKIT_DEFAULT", "AUDIENCE"), "1")
    assert list(unread_variables(ours | others)) == []


def test_the_variables_are_those_of_the_documentation() -> None:
    """A name that is missing in one of the two would be told as misspelled, or not be known to its users."""
    page = (ROOT / "docs/accounts.md").read_text("utf-8")
    named = set(re.findall(r"AUDIENCEKIT_([A-Z_]*[A-Z])\b", page))
    assert named == VARIABLES


def test_a_command_tells_it_once_and_goes_on(run: Run, tmp_path: Path) -> None:
    """On stderr, without the value; a quiet command, too, unless no known name is near."""
    (tmp_path / "list.csv").write_text("email\nada@canarymail.com\n")
    plain = run("check", "list.csv")
    done = run("check", "list.csv", AUDIENCEKIT_STATEDIR="/a-secret")
    assert done.returncode == plain.returncode
    assert done.stderr.count("warning: AUDIENCEKIT_STATEDIR is not read: perhaps AUDIENCEKIT_STATE_DIR is meant") == 1
    assert "a-secret" not in done.stderr + done.stdout
    quiet = run("check", "list.csv", "--quiet", AUDIENCEKIT_STATEDIR="/a-secret", AUDIENCEKIT_TEST_DATABASE="1").stderr
    assert ("STATEDIR" in quiet, "TEST_DATABASE" in quiet) == (True, False)


def test_it_is_told_before_the_failure_that_comes_of_it(run: Run) -> None:
    """The address that the misspelled variable should have given is missing."""
    done = run("whoami", AUDIENCEKIT_ADSURL="http://127.0.0.1:9", AUDIENCEKIT_RETENTION="never")
    assert done.stderr.startswith("warning: AUDIENCEKIT_ADSURL is not read: perhaps AUDIENCEKIT_ADS_URL is meant")
    assert done.returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="files have no mode there")
def test_a_secret_that_others_may_read_is_warned_of(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By each command, a quiet one, too, and by `doctor`; it is taken. Secrets of a container are open, and exempt."""
    (tmp_path / "list.csv").write_text("email\nada@canarymail.com\n")
    secret = tmp_path / "proxy"
    secret.write_text("http://user:a-secret@127.0.0.1:9")
    named = {"AUDIENCEKIT_PROXY_FILE": str(secret), "AUDIENCEKIT_STATUS_FILE": str(tmp_path / "list.csv")}
    for mode, count in ((0o644, 1), (0o640, 1), (0o600, 0)):
        secret.chmod(mode)
        done = run("check", "list.csv", "-q", **named)
        told = "warning: other users may read the file that AUDIENCEKIT_PROXY_FILE names"
        assert (done.returncode, done.stderr.count(told), "a-secret" in done.stderr) == (0, count, False), mode
        doctor = run("doctor", **named).stdout
        assert doctor.count("warning: secrets: other users may read the file that AUDIENCEKIT_PROXY_FILE") == count
    secret.chmod(0o444)
    monkeypatch.setattr("audiencekit.settings.is_volume", lambda path: path == tmp_path.parent)
    is_roots = secret.stat().st_uid == 0
    assert list(open_secret_files(named)) == ([] if is_roots else ["AUDIENCEKIT_PROXY_FILE"])
