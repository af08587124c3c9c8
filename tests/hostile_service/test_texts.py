"""Texts of a hostile service never act on a terminal: every command that prints, on a real one."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from audiencekit.emulator.faults.replies import FORGED, HOSTILE
from tests.cli.conftest import Service
from tests.hostile_service.terminal import Terminal
from tests.processes import Commands, environment


@pytest.fixture(params=[True, False], ids=["shown", "all"])
def sparing(request: pytest.FixtureRequest) -> bool:
    """Whether what a client needs for its next call stays as it is."""
    return bool(request.param)


@pytest.fixture
def terminal(sparing: bool, service: Service, commands: Commands, tmp_path: Path) -> Terminal:
    """One whose commands call a hostile service."""
    service.order({"fault": 37, "kind": "shown" if sparing else "all"})
    return Terminal(commands, tmp_path, environment(tmp_path / "state", service.env))


def _commands(audience_id: str, directory: Path) -> list[tuple[str, ...]]:
    (directory / "list.csv").write_text("email,marketing\n" + "".join(f"p{n}@canarymail.com,yes\n" for n in range(40)))
    (directory / "more.csv").write_text("email\n" + "".join(f"p{n}@canarymail.com\n" for n in range(45)))
    both = {"name": "both" + HOSTILE, "segments": {"audience": audience_id, "lookback": 30}}
    (directory / "flexible.json").write_text(json.dumps({"audiences": [both]}))
    (directory / "people").write_text("p1@canarymail.com\n")
    lists = [
        ("list_custom_audiences",), ("get_custom_audience", f"custom_audience_id={audience_id}"), ("list_accounts",),
        ("list_funding_instruments",), ("list_publishers",), ("get_custom_audience", "custom_audience_id=none"),
    ]  # fmt: skip
    return [
        ("whoami",), ("whoami", "--json"),
        ("init", "--audience", audience_id, "--from", "list.csv", "--consent-column", "marketing=yes"),
        ("audiences", "list"), ("audiences", "list", "--json"), ("audiences", "show", audience_id),
        ("audiences", "show", "none"), ("audiences", "create", "fresh"), ("audiences", "create", "other", "--json"),
        ("audiences", "wait", audience_id, "--timeout", "0s"),
        ("flexible", "check", "flexible.json"), ("flexible", "create", "flexible.json", "--yes"),
        ("do-not-reach", "create"), ("do-not-reach", "show"), ("do-not-reach", "upload", "list.csv"),
        ("upload", "list.csv", "--audience", audience_id), ("upload", "list.csv", "--audience", "none"),
        ("sync", "list.csv", "--audience", audience_id), ("sync", "more.csv", "--audience", audience_id, "--json"),
        ("renew", "--audience", audience_id, "--before", "500d"), ("expiry", "--audience", audience_id),
        ("runs",), ("report", "last"), ("resume", "last"),
        ("forget", "--from", "people", "--no-header", "--map", "email=column1"),
        ("report", "last", "--json"),
        *(("api", *one) for one in lists), *(("api", *one, "--json") for one in lists),
        ("api", "create_campaign", "name=x"), ("api", "get_posts", "ids=1", "--json"),
        ("do-not-reach", "delete", "--yes"), ("audiences", "delete", audience_id, "--yes"), ("logout",),
    ]  # fmt: skip


@pytest.mark.slow
def test_no_command_lets_it_act(terminal: Terminal, service: Service, sparing: bool, tmp_path: Path) -> None:
    """No control character, no mark of direction and no forged line, whatever a command prints."""
    acting, seen = {}, set()
    for arguments in _commands(service.audience_id, tmp_path):
        shown = terminal.run(*arguments)
        if shown.acting:
            acting[" ".join(arguments)] = shown.acting
        assert shown.code != 1 or not sparing, (arguments, shown)
        if FORGED in shown.text:
            seen.add(arguments[0])
    assert acting == {}
    # Otherwise nothing was tried.
    assert seen >= ({"whoami", "audiences", "flexible", "forget", "api"} if sparing else {"flexible", "api"})


@pytest.mark.parametrize("typed", ["y\n", "n\n"])
def test_neither_does_who_logs_in(terminal: Terminal, sparing: bool, typed: str) -> None:
    """The name of the account, in the question and behind it."""
    shown = terminal.run("login", "--no-browser", typed=typed, answering=sparing)
    assert shown.acting == []
    if sparing:
        assert "Is local_user" in shown.text
        assert FORGED in shown.text
        assert ("logged in as local_user" in shown.text) is (typed == "y\n")


def test_json_means_what_the_service_said(service: Service, commands: Commands, tmp_path: Path) -> None:
    """Escaped for the terminal, and the same text for a program."""
    service.order({"fault": 37})
    env = environment(tmp_path / "state", service.env)
    done = commands.run("audiences", "list", "--json", env=env, cwd=tmp_path)
    (audience,) = json.loads(done.stdout)
    assert audience["name"].endswith(HOSTILE.replace("\x7f", "\x7f\ufffd"))
    acting = [sign for sign in done.stdout if unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Cs") and sign != "\n"]
    assert acting == []


@pytest.mark.parametrize(
    "arguments",
    [("check", "{name}"), ("flexible", "check", "{name}"), ("{name}",), ("upload", "--{name}"), ("api", "{name}"),
     ("check", "list.csv", "--map", "{name}"), ("report", "{name}"), ("audiences", "show", "{name}")],
)  # fmt: skip
def test_names_of_files_do_not_act_either(commands: Commands, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A shell may have taken them from a directory of another user."""
    terminal = Terminal(commands, tmp_path, environment(tmp_path / "state"))
    shown = terminal.run(*(argument.replace("{name}", HOSTILE) for argument in arguments))
    assert shown.acting == []
    assert shown.text
