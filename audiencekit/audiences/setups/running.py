"""Run a setup: its audiences one after the other, at one pace; a failure of one does not stop the others.

file -> Setup             every rule of it is checked before anything is read or sent
names -> ids              two lists that sync one audience, by id or by name, are refused
audience -> id            a name is looked up; the account and the audience are shown
list -> report or plan    by the functions that the command line calls
results -> SetupReport    the changes by audience
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from audiencekit.audiences.setups.document import read_setup
from audiencekit.audiences.setups.not_begun import note_beginning
from audiencekit.audiences.setups.one_audience import (
    AudienceResult,
    Made,
    SetupReport,
    look_up_conflicts,
    plan_audience,
    preview_audience,
    refuse_conflicts,
    send_audience,
)
from audiencekit.audiences.setups.setup import AudienceSetup, Setup
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.errors import AudiencekitError, NotFinished
from audiencekit.process.cancellation import cancellable, interruptible
from audiencekit.process.event_loop import blocking
from audiencekit.reporting.progress import Progress, progress_or_default
from audiencekit.runs.journal.facts import SYNC, repeat_command
from audiencekit.runs.start import audience_id_of
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import FilePath

_Make: TypeAlias = Callable[[AudienceSetup, str, Progress], Awaitable[Made]]


@cancellable
async def run_setup_async(
    setup: FilePath,
    names: Iterable[str] | None = None,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> SetupReport:
    """Fill the audiences of the setup file `setup`, all or those of `names`; return the report when all are complete.

    They run one after the other at one pace, each in its account. When one fails, the others still run; then the worst
    failure is raised, with the results of all as `document`. Raises DefinitionRefused for a setup that breaks rules,
    and UsageError for an unknown name, before anything is sent.
    """
    settings = settings or load_settings(file=Path(setup))
    report = await carry_out(read_setup(Path(setup)), names, settings, progress_or_default(progress))
    worst = report.worst
    if worst is None:
        return report
    error = worst.error or NotFinished(f"{worst.setup.name} was not begun")
    error.document = report.to_json()
    raise error


run_setup = blocking(run_setup_async)


def plan_setup(
    setup: FilePath,
    names: Iterable[str] | None = None,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> SetupReport:
    """Make the plans of `run_setup`, without sending. Needs no credentials.

    An audience that is given by its name must have been used on this machine before. The failure of one list is a
    result, and is not raised. Raises DefinitionRefused, and UsageError for an unknown name.
    """
    settings = settings or load_settings(file=Path(setup))
    found = read_setup(Path(setup))
    chosen = found.chosen(names)
    refuse_conflicts(found, settings, {})
    return SetupReport(tuple(_planned(one, one.settings(settings), progress_or_default(progress)) for one in chosen))


async def carry_out(
    setup: Setup, names: Iterable[str] | None, settings: Settings, progress: Progress, *, dry_run: bool = False
) -> SetupReport:
    """Return the report of all audiences, or those of `names`. A failure is a result; a cancellation skips the rest.

    A dry run checks each audience, and plans what it would send. Raises DefinitionRefused for two lists that sync one
    audience, before anything is sent.
    """
    chosen = setup.chosen(names)
    answers = await look_up_conflicts(setup, chosen, settings)
    refuse_conflicts(setup, settings, answers)
    found: list[AudienceResult] = []
    is_interrupted = False
    for one in chosen:
        own = one.settings(settings)
        if is_interrupted:
            found.append(AudienceResult(setup=one, account_id=own.account_id or ""))
            continue
        make = functools.partial(preview_audience if dry_run else send_audience, own=own)
        work = _carried_out(one, own, _NamedProgress(progress, one.name), make, answers.get(one.name))
        result, is_interrupted = await _run_to_end(work)
        if not dry_run:
            note_beginning(own.state_dir, setup.path, result)
        found.append(result)
    return SetupReport(tuple(found))


async def _run_to_end(work: Coroutine[Any, Any, AudienceResult]) -> tuple[AudienceResult, bool]:
    """Return the result of `work`, and whether it was cancelled meanwhile.

    A run that ends well takes a cancellation back. Every cancellation is passed to the work, since a second one ends it
    at once.
    """
    working, is_interrupted = asyncio.ensure_future(interruptible(work)), False
    while not working.done():
        try:
            await asyncio.wait([working])
        except asyncio.CancelledError:
            is_interrupted = True
            working.cancel()
    return working.result(), is_interrupted


async def _carried_out(
    one: AudienceSetup, own: Settings, progress: _NamedProgress, make: _Make, answer: str | AudiencekitError | None
) -> AudienceResult:
    """Return the result of one audience. `make` makes its report or plan; `answer` is its id, if it was looked up."""
    audience_id = ""
    try:
        account_id = own.require_account()
        if isinstance(answer, AudiencekitError):
            raise answer
        if one.audience:
            audience_id = answer or await audience_id_of(one.audience, own)
        progress.begin(_target_line(one, audience_id, own), audience_id)
        made = await make(one, audience_id, progress)
        return AudienceResult(setup=one, account_id=account_id, audience_id=audience_id, **made)
    except asyncio.CancelledError:
        error: AudiencekitError = NotFinished("interrupted")
        error.document = {"state": "incomplete"}
    except AudiencekitError as failure:
        error = failure.bare()
    return AudienceResult(setup=one, account_id=own.account_id or "", audience_id=audience_id, error=error)


def _planned(one: AudienceSetup, own: Settings, progress: Progress) -> AudienceResult:
    named, audience_id = _NamedProgress(progress, one.name), ""
    try:
        if one.audience:
            audience_id = KnownAudiences(own.state_dir, own.account_id).find(one.audience)
        made = plan_audience(one, audience_id, named, own)
        return AudienceResult(setup=one, account_id=own.account_id or "", audience_id=audience_id, **made)
    except AudiencekitError as failure:
        error = failure.bare()
    return AudienceResult(setup=one, account_id=own.account_id or "", audience_id=audience_id, error=error)


def _target_line(one: AudienceSetup, audience_id: str, settings: Settings) -> str:
    """Return the account and the audience, shown before anything is sent."""
    account = f"account {settings.account_id}" + (f" ({one.account})" if one.account else "")
    if not audience_id:
        return f"{one.operation} of the do-not-reach list in {account}"
    name = KnownAudiences(settings.state_dir, settings.account_id).names().get(audience_id)
    called = f" {name!r}" if name else ""
    return f"{one.operation} of audience {audience_id}{called} in {account}"


class _NamedProgress:
    """A progress whose stages and messages name their audience, and the command that the setup was run with."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress, self._name, self._audience_id = progress, name, ""

    def begin(self, message: str, audience_id: str) -> None:
        """Pass the first message on; what follows is about the audience `audience_id`."""
        self._audience_id = audience_id
        self.tell(message)

    def tell(self, message: str) -> None:
        """Pass the message on, with the name. `audiencekit run NAME` continues a sync, with the list of the setup."""
        message = message.replace(repeat_command(SYNC, self._audience_id), f"`audiencekit run {self._name}`")
        self._progress.tell(f"{self._name}: {message}")

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Pass the step on, with the name."""
        self._progress.step(f"{self._name}: {stage}", done, total, unit=unit, also=also)


def describe_setup(chosen: Iterable[AudienceSetup], settings: Settings) -> list[dict[str, Any]]:
    """Return the audiences of a setup for people: the command and the target of each."""
    return [
        {
            "name": one.name,
            "command": one.command,
            "operation": one.operation,
            "sources": [str(path) for path in one.sources],
            "audience": one.audience or None,
            "account": one.account,
            "account_id": one.settings(settings).account_id,
            "schedule": one.schedule or None,
        }
        for one in chosen
    ]
