"""The client of a command: the calls that it makes at the service, by its settings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.dryrun import unsent_told
from audiencekit.cli.output import leave_with
from audiencekit.errors import AudiencekitError, NotFound, ServiceError


def with_words(error: AudiencekitError) -> AudiencekitError:
    """Return `error`, with the service's own words in its hint where they were kept."""
    if isinstance(error, ServiceError) and error.service_words:
        said = f"the service says: {error.service_words}"
        error.hint = f"{error.hint}; {said}" if error.hint else said
    return error


def with_client(ask: Callable[[Any], Awaitable[Any]], *, as_json: bool, dry_run: bool = False) -> Any:
    """Return the answer of `ask` to an AdsClient for the settings. Leaves with the error of a call that failed.

    A dry run leaves with the first request that would change something.
    What the service does not find is not there in this account: the hint says in which, and where to look.
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
