"""`upload` and `resume`: check, then send; and finish what was begun."""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NoReturn

import click

from audiencekit.cli.options import (
    as_keywords,
    json_option,
    max_minutes_option,
    plan_options,
    rejections_option,
    source_options,
)
from audiencekit.cli.output import leave_with, print_json, say
from audiencekit.errors import AudiencekitError

if TYPE_CHECKING:
    from audiencekit.reporting.report import Report


@click.command()
@source_options
@click.option("--audience", required=True, metavar="ID", help="The custom audience.")
@plan_options
@rejections_option
@click.option("--keep-spool", is_flag=True, help="Keep what was read, sealed, so that `resume` needs no source.")
@click.option("--account", metavar="ID", help="The ads account; AUDIENCEKIT_ACCOUNT_ID by default.")
@click.option("--profile", help="Which service: spec or x.")
@click.option("--concurrency", type=int, help="Requests in flight; 16 by default.")
@click.option("--requests-per-minute", type=int, help="Pace; 1,470 by default, 1,500 at most.")
@max_minutes_option
@json_option
def upload(
    source: tuple[str, ...],
    audience: str,
    as_json: bool,
    rejections: str | None,
    keep_spool: bool,
    account: str | None,
    profile: str | None,
    concurrency: int | None,
    requests_per_minute: int | None,
    max_minutes: float | None,
    **given: Any,
) -> None:
    """Put the people of SOURCE into an audience, or take them out with --operation delete."""
    from audiencekit.pipeline import upload_async
    from audiencekit.reporting.progress import progress_for
    from audiencekit.settings import load_settings

    try:
        settings = load_settings(
            account_id=account,
            profile=profile,
            concurrency=concurrency,
            requests_per_minute=requests_per_minute,
        )
        with progress_for() as progress:
            uploading = upload_async(
                source,
                audience_id=audience,
                settings=settings,
                rejections=rejections,
                progress=progress,
                keep_spool=keep_spool,
                **as_keywords(given),
            )
            report = _finish(uploading, max_minutes)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    _leave_complete(report, as_json=as_json)


@click.command()
@click.argument("run", default="last")
@click.option("--concurrency", type=int, help="Requests in flight; 16 by default.")
@click.option("--requests-per-minute", type=int, help="Pace; 1,470 by default, 1,500 at most.")
@max_minutes_option
@json_option
def resume(
    run: str,
    as_json: bool,
    concurrency: int | None,
    requests_per_minute: int | None,
    max_minutes: float | None,
) -> None:
    """Finish RUN (an id, the beginning of one, or `last`): send what is not confirmed, the same bytes as before."""
    from audiencekit.pipeline import resume_async
    from audiencekit.reporting.progress import progress_for
    from audiencekit.settings import load_settings

    try:
        settings = load_settings(concurrency=concurrency, requests_per_minute=requests_per_minute)
        with progress_for() as progress:
            report = _finish(resume_async(run, settings=settings, progress=progress), max_minutes)
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    _leave_complete(report, as_json=as_json)


def _finish(work: Coroutine[Any, Any, Report], max_minutes: float | None) -> Report:
    from audiencekit.cli.interruption import run_until_interrupted

    return run_until_interrupted(work, max_minutes=max_minutes)


def _leave_complete(report: Report, *, as_json: bool) -> NoReturn:
    from audiencekit.reporting.text import render_report

    if as_json:
        print_json(report.to_json())
    else:
        say(render_report(report))
    sys.exit(0)
