"""Pictures of the emulator's login for the documentation: `python -m tests.login_pictures docs/images`."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.browser import Browser
from tests.moments import PATIENCE_SECONDS
from tests.processes import COMMAND, DEVNULL, PIPE, environment

WIDTH, HEIGHT = 640, 460
QUESTION, PIN, DENIED, DONE = "login-question.png", "login-pin.png", "login-denied.png", "login-done.png"
NAMES = (QUESTION, PIN, DENIED, DONE)


def take_pictures(directory: Path) -> None:
    """Walks through the login with a browser, by callback and by PIN, and says no once; a file for each page."""
    with tempfile.TemporaryDirectory() as home, _emulator(Path(home)) as ready, Browser() as browser:
        env = {**environment(Path(home, "state")), **_application(ready["env"])}
        with _login(env) as address:
            browser.open(address)
            browser.type("input[name=screen_name]", "local_ad_manager")
            (directory / QUESTION).write_bytes(browser.picture(WIDTH, HEIGHT))
            browser.press("button[value=approve]")
            assert browser.shows("You are logged in. You can close this tab.")
            (directory / DONE).write_bytes(browser.picture(WIDTH, HEIGHT))
        for button, words, name in (("approve", "Enter this PIN", PIN), ("deny", "was not given access", DENIED)):
            with _login(env, "--pin") as address:
                browser.open(address)
                browser.press(f"button[value={button}]")
                assert browser.shows(words)
                (directory / name).write_bytes(browser.picture(WIDTH, HEIGHT))


@contextlib.contextmanager
def _emulator(home: Path) -> Iterator[dict[str, Any]]:
    process = subprocess.Popen([*COMMAND, "emulator"], env=environment(home / "state"), stdout=PIPE, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def _application(env: Mapping[str, str]) -> dict[str, str]:
    """The environment without the token of a person, which the login is to bring."""
    return {name: text for name, text in env.items() if "ACCESS_TOKEN" not in name}


@contextlib.contextmanager
def _login(env: Mapping[str, str], *options: str) -> Iterator[str]:
    """A login that waits for its person, and the address of its page."""
    command = [*COMMAND, "login", "--no-browser", "--yes", *options]
    process = subprocess.Popen(command, env={**os.environ, **env}, stdin=PIPE, stdout=DEVNULL, stderr=PIPE, text=True)
    assert process.stderr is not None
    try:
        found = (re.search(r"http://127\.0\.0\.1:\d+/oauth/authorize\S+", line) for line in process.stderr)
        yield next(address[0] for address in found if address)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]))
