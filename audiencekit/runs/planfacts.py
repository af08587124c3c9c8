"""The facts of a plan for the journal: counts, names of columns, times. Never a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from audiencekit.identifiers.kinds import FIRST_KINDS, Kind
from audiencekit.planning.plan import PlannedRun
from audiencekit.preparation.batches import MappedColumn
from audiencekit.profile import Profile
from audiencekit.runs.journal.facts import DELETES, UPDATES, PlanFacts, PlannedBody


def _fields_of(column: MappedColumn) -> dict[str, Any]:
    """The fields that decide what is read of `column`."""
    return {"kind": column.kind.value, "position": column.position, "name": column.name, "hashed": column.hashed}


def _wire_names(columns: Iterable[MappedColumn], profile: Profile) -> dict[str, str]:
    """The names of the kinds on the wire: of one that is not in FIRST_KINDS only where it is sent."""
    sent = {column.kind for column in columns}
    return {kind.value: profile.wire_name(kind.value) for kind in Kind if kind in FIRST_KINDS or kind in sent}


def facts_for_journal(planned: PlannedRun, fingerprints: tuple[str, str]) -> PlanFacts:
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
            "names": _wire_names(mapping.columns, planned.profile),
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
