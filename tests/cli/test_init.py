"""`init`: asked at a terminal and answered by options, against an emulator; the test is the person at both."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import stat
import subprocess
import time
import tomllib
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.calls import call
from tests.cases import each_case
from tests.cli.conftest import Service
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands, Process, environment

LIST = "Customers of the shop,\n,\nemail,marketing\nada@example.com,yes\nbo@example.com,no\n"
KEYS = ("CONSUMER_KEY", "CONSUMER_SECRET")
TOKEN = ("ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
WINDOWS = "cp1252"


class Person:
    """A person at a machine of their own, with nothing set, and an emulator for the service."""

    def __init__(self, ready: dict[str, Any], directory: Path, commands: Commands) -> None:
        self.ready, self.directory, self._commands = ready, directory, commands
        self.env = environment(directory / "state")
        self.settings = directory / "state-settings" / "audiencekit" / "settings.toml"
        self.setup = directory / "audiencekit.toml"
        self.told = ""
        directory.joinpath("contacts.csv").write_text(LIST)
        directory.joinpath("picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n")
        directory.joinpath("latin list.csv").write_bytes(LIST.replace("no", "jö").encode("cp1252"))

    def given(self, *names: str) -> dict[str, str]:
        """These variables, as the emulator says them."""
        return {f"AUDIENCEKIT_{name}": self.ready["env"][f"AUDIENCEKIT_{name}"] for name in names}

    def run(self, *arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        done = call(*arguments, cwd=self.directory, env={**self.env, **more}, text=text)
        self.told += done.stdout + done.stderr
        return done

    @property
    def kept(self) -> dict[str, Any]:
        return tomllib.loads(self.settings.read_text())

    @property
    def of_service(self) -> tuple[str, ...]:
        """The options that lead to the emulator."""
        return "--ads-url", self.ready["ads_url"], "--base-url", self.ready["base_url"]

    def approve(self, page: str) -> None:
        form = {**dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page).query)), "decision": "approve"}
        data = urllib.parse.urlencode(form).encode()
        urllib.request.urlopen(page.partition("?")[0], data, timeout=PATIENCE_SECONDS).close()

    @contextlib.contextmanager
    def at_terminal(self, *arguments: str, **more: str) -> Iterator[Terminal]:
        """A command with a terminal for all of its streams; it must end well, and show no secret."""
        ours, theirs = pty.openpty()
        env, streams = {**self.env, **more}, dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        process = self._commands.begin(*arguments, **streams, cwd=self.directory, env=env)
        terminal = Terminal(process, ours)
        yield terminal
        terminal.read_to_end()
        self.told += terminal.told
        for end in (ours, theirs):
            os.close(end)
        assert process.returncode == 0, terminal.told


class Terminal:
    """Answers each question as it comes."""

    def __init__(self, process: Process, end: int) -> None:
        self._process, self._end, self._read, self.told = process, end, 0, ""

    def until(self, words: str) -> str:
        """The text from the last question up to these words."""
        self._wait(lambda: words in self.told[self._read :])
        begin, self._read = self._read, self.told.index(words, self._read) + len(words)
        return self.told[begin : self._read]

    def answer(self, question: str, answer: str = "") -> str:
        shown = self.until(question)
        os.write(self._end, f"{answer}\n".encode())
        return shown

    def read_to_end(self) -> None:
        self._wait(lambda: self._process.poll() is not None)
        self._wait(lambda: not select.select([self._end], [], [], 0)[0])

    def _wait(self, is_reached: Callable[[], bool]) -> None:
        last = time.monotonic() + PATIENCE_SECONDS
        while not is_reached():
            assert time.monotonic() < last, self.told
            if select.select([self._end], [], [], 0.05)[0]:
                self.told += os.read(self._end, 65_536).decode().replace("\r\n", "\n")


@pytest.fixture
def person(service: Service, commands: Commands, tmp_path: Path) -> Person:
    return Person(service.ready, tmp_path, commands)


def test_a_person_is_asked_for_everything_and_then_keeps_it_on_enter(person: Person) -> None:
    """From nothing to a run by its name; the second time every question has its answer."""
    address, base = person.ready["ads_url"], person.ready["base_url"]
    with person.at_terminal("init", "--no-browser") as terminal:
        service = "Service: x is the public one, emulator a rehearsal; or the address of another [x]: "
        terminal.answer(service, "y")
        terminal.answer(f"begins with https://\n{service}", "emulator")
        assert "`audiencekit emulator` in a second terminal" in terminal.answer(service, address)
        terminal.answer(f"Address where people log in [{address}]: ", base)
        for prompt, name in (("consumer key: ", KEYS[0]), ("consumer secret: ", KEYS[1])):
            terminal.answer(prompt, person.ready["env"][f"AUDIENCEKIT_{name}"])
        page = terminal.until("allow access: ") and terminal.until("\n").strip()
        person.approve(page)
        terminal.answer("Is local_user (", "y")
        assert f"  1  {person.ready['account_id']}  " in terminal.answer("Number of the account [1]: ")
        new = "a new one (Enter for none): "
        assert f"  1  {person.ready['audience_id']}  " in terminal.answer(new, "77")
        assert "write a number from 1 to" in terminal.answer(new, "Spring buyers")
        terminal.answer("Create the audience 'Spring buyers'? [Y/n]: ")
        your_list, consent = "Your list, a file (Enter for none): ", "such as marketing=yes (Enter for none): "
        encoding = f"Its encoding (cp1252 is what Windows calls ANSI) [{WINDOWS}]: "
        terminal.answer(your_list, "contcats.csv")
        assert "did you mean contacts.csv?" in terminal.answer(your_list, "file:///contacts.csv")
        assert "is no place that lists are read from" in terminal.answer(your_list, "'latin list.csv'")
        terminal.answer(encoding, "ansi")
        assert "is not a text encoding" in terminal.answer(encoding, "utf-16")
        assert "no byte order mark" in terminal.answer(encoding)
        assert "email, marketing" in terminal.answer(consent, "opt_in=yes")
        assert "no such column" in terminal.answer(consent, "marketing=maybe")
        assert "none of the first 2 rows has this answer" in terminal.answer(consent, "marketing=yes")
        terminal.until("Next: audiencekit run spring-buyers\n")
    assert person.kept == {
        "form": 1, "profile": "spec", "ads_url": address, "base_url": base, "account_id": person.ready["account_id"],
        "allow_host": " ".join(sorted(each.removeprefix("http://") for each in (address, base))),
    }  # fmt: skip
    assert stat.S_IMODE(person.settings.stat().st_mode) == 0o600
    (table,) = tomllib.loads(person.setup.read_text())["audiences"].values()
    assert (table["source"], table["command"], table["encoding"]) == ("latin list.csv", "upload", WINDOWS)
    assert table["consent_column"] == "marketing=yes"

    before = (person.settings.read_bytes(), person.setup.read_bytes())
    with person.at_terminal("init") as terminal:
        terminal.answer(f"or the address of another [{address}]: ")
        terminal.answer("Log in again? [y/N]: ")
        terminal.answer("Number of the account [1]: ")
        assert f"  1  {table['audience']}  Spring buyers" in terminal.answer("or the name of a new one [1]: ")
        terminal.answer("Your list, a file (- for none) [latin list.csv]: ")
        terminal.answer(encoding)
        terminal.answer("(- for none) [marketing=yes]: ")
    assert (person.settings.read_bytes(), person.setup.read_bytes()) == before

    for asked, answer in (("(- for none) [marketing=yes]: ", "-"), ("(- for none) [marketing=yes]: ", "")):
        with person.at_terminal("init") as terminal:
            terminal.answer(f"or the address of another [{address}]: ")
            terminal.answer("Log in again? [y/N]: ")
            terminal.answer("Number of the account [1]: ")
            terminal.answer("or the name of a new one [1]: ")
            terminal.answer("Your list, a file (- for none) [", "contacts.csv")
            terminal.answer(asked, answer)  # what is kept, and then what the list itself says
    (table,) = tomllib.loads(person.setup.read_text())["audiences"].values()
    assert (table["source"], table["consent_column"], "encoding" in table) == ("contacts.csv", "marketing=yes", False)

    done = person.run("run", "spring-buyers", "--json")
    assert (done.returncode, json.loads(done.stdout)["audiences"][0]["report"]["rows"]["sent"]) == (0, 1)
    secrets = [text for name, text in person.ready["env"].items() if name.endswith((*KEYS, *TOKEN))]
    assert [secret for secret in secrets if secret in person.told + person.settings.read_text()] == []


def test_options_and_the_environment_answer_where_no_terminal_is(person: Person) -> None:
    """Nothing is asked; what is kept serves a shell that has the token alone."""
    token = person.given(*KEYS, *TOKEN)
    done = person.run(
        "init", *person.of_service, "--create-audience", "Leads", "--from", "contacts.csv", "--json", **token
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["account_id"], found["ads_url"]) == (person.ready["account_id"], person.ready["ads_url"])
    assert (found["settings_file"], found["setup_file"]) == (str(person.settings), str(person.setup))
    assert done.stderr.endswith("Next: audiencekit run leads\n")
    again = json.loads(person.run("init", "--json", **token).stdout)
    assert again == found
    assert person.run("run", "leads", **token).returncode == 0
    secrets = [text for text in token.values() if text in person.told + person.settings.read_text()]
    assert secrets == []
    checked = json.loads(person.run("doctor", "--json", **token).stdout)
    origins = {one["name"]: one["from"] for one in checked["settings"]}
    assert origins["profile"] == origins["ads_url"] == origins["account_id"] == "settings file"
    assert (origins["token"], origins["concurrency"]) == ("environment", "default")


@pytest.mark.parametrize("names", [KEYS + TOKEN, KEYS])
def test_secrets_come_by_standard_input(person: Person, names: tuple[str, ...]) -> None:
    """Two pairs are kept as `login` keeps them; with one of them alone a person logs in."""
    text = "".join(f"{value}\n" for value in person.given(*names).values())
    if len(names) == 4:
        assert person.run("init", *person.of_service, "--stdin", text=text).returncode == 0
    else:
        process = person._commands.begin(
            "init",
            *person.of_service,
            "--stdin",
            "--no-browser",
            env=person.env,
            cwd=person.directory,
            stdin=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stderr is not None
        with process.stdin:
            process.stdin.write(text)
        person.approve(process.stderr.readline().split()[-1])
        assert process.wait(PATIENCE_SECONDS) == 0
    who = json.loads(person.run("whoami", "--json").stdout)
    assert (who["application"], who["token"], who["account_id"]) == ("file", "file", person.ready["account_id"])
    assert text.split()[1] not in person.told + person.settings.read_text()


@each_case(
    "arguments, text, code, words",
    [
        ((), "", 2, "give --profile x for the public one"),
        (("--stdin",), "one\n", 2, "consumer key and consumer secret"),
        (("--audience", "dlzxk", "--create-audience", "New"), "", 2, "exclude each other"),
        (("--account", "18ce99zzz"), "", 2, "is not one of this login"),
        (("--from", "contacts.csv"), "", 2, "a list needs its audience"),
        (("--audience", "dlzxk", "--consent-column", "marketing=yes"), "", 2, "needs its list"),
        (("--audience", "dlzxk", "--from", "contcats.csv"), "", 2, "did you mean contacts.csv?"),
        (("--audience", "dlzxk", "--from", "-"), "", 2, "standard input cannot be named"),
        (("--audience", "dlzxk", "--from", "contacts.csv", "--consent-column", "marketing"), "", 2, "NAME=VALUE"),
        (("--audience", "dlzxk", "--from", "contacts.csv", "--consent-column", "a=b"), "", 2, "no such column"),
        (("--audience", "dlzxk", "--from", "latin list.csv"), "", 2, "the list is not text in UTF-8"),
        (("--audience", "dlzxk", "--from", "file:///a.csv"), "", 2, "no place that lists are read from"),
        (("--audience", "dlzxk", "--from", "contacts.csv", "--encoding", "ansi"), "", 2, "not a text encoding"),
        (("--audience", "dlzxk", "--encoding", "cp1252"), "", 2, "needs its list"),
        (("--audience", "dlzxk", "--from", "picture.csv"), "", 2, "leave the list out here"),
        (("--audience", "Winter"), "", 2, "no audience is called"),
        (("--create-audience", "ada@example.com"), "", 3, "an email address"),
        (
            ("--ads-url", "https://ads.example", "--base-url", "https://ads.example"),
            "",
            69,
            "no answer from ads.example",
        ),
        (("--ads-url", "http://[", "--base-url", "https://ads.example"), "", 2, "not of the form"),
        (("--ads-url", "http://ads.example", "--base-url", "https://ads.example"), "", 3, "over https only"),
    ],
)
def test_a_wrong_answer_is_named_and_no_setup_is_written(
    person: Person, arguments: tuple[str, ...], text: str, code: int, words: str
) -> None:
    """With what to do; `--json` has its document."""
    of_service = person.of_service if arguments else ()
    closed = {"AUDIENCEKIT_PROXY": "http://127.0.0.1:9"}  # which loopback is reached without
    done = person.run("init", *of_service, *arguments, "--json", text=text, **person.given(*KEYS, *TOKEN), **closed)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert json.loads(done.stdout)["error"]["type"]
    assert not person.setup.exists()


def test_a_setup_of_others_stays_as_it_is(person: Person) -> None:
    """One that was not named before, and one that was changed by hand: nothing of it is taken, nothing written."""
    arguments = ("init", *person.of_service, "--audience", "dlzxk")
    env = person.given(*KEYS, *TOKEN)
    strangers = '[audiences.theirs]\nsource = "theirs.csv"\naudience = "zzzzz"\n'
    person.setup.write_text(strangers)
    done = person.run("init", *person.of_service, "--json", **env)
    assert (done.returncode, json.loads(done.stdout)["audience_id"]) == (0, None)
    assert "stays as it is" in person.run(*arguments, **env).stderr
    done = person.run(*arguments, "--from", "contacts.csv", **env)
    assert (done.returncode, "--setup" in done.stderr, person.setup.read_text()) == (2, True, strangers)
    person.setup.unlink()
    assert person.run(*arguments, "--from", "contacts.csv", **env).returncode == 0
    person.setup.write_text(changed := "requests_per_minute = 60\n" + person.setup.read_text())
    done = person.run(*arguments, "--from", "contacts.csv", "--consent-column", "marketing=yes", **env)
    assert (done.returncode, person.setup.read_text()) == (2, changed)
    elsewhere = person.run(*arguments, "--from", "contacts.csv", "--setup", "other.toml", **env)
    assert elsewhere.stderr.endswith(" --setup other.toml\n"), elsewhere.stderr
    (person.directory / "setups").mkdir()
    for _ in range(2):
        assert person.run(*arguments, "--from", "contacts.csv", "--setup", "setups/a.toml", **env).returncode == 0
    assert person.run("run", "--all", "--setup", "setups/a.toml", **env).returncode == 0


def test_a_link_in_the_place_of_the_settings_file_is_refused(person: Person) -> None:
    """It would be written elsewhere. The message says what to do."""
    person.settings.parent.mkdir(parents=True)
    person.settings.symlink_to(person.directory / "elsewhere")
    done = person.run("init", *person.of_service, **person.given(*KEYS, *TOKEN))
    assert (done.returncode, "is a link" in done.stderr, "replace the link" in done.stderr) == (74, True, True)
    assert not person.directory.joinpath("elsewhere").exists()


def test_a_login_keeps_the_service_and_the_account(person: Person) -> None:
    """A new shell needs nothing more. A settings file of another service stays as it is."""
    env = person.given("ADS_URL", "BASE_URL", *KEYS)
    for of_other in (False, True):
        if of_other:
            person.settings.write_text("form = 1\nprofile = 'x'\n")
        process = person._commands.begin(
            "login", "--no-browser", "--json", env={**person.env, **env}, cwd=person.directory
        )
        assert process.stderr is not None
        person.approve(process.stderr.readline().split()[-1])
        stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0, stderr
        if of_other:
            assert (person.kept, "stays as it is" in stderr) == ({"form": 1, "profile": "x"}, True)
        else:
            assert json.loads(stdout)["account_id"] == person.ready["account_id"] == person.kept["account_id"]
            assert stderr.endswith("Next: audiencekit audiences create NAME\n")
            assert person.run("audiences", "list", **person.given(*KEYS)).returncode == 0
