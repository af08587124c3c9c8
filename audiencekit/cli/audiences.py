"""`audiences`: the custom audiences of the account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.audited import audited
from audiencekit.cli.client import with_client
from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import allow_name_option, dry_run_option, json_option
from audiencekit.cli.output import insist, leave_with, print_json, print_told, say, suggest, tell, terminal_width
from audiencekit.cli.settings import audience_argument, audience_id_of, confirm, note_audiences, require_terminal
from audiencekit.errors import AudiencekitError, PlanRefused, Refused, UsageError
from audiencekit.service_words import ID_HINT, is_service_id
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.audiences.audience_use import AudienceUse
    from audiencekit.audiences.match_rate import Readiness


@click.group(cls=CommandGroup)
def audiences() -> None:
    """Create, show, rename, share and delete audiences."""


@audiences.command("list", examples=("audiences list", "audiences list --query Spring"))
@click.option("--query", metavar="TEXT", help="Names that start with TEXT.")
@click.option("--with-deleted", is_flag=True, help="Deleted ones too.")
@json_option
def list_audiences(query: str | None, with_deleted: bool, as_json: bool) -> None:
    """List the audiences."""

    async def ask(client: Any) -> list[dict[str, Any]]:
        pages = client.iterate_custom_audiences(q=query, with_deleted=with_deleted or None)
        return [audience async for page in pages for audience in page.data]

    print_audiences(
        with_client(ask, as_json=as_json),
        as_json=as_json,
        without="no audiences yet" if query is None else "no audience matches",
    )


def print_audiences(found: list[dict[str, Any]], *, as_json: bool, without: str) -> None:
    """Print one line for each audience, cut to the width of the terminal, or that there are none. Store their names."""
    from audiencekit.reporting.text import render_table

    note_audiences(found)
    if as_json:
        print_json(found)
        return
    if not found:
        tell(without)
        return
    rows = [(shown(each["id"]), repr(each["name"]), _size(each), _state(each)) for each in found]
    say(render_table(("id", "name", "size", "state"), rows, numbers={"size"}, width=terminal_width()))


@audiences.command("show", examples=("audiences show h1ab2", 'audiences show "Spring customers" --used'))
@audience_argument
@click.option("--used", is_flag=True, help="Also what uses it: line items, accounts, flexible audiences.")
@json_option
def show_audience(audience: str, used: bool, as_json: bool) -> None:
    """Show one audience."""
    found = find_audience(audience, as_json=as_json)
    if not used:
        _print(found, as_json)
        return
    use = _use_of(found, as_json=as_json)
    if as_json:
        print_json({**found, "used_by": use.to_json()})
    else:
        say(f"{audience_line(found)}\n{use.to_text()}")


def find_audience(given: str, *, as_json: bool) -> dict[str, Any]:
    """Return the audience as the service shows it, or leave with the error."""
    audience_id = _id_of(given, as_json=as_json)

    async def ask(client: Any) -> dict[str, Any]:
        return dict((await client.get_custom_audience(audience_id)).data)

    found: dict[str, Any] = with_client(ask, as_json=as_json)
    note_audiences([found])
    return found


def _use_of(audience: dict[str, Any], *, as_json: bool) -> AudienceUse:
    from audiencekit.audiences.audience_use import read_use

    async def ask(client: Any) -> AudienceUse:
        return await read_use(client, audience, command_settings())

    found: AudienceUse = with_client(ask, as_json=as_json)
    return found


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
    from audiencekit.destinations.known_audiences import create_audience

    async def ask(client: Any) -> dict[str, Any]:
        return await create_audience(client, name, description)

    _check_name(name, description, allow=allow_name, as_json=as_json)
    _print(with_client(ask, as_json=as_json, dry_run=dry_run), as_json)
    suggest("upload LIST --audience", name)


def _check_name(name: str, description: str | None, *, allow: bool, as_json: bool) -> None:
    from audiencekit.destinations.audience_names import check_name

    try:
        notes = check_name(name, description, allow=allow)
    except PlanRefused as error:
        leave_with(error, as_json=as_json)
    for note in notes:
        tell(f"note: {note}")


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

    Its name cannot be used again. What uses it is shown before the question.
    """
    audience_id = _id_of(audience, as_json=as_json)

    async def ask(client: Any) -> dict[str, Any]:
        return dict((await client.delete_custom_audience(audience_id)).data)

    if dry_run:
        find_audience(audience_id, as_json=as_json)  # one that is not there is told
    elif not yes:
        found = find_audience(audience_id, as_json=as_json)
        require_terminal()
        insist(_use_of(found, as_json=as_json).to_text())
        what = f"audience {audience_id}, {found['name']!r}, size {_size(found)}"
        confirm(f"Delete {what}? It cannot be undone, and its name cannot be used again.")

    with audited("audiences delete", dry_run=dry_run, target=_target(audience_id)):
        deleted = with_client(ask, as_json=as_json, dry_run=dry_run)
    _print(deleted, as_json)


