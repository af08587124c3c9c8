"""`overlap`: how many people are in several lists and audiences."""

from __future__ import annotations

from typing import Any

import click

from audiencekit.cli.command_help import Command, result_option
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import as_keywords, json_option, several_lists_options
from audiencekit.cli.output import leave_with, print_told, say_document
from audiencekit.cli.settings import audience_choices
from audiencekit.errors import AudiencekitError


@click.command(
    cls=Command,
    examples=("overlap shop.csv newsletter.csv --country DE", "overlap shop.csv --audience 'Spring customers'"),
)
@several_lists_options
@audience_choices
@click.option("--account", "account_id", metavar="ID", help="The ads account; AUDIENCEKIT_ACCOUNT_ID by default.")
@result_option("--share", is_flag=True, help="Hide counts below ten, so that the result can be shared.")
@json_option
def overlap(
    source: Any, audiences: tuple[str, ...], account_id: str | None, share: bool, as_json: bool, **given: Any
) -> None:
    """Count the people who are in several lists or audiences.

    Each SOURCE is a list, or a directory that `prepare` wrote. A person is found by any identifier. Nothing is sent.
    """
    from audiencekit.audiences.overlap import overlap as compare
    from audiencekit.cli.command_progress import command_progress

    try:
        with command_progress() as progress:
            found = compare(
                *(source if isinstance(source, tuple) else (source,)), audiences=audiences, share=share,
                settings=command_settings(account_id=account_id), progress=progress, **as_keywords(given),
            )  # fmt: skip
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    if as_json:
        print_told(found.to_json())
    else:
        say_document(found.to_text())
