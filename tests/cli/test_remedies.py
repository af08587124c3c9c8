"""Mistakes of first use are answered with what to type next."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

import audiencekit.cli
from tests.cli.conftest import Run, Service

PEOPLE = "email,country\nada@canarymail.com,DE\n"
PIPES = "email|phone\nada@canarymail.com|+4915123456789\nbo@canarymail.com|+4915123456788\n"
SEVERAL = "id,emails\n" + "".join(
    f'{number},"a{number}@canarymail.com{mark} b{number}@canarymail.com"\n' for number in range(400) for mark in ",;"
)
HASHES = "kunde\n" + "".join(f"{hashlib.sha256(bytes([number])).hexdigest()}\n" for number in range(20))
BROKEN = '{"email": "ada@canarymail.com", "phones": [1, 2'


@pytest.mark.parametrize(
    ("content", "options", "cure"),
    [
        (PIPES, ("--delimiter", ","), "leave --delimiter out"),
        (BROKEN, (), "one whole, flat object a line"),
        ("\x89PNG\r\n\x1a\n", (), "export the table that it shows as CSV"),
        (PEOPLE, ("--rejections", "none/rejections.csv"), "in a directory that exists"),
        (PEOPLE, ("--sheet", "Contacts"), "leave --sheet out"),
        (PEOPLE, ("--split-cells", "--doctor"), "--split-cells ';'"),
        (SEVERAL, ("--split-cells", ","), "leave --split-cells out"),
        (PEOPLE, ("--map", "email=mail"), "the columns are: email, country"),
        ("email,opt\nada@canarymail.com,j\n", ("--consent-column", "opt=yes"), "the word of those who agree"),
        (HASHES, (), "--map KIND=kunde and --hashed KIND"),
        (PEOPLE, ("--dry-run",), "leave it out: this command changes nothing"),
        (PEOPLE, ("-o", "out"), "No such option"),
    ],
)
def test_a_wrong_list_or_option(
    content: str, options: tuple[str, ...], cure: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:  # fmt: skip
    """No one is named in the answer."""
    monkeypatch.chdir(tmp_path)
    Path("list.csv").write_text(content, encoding="latin-1")
    monkeypatch.setattr("sys.argv", ["audiencekit", "check", "list.csv", *options])
    audiencekit.cli._run()
    told = "".join(capsys.readouterr())
    assert cure in told
    assert "canarymail" not in told


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (("upload", "list.csv", "-a", "Spring"), "perhaps --audience"),
        (("run", "--file", "night.toml"), "perhaps --setup"),
        (("upload", "list.csv", "--audience", "A", "--dry-run", "--offline"), "`audiencekit check` reads the list"),
        (("upload", "list.csv", "--audience", "A", "--action", "remove"), "perhaps --operation"),
        (("runs", "--since", "24"), "an age like 24h"),
        (("do-not-reach",), "\n  upload  Put people on the list"),
        (("run",), "`audiencekit init` writes one"),
        (("key", "rotate", "--dry-run"), "No such option"),
        (("check", "list.csv", "--max-rejected-share=ada@canarymail.com"), "(not repeated here)"),
    ],
)
def test_a_name_of_other_tools_and_a_missing_setup(
    arguments: tuple[str, ...],
    cure: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """The answer has ours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["audiencekit", *arguments])
    audiencekit.cli._run()
    told = "".join(capsys.readouterr())
    assert cure in told
    assert "leave it out" not in told  # of a command that changes something
    assert "canarymail" not in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_list_that_this_user_may_not_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """It names the command that shows the owner."""
    source = tmp_path / "list.csv"
    source.write_text(PEOPLE)
    source.chmod(0)
    monkeypatch.setattr("sys.argv", ["audiencekit", "check", str(source)])
    assert audiencekit.cli._run() == 74
    assert "let this user read it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "cure"),
    [("127.0.0.1:9", "write it with https://"), ("http://127.0.0.1:9", "paste its `export` lines once more")],
)
def test_an_address_at_which_there_is_no_service(
    address: str, cure: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Of this machine it is an emulator that has ended, as a rule."""
    secrets = dict.fromkeys(("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET"), "x")
    for name, value in {**secrets, "PROFILE": "spec", "ACCOUNT_ID": "x", "ADS_URL": address}.items():
        monkeypatch.setenv(f"AUDIENCEKIT_{name}", value)
    monkeypatch.setenv("AUDIENCEKIT_STATE_DIR", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["audiencekit", "audiences", "list"])
    audiencekit.cli._run()
    assert cure in capsys.readouterr().err


REFUSING = "email,newsletter\n" + "".join(
    f"a{number}@canarymail.com,{'no' if number % 5 else 'yes'}\n" for number in range(60)
)


def test_people_who_refuse_are_decided_on_before_and_can_be_taken_out_after(
    run: Run, service: Service, tmp_path: Path
) -> None:
    """No next command puts them in; where one has, the report says how to undo it, and that is right."""
    (tmp_path / "list.csv").write_text(REFUSING)
    checked = run("check", "list.csv")
    assert "Next: audiencekit check list.csv --consent-column newsletter=yes" in checked.stderr
    assert "Next: audiencekit upload" not in checked.stderr
    to = ("--audience", service.audience_id)
    agreeing = ("--consent-column", "newsletter=yes")
    members = []
    for more in ((), ("--operation", "delete", "--ignore", "newsletter"), agreeing):
        done = run("upload", "list.csv", *to, *more, **service.env)
        assert done.returncode == 0, done.stderr
        assert ("--operation delete takes out all" in done.stderr) is (not more)
        members.append(json.loads(run("report", "--json").stdout)["rows"]["sent"])
    assert members == [60, 60, 12]
    synced = run("sync", "list.csv", *to, **service.env)
    assert "The same command with --consent-column takes them out" in synced.stderr
    narrowed = run("sync", "list.csv", *to, *agreeing, "--allow-shrink", "1", "--json", **service.env)
    assert json.loads(narrowed.stdout)["changes"]["members_after"] == 12
