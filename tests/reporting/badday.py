"""A real bad day on the emulator, for the page of it: losses, retries, pauses, and two syncs of one audience.

`python -m tests.reporting.badday docs/images/report.png` takes the picture of the documentation. For it the sizes of
the days before are made up: no day passes here.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp

from audiencekit.audiences.match_rate import size_history
from audiencekit.audiences.sync.sync import expiry, sync_async
from audiencekit.destinations.audience_sizes import AudienceSizes
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.settings import Settings, load_settings

PEOPLE = 2_400
HEIGHT = 3_300  # of the picture: down to the requests
FAULTS: list[dict[str, Any]] = [
    {"fault": 4, "nth": 9, "times": 1, "reset": 1, "match": {"path": "*/users"}},
    {"fault": 10, "p": 0.15, "seed": 3, "code": "OVER_CAPACITY", "retry_after": 0, "match": {"path": "*/users"}},
    {"fault": 1, "p": 1, "delay_seconds": 0.1, "jitter_seconds": 0.1, "match": {"path": "*/users"}},
]
_TAIL = ["", "no address", "info@@example.com", "test@test", "+49 1"]


@dataclass(frozen=True, slots=True)
class BadDay:
    """The report of its second sync with the sizes that were told, and when members expire."""

    document: dict[str, Any]
    expiry: dict[str, Any]


async def bad_day(directory: Path, *, sizes: tuple[tuple[str, int], ...] = ()) -> BadDay:
    """Two syncs, a month apart in what they say of expiry; the service is in trouble at the second."""
    async with Emulator(EmulatorOptions(processing_seconds=30)) as emulator:
        settings = load_settings(emulator.env, directory=directory, state_dir=directory / "state")
        settings = replace(settings, concurrency=2)
        for seen_at, size in sizes:
            AudienceSizes(settings.state_dir, settings.account_id).note(emulator.audience_id, size, seen_at)
        first = _written(directory / "customers-october.csv", range(PEOPLE))
        await _sync(first, emulator, settings, ttl_days=40)
        await _door(emulator, "__clock", {"advance": 60})  # the service counts the audience
        await _door(emulator, "__faults", FAULTS)
        second = _written(directory / "customers-november.csv", range(200, PEOPLE + 700))
        document = await _sync(second, emulator, settings, ttl_days=100, max_body_bytes=10_000)
        calendar = expiry(audience=emulator.audience_id, settings=settings).to_json()
        return BadDay({**document, "history": size_history(emulator.audience_id, settings)}, calendar)


async def _sync(source: Path, emulator: Emulator, settings: Settings, **keywords: Any) -> dict[str, Any]:
    report = await sync_async(
        source, audience=emulator.audience_id, settings=settings, country="US", allow_shrink=0.5, **keywords
    )
    return report.to_json()


async def _door(emulator: Emulator, door: str, order: object) -> None:
    address = f"{emulator.base_url}/{door}"
    async with aiohttp.ClientSession() as session, session.post(address, json=order) as answer:
        assert answer.status == 200, await answer.text()


def _written(path: Path, people: range) -> Path:
    lines = ["email,phone,handle", *(_line(number) for number in people)]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def _line(number: int) -> str:
    """One person: two in three with both, some with one; one in eleven has a value that is none."""
    email = f"person{number}@example.com" if number % 5 else _TAIL[number // 5 % len(_TAIL)]
    phone = f"+1201555{number:04}" if number % 3 else ""
    handle = f"person_{number}" if number % 7 == 0 else ""
    return f"{email},{phone},{handle}"


def take_picture(path: Path) -> None:
    """The page of the day in a browser, from its top to the requests."""
    from audiencekit.reporting.page.page import report_page
    from tests.browser import Browser

    told = (("2026-08-01T06:00:00Z", 1_020), ("2026-09-01T06:00:00Z", 1_150), ("2026-10-01T06:00:00Z", 1_310))
    with tempfile.TemporaryDirectory() as directory, Browser() as browser:
        day = asyncio.run(bad_day(Path(directory), sizes=told))
        page = Path(directory, "page.html")
        page.write_text(report_page(day.document, expiry=day.expiry), encoding="utf-8")
        browser.open(page.as_uri())
        path.write_bytes(browser.picture(900, HEIGHT))


if __name__ == "__main__":
    take_picture(Path(sys.argv[1]))
