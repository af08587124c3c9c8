"""`demo`, on good days and on bad ones."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import socket
import ssl
import stat
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from audiencekit.cli import cli, emulator as command
from tests.cli.conftest import Begin, Run
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands, environment


def test_the_demo_closes(run: Run) -> None:
    """Nothing to set up, and the sums are right."""
    done = run("demo", "--rows", "300", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert rows.pop("read") == 300 == sum(rows.values())
    assert rows["sent"] > 200
    assert done.stderr.endswith("Next: audiencekit check LIST\n")


def test_the_demo_says_that_there_are_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the first command after pip, which does not say so."""
    monkeypatch.setattr(command, "kernels_warning", lambda: "there are none")
    done = CliRunner().invoke(command.demo, ["--rows", "10"])
    assert done.exit_code == 0, done.stderr
    assert "there are none\n" in done.stderr


def test_the_demo_rehearses_a_bad_day(run: Run, tmp_path: Path) -> None:
    """Each fault is told when it strikes, all are counted, and no member is missing in the end."""
    orders = [
        {"fault": 9, "nth": 2, "match": {"path": "*/users"}, "status": 504},
        {"fault": 13, "where": "after_apply", "nth": 4, "match": {"path": "*/users"}},
    ]
    (tmp_path / "day.json").write_text(json.dumps(orders))
    done = run("demo", "--rows", "200", "--faults", "day.json", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["state"], report["requests"]["planned"] > 4) == ("complete", True)
    assert report["requests"]["attempts"] == report["requests"]["planned"] + 2
    assert "status 504" in done.stderr
    assert "faults that struck: 2" in done.stderr
    assert f"the service has {report['rows']['sent']} people" in done.stderr


def test_the_demo_of_a_day_that_ends_badly_says_so(run: Run) -> None:
    """A revoked token ends it with the code of an upload; a rehearsal that is none is a usage error."""
    done = run("demo", "--rows", "400", "--faults", "revoked")
    assert done.returncode == 77, done.stderr
    assert "faults that struck" in done.stderr
    done = run("demo", "--faults", "calm")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"fault": 8},\n {"fault": 8, "nth": 0}]', 'fault 2 of 2: "nth": expected a whole number'),
        ('[{"fault": 8}\n', "not valid JSON: line 2"),
        ('[{"fault": 33}]', "is outside of what a server can do"),
    ],
)
def test_a_wrong_file_is_a_usage_error_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    """Exit code 2, nothing on stdout: no emulator was started."""
    path = tmp_path / "faults.json"
    path.write_text(text)
    result = CliRunner().invoke(cli, ["emulator", "--faults", str(path)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{path}: " in result.stderr
    assert words in result.stderr


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    """With what the system says of it."""
    result = CliRunner().invoke(cli, ["emulator", "--faults", str(tmp_path / "none.json")])
    assert result.exit_code == 2
    assert "No such file" in result.stderr


def test_a_port_that_is_taken_is_a_usage_error() -> None:
    """Another program, or an emulator that was forgotten, listens there."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = CliRunner().invoke(cli, ["emulator", "--port", str(taken.getsockname()[1])])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--port: Address already in use" in result.stderr


def test_a_terminal_gets_what_another_one_needs(commands: Commands, tmp_path: Path) -> None:
    """The lines to paste there, and none for a program."""
    ours, theirs = pty.openpty()
    process = commands.begin("emulator", env=environment(tmp_path / "state"), cwd=tmp_path, stdout=theirs)
    assert process.stderr is not None
    try:
        while not (line := process.stderr.readline()).startswith(("export AUDIENCEKIT_", ". ")):
            assert line
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert not select.select([ours], [], [], 0)[0]
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("source", ["file", "storm"])
def test_faults_are_there_from_the_start(begin: Begin, tmp_path: Path, source: str) -> None:
    """Those of a file, or of a rehearsal by its name; SIGTERM ends it with 0 all the same."""
    path = tmp_path / "faults.json"
    path.write_text('[{"fault": 24, "kind": "account", "times": 1}]')
    process = begin("emulator", "--faults", str(path) if source == "file" else source)
    assert process.stdout is not None
    ready = json.loads(process.stdout.readline())
    try:
        with urllib.request.urlopen(f"{ready['base_url']}/__faults") as answer:
            shown = json.loads(answer.read())
        assert (len(shown["faults"]) == 1) is (source == "file")
        if source == "file":
            with pytest.raises(urllib.error.HTTPError, match="403") as caught:
                urllib.request.urlopen(f"{ready['ads_url']}/12/accounts")
            caught.value.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--state", "state", "--sink"], "--sink applies nothing"),
        (["--state", "no/folder/state"], "cannot be opened: No such file or directory"),
        (["--state", "other"], "no state file"),
        (["--rate", "0/60"], "N/SECONDS"),
        (["--processing-time", "0"], "1<=x<=86400"),
        (["--processing-time", "0.5"], "not a valid integer"),
    ],
)
def test_an_emulator_that_cannot_start_is_a_usage_error(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, a message, and nothing on stdout."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text("no database" * 100)
    result = CliRunner().invoke(cli, ["emulator", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_it_serves_https(begin: Begin, tmp_path: Path) -> None:
    """The ready line names the file to trust; the key beside it is for its owner alone."""
    place = tmp_path / "authority"
    process = begin("emulator", "--tls", "--hosts", "ads-api.example.com, api.example.com", "--authority", str(place))
    assert process.stdout is not None
    ready = json.loads(process.stdout.readline())
    try:
        assert ready["authority"] == ready["env"]["AUDIENCEKIT_CA_BUNDLE"] == str(place / "authority.pem")
        assert stat.S_IMODE((place / "authority-key.pem").stat().st_mode) == 0o600
        trusting = ssl.create_default_context(cafile=ready["authority"])
        with urllib.request.urlopen(f"{ready['base_url']}/__users", context=trusting) as answer:
            assert b"local_user" in answer.read()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hosts", "ads-api.example.com"], "need"),
        (["--tls", "--hosts", "https://example.com"], "such as ads-api.example.com"),
        (["--tls", "--authority", "."], "not an emulator's"),
    ],
)
def test_https_that_cannot_be_is_a_usage_error(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, and nothing on stdout."""
    monkeypatch.chdir(tmp_path)
    for name in ("authority.pem", "authority-key.pem"):
        Path(name).write_text("notes")
    result = CliRunner().invoke(cli, ["emulator", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_the_demo_says_a_warning_once(run: Run) -> None:
    """Before it sends; the report follows within a second."""
    done = run("demo", "--rows", "300")
    assert (done.stderr.count("warning: "), done.stdout.count("warning: ")) == (1, 0)
