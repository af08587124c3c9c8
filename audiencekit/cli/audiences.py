"""`audiences`: the custom audiences of the account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.client import with_client
from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import allow_name_option, dry_run_option, json_option
from audiencekit.cli.output import leave_with, print_json, print_told, say, suggest, tell, terminal_width
from audiencekit.cli.settings import audience_argument, audience_id_of, confirm, note_audiences, require_terminal
from audiencekit.errors import AudiencekitError, PlanRefused, UsageError
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.audiences.match_rate import Readiness


@click.group(cls=CommandGroup)
def audiences() -> None:
    """Create, list, show and delete audiences."""


@audiences.command("list", examples=("audiences list", "audiences list --query Spring"))
@click.option("--query", metavar="TEXT", help="Names that start with TEXT.")
@click.option("--with-deleted", is_flag=True, help="Deleted ones too.")
@json_option
def list_audiences(query: str | None, with_deleted: bool, as_json: bool) -> None:
    """List the audiences."""

    async def ask(client: Any) -> list[dict[str, Any]]:
        pages = client.iterate_custom_audiences(q=query, with_deleted=with_deleted or None)
        return [audience async for page in pages for audience in page.data]

    found = with_client(ask, as_json=as_json)
    note_audiences(found)
    if as_json:
        print_json(found)
    elif found:
        from audiencekit.reporting.text import render_table

        rows = [(shown(each["id"]), repr(each["name"]), _size(each), _state(each)) for each in found]
        say(render_table(("id", "name", "size", "state"), rows, numbers={"size"}, width=terminal_width()))
    else:
        tell("no audiences yet" if query is None else "no audience matches")


@audiences.command("show", examples=("audiences show h1ab2", "audiences show h1ab2 --json"))
@audience_argument
@json_option
def show_audience(audience: str, as_json: bool) -> None:
    """Show one audience."""

    audience_id = _id_of(audience, as_json=as_json)

    async def ask(client: Any) -> dict[str, Any]:
        return dict((await client.get_custom_audience(audience_id)).data)

    _print(with_client(ask, as_json=as_json), as_json)


@audiences.command(
    "create",
    examples=('audiences create "Spring customers"', 'audiences create Leads --description "Fair of 2026"'),
)
@click.argument("name")
@click.option("--description")
@allow_name_option
@dry_run_option
@json_option
def create_audience(name: str, description: str | None, allow_name: bool, dry_run: bool, as_json: bool) -> None:
    """Create an audience.

    A name that holds an address or a phone number is refused.
    """
    from audiencekit.destinations.audience_names import check_name
    from audiencekit.destinations.known_audiences import create_audience

    async def ask(client: Any) -> dict[str, Any]:
        return await create_audience(client, name, description)

    try:
        notes = check_name(name, description, allow=allow_name)
    except PlanRefused as error:
        leave_with(error, as_json=as_json)
    for note in notes:
        tell(f"note: {note}")
    _print(with_client(ask, as_json=as_json, dry_run=dry_run), as_json)
    suggest("upload LIST --audience", name)


@audiences.command("wait", examples=("audiences wait h1ab2", "audiences wait h1ab2 --timeout 8h --interval 10m"))
@audience_argument
@click.option("--timeout", default="48h", show_default=True, help="Give up after this long, such as 30m or 8h.")
@click.option("--interval", default="5m", show_default=True, help="Ask this often.")
@json_option
def wait_for_audience(audience: str, timeout: str, interval: str, as_json: bool) -> None:
    """Wait until an audience can be targeted.

    It says why the audience cannot be targeted yet.
    """
    from audiencekit.audiences.match_rate import wait_until_targetable
    from audiencekit.delivery.retry import SystemClock
    from audiencekit.durations import parse_duration

    limit, every = parse_duration(timeout, "--timeout"), parse_duration(interval, "--interval")
    if not every:
        raise UsageError("--interval must be longer than 0")
    audience_id = _id_of(audience, as_json=as_json)

    async def ask(client: Any) -> Readiness:
        return await wait_until_targetable(
            client,
            audience_id,
            clock=SystemClock(),
            timeout=limit,
            interval=every,
            on_state=lambda readiness: tell(readiness.to_text()),
        )

    _print_health(with_client(ask, as_json=as_json), as_json=as_json)


@audiences.command("health", examples=("audiences health h1ab2", "audiences health h1ab2 --json"))
@audience_argument
@json_option
def show_health(audience: str, as_json: bool) -> None:
    """Show the match rate of an audience.

    The match rate is users active in 90 days over users provided.
    """
    from audiencekit.audiences.match_rate import read_readiness

    audience_id = _id_of(audience, as_json=as_json)

    async def ask(client: Any) -> Readiness:
        return await read_readiness(client, audience_id)

    _print_health(with_client(ask, as_json=as_json), as_json=as_json)


def _print_health(readiness: Readiness, *, as_json: bool) -> None:
    from audiencekit.audiences.match_rate import Health, size_history

    settings = command_settings()
    health = Health.of(readiness, settings)
    if as_json:
        print_told({**health.to_json(), "history": size_history(readiness.audience_id, settings)})
    else:
        say(health.to_text())


@audiences.command("delete", examples=("audiences delete h1ab2", "audiences delete h1ab2 --yes"))
@audience_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@dry_run_option
@json_option
def delete_audience(audience: str, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Delete an audience.

    Its name cannot be used again.
    """

    if not yes and not dry_run:
        require_terminal()
    audience_id = _id_of(audience, as_json=as_json)

    async def find(client: Any) -> dict[str, Any]:
        return dict((await client.get_custom_audience(audience_id)).data)

    async def ask(client: Any) -> dict[str, Any]:
        return dict((await client.delete_custom_audience(audience_id)).data)

    if dry_run:
        with_client(find, as_json=as_json)  # one that is not there is told
    elif not yes:
        found = with_client(find, as_json=as_json)
        confirm(f"Delete audience {audience_id}, {found['name']!r}, size {_size(found)}? It cannot be undone.")

    _print(with_client(ask, as_json=as_json, dry_run=dry_run), as_json)


def _id_of(audience: str, *, as_json: bool) -> str:
    import asyncio

    try:
        return asyncio.run(audience_id_of(audience, command_settings()))
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)


def _print(audience: dict[str, Any], as_json: bool) -> None:
    note_audiences([audience])
    if as_json:
        print_json(audience)
    else:
        say(_line(audience))


def _line(audience: dict[str, Any]) -> str:
    return f"{shown(audience['id'])}  {_state(audience)}  size {_size(audience)}  {audience['name']!r}"


def _state(audience: dict[str, Any]) -> str:
    state = "deleted" if audience.get("deleted") else "targetable" if audience.get("targetable") else "not targetable"
    reasons = ", ".join(map(shown, audience.get("reasons_not_targetable") or ()))
    return f"{state} ({reasons})" if reasons else state


def _size(audience: dict[str, Any]) -> str:
    size = audience.get("audience_size")
    return "unknown" if size is None else shown(size)
