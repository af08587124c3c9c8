"""The facts of a plan for the report and the journal: counts, names of columns, times. Never a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from audiencekit.delivery.results import RefusedRow
from audiencekit.identifiers.kinds import FIRST_KINDS, Kind
from audiencekit.identifiers.reasons import Reason
from audiencekit.planning.plannedrun import PlannedRun
from audiencekit.preparation.batches import MappedColumn
from audiencekit.profile import Profile
from audiencekit.reporting.counts import combination_counts, identifier_counts
from audiencekit.runs.journal.facts import DELETES, UPDATES, PlanFacts, PlannedBody, Sums


def facts_for_report(planned: PlannedRun, sums: Sums) -> dict[str, Any]:
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


def _words_for(refused: Iterable[RefusedRow]) -> tuple[str, ...]:
    codes = Counter(code for each in refused for code in each.codes or ("no code",))
    words = ", ".join(f"{code} {count:,}" for code, count in codes.most_common())
    return (f"rows that the service refused, by its codes: {words}",) if codes else ()


def _fields_of(column: MappedColumn) -> dict[str, Any]:
    """The fields that decide what is read of `column`: those of the journals of every version."""
    return {"kind": column.kind.value, "position": column.position, "name": column.name, "hashed": column.hashed}


def _wire_names(columns: Iterable[MappedColumn], profile: Profile) -> dict[str, str]:
    """The names of the kinds on the wire: of one that is not in FIRST_KINDS only where it is sent."""
    sent = {column.kind for column in columns}
    return {kind.value: profile.wire_name(kind.value) for kind in Kind if kind in FIRST_KINDS or kind in sent}


def facts_for_journal(planned: PlannedRun, fingerprints: tuple[str, str], profile: Profile) -> PlanFacts:
    """Everything that must be the same when the run is resumed. `fingerprints`: of the records, of the suppressed."""
    mapping = planned.mapping
    fingerprint, suppression = fingerprints
    return PlanFacts(
        mapping={
            "columns": [_fields_of(column) for column in mapping.columns],
            "country": mapping.country,
            "operation": mapping.operation,
            "consent": mapping.consent,
        },
        rules={
            **asdict(planned.options.rules),
            **planned.times.to_json(),
            "operation": planned.options.operation,
            "consent": planned.options.consent,
            "names": _wire_names(mapping.columns, profile),
        },
        found=dict(planned.source.description),
        rows_read=planned.tally.rows_read,
        rows_rejected=planned.tally.rows_rejected,
        records=planned.records,
        fingerprint=fingerprint,
        suppression=suppression,
        requests=tuple(
            PlannedBody(request.number, request.wave, request.records, request.body_bytes)
            for request in planned.requests
        ),
        verbs=tuple(UPDATES * bool(request.updates) + DELETES * bool(request.deletes) for request in planned.requests),
    )
