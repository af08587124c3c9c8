"""One run from start to report: its id, its directory, and what is said of it when it ends early."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from audiencekit.delivery.results import Delivered
from audiencekit.delivery.runs import RunStore, new_run_id
from audiencekit.errors import (
    AudiencekitError,
    Bug,
    CertificateRefused,
    CredentialsRefused,
    InputOutputFailed,
    NotFinished,
    Outcome,
    Refused,
    ServiceUnavailable,
    Unauthorized,
)
from audiencekit.options import Options
from audiencekit.planning import PlannedRun, warnings
from audiencekit.preparation.times import format_time
from audiencekit.reporting.counts import RowCounts, identifier_counts
from audiencekit.reporting.report import Report, State
from audiencekit.settings import Settings

E = TypeVar("E", bound=AudiencekitError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a plan. Its report stands in its directory from the moment the plan is made."""

    run_id: str
    audience_id: str
    operation: str
    started_at: datetime
    store: RunStore
    directory: Path

    @classmethod
    def start(cls, audience_id: str, options: Options, settings: Settings) -> Run:
        """A new run with a directory of its own. Raises InputOutputFailed when there can be none."""
        started_at = datetime.now(UTC)
        store = RunStore(settings.state_dir)
        run_id = new_run_id(started_at.timestamp())
        return cls(
            run_id=run_id,
            audience_id=audience_id,
            operation=options.operation,
            started_at=started_at,
            store=store,
            directory=store.create(run_id),
        )

    def write(self, report: Report) -> Report:
        """Keep the report in the state directory, and give it back."""
        self.store.write_report(self.run_id, report.to_json())
        return report

    def refuse(self, error: E, planned: PlannedRun | None = None) -> E:
        """`error`, with the report of a run that sent nothing as its document."""
        state: State = "incomplete" if isinstance(error, NotFinished) else "refused"
        return self.fail(error, self.report(planned, state, None, rows_read=getattr(error, "rows_read", None)))

    def fail(self, error: E, report: Report) -> E:
        """`error`, with `report` written and as its document; a disk that fails as well does not hide the error."""
        problems = report.problems or ({"message": str(error), "hint": error.hint},)
        report = replace(report, problems=problems, finished_at=format_time(datetime.now(UTC)))
        error.document = report.to_json()
        try:
            self.write(report)
        except InputOutputFailed as failure:
            error.hint = f"{error.hint}; and the report was not kept: {failure}".lstrip("; ")
        return error

    def report(
        self,
        planned: PlannedRun | None,
        state: State,
        delivered: Delivered | None,
        *,
        rows_read: int | None = None,
    ) -> Report:
        """The report as things stand."""
        facts: dict[str, Any] = {"rows": RowCounts(read=rows_read or 0, pending=rows_read or 0)}
        if planned is not None:
            facts = _planned_facts(planned, sent=delivered.records_confirmed if delivered else 0)
        if delivered is not None:
            facts |= {
                "requests_confirmed": delivered.confirmed,
                "attempts": delivered.attempts,
                "records_sent": delivered.records_confirmed,
                "success_count": delivered.success_count,
                "total_count": delivered.total_count,
            }
        if state == "complete":
            facts["finished_at"] = format_time(datetime.now(UTC))
        return Report(
            run_id=self.run_id,
            state=state,
            audience_id=self.audience_id,
            operation=self.operation,
            started_at=format_time(self.started_at),
            **facts,
        )


def _planned_facts(planned: PlannedRun, *, sent: int) -> dict[str, Any]:
    times = planned.times
    return {
        "rows": planned.row_counts(sent=sent),
        "sources": tuple(part.to_json() for part in planned.source.parts),
        "columns": planned.mapping.names_by_kind(),
        "identifiers": identifier_counts(planned.tally, planned.mapping),
        "rejections": dict(planned.tally.reasons),
        "requests_planned": len(planned.requests),
        "bytes": sum(request.body_bytes for request in planned.requests),
        "fill_ratio": planned.fill_ratio(),
        "plan_time": format_time(times.plan_time),
        "expires_at": format_time(times.expires_at),
        "effective_at": format_time(times.effective_at) if times.effective_at else None,
        "problems": tuple({"message": str(refusal), "hint": refusal.hint} for refusal in planned.refusals),
        "notes": planned.source.notes + warnings(planned.tally, planned.mapping),
    }


def failure_of(delivered: Delivered) -> AudiencekitError:
    """The error of a delivery that ended early, with the exit code that fits what is known of it."""
    error = delivered.error or NotFinished("the upload was stopped before everything was sent")
    doubtful = sum(result.outcome is Outcome.UNKNOWN for result in delivered.pending)
    facts = f"{delivered.confirmed} requests confirmed, {doubtful} unknown: {error}"
    if isinstance(error, Unauthorized):
        return CredentialsRefused(facts, hint=error.hint or "check the credentials and their permissions")
    if isinstance(error, InputOutputFailed | Bug):
        return error
    if touched(delivered) or isinstance(error, NotFinished):
        again = "upload the same source again with --plan-time of this run: a repeated Update or Delete changes nothing"
        return NotFinished(facts, hint=f"{error.hint}; {again}" if error.hint else again)
    if delivered.pending_refused or isinstance(error, CertificateRefused):
        return Refused(f"nothing was accepted: {error}", hint=error.hint)
    return ServiceUnavailable(f"nothing was confirmed: {error}", hint=error.hint or "try again later")


def touched(delivered: Delivered) -> bool:
    """Whether anything may have reached the audience."""
    return bool(delivered.confirmed) or any(result.outcome is Outcome.UNKNOWN for result in delivered.pending)
