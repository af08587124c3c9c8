"""`upload`: check, then send."""

from __future__ import annotations

import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import click

from audiencekit.cli.options import as_keywords, json_option, plan_options, rejections_option, source_options
from audiencekit.cli.output import leave_with, print_json, say
from audiencekit.errors import AudiencekitError

if TYPE_CHECKING:
    from audiencekit.reporting.report import Report


@click.command()
@source_options
@click.option("--audience", required=True, metavar="ID", help="The custom audience.")
@plan_options
@rejections_option
@click.option("--account", metavar="ID", help="The ads account; AUDIENCEKIT_ACCOUNT_ID by default.")
@click.option("--profile", help="Which service: spec or x.")
@click.option("--concurrency", type=int, help="Requests in flight; 16 by default.")
@click.option("--requests-per-minute", type=int, help="Pace; 1,470 by default, 1,500 at most.")
@json_option
def upload(
    source: tuple[str, ...],
    audience: str,
    as_json: bool,
    rejections: str | None,
    account: str | None,
    profile: str | None,
    concurrency: int | None,
    requests_per_minute: int | None,
    **given: Any,
) -> None:
    """Put the people of SOURCE into an audience, or take them out with --operation delete."""
    import asyncio

    from audiencekit.pipeline import upload_async
    from audiencekit.reporting.progress import progress_for
    from audiencekit.reporting.text import render_report
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
                **as_keywords(given),
            )
            report = asyncio.run(_until_terminated(uploading))
    except AudiencekitError as error:
        leave_with(error, as_json=as_json)
    if as_json:
        print_json(report.to_json())
    else:
        say(render_report(report))
    sys.exit(0)


async def _until_terminated(uploading: Coroutine[Any, Any, Report]) -> Report:
    """The report; SIGTERM and SIGHUP end the upload as Ctrl-C does: what is under way is finished, the rest said."""
    import asyncio
    import signal

    task = asyncio.current_task()
    assert task is not None  # noqa: S101
    for ending in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(ending, task.cancel)
    return await uploading