@audiences.command(
    "rename", examples=('audiences rename h1ab2 "Spring customers"', "audiences rename Spring Autumn --dry-run")
)
@audience_argument
@click.argument("name")
@allow_name_option
@dry_run_option
@json_option
def rename_audience(audience: str, name: str, allow_name: bool, dry_run: bool, as_json: bool) -> None:
    """Give an audience another name.

    A flexible audience cannot be renamed.
    """
    from audiencekit.audiences.audience_use import FLEXIBLE
    from audiencekit.destinations.known_audiences import rename_audience as rename

    _check_name(name, None, allow=allow_name, as_json=as_json)
    found = find_audience(audience, as_json=as_json)
    if found.get("audience_type") == FLEXIBLE:
        hint = "create another, and delete this one"
        leave_with(Refused("a flexible audience cannot be changed, nor renamed", hint=hint), as_json=as_json)

    async def ask(client: Any) -> dict[str, Any]:
        return {**found, **await rename(client, found["id"], name)}

    with audited("audiences rename", dry_run=dry_run, target=_target(found["id"])):
        renamed = with_client(ask, as_json=as_json, dry_run=dry_run)
    _print(renamed, as_json)


_account_argument = click.argument("account", metavar="ACCOUNT")


@audiences.command("share", examples=("audiences share h1ab2 18ce54d4x5t", "audiences share h1ab2 18ce54d4x5t --write"))
@audience_argument
@_account_argument
@click.option("--write", is_flag=True, help="The account may also put people in and take them out.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@dry_run_option
@json_option
def share_audience(audience: str, account: str, write: bool, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Let another account use an audience.

    ACCOUNT is its id. It may target the audience; with --write it may change who is in it.
    """
    _check_account(account)
    found = find_audience(audience, as_json=as_json)
    if not yes and not dry_run:
        may = "target it, put people in and take them out" if write else "target it"
        confirm(f"Share audience {found['id']}, {found['name']!r}, with account {account}, which may then {may}?")

    async def ask(client: Any) -> dict[str, Any]:
        level = "READ_WRITE" if write else "READ_ONLY"
        return dict((await client.grant_permission(found["id"], account_id=account, level=level)).data)

    with audited("audiences share", dry_run=dry_run, target=_target(found["id"]), recipient=account, write=write):
        permission = with_client(ask, as_json=as_json, dry_run=dry_run)
    _print_permission(permission, "shared with", as_json=as_json)


@audiences.command(
    "unshare", examples=("audiences unshare h1ab2 18ce54d4x5t", "audiences unshare h1ab2 18ce54d4x5t --dry-run")
)
@audience_argument
@_account_argument
@dry_run_option
@json_option
def unshare_audience(audience: str, account: str, dry_run: bool, as_json: bool) -> None:
    """Take the permission of another account back.

    Campaigns of that account which run go on with the audience.
    """
    _check_account(account)
    audience_id = _id_of(audience, as_json=as_json)

    async def ask(client: Any) -> dict[str, Any]:
        for permission in (await client.list_permissions(audience_id, granted_account_ids=[account])).data:
            return dict((await client.revoke_permission(audience_id, permission["id"])).data)
        hint = "`audiencekit audiences show ID --used` shows its permissions"
        raise Refused(f"audience {audience_id} is not shared with account {account}", hint=hint)

    with audited("audiences unshare", dry_run=dry_run, target=_target(audience_id), recipient=account):
        permission = with_client(ask, as_json=as_json, dry_run=dry_run)
    _print_permission(permission, "no longer shared with", as_json=as_json)


def _target(audience_id: str) -> dict[str, str]:
    """The audience as the audit log names it: its name may say something about its members."""
    return {"kind": "audience", "id": audience_id}


def _check_account(account: str) -> None:
    if not is_service_id(account):
        raise UsageError("the account is not an id of this service", hint=ID_HINT)


def _print_permission(permission: dict[str, Any], state: str, *, as_json: bool) -> None:
    if as_json:
        print_json(permission)
    else:
        level = shown(str(permission["permission_level"]).lower().replace("_", " "))
        say(f"{state} account {shown(permission['granted_account_id'])}, {level}")


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
        say(audience_line(audience))


def audience_line(audience: dict[str, Any]) -> str:
    """The id, state, size and name of an audience."""
    return f"{shown(audience['id'])}  {_state(audience)}  size {_size(audience)}  {audience['name']!r}"


def _state(audience: dict[str, Any]) -> str:
    state = "deleted" if audience.get("deleted") else "targetable" if audience.get("targetable") else "not targetable"
    reasons = ", ".join(map(shown, audience.get("reasons_not_targetable") or ()))
    return f"{state} ({reasons})" if reasons else state


def _size(audience: dict[str, Any]) -> str:
    size = audience.get("audience_size")
    return "unknown" if size is None else shown(size)
