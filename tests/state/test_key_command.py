"""The state key from a program of the user's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from audiencekit.errors import CredentialsRefused, UsageError
from audiencekit.state import key_command as keycommand
from audiencekit.state.key_command import KeyCommand
from audiencekit.state.keys import find_state_key
from tests.cases import each_case
from tests.moments import PATIENCE_SECONDS

HEX = "00112233445566778899aabbccddeeff" * 2


def _script(directory: Path, text: str) -> str:
    (directory / "script.py").write_text(text)
    return f"'{sys.executable}' '{directory / 'script.py'}'"


def test_its_output_is_the_key(tmp_path: Path) -> None:
    """With white space around it; no file is made."""
    command = KeyCommand(_script(tmp_path, f"print('  {HEX}  ')"))
    assert find_state_key(tmp_path / "state", command).unwrap() == bytes.fromhex(HEX)
    assert not (tmp_path / "state").exists()


def test_it_is_run_once_and_not_before_it_is_needed(tmp_path: Path) -> None:
    count = tmp_path / "count"
    command = KeyCommand(_script(tmp_path, f"open({str(count)!r}, 'a').write('x'); print('{HEX}')"))
    assert not count.exists()
    assert command.read() == command.read()
    assert count.read_text() == "x"


def test_no_shell_reads_it(tmp_path: Path) -> None:
    command = KeyCommand(f"echo {HEX} ; touch {tmp_path / 'made'}")
    with pytest.raises(UsageError, match="is not a key"):
        find_state_key(tmp_path, command)
    assert not (tmp_path / "made").exists()


def test_it_does_not_get_our_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIENCEKIT_CONSUMER_SECRET", "hidden")
    monkeypatch.setenv("VAULT_ADDR", "kept")
    seen = tmp_path / "seen"
    KeyCommand(_script(tmp_path, f"import os; open({str(seen)!r}, 'w').write(str(os.environ)); print(1)")).read()
    assert "AUDIENCEKIT_" not in seen.read_text()
    assert "VAULT_ADDR" in seen.read_text()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("raise SystemExit(4)", "ended with exit code 4"),
        ("pass", "printed no key"),
        ("print('x' * 20_000)", "printed no key"),
        ("import time; time.sleep(3_600)", "did not end within"),
    ],
)
def test_a_command_that_gives_no_key_says_why(
    text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of its output is shown."""
    monkeypatch.setattr(keycommand, "_SECONDS", 0.2 if "sleep" in text else PATIENCE_SECONDS)
    with pytest.raises(CredentialsRefused, match=why) as refused:
        KeyCommand(_script(tmp_path, text)).read()
    assert "xxx" not in str(refused.value)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(CredentialsRefused, match="cannot be run: No such file"):
        KeyCommand("/nowhere/at/all").read()


@each_case("text", ["", "  ", "'open"])
def test_an_invalid_command_is_refused_at_once(text: str) -> None:
    with pytest.raises(UsageError, match="AUDIENCEKIT_KEY_COMMAND is not a command"):
        KeyCommand(text)


def test_a_program_of_the_working_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "give").write_text("#!/bin/sh")
    (tmp_path / "give").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="by a relative path"):
        KeyCommand("./give")
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(CredentialsRefused, match="no directory that PATH names by its full path"):
        KeyCommand("give").read()


def test_it_is_not_shown() -> None:
    assert repr(KeyCommand("vault kv get secret")) == "<KeyCommand>"
