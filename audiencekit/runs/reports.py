"""The report of a run as things stand: what was planned, what the journal says of it, when it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from audiencekit.delivery.results import RefusedRow
from audiencekit.identifiers.kinds import Reason
from audiencekit.planning.plan import PlannedRun
from audiencekit.preparation.plantimes import format_time
from audiencekit.reporting.report import Report, RowCounts, State, combination_counts, identifier_counts
from audiencekit.runs.journal.facts import Sums
from audiencekit.runs.run import Run
from audiencekit.sources.files import names_of


def report_of(
    run: Run,
    planned: PlannedRun | None,
    state: State = "incomplete",
    sums: Sums | None = None,
    *,
    notes: tuple[str, ...] = (),
    rows_read: int | None = None,
    pace: dict[str, Any] | None = None,
    learned_size: dict[str, Any] | None = None,
) -> Report:
    """The report as things stand. `notes`, `pace` and `learned_size` are those of the delivery."""
    sums = sums or run.earlier
    rows = RowCounts(read=rows_read or 0, pending=rows_read or 0)
    facts: dict[str, Any] = {"operation": run.facts.operation, "rows": rows}
    if planned is not None:
        facts |= _facts_of(planned, sums)
        facts["notes"] += notes
    if state == "complete":
        facts["finished_at"] = time_of_end(run)
    return Report(
        run_id=run.facts.run_id,
        state=state,
        target=run.facts.target,
        requests_confirmed=sums.confirmed,
        attempts=sums.attempts,
        records_sent=sums.records_confirmed,
        success_count=sums.success_count,
        total_count=sums.total_count,
        miscounted=tuple(miscounts_for_report(sums)),
        started_at=run.facts.started_at,
        audience_name=run.facts.target.known_name(run.store.state_dir, run.facts.account_id),
        source_names=names_of(run.items),
        pace=pace or {},
        learned_size=learned_size,
        earlier_paces=run.earlier_paces,
        **facts,
    )


def store_report(run: Run, report: Report) -> Report:
    """Write the report into the state directory, and give it back. Raises InputOutputFailed."""
    run.store.write(run.facts.run_id, report.to_json())
    return report


def time_of_end(run: Run) -> str:
    """Now, and not before the run was begun, even when the clock was set back."""
    return format_time(max(datetime.now(UTC), run.started_at))


def miscounts_for_report(sums: Sums) -> list[dict[str, int]]:
    """The requests that the service counted otherwise, with what was sent and both counts."""
    return [
        {
            "request": each.number,
            "records_sent": each.records_sent,
            "success_count": each.success_count,
            "total_count": each.total_count,
        }
        for each in sums.miscounted
    ]


def _facts_of(planned: PlannedRun, sums: Sums) -> dict[str, Any]:
    """The fields of a Report that come from its plan, and from what was confirmed of it."""
    refused = sum(each.row <= planned.tally.rows_read for each in sums.refused)
    done = sums.records_confirmed + len(sums.refused) - refused  # who is taken out in a sync is no row of the source
    return {
        **({} if planned.changes else {"operation": planned.operation}),
        "rows": planned.row_counts(sent=done, refused=refused),
        "changes": planned.changes,
        "sources": tuple(part.to_json() for part in planned.source.parts),
        "columns": planned.mapping.names_by_kind(),
        "identifiers": identifier_counts(planned.tally, planned.mapping),
        "combinations": combination_counts(planned.tally),
        "rejections": dict(planned.tally.reasons + Counter({Reason.REFUSED_BY_SERVICE.value: refused})),
        "suppression": tuple(asdict(each) for each in planned.suppression),
        "requests_planned": len(planned.requests),
        "bytes": sum(request.body_bytes for request in planned.requests),
        "fill_ratio": planned.fill_ratio(),
        **planned.times.to_json(),
        "problems": tuple({"message": str(refusal), "hint": refusal.hint} for refusal in planned.refusals),
        "warnings": tuple(warning.to_json() for warning in planned.warnings),
        "notes": planned.notes + _words_for(sums.refused),
    }


def _words_for(refused: Iterable[RefusedRow]) -> tuple[str, ...]:
    codes = Counter(code for each in refused for code in each.codes or ("no code",))
    words = ", ".join(f"{code} {count:,}" for code, count in codes.most_common())
    return (f"rows that the service refused, by its codes: {words}",) if codes else ()
