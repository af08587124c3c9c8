"""Real runs on the emulator, for their pages: a bad day of losses, retries and pauses; a machine of three audiences.

`python -m tests.reporting.badday docs/images` takes the pictures of the documentation. For them the sizes of the days
before are made up: no day passes here.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp

from audiencekit.api.opening import open_client
from audiencekit.audiences.machine import look_at_machine
from audiencekit.audiences.match_rate import size_history
from audiencekit.audiences.sync.sync import expiry, sync_async
from audiencekit.destinations.audience_sizes import AudienceSizes
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.errors import AudiencekitError
from audiencekit.pipeline import upload_async
from audiencekit.runs.reports import find_earlier_report
from audiencekit.settings import Settings, load_settings

PEOPLE = 2_400
PICTURES = {"report.png": (900, 1_260), "audiences.png": (1_280, 1_280)}  # width and height, in px
FAULTS: list[dict[str, Any]] = [
    {"fault": 4, "nth": 9, "times": 1, "reset": 1, "match": {"path": "*/users"}},
    {"fault": 10, "p": 0.15, "seed": 3, "code": "OVER_CAPACITY", "retry_after": 0, "match": {"path": "*/users"}},
    {"fault": 1, "p": 1, "delay_seconds": 0.1, "jitter_seconds": 0.1, "match": {"path": "*/users"}},
]
SIZES = (("2026-08-01T06:00:00Z", 1_020), ("2026-09-01T06:00:00Z", 1_150), ("2026-10-01T06:00:00Z", 1_310))
_TAIL = ["", "no address", "info@@example.com", "test@test", "+49 1"]


@dataclass(frozen=True, slots=True)
class BadDay:
    """The report of its second sync with the sizes that were told, when members expire, and the sync before."""

    document: dict[str, Any]
    expiry: dict[str, Any]
    last: dict[str, Any] | None


async def bad_day(directory: Path, *, sizes: tuple[tuple[str, int], ...] = ()) -> BadDay:
    """Two syncs, a month apart in what they say of expiry; the service is in trouble at the second."""
    async with Emulator(EmulatorOptions(processing_seconds=30)) as emulator:
        settings = _settings(emulator, directory, sizes)
        first = _written(directory / "customers-october.csv", range(PEOPLE))
        await _sync(first, emulator, settings, ttl_days=40)
        await _door(emulator, "__clock", {"advance": 60})  # the service counts the audience
        await _door(emulator, "__faults", FAULTS)
        second = _written(directory / "customers-november.csv", range(200, PEOPLE + 700))
        document = await _sync(second, emulator, settings, ttl_days=100, max_body_bytes=10_000)
        calendar = expiry(audience=emulator.audience_id, settings=settings).to_json()
        history = size_history(emulator.audience_id, settings)
        last = find_earlier_report(settings.state_dir, document)
        return BadDay({**document, "history": history}, calendar, last)


async def machine(directory: Path) -> tuple[dict[str, Any], Settings]:
    """Three audiences: one under sync, one with a list that is refused, one with a run that was interrupted."""
    async with Emulator(EmulatorOptions(processing_seconds=30)) as emulator:
        settings = _settings(emulator, directory, SIZES)
        names = {emulator.audience_id: "Customers"}
        async with open_client(settings) as client:
            for name in ("Newsletter", "Spring sale"):
                names[str((await client.create_custom_audience(name=name)).data["id"])] = name
        KnownAudiences(settings.state_dir, settings.account_id).note(names)
        _, newsletter, sale = names
        await _sync(_written(directory / "customers.csv", range(PEOPLE)), emulator, settings, ttl_days=100)
        await _door(emulator, "__clock", {"advance": 60})
        await _sync(_written(directory / "customers.csv", range(3, PEOPLE + 220)), emulator, settings, ttl_days=100)
        source = _written(directory / "newsletter.csv", range(900))
        await upload_async(source, audience=newsletter, settings=settings, country="US")
        source.write_text("email\n" + "no address\n" * 400, encoding="utf-8")
        with contextlib.suppress(AudiencekitError):
            await upload_async(source, audience=newsletter, settings=settings)
        await _door(emulator, "__faults", [{"fault": 22, "nth": 2, "times": 1, "match": {"path": "*/users"}}])
        source = _written(directory / "sale.csv", range(4_000, 5_500))
        with contextlib.suppress(AudiencekitError):
            await upload_async(source, audience=sale, settings=settings, max_body_bytes=40_000)
        return look_at_machine(settings), settings


def _settings(emulator: Emulator, directory: Path, sizes: Iterable[tuple[str, int]]) -> Settings:
    settings = load_settings(emulator.env, directory=directory, state_dir=directory / "state")
    for seen_at, size in sizes:
        AudienceSizes(settings.state_dir, settings.account_id).note(emulator.audience_id, size, seen_at)
    return replace(settings, concurrency=2)


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


def pages(directory: Path) -> dict[str, str]:
    """The pages of the documentation, by the names of their pictures."""
    from audiencekit.cli.output import spelled, spelled_document
    from audiencekit.reporting.page.machine_page import machine_page
    from audiencekit.reporting.page.page import report_page
    from audiencekit.reporting.page.page_parts import View

    (directory / "day").mkdir()
    (directory / "machine").mkdir()
    day = asyncio.run(bad_day(directory / "day", sizes=SIZES))
    document, _ = asyncio.run(machine(directory / "machine"))
    view = View(spelled=spelled)
    return {
        "report.png": report_page(spelled_document(day.document), view, expiry=day.expiry, last=day.last),
        "audiences.png": machine_page(spelled_document(document), View(is_floored=True, spelled=spelled)),
    }


def take_pictures(target: Path) -> None:
    """The tops of these pages in a browser."""
    from tests.browser import Browser

    with tempfile.TemporaryDirectory() as directory, Browser() as browser:
        for name, page in pages(Path(directory)).items():
            file = Path(directory, f"{name}.html")
            file.write_text(page, encoding="utf-8")
            browser.open(file.as_uri())
            browser.resize(*PICTURES[name])
            (target / name).write_bytes(browser.picture(*PICTURES[name]))


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]))
