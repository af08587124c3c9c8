"""`check` and `prepare`: read everything, send nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from audiencekit.cli.commandhelp import Command
from audiencekit.cli.commandsettings import command_settings
from audiencekit.cli.options import (
    OutputPath,
    as_keywords,
    json_option,
    plan_options,
    rejections_option,
    source_options,
    suppression_options,
)
from audiencekit.cli.output import complain, leave_with, print_told, say_document
from audiencekit.cli.webpages import html_option, write_plan_page
from audiencekit.errors import AudiencekitError

if TYPE_CHECKING:
    from audiencekit.reporting.report import Plan


@click.command(cls=Command, examples=("check list.csv --country DE", "check list.csv --doctor"))
@source_options
@plan_options
@suppression_options
@rejections_option
@click.option("--doctor", is_flag=True, help="Say which options would save lost values, and how many.")
@html_option
@json_option
def check(
    source: tuple[str, ...], as_json: bool, rejections: str | None, doctor: bool, html: str | None, **given: Any
) -> None:
    """Read a list and say what `upload` would send.

    It reads the list to its end, sends nothing and needs no credentials.
    """
    from audiencekit.cli.commandprogress import command_progress
    from audiencekit.pipeline import check as check_source

    try:
        with command_progress() as progress:
            plan = check_source(
                source,
                rejections=rejections,
                progress=progress,
                settings=command_settings(),
                doctor=doctor,
                **as_keywords(given),
            )
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    if html is not None:
        write_plan_page(html, plan.to_json())
    leave_with_plan(plan, as_json=as_json)


@click.command(cls=Command, examples=("prepare list.csv --out hashed", "prepare list.csv --out hashed --requests"))
@source_options
@plan_options
@suppression_options
@click.option(
    "--out", required=True, type=OutputPath(file_okay=False), help="Directory to write to; created if missing."
)
@click.option("--requests", is_flag=True, help="Also write each request, byte for byte as it would be sent.")
@json_option
def prepare(source: tuple[str, ...], out: str, requests: bool, as_json: bool, **given: Any) -> None:
    """Write the hashed records of a list to a directory.

    The directory gets records.parquet, manifest.json and rejections.csv.
    """
    from audiencekit.cli.commandprogress import command_progress
    from audiencekit.pipeline import prepare as prepare_source

    try:
        with command_progress() as progress:
            plan = prepare_source(
                source, out=Path(out), requests=requests, progress=progress, settings=command_settings(),
                **as_keywords(given),
            )  # fmt: skip
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    leave_with_plan(plan, as_json=as_json)


def leave_with_plan(plan: Plan, *, as_json: bool) -> NoReturn:
    """Print the plan, say why it would be refused, and exit as `upload` would before sending."""
    if as_json:
        print_told(plan.to_json())
    else:
        say_document(str(plan))
    for refusal in plan.refusals:
        complain(refusal)
    sys.exit(plan.exit_code)
