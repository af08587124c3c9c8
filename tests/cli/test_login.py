"""`login` as a process, `logout` and `whoami`; the test is the person in the browser."""

from __future__ import annotations

import contextlib
import fcntl
import html
import json
import os
import pty
import re
import signal
import subprocess
import termios
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.calls import call
from tests.cli.conftest import Service
from tests.moments import PATIENCE_SECONDS
from tests.processes import COMMAND, PIPE, Commands, Process, environment, start
from tests.shortened import shortened


class Machine:
    """A person's machine, with an emulator beside it, and everything that was ever printed."""

    def __init__(self, ready: dict[str, Any], directory: Path, commands: Commands) -> None:
        self.ready, self.directory, self.told, self.commands = ready, directory, "", commands
        self.env = environment(directory / "state", ready["env"])
        for name in ("ACCESS_TOKEN", "ACCESS_TOKEN_SECRET"):
            del self.env[f"AUDIENCEKIT_{name}"]

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """A command that is over by itself."""
        done = call(*arguments, cwd=self.directory, env={**self.env, **more})
        self.told += done.stdout + done.stderr
        return done

    def begin(self, *arguments: str, **more: str) -> tuple[Process, str]:
        """A command that waits for its person, and the page that it shows."""
        process = self.commands.begin(*arguments, cwd=self.directory, env={**self.env, **more}, stdin=PIPE)
        assert process.stderr is not None
        line = process.stderr.readline()
        self.told += line
        return process, line.split()[-1]

    def approve(self, page: str) -> str:
        """Press the button; return the page that the browser shows in the end."""
        form = {**dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page).query)), "decision": "approve"}
        data = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(page.partition("?")[0], data, timeout=PATIENCE_SECONDS) as answer:
            text: str = answer.read().decode()
            return text

    def end(self, process: Process, stdin: str = "") -> tuple[int, str, str]:
        """Exit code, stdout, and the rest of stderr."""
        stdout, stderr = process.communicate(stdin, timeout=PATIENCE_SECONDS)
        self.told += stdout + stderr
        return process.returncode, stdout, stderr

    def secrets(self) -> list[str]:
        """Return the values that must never be printed."""
        (kept,) = json.loads((self.directory / "state" / "credentials.json").read_text()).values()
        given = [text for name, text in self.ready["env"].items() if re.search("KEY|SECRET|TOKEN", name)]
        return [kept["access_token"], kept["access_token_secret"], *given]


@pytest.fixture
def machine(service: Service, commands: Commands, tmp_path: Path) -> Machine:
    """With a fresh emulator."""
    return Machine(service.ready, tmp_path, commands)


def test_a_person_logs_in_is_known_and_logs_out(machine: Machine) -> None:
    """By a browser; commands use the token until it is ended; nothing that is printed has a secret in it."""
    assert machine.run("whoami").returncode == 77
    process, page = machine.begin("login", "--no-browser", "--json")
    assert "You are logged in. You can close this tab." in machine.approve(page)
    code, stdout, _ = machine.end(process)
    assert (code, json.loads(stdout)["kept_in"]) == (0, "file")
    secrets = machine.secrets()
    who = json.loads(machine.run("whoami", "--json").stdout)
    assert (who["token"], who["screen_name"], who["accounts"]) == ("file", "local_user", [machine.ready["account_id"]])
    assert machine.run("audiences", "list").returncode == 0
    told = machine.run("whoami").stdout
    assert "from the file of the state directory" in told
    assert "ACCOUNT_ADMIN" in told
    assert json.loads(machine.run("logout", "--json").stdout) == {"removed_from": ["file"], "invalidated": True}
    assert machine.run("whoami").returncode == 77
    assert machine.run("logout").stdout == "you were not logged in\n"
    assert [secret for secret in secrets if secret in machine.told] == []


def test_an_account_of_a_setup_has_a_token_of_its_own(machine: Machine) -> None:
    """It is used and ended for that account alone."""
    process, page = machine.begin("login", "--no-browser", "--account", "shop-de")
    machine.approve(page)
    assert machine.end(process)[0] == 0
    assert machine.run("whoami").returncode == 77
    who = json.loads(machine.run("whoami", "--json", "--account", "shop-de").stdout)
    assert (who["application"], who["token"], who["screen_name"]) == ("environment", "file", "local_user")
    assert machine.run("logout").stdout == "you were not logged in\n"
    assert machine.run("logout", "--account", "shop-de").returncode == 0
    assert machine.run("whoami", "--account", "shop-de").returncode == 77


