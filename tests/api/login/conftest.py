"""A person with a browser, settings without an environment, and the emulator that both of them use."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest

from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.personal import Secret
from audiencekit.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)


@pytest.fixture
async def emulator() -> AsyncIterator[Any]:
    """A fresh one, by the real clock, by which the client signs."""
    async with Emulator(EmulatorOptions()) as running:
        yield running


class Person:
    """The person at the browser."""

    def __init__(self, emulator: Any, directory: Path) -> None:
        self.emulator, self._directory = emulator, directory
        self.pages: list[str] = []  # what came back from the callback

    def settings(self, *, without: str = "ACCESS_TOKEN", **more: str) -> Settings:
        """The environment of the emulator without its token, or whatever begins with `without`."""
        env = {name: text for name, text in self.emulator.env.items() if not name.startswith(f"AUDIENCEKIT_{without}")}
        return load_settings({**env, **more}, directory=self._directory, state_dir=self._directory / "state")

    async def decide(self, page: str, decision: str = "approve") -> str:
        """The answer of the page to the press of a button: where it leads to, or what it shows."""
        token = parse_qs(urlsplit(page).query)["oauth_token"][0]
        form = {"oauth_token": token, "decision": decision}
        async with aiohttp.ClientSession() as session:
            url = self.emulator.base_url + "/oauth/authorize"
            async with session.post(url, data=form, allow_redirects=False) as answer:
                return answer.headers.get("Location") or await answer.text()

    async def come_back(self, page: str, decision: str = "approve") -> None:
        """Presses the button, and follows the page to the program."""
        location = await self.decide(page, decision)
        async with aiohttp.ClientSession() as session, session.get(location) as answer:
            self.pages.append(await answer.text())

    async def read_pin(self, page: str) -> Secret:
        """Presses the button, and copies the number."""
        found = re.search(r"<code>(\d+)</code>", await self.decide(page))
        assert found is not None
        return Secret(found[1])


@pytest.fixture
def person(emulator: Any, tmp_path: Path) -> Person:
    """A user of the emulator, and an empty state directory."""
    return Person(emulator, tmp_path)
