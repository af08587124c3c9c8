"""The plan of a run as people and programs read it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from audiencekit import __version__
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.preparation.findings import find_causes
from audiencekit.preparation.plantimes import format_time
from audiencekit.preparation.textrecords import PREPARED_FORMAT
from audiencekit.reporting.counts import combination_counts, identifier_counts
from audiencekit.reporting.plan import Plan, Verdict


def to_plan(planned: PlannedRun) -> Plan:
    """Return the document of the plan. Of its records only counts are in it."""
    warnings = planned.warnings
    ready: Verdict = "ready_with_warnings" if warnings else "ready"
    verdict: Verdict = "refused" if planned.refusals else ready if planned.requests else "empty"
    return Plan(
        source=planned.source.description,
        sources=tuple(part.to_json() for part in planned.source.parts),
        columns=planned.mapping.names_by_kind(),
        rows=planned.row_counts(),
        identifiers=identifier_counts(planned.tally, planned.mapping),
        combinations=combination_counts(planned.tally),
        rejections=dict(planned.tally.reasons),
        requests=len(planned.requests),
        operations=sum(request.operations for request in planned.requests),
        records=planned.records,
        bytes=sum(request.body_bytes for request in planned.requests),
        minutes=planned.minutes(),
        fill_ratio=planned.fill_ratio(),
        plan_time=format_time(planned.times.plan_time),
        expires_at=format_time(planned.times.expires_at) if planned.times.expires_at else None,
        effective_at=format_time(planned.times.effective_at) if planned.times.effective_at else None,
        verdict=verdict,
        is_repeatable=planned.source.repeatable,
        refusals=tuple(planned.refusals),
        warnings=warnings,
        findings=find_causes(planned.tally, planned.mapping),
        notes=planned.notes,
        changes=planned.changes,
        suppression=tuple(asdict(each) for each in planned.suppression),
    )


def to_manifest(planned: PlannedRun, plan: Plan) -> dict[str, Any]:
    """Return the document `plan` of the plan, with the sizes of each request, as `prepare` writes it."""
    listed = [
        {
            "number": request.number,
            "wave": request.wave,
            "records": request.records,
            "operations": request.operations,
            "bytes": request.body_bytes,
        }
        for request in planned.requests
    ]
    return {"format": PREPARED_FORMAT, "audiencekit": __version__, **plan.to_json(), "requests": listed}
