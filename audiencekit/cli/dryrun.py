"""`--dry-run`: everything but the requests that change something, and what these would be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol

from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.output import leave_with, print_json, say, tell
from audiencekit.errors import AudiencekitError

if TYPE_CHECKING:
    from audiencekit.api.opening import WouldSend
    from audiencekit.reporting.progress import Progress
    from audiencekit.reporting.report import Plan
    from audiencekit.settings import Settings

DRY_RUN_NOTE: Final = "dry run: nothing was changed"


class Foreseen(Protocol):
    """The doings of a run that is not made."""

    def to_json(self) -> dict[str, Any]:
        """For programs."""

    def to_text(self) -> str:
        """For people."""


def leave_with_dry_plan(
    work: Callable[[Settings, Progress], Coroutine[Any, Any, Plan]], *, as_json: bool, **given: Any
) -> NoReturn:
    """Print the plan that `work` returns, and exit as the run would before its first request."""
    from audiencekit.cli.check import leave_with_plan

    plan = _carried_out(work, as_json=as_json, **given)
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
    """Leave with the request that a dry run does not send inside."""
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
    from audiencekit.cli.commandprogress import command_progress
    from audiencekit.cli.interruption import run_until_interrupted

    try:
        settings = command_settings(**given)
        with command_progress() as progress:
            return run_until_interrupted(work(settings, progress))
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
