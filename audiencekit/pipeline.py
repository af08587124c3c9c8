"""Read this first: the stages of a run, in order, wired together.

    source -> text -> records -> plan     pass one (`planning`): everything is read and judged, nothing is sent
    spool -> bodies -> service            pass two (`runs.execution`): what the plan says, and nothing else
    outcomes -> report                    the sums close, or it is an error (`runs.endings`)

`check` stops after the plan, `prepare` writes what `upload` would send, `upload` sends it. Every request is in the
journal before it leaves and after it was confirmed (`runs/journal`), so that `resume` can finish what anything has
ended early.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Unpack

from audiencekit.delivery.rate_limiter import RateLimiter
from audiencekit.destinations.ads import AUDIENCE
from audiencekit.destinations.destination import Destination
from audiencekit.planning.options import Keywords, with_keywords
from audiencekit.planning.plan_inputs import PlanTerms
from audiencekit.planning.planner import preview
from audiencekit.process.cancellation import cancellable
from audiencekit.process.event_loop import blocking
from audiencekit.reporting.progress import Progress, progress_or_default
from audiencekit.reporting.report import Plan, Report
from audiencekit.reporting.sealed_rejections import Sealing
from audiencekit.runs.keywords import RUN_DEFAULTS, RunOptions, UploadKeywords
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.files import AnySource, FilePath, items_of


@with_keywords(Keywords)
def check(
    source: AnySource,
    *,
    settings: Settings | None = None,
    rejections: FilePath | None = None,
    progress: Progress | None = None,
    destination: Destination = AUDIENCE,
    doctor: bool = False,
    seal_rejections: str | None = None,
    **keywords: Unpack[Keywords],
) -> Plan:
    """Make the plan that `upload` would carry out. Sends nothing, and needs no credentials.

    `verdict` says whether `upload` would send it. With `doctor`, options are tried on the values that are lost, and
    `findings` say how many each would save.

    `source` is a path, a data frame (docs/python.md), or a list of these, here and in all other functions. A plan
    for another `destination` than an audience follows its rules: a do-not-reach list takes fewer kinds.
    `seal_rejections` is a recipient of age: the rows with a rejection are encrypted for it
    (docs/commands/rejections.md).
    Raises SourceRefused when the source cannot be read to its end, UsageError for invalid keywords.
    """
    source, settings = items_of(source), settings or load_settings()
    terms = PlanTerms.of(keywords, settings, now=datetime.now(UTC), destination=destination)
    if doctor:
        terms = replace(terms, options=replace(terms.options, examines=True))
    sealing = None if seal_rejections is None else Sealing.of_check(settings, seal_rejections)
    return preview(source, terms, rejections=rejections, progress=progress_or_default(progress), sealing=sealing)


@with_keywords(Keywords)
def prepare(
    source: AnySource,
    *,
    out: str | os.PathLike[str],
    requests: bool = False,
    settings: Settings | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[Keywords],
) -> Plan:
    """Write what `upload` would send to files in the directory `out`; the plan (see `prepared` for the files).

    When `upload` would refuse the source, only `rejections.csv` is written and the plan says why.
    """
    # Parquet takes as long to load as the rest of Arrow, and nothing else writes it.
    from audiencekit.planning.prepared import write_prepared

    source, settings = items_of(source), settings or load_settings()
    terms = PlanTerms.of(keywords, settings, now=datetime.now(UTC))
    return write_prepared(source, terms, Path(out), requests=requests, progress=progress_or_default(progress))


@cancellable
@with_keywords(UploadKeywords, RUN_DEFAULTS)
async def upload_async(source: AnySource, *, audience: str, **keywords: Unpack[UploadKeywords]) -> Report:
    """Check the source and send it to the audience, given by its id or its name; the report of the complete run.

    A run that does not complete raises an error with the report's JSON as `document`: Refused (nothing was sent),
    CredentialsRefused, ServiceUnavailable, InputOutputFailed, NotFinished (a part was sent). All but a refused run can
    be resumed. Raises AudienceBusy while another run works on the audience. `limiter` replaces the rate limiter of the
    settings. `keep_spool` keeps the records, sealed, until the run has ended, so that `resume` does not need the
    source. `seal_rejections` is a recipient of age: the rows with a rejection are encrypted for it
    (docs/commands/rejections.md). `only_rejected` is a complete upload to the same audience: only the rows that it
    rejected and that are valid now are sent (docs/commands/upload.md). Raises PlanRefused where that is not proved.

    A caller that may be restarted gives its own `run_id` (see `named`). The next call with it finishes a run that has
    not ended, or returns the report of a complete one, and nothing is sent twice. When the arguments or the content of
    the source have changed, a new run begins, under the id followed by --2.
    """
    # HTTP, and all that waits, takes room and time that only those who send have to spend.
    from audiencekit.runs.uploads import upload_to_audience

    source = items_of(source)  # which show no cell in the frames of a traceback, as a table does
    return await upload_to_audience(audience, source, **keywords)


upload = blocking(upload_async)


@cancellable
async def resume_async(
    run: str,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    limiter: RateLimiter | None = None,
    new_address: bool = False,
) -> Report:
    """Finish what `upload` began: `run` is its id, the beginning of just one, or `last`, the only one that can be
    resumed. The report of the whole run.

    `audiencekit.resume` knows erasures, too (`audiences.runs`).

    The source, or the spool that was kept of it, is read again, and what was not confirmed is sent, the same bytes as
    before. A run that is complete already is not touched: its report comes back. Raises ResumeRefused, with nothing
    sent, when the source, the columns or the options are not those of then, when the journal cannot be trusted, when
    the run was refused for good, or when `settings` name another account or address than those it was begun at (with
    `new_address` the service has moved); AudienceBusy while a run is at work on its target; and what `upload_async`
    raises.
    """
    from audiencekit.runs.uploads import resume_run

    options = RunOptions.of(settings=settings, progress=progress, limiter=limiter)
    return await resume_run(run, options, new_address=new_address)
