"""The walk through the login with a real browser before the emulator: what is seen, typed, pressed, and comes back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser import MISSING, Browser, processes_of
from tests.cli.conftest import Service
from tests.cli.test_login import Machine
from tests.login_pictures import NAMES, take_pictures
from tests.processes import ROOT, Commands, Process

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {' and '.join(MISSING)}")

AUTHORIZE, CANCEL = "button[value=approve]", "button[value=deny]"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium with an empty profile."""
    with Browser() as running:
        yield running


@pytest.fixture
def machine(service: Service, commands: Commands, tmp_path: Path) -> Machine:
    """Whose browser writes down what it is to open."""
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opening && mv {tmp_path}/opening {tmp_path}/opened\n')
    script.chmod(0o700)
    machine = Machine(service.ready, tmp_path, commands)
    machine.env["BROWSER"] = str(script)
    return machine


def _begin(machine: Machine, *options: str) -> tuple[Process, str]:
    """A login, and what its browser is to open."""
    process, _ = machine.begin("login", *options)
    opened = machine.directory / "opened"
    while not opened.exists():
        assert process.poll() is None
        time.sleep(0.01)
    return process, opened.read_text().strip()


@pytest.mark.services
def test_a_person_sees_types_and_says_yes(machine: Machine, browser: Browser) -> None:
    """By the file that leads on to the page, to the callback, whose page holds no secret; nothing is downloaded."""
    process, file = _begin(machine)
    assert file.startswith("file:///")
    browser.open(file)
    assert browser.shows("May the local application use this account?")
    assert browser.address.startswith(f"{machine.ready['base_url']}/oauth/authorize?oauth_token=")
    browser.type("input[name=screen_name]", "local_user")
    browser.press(AUTHORIZE)
    assert browser.shows("You are logged in. You can close this tab.")
    address = urlsplit(browser.address)
    assert (address.hostname, address.path) == ("127.0.0.1", "/callback")
    code, stdout, _ = machine.end(process)
    assert (code, stdout.startswith("logged in as local_user")) == (0, True)
    assert not Path(file.removeprefix("file://")).exists()
    assert machine.run("whoami").returncode == 0
    assert list(browser.downloads.iterdir()) == []


@pytest.mark.services
def test_a_person_says_no(machine: Machine, browser: Browser) -> None:
    """The program is told, and keeps nothing."""
    process, file = _begin(machine)
    browser.open(file)
    browser.press(CANCEL)
    assert browser.shows("Access was not given. You can close this tab.")
    code, _, stderr = machine.end(process)
    assert (code, "access was not given" in stderr) == (77, True)
    assert machine.run("whoami").returncode == 77


@pytest.mark.services
def test_a_person_reads_a_pin(machine: Machine, browser: Browser) -> None:
    """And types it at the program."""
    process, file = _begin(machine, "--pin", "--read-only")
    browser.open(file)
    assert browser.shows("May the local application look at this account?")
    browser.press(AUTHORIZE)
    assert browser.shows("Enter this PIN")
    pin = browser.text("code")
    assert pin.isdecimal()
    code, stdout, _ = machine.end(process, f"{pin}\n")
    assert (code, stdout.startswith("logged in as local_user")) == (0, True)


@pytest.mark.services
def test_a_page_that_is_over_says_so(machine: Machine, browser: Browser) -> None:
    """Shown, not downloaded."""
    browser.open(f"{machine.ready['base_url']}/oauth/authorize?oauth_token=none")
    assert browser.shows("The request token is not valid.")
    assert list(browser.downloads.iterdir()) == []


@pytest.mark.services
def test_the_documentation_has_pictures_of_the_walk(tmp_path: Path) -> None:
    """The page, the PIN, the end and the no, as `python -m tests.login_pictures docs/images` takes them."""
    take_pictures(tmp_path)
    page = (ROOT / "docs" / "accounts.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
        assert f"(images/{name})" in page


@pytest.mark.services
def test_nothing_of_the_browser_is_left() -> None:
    """No process, and none of its files, although the test failed."""

    def fail() -> None:
        assert processes_of(place)
        raise ZeroDivisionError

    browser = Browser()
    place = str(browser.downloads.parent)
    with pytest.raises(ZeroDivisionError), browser:
        fail()
    assert (processes_of(place), Path(place).exists()) == ([], False)