def test_a_pin_comes_from_stdin_where_no_terminal_is(machine: Machine) -> None:
    """The text names who logged in, and where the token is."""
    process, page = machine.begin("login", "--pin", "--no-browser")
    found = re.search(r"<code>(\d+)</code>", machine.approve(page))
    assert found is not None
    code, stdout, _ = machine.end(process, found[1] + "\n")
    assert code == 0
    assert stdout.startswith("logged in as local_user (")
    assert found[1] not in machine.told


def test_no_pin_and_a_wrong_one(machine: Machine) -> None:
    """Usage, and credentials that were refused."""
    process, _ = machine.begin("login", "--pin", "--no-browser")
    assert machine.end(process)[0] == 2
    process, _ = machine.begin("login", "--pin", "--no-browser", "--json")
    code, stdout, _ = machine.end(process, "0\n")
    assert (code, json.loads(stdout)["error"]["type"]) == (77, "CredentialsRefused")
    assert machine.run("login", "--pin", "--callback-port", "8080").returncode == 2


def test_the_browser_is_opened_without_a_word_on_its_command_line(machine: Machine) -> None:
    """It opens a file that leads on to the page; only its owner can read it, and it is removed in the end."""
    script = machine.directory / "browser"
    script.write_text(
        "#!/bin/sh\n"
        f'echo "$@" > {machine.directory}/arguments\n'
        'file="${1#file://}"\n'
        f'stat -c "%a %n" "$file" "$(dirname "$file")" > {machine.directory}/modes\n'
        f'cat "$file" > {machine.directory}/page && mv {machine.directory}/page {machine.directory}/shown\n'
    )
    script.chmod(0o700)
    process, page = machine.begin("login", BROWSER=str(script))
    shown = machine.directory / "shown"
    while not shown.exists():
        assert process.poll() is None
        time.sleep(0.01)
    (address,) = re.findall('content="0; url=(.*?)"', shown.read_text())
    assert html.unescape(address) == page
    arguments = (machine.directory / "arguments").read_text()
    assert "oauth_token" not in arguments
    assert page.partition("oauth_token=")[2] not in arguments
    file = Path(arguments.strip().removeprefix("file://"))
    modes = dict(line.split()[::-1] for line in (machine.directory / "modes").read_text().splitlines())
    assert modes == {str(file): "600", str(file.parent): "700"}
    machine.approve(page)
    assert machine.end(process)[0] == 0
    assert not file.parent.exists()


def test_the_browser_does_not_get_our_secrets(machine: Machine) -> None:
    """It is open for longer than the command, and all that it starts has its environment."""
    script, written = machine.directory / "browser", machine.directory / "environment"
    script.write_text(f"#!/bin/sh\nenv > {written}.part && mv {written}.part {written}\n")
    script.chmod(0o700)
    process, page = machine.begin("login", BROWSER=str(script), AUDIENCEKIT_KEY="5d" * 32, OTHER="kept")
    while not written.exists():
        assert process.poll() is None
        time.sleep(0.01)
    machine.approve(page)
    assert machine.end(process)[0] == 0
    assert "AUDIENCEKIT_" not in written.read_text()
    assert "OTHER=kept" in written.read_text()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda ending: ending.name)
def test_an_end_by_a_signal_leaves_no_file(machine: Machine, ending: signal.Signals) -> None:
    """Its page would lie among the temporary files of the machine."""
    temporary = machine.directory / "temporary"
    temporary.mkdir()
    process, _ = machine.begin("login", BROWSER=str(_recording(machine)), TMPDIR=str(temporary))
    opened = machine.directory / "opened"
    while not opened.exists():
        assert process.poll() is None
        time.sleep(0.01)
    assert list(temporary.glob("audiencekit-login-*/login.html"))
    process.send_signal(ending)
    assert machine.end(process)[0] == (130 if ending == signal.SIGINT else -ending)
    assert list(temporary.iterdir()) == []


def _recording(machine: Machine) -> Path:
    """A browser that only notes that it was opened."""
    script = machine.directory / "recording"
    script.write_text(f"#!/bin/sh\ntouch {machine.directory}/opened\n")
    script.chmod(0o700)
    return script


