"""`flexible`: audiences made of other audiences, defined in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from audiencekit.cli.audiences import audience_line, find_audience, print_audiences
from audiencekit.cli.client import with_client
from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import allow_name_option, dry_run_option, json_option
from audiencekit.cli.output import insist, leave_with, print_json, say, tell
from audiencekit.cli.settings import audience_argument, confirm, known_names, note_names, require_terminal
from audiencekit.errors import AudiencekitError, NotFinished, Refused
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.audiences.flexible import Document


_FILE: Final = click.argument("file", metavar="FILE", type=click.Path(path_type=Path))


@click.group(cls=CommandGroup)
def flexible() -> None:
    """Combine audiences with and, or, not."""


@flexible.command("check", examples=("flexible check audiences.json", "flexible check audiences.json --json"))
@_FILE
@json_option
def check_file(file: Path, as_json: bool) -> None:
    """Check a file of flexible audiences.

    Each audience is shown as a drawing and as a sentence. Nothing is sent.
    """
    document = _with_known_names(_read(file, as_json=as_json))
    if as_json:
        print_json({"state": "ready", "audiences": list(_shown(document))})
    else:
        say("\n\n".join(_texts(document)))


@flexible.command("create", examples=("flexible create audiences.json", "flexible create audiences.json --yes"))
@_FILE
@click.option("--yes", is_flag=True, help="Do not ask.")
@allow_name_option
@dry_run_option
@json_option
def create_from_file(file: Path, yes: bool, allow_name: bool, dry_run: bool, as_json: bool) -> None:
    """Create the flexible audiences of a file.

    All of them are created, or none. They cannot be changed afterwards.
    """
    document = _read(file, as_json=as_json)
    _check_names(document, allow=allow_name, as_json=as_json)
    if not yes and not dry_run:
        document = _look_up(document, as_json=as_json)
        require_terminal()
        insist("\n\n".join(_texts(document)))
        confirm(f"Create these {len(document.audiences)} audiences? They cannot be changed later.")
    created = _create(document, as_json=as_json, dry_run=dry_run)
    if as_json:
        print_json({"state": "complete", "audiences": [creation.to_json() for creation in created]})
    for creation in () if as_json else created:
        say(f"{shown(creation.id)}  {creation.state}  {creation.name!r}")


@flexible.command("list", examples=("flexible list", "flexible list --json"))
@json_option
def list_flexible(as_json: bool) -> None:
    """List the flexible audiences."""
    from audiencekit.audiences.audience_use import list_flexible as find

    async def ask(client: Any) -> list[dict[str, Any]]:
        return [audience async for audience in find(client)]

    print_audiences(with_client(ask, as_json=as_json), as_json=as_json, without="no flexible audiences yet")


@flexible.command("show", examples=("flexible show h1ab2", 'flexible show "Lapsed buyers" --json'))
@audience_argument
@json_option
def show_flexible(audience: str, as_json: bool) -> None:
    """Show what a flexible audience is made of.

    The service does not show it: it is known on the machine that created the audience.
    """
    from audiencekit.audiences.audience_use import FLEXIBLE
    from audiencekit.audiences.flexible import draw, to_definition, to_sentence
    from audiencekit.audiences.flexible_memory import KnownFlexible

    found = find_audience(audience, as_json=as_json)
    if found.get("audience_type") != FLEXIBLE:
        message = f"audience {shown(found['id'])} is no flexible audience"
        leave_with(Refused(message, hint="`audiencekit audiences show` shows it"), as_json=as_json)
    settings = command_settings()
    tree, names = KnownFlexible(settings.state_dir, settings.account_id).all().get(found["id"]), known_names()
    words = None if tree is None else {"sentence": to_sentence(tree, names), "drawing": draw(tree, names)}
    if as_json:
        print_json(
            {**found, "definition": tree and to_definition(tree), **(words or {"sentence": None, "drawing": None})}
        )
        return
    say(audience_line(found))
    if words is not None:
        say(f"\n{words['drawing']}\n{words['sentence']}")
    else:
        tell("it was not created on this machine, and the service does not show what it is made of")


def _read(file: Path, *, as_json: bool) -> Document:
    from audiencekit.audiences.flexible import read_document

    try:
        return read_document(file)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)


def _check_names(document: Document, *, allow: bool, as_json: bool) -> None:
    from audiencekit.destinations.audience_names import check_name

    for path, audience in zip(document.paths, document.audiences, strict=True):
        try:
            notes = check_name(audience.name, place=f"{path}.name", allow=allow)
        except AudiencekitError as error:
            leave_with(error, as_json=as_json)
        for note in notes:
            tell(f"note: {note}")


def _with_known_names(document: Document) -> Document:
    from dataclasses import replace

    return replace(document, names=known_names())


def _look_up(document: Document, *, as_json: bool) -> Document:
    """Return the document with ids and names, as the service knows them, or leave with what it refuses."""
    from audiencekit.audiences.flexible_creation import look_up

    async def ask(client: Any) -> Document:
        return await look_up(document, client)

    found: Document = with_client(ask, as_json=as_json)
    return found


def _create(document: Document, *, as_json: bool, dry_run: bool) -> Any:
    from audiencekit.audiences.flexible_creation import create_audiences, look_up
    from audiencekit.audiences.flexible_memory import KnownFlexible
    from audiencekit.delivery.retry import SystemClock

    async def ask(client: Any) -> Any:
        found = await look_up(document, client)
        created = await create_audiences(found, client, clock=SystemClock())
        settings = command_settings()
        KnownFlexible(settings.state_dir, settings.account_id).note(found, created)
        note_names({**found.names, **{creation.id: creation.name for creation in created if creation.id}})
        return created

    try:
        return with_client(ask, as_json=as_json, dry_run=dry_run)
    except KeyboardInterrupt:
        hint = "run the same command again: it looks the names up first, and creates none twice"
        error = NotFinished("interrupted: whether the batch was created is not known", hint=hint)
        error.document = {"state": "incomplete"}
        leave_with(error, as_json=as_json)


def _texts(document: Document) -> Iterator[str]:
    from audiencekit.audiences.flexible import draw, to_sentence

    return (
        f"{draw(audience, document.names)}\n{to_sentence(audience, document.names)}" for audience in document.audiences
    )


def _shown(document: Document) -> Iterator[dict[str, str]]:
    from audiencekit.audiences.flexible import draw, to_sentence

    for path, audience in zip(document.paths, document.audiences, strict=True):
        words = {"sentence": to_sentence(audience, document.names), "drawing": draw(audience, document.names)}
        yield {"path": path, "name": audience.name, **words}
