"""`demo`: the main job on the embedded emulator, with nothing to set up."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from audiencekit.cli.command_help import Command
from audiencekit.cli.options import json_option
from audiencekit.cli.output import EXPORT, kernels_warning, leave_with, print_report, suggest, tell
from audiencekit.errors import AudiencekitError

if TYPE_CHECKING:
    from audiencekit.emulator import Emulator
    from audiencekit.emulator.faults.effects import Fault
    from audiencekit.planning.options import Keywords
    from audiencekit.reporting.report import Report


# Invented people; every seventh row has something wrong with it.
FIRST = ("Ada", "Bo", "Cem", "Dita", "Eero", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kaya", "Lev", "Mira", "Noa")
LAST = ("Arden", "Birk", "Colt", "Dahl", "Esser", "Finch", "Grove", "Holm", "Iven", "Jarl", "Keel")
FAULTS = ("not an address", "test@test.com", "", "someone@example", "two@example.com / three@")


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

    from audiencekit.process.cancellation import interruptible

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
    document = report.to_json()
    shown = document if as_json else {**document, "warnings": []}  # they were told a second ago, before it was sent
    print_report(shown, as_json=as_json, is_kept=False)
    if warning := kernels_warning():  # pip says so with -v alone, and this is the command that follows it
        tell(f"note: {warning}")
    suggest("check LIST")
    sys.exit(0)


async def _run(source: Path, state_dir: Path, faults: Sequence[Fault]) -> Report:
    import asyncio

    from audiencekit.cli.command_progress import command_progress
    from audiencekit.emulator import Emulator, EmulatorOptions
    from audiencekit.pipeline import upload_async
    from audiencekit.settings import load_settings

    concurrency = STORM_CONCURRENCY if faults else None
    keywords: Keywords = {"country": "US"}
    if faults:
        keywords["max_body_bytes"] = STORM_BODY_BYTES
    async with Emulator(EmulatorOptions(faults=tuple(faults))) as emulator:
        settings = load_settings(
            emulator.env, directory=state_dir, user_file=False, state_dir=state_dir, concurrency=concurrency
        )
        calm = asyncio.get_running_loop().call_later(STORM_SECONDS, emulator.faults.replace, ())
        try:
            with command_progress(every_seconds=0.0 if faults else None) as progress:
                return await upload_async(
                    source, audience=emulator.audience_id, settings=settings, progress=progress, **keywords
                )
        finally:
            calm.cancel()
            if faults:
                tell(_struck(emulator))


def _struck(emulator: Emulator) -> str:
    """Return the faults that occurred, how often each, and the final number of people."""
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


_NO_SUCH_PORT: Final = frozenset({errno.EADDRINUSE, errno.EACCES})


class Rate(click.ParamType[Any]):
    """N/SECONDS."""

    name = "N/SECONDS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, float]:
        """(requests, seconds)."""
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9}(?:\.\d{1,9})?)", str(value))
        if not found or not int(found[1]) or not float(found[2]):
            self.fail("write N/SECONDS, for example 1500/60", param, ctx)
        return int(found[1]), float(found[2])


@click.command(cls=Command, examples=("emulator --port 8080", "emulator --faults storm"))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on loopback; a free one by default.")
@click.option("--seed", type=int, default=0, show_default=True, help="Ids and credentials follow from it.")
@click.option("--rate", type=Rate(), help="Rate limit of the users endpoints; 1500/60 by default.")
@click.option(
    "--processing-time",
    type=click.IntRange(1, 86_400),
    metavar="SECONDS",
    help="Seconds between two counts of an audience; six hours by default.",
)
@click.option("--sink", is_flag=True, help="Check bodies in bulk and apply nothing: for benchmarks, never for tests.")
@click.option("--profile", default="spec", show_default=True, help="Which service it plays: spec or x.")
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file to keep everything in, and to continue from. It holds hashes.",
)
@click.option(
    "--webhook",
    "webhooks",
    metavar="ID=ADDRESS",
    multiple=True,
    help="Where events of a linked webhook are delivered; repeatable.",
)
@click.option("--webhook-host", metavar="HOST", multiple=True, help="A host of receivers other than this machine.")
@click.option("--track", default="standard", show_default=True, help="Of stream rules: standard, academic, enterprise.")
@click.option("--no-sign-in", is_flag=True, help="The application has its setting for sign-in off.")
@click.option(
    "--outside",
    metavar="NAME",
    multiple=True,
    help="A beta or limited release that no account is let into; repeatable.",
)
@click.option(
    "--user",
    metavar="NAME",
    default="local_user",
    show_default=True,
    help="Whose token the environment has, such as local_analyst.",
)
@click.option("--tls", is_flag=True, help="Serve https, with a certificate of its own authority.")
@click.option(
    "--hosts",
    metavar="NAME,NAME",
    help="With --tls: hosts that the certificate is for, besides localhost and 127.0.0.1.",
)
@click.option(
    "--authority",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIRECTORY",
    help="With --tls: a directory to keep the authority in, so that it is trusted once.",
)
@click.option("--faults", metavar="FILE", help="Faults to inject: a JSON file, or the name of a rehearsal.")
def emulator(processing_time: int | None, faults: str | None, **settings: Any) -> None:
    """Run a local ads API.

    It listens on loopback until SIGTERM. One JSON line on stdout says how to reach it.
    """
    import asyncio

    from audiencekit.emulator import AuthorityError, EmulatorOptions, StateError, serve
    from audiencekit.emulator.endpoints.custom_audiences import PROCESSING_SECONDS

    if settings["sink"] and settings["state"] is not None:
        raise click.UsageError("--sink applies nothing, so it has no --state to keep")
    seconds = processing_time or PROCESSING_SECONDS
    settings["webhooks"] = dict(map(_read_receiver, settings["webhooks"]))
    settings["sign_in"] = not settings.pop("no_sign_in")
    settings["hosts"] = tuple(filter(None, map(str.strip, (settings["hosts"] or "").split(","))))
    settings |= {"webhook_hosts": frozenset(settings.pop("webhook_host")), "outside": frozenset(settings["outside"])}
    try:
        options = EmulatorOptions(processing_seconds=seconds, faults=tuple(faults_of(faults)), **settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        asyncio.run(serve(options, announce=_announce))
    except (AuthorityError, StateError) as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        if settings["port"] == 0 or error.errno not in _NO_SUCH_PORT:
            raise
        why = f"{os.strerror(error.errno)}: give another port, or none for a free one"
        raise click.BadParameter(why, param_hint="--port") from None


def _read_receiver(text: str) -> tuple[str, str]:
    webhook_id, separator, address = text.partition("=")
    if not separator:
        raise click.BadParameter("write ID=ADDRESS", param_hint="--webhook")
    return webhook_id, address


def faults_of(source: str | None) -> list[Fault]:
    """Return the faults that are active from the start. Raises click.BadParameter with the place of an error."""
    from audiencekit.emulator.faults.orders import FaultError, load_faults

    try:
        return load_faults(source) if source is not None else []
    except FaultError as error:
        raise click.BadParameter(f"{source}: {error}", param_hint="--faults") from None
    except OSError as error:
        raise click.BadParameter(f"{source}: {error.strerror}", param_hint="--faults") from None


def _announce(line: str) -> None:
    """Print the JSON line; at a terminal in its place the commands to paste into another shell."""
    import json

    if sys.stdout is None or not sys.stdout.isatty():
        click.echo(line)
        return
    tell("Paste these lines into another terminal, and work there. Ctrl-C here ends the emulator.")
    if (environment := os.environ.get("VIRTUAL_ENV")) and environment == sys.prefix and os.name == "posix":
        tell(f". {shlex.quote(os.path.join(environment, 'bin', 'activate'))}")
    for name, value in json.loads(line)["env"].items():
        tell(f"{EXPORT}{name}={value}")
