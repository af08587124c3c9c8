"""The API client of a command, made from its settings."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.output import leave_with, print_json, say, tell
from audiencekit.errors import AudiencekitError, NotFound, ServiceError

if TYPE_CHECKING:
    from audiencekit.api.opening import WouldSend
    from audiencekit.reporting.progress import Progress
    from audiencekit.reporting.report import Plan
    from audiencekit.settings import Settings


def with_words(error: AudiencekitError) -> AudiencekitError:
    """Return `error`, with the service's own words in its hint where they were kept."""
    if isinstance(error, ServiceError) and error.service_words:
        said = f"the service says: {error.service_words}"
        error.hint = f"{error.hint}; {said}" if error.hint else said
    return error


def with_client(ask: Callable[[Any], Awaitable[Any]], *, as_json: bool, dry_run: bool = False) -> Any:
    """Return the answer of `ask` to an AdsClient for the settings. Leaves with the error of a call that failed.

    A dry run leaves with the first request that would change something.
    The hint of a NotFound names the account, and where to look.
    """
    import asyncio

    from audiencekit.api.opening import open_client

    async def run() -> Any:
        async with open_client(command_settings(), dry_run=dry_run) as client:
            return await ask(client)

    try:
        with unsent_told(as_json=as_json):
            return asyncio.run(run())
    except NotFound as error:
        account = command_settings().account_id
        error.hint = f"account {account} does not have it; `audiencekit audiences list` shows the audiences that it has"
        leave_with(error, as_json=as_json)
    except AudiencekitError as error:
        leave_with(with_words(error), as_json=as_json)


DRY_RUN_NOTE: Final = "dry run: nothing was changed"


class Foreseen(Protocol):
    """The changes that a run would make."""

    def to_json(self) -> dict[str, Any]:
        """For programs."""

    def to_text(self) -> str:
        """For people."""


def leave_with_dry_plan(
    work: Callable[[Settings, Progress], Coroutine[Any, Any, Plan]],
    *,
    as_json: bool,
    notify: str | None,
    notify_on: tuple[str, ...],
    events: str | None,
    **given: Any,
) -> NoReturn:
    """Print the plan that `work` returns, and exit with the code that the run would have before its first request.

    The receiver, the rules and the events are checked as those of a run, and not used.
    """
    from audiencekit.cli.check import leave_with_plan
    from audiencekit.cli.notifying import Notifying, command_name
    from audiencekit.cli.sending_commands import refuse_events_with_json

    refuse_events_with_json(events, as_json=as_json)

    def checked(settings: Settings, progress: Progress) -> Coroutine[Any, Any, Plan]:
        Notifying.of(settings, command_name(), notify, notify_on)
        return work(settings, progress)

    plan = _carried_out(checked, as_json=as_json, events=events, **given)
    tell(DRY_RUN_NOTE)
    leave_with_plan(plan, as_json=as_json)


def leave_with_foreseen(
    work: Callable[[Settings, Progress], Coroutine[Any, Any, Foreseen]], *, as_json: bool, **given: Any
) -> NoReturn:
    """Print what `work` returns, and leave."""
    foreseen = _carried_out(work, as_json=as_json, **given)
    tell(DRY_RUN_NOTE)
    if as_json:
        print_json({"dry_run": True, **foreseen.to_json()})
    else:
        say(foreseen.to_text())
    sys.exit(0)


@contextmanager
def unsent_told(*, as_json: bool) -> Iterator[None]:
    """When a dry run stops at a request, print this request and leave."""
    from audiencekit.api.opening import WouldSend

    try:
        yield
    except WouldSend as unsent:
        _leave_with_unsent(unsent, as_json=as_json)


def _leave_with_unsent(unsent: WouldSend, *, as_json: bool) -> NoReturn:
    tell(DRY_RUN_NOTE)
    if as_json:
        print_json({"dry_run": True, "would_send": unsent.to_json()})
    else:
        parameters = f" ({', '.join(unsent.parameters)})" if unsent.parameters else ""
        body = f", body of {unsent.body_bytes:,} bytes" if unsent.body_bytes else ""
        say(f"would send: {unsent.method} {unsent.path}{parameters}{body}")
    sys.exit(0)


def _carried_out(work: Callable[[Settings, Progress], Coroutine[Any, Any, Any]], *, as_json: bool, **given: Any) -> Any:
    from audiencekit.cli.command_progress import command_progress
    from audiencekit.cli.interruption import run_until_interrupted

    try:
        settings = command_settings(**given)
        with command_progress() as progress:
            return run_until_interrupted(work(settings, progress))
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
