"""The end of a run: complete, refused for good, or early. Its report is stored, and is the document of the error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from audiencekit.errors import (
    CONTINUE_WITH,
    AudiencekitError,
    InputOutputFailed,
    MemoryRefused,
    Refused,
    ResumeRefused,
    UsageError,
)
from audiencekit.planning.plan import PlannedRun
from audiencekit.reporting.rejections import append_refused
from audiencekit.reporting.report import Report, State
from audiencekit.runs.failures import cannot_resume
from audiencekit.runs.journal.facts import Ending, Sums
from audiencekit.runs.reports import check_report, report_of, store_report, time_of_end, updated
from audiencekit.runs.run import Run
from audiencekit.runs.second_pass import Sent
from audiencekit.runs.start import forget_spool

E = TypeVar("E", bound=AudiencekitError)


def ended(run: Run) -> Report | None:
    """Return the report of a run that is complete, None while there is something to do.

    Raises ResumeRefused for one that was refused for good.
    """
    ending = run.journal.ending()
    if ending is None:
        return None
    forget_spool(run.directory)  # a kill may have come between the end and this
    document = check_report(run.store.read(run.facts.run_id))
    if ending.state == "complete":
        run.events.ended(document)
        return Report.from_json(document)
    refusal = ResumeRefused(f"the run was refused: {ending.message}", reason="refused", hint=ending.hint)
    refusal.document = document
    run.events.ended(document, refusal)
    raise refusal


def conclude(run: Run, planned: PlannedRun, sent: Sent) -> Report:
    """End the run after its second pass; return the report of a complete run, raise the error of any other."""
    failure = sent.failure
    try:
        _list_refused(run, sent.sums, planned.tally.rows_read)
    except InputOutputFailed as error:
        failure = failure or error
    state: State = "complete" if failure is None else "incomplete"
    report = report_of(run, planned, state, sent.sums, notes=sent.notes, pace=sent.pace, learned_size=sent.learned_size)
    if failure is None:
        return complete(run, report)
    raise fail(run, failure, report, sent.sums)


def complete(run: Run, report: Report) -> Report:
    """Store the report of a complete run, end the journal, and return the report."""
    failure: InputOutputFailed
    try:
        store_report(run, report)
        _log_end(run, report)
        run.journal.finish(Ending(state="complete", exit_code=0), run.key)
        forget_spool(run.directory)
        run.events.ended(report.to_json())
        return report
    except InputOutputFailed as error:
        failure = error
    failure.hint = f"everything was sent; {_how_to_resume(run)} writes that down"
    document = replace(report, state="incomplete").to_json()
    run.events.ended(document, failure)
    failure.document = {**document, **_continuation(run)}
    raise failure.bare()


def refuse(run: Run, error: AudiencekitError, planned: PlannedRun | None = None) -> AudiencekitError:
    """Return `error`; its document is the report of a run that ended before it sent anything in this process."""
    if run.plan is None:
        report = report_of(run, planned, rows_read=getattr(error, "rows_read", None))
        return fail(run, error, report, run.earlier)
    if isinstance(error, Refused) and not isinstance(error, (ResumeRefused, MemoryRefused)):
        error = cannot_resume("source", f"the source was sound and is not any more: {error}")
    return leave_untouched(run, error)


def leave_untouched(run: Run, error: E) -> E:
    """Return `error`; its document is the stored report of the run. The run is not changed."""
    with suppress(InputOutputFailed):  # killed before there was a report
        error.document = updated(check_report(run.store.read(run.facts.run_id)), run.earlier)
        run.events.ended(error.document, error)
        if not isinstance(error, ResumeRefused):
            error.document |= _continuation(run)
    return error


@contextmanager
def untouched(run: Run) -> Iterator[None]:
    """Add the stored report of the run, as document, to errors that are raised before the run was changed."""
    failure: AudiencekitError
    try:
        yield
        return
    except AudiencekitError as error:
        failure = error if error.document is not None else leave_untouched(run, error)
    raise failure


def fail(run: Run, error: E, report: Report, sums: Sums) -> E:
    """Return `error`; its document is `report`, which is stored. If the disk fails, too, the error is the same."""
    final = isinstance(error, Refused | UsageError) and not sums.is_touched
    state: State = "refused" if final else "incomplete"
    problems = report.problems or ({"message": str(error), "hint": error.hint},)
    report = replace(report, state=state, problems=problems, finished_at=time_of_end(run))
    if not final:
        error.hint = "; ".join(filter(None, (error.hint, f"{_how_to_resume(run)} sends the rest")))
    error.document = report.to_json() | ({} if final else _continuation(run))
    try:
        store_report(run, report)
        _log_end(run, report)
        if final:
            ending = Ending(state=state, exit_code=error.exit_code, message=str(error), hint=error.hint)
            run.journal.finish(ending, run.key)
            forget_spool(run.directory)
    except InputOutputFailed as failure:
        error.hint = f"{error.hint}; and the report was not kept: {failure}".lstrip("; ")
    run.events.ended(report.to_json(), error)
    return error


def _log_end(run: Run, report: Report) -> None:
    if run.audit is not None:
        run.audit.end(report.to_json())


def _list_refused(run: Run, sums: Sums, rows_read: int) -> None:
    """Append the rows that the service refused to the rejections. Raises InputOutputFailed."""
    refused = [each.row for each in sums.refused if each.row <= rows_read]
    if refused:
        append_refused(run.rejections, refused)


def _how_to_resume(run: Run) -> str:
    return run.facts.continue_command(names_account=run.settings.has_own_account)


def _continuation(run: Run) -> dict[str, str]:
    """Return the additional key in the report of an unfinished run: the command that continues it."""
    return {CONTINUE_WITH: _how_to_resume(run).strip("`")}
