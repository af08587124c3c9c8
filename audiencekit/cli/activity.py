"""`activity`: subscribe to events of people, and follow them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.client import unsent_told
from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import dry_run_option, json_option
from audiencekit.cli.output import leave_with, print_json, say, say_json, tell
from audiencekit.errors import AudiencekitError
from audiencekit.limits import MAX_BACKFILL_MINUTES
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.api.answers import Answer
    from audiencekit.api.client import AdsClient


@click.group(cls=CommandGroup)
def activity() -> None:
    """Follow what happens to people at the service."""


@activity.command(
    "subscribe", examples=("activity subscribe", "activity subscribe --event-type dm.received --keyword help")
)
@click.option("--event-type", metavar="NAME", help="A type such as profile.update.bio; by default every type.")
@click.option("--user", metavar="ID", help="The person whose events these are; by default the application's own.")
@click.option("--keyword", metavar="TEXT", help="Only events with it.")
@click.option("--direction", type=click.Choice(("sent", "received", "both")), help="Of messages and chats.")
@dry_run_option
@json_option
def subscribe(
    event_type: str | None, user: str | None, keyword: str | None, direction: str | None, dry_run: bool, as_json: bool
) -> None:
    """Subscribe to events.

    The service keeps the subscription; `activity follow` prints its events.
    """
    import asyncio
    from dataclasses import asdict

    async def ask(client: AdsClient) -> Answer:
        return await client.subscribe_to_activity(
            event_type=event_type, user_id=user, keyword=keyword, direction=direction
        )

    try:
        with unsent_told(as_json=as_json):
            answer = asyncio.run(_ask(ask, dry_run=dry_run))
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    if as_json:
        print_json(asdict(answer))
    else:
        subscribed_to = answer.data.get("event_type") or "every type"
        say(f"subscribed to {shown(str(subscribed_to))}; `audiencekit activity follow` prints the events")


@activity.command("follow", examples=("activity follow", "activity follow --backfill-minutes 5"))
@click.option(
    "--backfill-minutes",
    type=click.IntRange(1, MAX_BACKFILL_MINUTES),
    metavar="N",
    help="Begin with the events of so long before.",
)
def follow(backfill_minutes: int | None) -> None:
    """Print events as they happen.

    One JSON object a line, of all subscriptions, until Ctrl-C.
    """
    import asyncio

    try:
        asyncio.run(_follow(backfill_minutes))
    except AudiencekitError as error:
        leave_with(error, as_json=False)


async def _ask(ask: Callable[[AdsClient], Awaitable[Answer]], *, dry_run: bool) -> Answer:
    from audiencekit.api.opening import open_calls

    async with open_calls(command_settings(), dry_run=dry_run) as client:
        return await ask(client)


async def _follow(backfill_minutes: int | None) -> None:
    """Print until a signal asks for the end."""
    import asyncio
    import signal

    from audiencekit.api.opening import open_calls
    from audiencekit.process.loop_signals import on_ending

    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None  # noqa: S101
    for ending in (signal.SIGINT, signal.SIGTERM):
        on_ending(loop, ending, task.cancel)
    told = 0
    try:
        async with open_calls(command_settings()) as client:
            async for event in client.follow_activity(backfill_minutes=backfill_minutes, notice=tell):
                _print(event.document)
                told += 1
    except asyncio.CancelledError:
        tell(f"ended; {told} events")


def _print(document: Any) -> None:
    import json

    say_json(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