def test_a_browser_that_fails_is_said(machine: Machine) -> None:
    """The page is printed all the same."""
    process, page = machine.begin("login", BROWSER="/bin/false", PATH="/nowhere", DISPLAY="")
    machine.approve(page)
    code, _, stderr = machine.end(process)
    assert (code, "no browser could be opened here" in stderr) == (0, True)


@pytest.mark.parametrize(("answer", "code"), shortened([(b"y\n", 0), (b"\n", 77), (b"n\n", 77), (b"\x03", 130)], 2))
def test_a_person_says_whether_the_account_is_right(machine: Machine, answer: bytes, code: int) -> None:
    """Before anything is kept; only a yes is one."""
    terminal, its_end = pty.openpty()
    process = start(
        [*COMMAND, "login", "--no-browser"], stdin=its_end, stdout=its_end, stderr=its_end, cwd=machine.directory,
        env=machine.env, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(its_end, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    machine.approve(_read_until(terminal, b"\n", after=b"oauth_token=").split()[-1].decode())
    question = _read_until(terminal, b"[y/N]: ")
    assert b"Is local_user (" in question
    assert not (machine.directory / "state" / "credentials.json").exists()
    while process.poll() is None:  # a Ctrl-C between the prompt and the reading is lost to Python
        os.write(terminal, answer)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
    assert process.returncode == code
    for end in (terminal, its_end):
        os.close(end)
    assert (machine.directory / "state" / "credentials.json").exists() is (code == 0)


def test_a_token_that_only_reads(machine: Machine) -> None:
    """Asked for with --read-only, refused by the service for what writes."""
    process, page = machine.begin("login", "--no-browser", "--read-only")
    machine.approve(page)
    assert machine.end(process)[0] == 0
    assert machine.run("audiences", "list").returncode == 0
    done = machine.run("audiences", "create", "new")
    assert (done.returncode, "the token may only read" in done.stderr) == (77, True)


def test_the_token_of_the_environment_comes_first(machine: Machine) -> None:
    """Said when another one is kept; logging out leaves it alone, and says what it could not end."""
    given = {
        name: machine.ready["env"][name] for name in ("AUDIENCEKIT_ACCESS_TOKEN", "AUDIENCEKIT_ACCESS_TOKEN_SECRET")
    }
    process, page = machine.begin("login", "--no-browser", **given)
    machine.approve(page)
    code, _, stderr = machine.end(process)
    assert (code, "is used before" in stderr) == (0, True)
    done = machine.run("logout", AUDIENCEKIT_CONSUMER_SECRET="wrong")
    assert (done.returncode, "until its owner revokes it" in done.stderr) == (0, True)
    assert json.loads(machine.run("whoami", "--json", **given).stdout)["token"] == "environment"


def test_keys_of_the_application_are_asked_for_at_a_terminal_only(machine: Machine) -> None:
    """There they are typed unseen, and kept with the token; elsewhere their variables are named."""
    keys = [machine.env.pop(f"AUDIENCEKIT_{name}") for name in ("CONSUMER_KEY", "CONSUMER_SECRET")]
    done = machine.run("login")
    assert (done.returncode, "AUDIENCEKIT_CONSUMER_KEY" in done.stderr) == (77, True)
    terminal, its_end = pty.openpty()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), its_end)
    process = machine.commands.begin("login", "--no-browser", **streams, cwd=machine.directory, env=machine.env)
    for prompt, key in zip((b"consumer key: ", b"consumer secret: "), keys, strict=True):
        _read_until(terminal, prompt)
        os.write(terminal, key.encode() + b"\n")
    shown = _read_until(terminal, b"\n", after=b"oauth_token=")
    machine.approve(shown.split()[-1].decode())
    told = shown + _read_until(terminal, b"[y/N]: ")
    os.write(terminal, b"y\n")
    told += _read_until(terminal, b"\n", after=b"logged in")
    assert process.wait(timeout=PATIENCE_SECONDS) == 0
    for end in (terminal, its_end):
        os.close(end)
    assert [key for key in keys if key.encode() in told] == []
    assert json.loads(machine.run("whoami", "--json").stdout)["application"] == "file"


def _read_until(terminal: int, end: bytes, after: bytes = b"") -> bytes:
    shown = b""
    while after not in shown or end not in shown.partition(after)[2] if after else end not in shown:
        shown += os.read(terminal, 1)
    return shown
