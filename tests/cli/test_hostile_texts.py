"""What others write never acts on a terminal: every command that prints, on a real one, before a hostile service."""

from __future__ import annotations

import json
import os
import pty
import re
import threading
import unicodedata
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.conftest import Service
from tests.hostileservice import FORGED, HOSTILE, HostileService
from tests.processes import Commands, environment

# What our own bars of progress are drawn with: colours, the line cleared, the cursor moved up, hidden or shown.
_BARS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[2K|\x1b\[\d*A|\x1b\[\?25[lh]")


class Terminal:
    """Runs commands on a terminal of their own."""

    def __init__(self, commands: Commands, directory: Path, env: dict[str, str]) -> None:
        self._commands, self._directory, self._env = commands, directory, env

    def run(self, *arguments: str, typed: str = "", answering: bool = False) -> str:
        """All that the command shows; with `answering`, its page is answered before `typed` is given."""
        terminal, its_end = pty.openpty()
        process = self._commands.begin(
            *arguments, env=self._env, cwd=self._directory, stdin=its_end, stdout=its_end, stderr=its_end
        )
        os.close(its_end)
        shown = bytearray()

        def read() -> None:
            while part := _part(terminal):
                shown.extend(part)

        reader = threading.Thread(target=read)
        reader.start()
        if answering:
            self._answer(shown, reader)
        if typed:
            os.write(terminal, typed.encode())
        process.wait(timeout=120)
        reader.join(timeout=10)
        os.close(terminal)
        return shown.decode("utf-8", "surrogateescape")

    def _answer(self, shown: bytearray, reader: threading.Thread) -> None:
        """Press the button of the page that is shown."""
        while (found := re.search(rb"say yes: (http\S+)\r", bytes(shown))) is None:
            assert reader.is_alive(), bytes(shown)
            reader.join(timeout=0.05)
        page = found[1].decode()
        form = {**dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page).query)), "decision": "approve"}
        urllib.request.urlopen(page.partition("?")[0], urllib.parse.urlencode(form).encode(), timeout=30).close()


def _part(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


def _acting(shown: str) -> list[str]:
    """Every character that is not our own and does something, and every line that we did not write."""
    left = _BARS.sub("", shown).replace("\r\n", "\n")
    acting = [f"U+{ord(sign):04X}" for sign in left if not (sign.isprintable() or sign in "\n\r")]
    lone = [part for line in left.split("\n") for part in line.split("\r")]
    return sorted(set(acting)) + [part for part in lone if part.startswith(FORGED)]


def _before(service: Service, stack: ExitStack, *, sparing: bool) -> dict[str, str]:
    """The settings of who calls hostile services before the emulator, at each of its addresses."""
    addresses = {}
    for name, address in service.env.items():
        if name.endswith("_URL"):
            upstream = urllib.parse.urlsplit(address)
            assert upstream.hostname is not None
            assert upstream.port is not None
            between = stack.enter_context(HostileService((upstream.hostname, upstream.port), sparing=sparing))
            addresses[name] = between.address
    return {**service.env, **addresses}


@pytest.fixture(params=[True, False], ids=["sparing", "all"])
def sparing(request: pytest.FixtureRequest) -> bool:
    """Whether what a client needs for its next call stays as it is."""
    return bool(request.param)


@pytest.fixture
def terminal(sparing: bool, service: Service, commands: Commands, tmp_path: Path) -> Iterator[Terminal]:
    """One whose commands call hostile services."""
    with ExitStack() as stack:
        given = {**_before(service, stack, sparing=sparing), "TERM": "xterm", "COLUMNS": "100"}
        yield Terminal(commands, tmp_path, environment(tmp_path / "state", given))


def _commands(audience_id: str, directory: Path) -> list[tuple[str, ...]]:
    (directory / "list.csv").write_text("email\n" + "".join(f"p{n}@canarymail.com\n" for n in range(40)))
    (directory / "more.csv").write_text("email\n" + "".join(f"p{n}@canarymail.com\n" for n in range(45)))
    both = {"name": "both" + HOSTILE[:-1], "segments": {"audience": audience_id, "lookback": 30}}
    (directory / "flexible.json").write_text(json.dumps({"audiences": [both]}))
    (directory / "people").write_text("p1@canarymail.com\n")
    lists = [
        ("list_custom_audiences",), ("get_custom_audience", f"custom_audience_id={audience_id}"), ("list_accounts",),
        ("list_funding_instruments",), ("list_publishers",), ("get_custom_audience", "custom_audience_id=none"),
    ]  # fmt: skip
    return [
        ("whoami",), ("whoami", "--json"),
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


def test_no_command_lets_it_act(terminal: Terminal, service: Service, sparing: bool, tmp_path: Path) -> None:
    """No control character, no mark of direction and no forged line, whatever a command prints."""
    acting, seen = {}, set()
    for arguments in _commands(service.audience_id, tmp_path):
        shown = terminal.run(*arguments)
        if found := _acting(shown):
            acting[" ".join(arguments)] = found
        assert "bug:" not in shown or not sparing, (arguments, shown)
        if FORGED in shown:
            seen.add(arguments[0])
    assert acting == {}
    # Otherwise nothing was tried.
    assert seen >= ({"whoami", "audiences", "flexible", "forget", "api"} if sparing else {"flexible", "api"})


@pytest.mark.parametrize("typed", ["y\n", "n\n"])
def test_neither_does_who_logs_in(terminal: Terminal, sparing: bool, typed: str) -> None:
    """The name of the account, in the question and behind it."""
    shown = terminal.run("login", "--no-browser", typed=typed, answering=sparing)
    assert _acting(shown) == []
    if sparing:
        assert "Is local_user" in shown
        assert FORGED in shown
        assert ("logged in as local_user" in shown) is (typed == "y\n")


def test_json_means_what_the_service_said(service: Service, commands: Commands, tmp_path: Path) -> None:
    """Escaped for the terminal, and the same text for a program."""
    with ExitStack() as stack:
        env = environment(tmp_path / "state", _before(service, stack, sparing=True))
        done = commands.run("audiences", "list", "--json", env=env, cwd=tmp_path)
    (audience,) = json.loads(done.stdout)
    assert audience["name"].endswith(HOSTILE.replace("\ud83d", "\ufffd"))
    acting = [sign for sign in done.stdout if unicodedata.category(sign) in ("Cc", "Cf", "Zl", "Cs") and sign != "\n"]
    assert acting == []


@pytest.mark.parametrize(
    "arguments",
    [("check", "{name}"), ("flexible", "check", "{name}"), ("{name}",), ("upload", "--{name}"), ("api", "{name}"),
     ("check", "list.csv", "--map", "{name}"), ("report", "{name}"), ("audiences", "show", "{name}")],
)  # fmt: skip
def test_names_of_files_do_not_act_either(commands: Commands, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A shell may have taken them from a directory of somebody else's."""
    name = HOSTILE.replace("\ud83d", "").replace("/", "")
    terminal = Terminal(commands, tmp_path, environment(tmp_path / "state"))
    shown = terminal.run(*(argument.replace("{name}", name) for argument in arguments))
    assert _acting(shown) == []
    assert shown
