"""Runs that were begun and not finished, and what the service has of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished
from audiencekit.pipeline import upload_async
from audiencekit.runs.journal.file import JOURNAL
from audiencekit.runs.reports import opened_journal
from audiencekit.settings import Settings
from audiencekit.state.keys import find_state_key
from tests.runs.journal.conftest import rewrite

ROWS = 30
HEADER = "email,phone,note"
LINES = [f"person{number}@example.com,+1201555{number:04},n{number}" for number in range(ROWS)]


class EndsAfter:
    """A limiter that ends the run when it is asked for one place too many."""

    def __init__(self, places: int) -> None:
        self.left = places

    async def acquire(self) -> None:
        if not self.left:
            raise NotFinished("the test has seen enough")
        self.left -= 1


def requests_received(emulator: Emulator) -> int:
    """How many requests with people came to the service."""
    return sum(entry["path"].endswith("/users") for entry in emulator.store.requests.documents())


class Listener:
    """A progress that keeps the messages that it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def step(self, *_: Any, **__: Any) -> None:
        """Nothing."""

    def tell(self, message: str) -> None:
        """Keep it."""
        self.told.append(message)


async def begin(source: Path, emulator: Emulator, settings: Settings, *, places: int = 2, **keywords: Any) -> str:
    """A run that ends after `places` requests; its id."""
    with pytest.raises(NotFinished) as caught:
        await upload_async(
            source, audience=emulator.audience_id, settings=settings, limiter=EndsAfter(places), **keywords
        )
    assert caught.value.document is not None
    assert caught.value.document["requests"]["confirmed"] == places
    run_id: str = caught.value.document["run_id"]
    assert f"audiencekit resume {run_id}" in caught.value.hint
    return run_id


def rewrite_journal(settings: Settings, run_id: str, statement: str, values: Sequence[Any] = ()) -> None:
    """Have the journal of a run say something else of its requests, as if it had been written so."""
    directory = settings.state_dir / "runs" / run_id
    with opened_journal(directory) as journal:
        key = journal.facts().key(find_state_key(settings.state_dir, settings.key))
    rewrite(directory / JOURNAL, key, statement, values)


def sent(emulator: Emulator) -> list[tuple[int, int]]:
    """Of each request to the users endpoint: bytes and status."""
    requests = emulator.store.requests.documents()
    return [(entry["bytes"], entry["status"]) for entry in requests if entry["path"].endswith("/users")]


def members(emulator: Emulator) -> int:
    audience = emulator.store.find_audience(emulator.audience_id)
    assert audience is not None
    return len(list(audience.members.members(emulator.clock.now())))
