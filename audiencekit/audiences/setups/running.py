"""Read this first: the audiences of a setup, one after the other, at one pace; a failure of one leaves the others.

file -> Setup             every rule of it is checked before anything is read or sent
audience -> id            a name is looked up; the account and the audience are told
list -> sync or upload    by the functions that the command line calls
results -> SetupReport    what changed, by audience
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from audiencekit.audiences.naming import audience_id_of
from audiencekit.audiences.setups.document import read_setup
from audiencekit.audiences.setups.result import AudienceResult, SetupReport
from audiencekit.audiences.setups.setup import AudienceSetup
from audiencekit.audiences.synchronisation.sync import plan_sync, sync_async
from audiencekit.delivery.clock import SystemClock
from audiencekit.delivery.limiter import RateLimiter, open_limiter
from audiencekit.delivery.limiter.joint import JointLimiter
from audiencekit.destinations.knownaudiences import KnownAudiences
from audiencekit.errors import AudiencekitError, NotFinished
from audiencekit.machine.eventloop import blocking
from audiencekit.pipeline import check, upload_async
from audiencekit.reporting.progress import Progress, heard_by
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import FilePath

_ALL_ACCOUNTS: Final = "all accounts"  # no account is called so


async def run_setup_async(
    setup: FilePath,
    names: Iterable[str] | None = None,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> SetupReport:
    """Carry out the audiences of the setup file `setup`, all or those of `names`; the report of all, when complete.

    They are carried out one after the other at one pace, each in its account. When one fails, the others are carried
    out all the same; then the worst failure is raised, with what became of each as `document`. Raises DefinitionRefused
    for a setup that breaks rules, and UsageError for an unknown name, before anything is sent.
    """
    settings = settings or load_settings(file=Path(setup))
    report = await carry_out(read_setup(Path(setup)).chosen(names), settings, heard_by(progress))
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
    """Make the plans of `run_setup`: what each list would change. Sends nothing, and needs no credentials.

    An audience that is named, and not given by its id, must be one that this machine has seen. A failure is a result
    here, and is not raised. Raises DefinitionRefused, and UsageError for an unknown name.
    """
    settings = settings or load_settings(file=Path(setup))
    chosen = read_setup(Path(setup)).chosen(names)
    return SetupReport(tuple(_planned(one, _settings_of(one, settings), heard_by(progress)) for one in chosen))


async def carry_out(chosen: Iterable[AudienceSetup], settings: Settings, progress: Progress) -> SetupReport:
    """The report of `chosen`. A failure is a result; after a cancellation the rest is not begun."""
    found: list[AudienceResult] = []
    for one in chosen:
        own = _settings_of(one, settings)
        if _is_cancelled():
            found.append(AudienceResult(setup=one, account_id=own.account_id or ""))
        else:
            found.append(await _carried_out(one, own, settings, _Named(progress, one.name)))
    return SetupReport(tuple(found))


async def _carried_out(one: AudienceSetup, own: Settings, settings: Settings, progress: _Named) -> AudienceResult:
    audience_id = ""
    try:
        own.require_account()
        audience_id = await audience_id_of(one.audience, own)
        progress.tell(_told(one, audience_id, own))
        work = sync_async if one.command == "sync" else upload_async
        async with _one_pace(own, settings) as pace:
            report = await work(
                one.sources, audience_id=audience_id, settings=own, progress=progress, limiter=pace, **one.keywords
            )
        return AudienceResult(setup=one, account_id=own.require_account(), audience_id=audience_id, report=report)
    except asyncio.CancelledError:
        error: AudiencekitError = NotFinished("interrupted")
        error.document = {"state": "incomplete"}
    except AudiencekitError as failure:
        error = failure.bare()
    return AudienceResult(setup=one, account_id=own.account_id or "", audience_id=audience_id, error=error)


def _planned(one: AudienceSetup, own: Settings, progress: Progress) -> AudienceResult:
    named, audience_id = _Named(progress, one.name), ""
    try:
        audience_id = KnownAudiences(own.state_dir, own.account_id).find(one.audience)
        look = functools.partial(plan_sync, audience_id=audience_id) if one.command == "sync" else check
        plan = look(one.sources, settings=own, progress=named, **one.keywords)
        return AudienceResult(setup=one, account_id=own.account_id or "", audience_id=audience_id, plan=plan)
    except AudiencekitError as failure:
        error = failure.bare()
    return AudienceResult(setup=one, account_id=own.account_id or "", audience_id=audience_id, error=error)


def _settings_of(one: AudienceSetup, settings: Settings) -> Settings:
    return settings if one.account_id is None else replace(settings, account_id=one.account_id)


def _told(one: AudienceSetup, audience_id: str, settings: Settings) -> str:
    """The account and the audience, before anything is sent."""
    name = KnownAudiences(settings.state_dir, settings.account_id).names().get(audience_id)
    called = f" {name!r}" if name else ""
    account = f"account {settings.account_id}" + (f" ({one.account})" if one.account else "")
    return f"{one.operation} of audience {audience_id}{called} in {account}"


@asynccontextmanager
async def _one_pace(own: Settings, settings: Settings) -> AsyncIterator[RateLimiter]:
    """The limiter of an account, and the pace that all accounts keep together, with other processes, too."""
    clock = SystemClock()
    everywhere = replace(settings, account_id=_ALL_ACCOUNTS)
    async with open_limiter(everywhere, clock=clock) as common, open_limiter(own, clock=clock) as alone:
        yield JointLimiter(alone, common)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _Named:
    """Progress whose stages and messages say which audience they are about."""

    def __init__(self, progress: Progress, name: str) -> None:
        self._progress, self._name = progress, name

    def tell(self, message: str) -> None:
        """Pass the message on, with the name."""
        self._progress.tell(f"{self._name}: {message}")

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Pass the step on, with the name."""
        self._progress.step(f"{self._name}: {stage}", done, total, unit=unit, also=also)


def described(chosen: Iterable[AudienceSetup], settings: Settings) -> list[dict[str, Any]]:
    """The audiences of a setup for people: what would be carried out, on what."""
    return [
        {
            "name": one.name,
            "operation": one.operation,
            "sources": [str(path) for path in one.sources],
            "audience": one.audience,
            "account": one.account,
            "account_id": _settings_of(one, settings).account_id,
            "schedule": one.schedule or None,
        }
        for one in chosen
    ]
