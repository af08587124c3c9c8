"""`flexible`: audiences made of other audiences, defined in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from audiencekit.cli.client import with_client
from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.options import allow_name_option, dry_run_option, json_option
from audiencekit.cli.output import insist, leave_with, print_json, say, tell
from audiencekit.cli.settings import confirm, require_terminal
from audiencekit.errors import AudiencekitError, NotFinished
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
    document = _read(file, as_json=as_json)
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
    is_sure = yes or dry_run
    if not is_sure:
        require_terminal()
    document = _read(file, as_json=as_json)
    _check_names(document, allow=allow_name, as_json=as_json)
    if not is_sure:
        insist("\n\n".join(_texts(document)))
        confirm(f"Create these {len(document.audiences)} audiences? They cannot be changed later.")
    created = _create(document, as_json=as_json, dry_run=dry_run)
    if as_json:
        print_json({"state": "complete", "audiences": [creation.to_json() for creation in created]})
    for creation in () if as_json else created:
        say(f"{shown(creation.id)}  {creation.state}  {creation.name!r}")


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


def _create(document: Document, *, as_json: bool, dry_run: bool) -> Any:
    from audiencekit.audiences.flexible_creation import create_audiences
    from audiencekit.delivery.retry import SystemClock

    async def ask(client: Any) -> Any:
        return await create_audiences(document, client, clock=SystemClock())

    try:
        return with_client(ask, as_json=as_json, dry_run=dry_run)
    except KeyboardInterrupt:
        hint = "run the same command again: it looks the names up first, and creates none twice"
        error = NotFinished("interrupted: whether the batch was created is not known", hint=hint)
        error.document = {"state": "incomplete"}
        leave_with(error, as_json=as_json)


def _texts(document: Document) -> Iterator[str]:
    from audiencekit.audiences.flexible import draw, to_sentence

    return (f"{draw(audience)}\n{to_sentence(audience)}" for audience in document.audiences)


def _shown(document: Document) -> Iterator[dict[str, str]]:
    from audiencekit.audiences.flexible import draw, to_sentence

    for path, audience in zip(document.paths, document.audiences, strict=True):
        words = {"sentence": to_sentence(audience), "drawing": draw(audience)}
        yield {"path": path, "name": audience.name, **words}
