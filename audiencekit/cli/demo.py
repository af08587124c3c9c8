"""`demo`: the main job on the embedded emulator, with nothing to set up."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from audiencekit.cli.commandhelp import Command
from audiencekit.cli.options import json_option
from audiencekit.cli.output import leave_with, print_report, tell
from audiencekit.cli.version import kernels_warning
from audiencekit.errors import AudiencekitError

if TYPE_CHECKING:
    from audiencekit.emulator import Emulator
    from audiencekit.emulator.faults.effects import Fault
    from audiencekit.planning.options import Keywords
    from audiencekit.reporting.report import Report

# Invented people; every seventh row has something wrong with it.
FIRST = ("Ada", "Bo", "Cem", "Dita", "Eero", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kaya", "Lev", "Mira", "Noa")
LAST = ("Arden", "Birk", "Colt", "Dahl", "Esser", "Finch", "Grove", "Holm", "Iven", "Jarl", "Keel")
FAULTS = ("not an address", "test@test.com", "", "someone@example", "two@example.com / three@example.com")


STORM_BODY_BYTES = 4_000  # so that a thousand rows are some forty requests, and each fault has its occasion
STORM_CONCURRENCY = 4
STORM_SECONDS = 30.0  # then nothing else strikes, and the run comes to its end


@click.command(cls=Command, examples=("demo", "demo --rows 100000 --faults storm"))
@click.option("--rows", type=click.IntRange(1, 5_000_000), default=1_000, show_default=True, help="Rows to make.")
@click.option("--faults", metavar="FILE", help="Faults on the way: a JSON file, or a rehearsal such as storm.")
@json_option
def demo(rows: int, faults: str | None, as_json: bool) -> None:
    """Try an upload against a local ads API.

    It starts the local service, makes a contact list, uploads it and prints the report.
    """
    import asyncio
    import tempfile

    from audiencekit.process.event_loop import interruptible

    if warning := kernels_warning():  # pip says so with -v alone, and this is the command that follows it
        tell(warning)
    orders = faults_of(faults)
    with tempfile.TemporaryDirectory(prefix="audiencekit-demo-") as directory:
        source = Path(directory) / "contacts.csv"
        with source.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in sample_lines(rows))
        tell(f"made {rows:,} rows of invented people; they go to an emulator on this machine")
        try:
            report = asyncio.run(interruptible(_run(source, Path(directory) / "state", orders)))
        except AudiencekitError as error:
            leave_with(error, as_json=as_json)
    print_report(report.to_json(), as_json=as_json)
    sys.exit(0)


async def _run(source: Path, state_dir: Path, faults: Sequence[Fault]) -> Report:
    import asyncio

    from audiencekit.cli.commandprogress import command_progress
    from audiencekit.emulator import Emulator, EmulatorOptions
    from audiencekit.pipeline import upload_async
    from audiencekit.settings import load_settings

    concurrency = STORM_CONCURRENCY if faults else None
    keywords: Keywords = {"country": "US"}
    if faults:
        keywords["max_body_bytes"] = STORM_BODY_BYTES
    async with Emulator(EmulatorOptions(faults=tuple(faults))) as emulator:
        settings = load_settings(emulator.env, directory=state_dir, state_dir=state_dir, concurrency=concurrency)
        calm = asyncio.get_running_loop().call_later(STORM_SECONDS, emulator.faults.replace, ())
        try:
            with command_progress(every_seconds=0.0 if faults else None) as progress:
                return await upload_async(
                    source, audience_id=emulator.audience_id, settings=settings, progress=progress, **keywords
                )
        finally:
            calm.cancel()
            if faults:
                tell(_struck(emulator))


def _struck(emulator: Emulator) -> str:
    """The faults that struck, how often, and the number of people in the end."""
    from collections import Counter

    from audiencekit.emulator.faults.catalogue import CATALOGUE

    fired = Counter(strike["fault"] for strike in emulator.faults.document()["fired"])
    lines = [f"  {CATALOGUE[number].name:<40}{count:>4}" for number, count in sorted(fired.items())]
    audience = emulator.store.find_audience(emulator.audience_id)
    members = 0 if audience is None else sum(1 for _ in audience.members.members(emulator.clock.now()))
    return "\n".join([f"faults that struck: {fired.total()}", *lines, f"the service has {members:,} people"])


def sample_lines(rows: int) -> Iterator[str]:
    """A header and `rows` lines of CSV: first_name, last_name, email, phone, country."""
    yield "first_name,last_name,email,phone,country"
    for number in range(rows):
        first, last = FIRST[number % len(FIRST)], LAST[number % len(LAST)]
        email = f"{first}.{last}{number}@Example.com"
        phone, country = f"({201 + number % 8 * 100}) 555-{number % 100 + 100:04}", "United States"
        if number % 7 == 6:
            email, phone = FAULTS[number // 7 % len(FAULTS)], ""
        yield f"{first},{last},{email},{phone},{country}"
