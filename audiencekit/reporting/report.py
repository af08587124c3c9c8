"""The report of a run: counts, never people. It says no better than the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from audiencekit.destinations.target import Target
from audiencekit.reporting.counts import RowCounts

State = Literal["complete", "incomplete", "refused"]
_LISTS: Final = (
    *("problems", "notes", "warnings", "sources", "source_names", "suppression", "miscounted", "earlier_paces"),
    "combinations",
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """The result of one run.

    A confirmed record does not mean that the service knows the person. `bytes` counts the planned bodies; `fill_ratio`
    is None for fewer than two requests. `learned_size` says from which size on the service refuses requests, None where
    it was not seen to. `changes` are those of a sync. `suppression` counts the rows of each
    suppression source, and `combinations` the rows by the kinds of identifiers that they have. `miscounted` lists
    requests whose count by the service differs from the records sent. `audience_name` is the name when the run began,
    if known. `source_names` are the names of the files, without directories. `pace` counts the requests that ended in
    each time step of the last sending, and `earlier_paces` those of the sendings before a `resume`. `warnings` are the
    large losses of the plan.
    """

    run_id: str
    state: State
    target: Target
    operation: str
    rows: RowCounts
    columns: dict[str, list[str]] = field(default_factory=dict)
    identifiers: dict[str, dict[str, int]] = field(default_factory=dict)
    rejections: dict[str, int] = field(default_factory=dict)
    requests_planned: int = 0
    requests_confirmed: int = 0
    attempts: int = 0
    bytes: int = 0
    fill_ratio: float | None = None
    learned_size: dict[str, Any] | None = None
    records_sent: int = 0
    success_count: int = 0
    total_count: int = 0
    miscounted: tuple[dict[str, int], ...] = ()
    expires_at: str | None = None
    effective_at: str | None = None
    plan_time: str | None = None
    audience_name: str | None = None
    source_names: tuple[str, ...] = ()
    started_at: str
    finished_at: str | None = None
    problems: tuple[dict[str, str], ...] = ()
    warnings: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[dict[str, Any], ...] = ()
    changes: dict[str, Any] = field(default_factory=dict)
    suppression: tuple[dict[str, Any], ...] = ()
    pace: dict[str, Any] = field(default_factory=dict)
    earlier_paces: tuple[dict[str, Any], ...] = ()
    combinations: tuple[dict[str, Any], ...] = ()

    def __repr__(self) -> str:
        sent = f"{self.rows.sent:,} of {self.rows.read:,} rows sent"
        return f"<Report of run {self.run_id}: {self.state}, {sent}>"

    def __str__(self) -> str:
        """The text of the command line."""
        from audiencekit.reporting.text import render_report  # a run needs no text

        return render_report(self.to_json())

    def _repr_html_(self) -> str:
        """The report in a notebook."""
        from audiencekit.reporting.notebook import report_html

        return report_html(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """The document that `--json` prints and the state directory keeps."""
        return {
            "run_id": self.run_id,
            "state": self.state,
            "target": self.target.to_json(),
            "audience_id": self.target.audience_id,
            "audience_name": self.audience_name,
            "operation": self.operation,
            "rows": self.rows.to_json(),
            "source_names": list(self.source_names),
            "sources": list(self.sources),
            "columns": self.columns,
            "identifiers": self.identifiers,
            "combinations": list(self.combinations),
            "rejections": self.rejections,
            "suppression": list(self.suppression),
            "requests": {
                "planned": self.requests_planned,
                "confirmed": self.requests_confirmed,
                "attempts": self.attempts,
                "bytes": self.bytes,
                "fill_ratio": self.fill_ratio,
                "learned_size": self.learned_size,
            },
            "reconciliation": {
                "records_sent": self.records_sent,
                "success_count": self.success_count,
                "total_count": self.total_count,
            },
            "pace": self.pace,
            "earlier_paces": list(self.earlier_paces),
            "miscounted": list(self.miscounted),
            "changes": self.changes,
            "expires_at": self.expires_at,
            "effective_at": self.effective_at,
            "plan_time": self.plan_time,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "problems": list(self.problems),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Report:
        """The report whose `to_json` is `document`."""
        requests, facts = dict(document["requests"]), dict(document)
        named = {
            "target": Target.from_json(facts.pop("target")),
            "rows": RowCounts(**facts.pop("rows")),
            "requests_planned": requests.pop("planned"),
            "requests_confirmed": requests.pop("confirmed"),
            **{name: tuple(facts.pop(name)) for name in _LISTS},
        }
        del facts["requests"], facts["audience_id"]
        return cls(**facts.pop("reconciliation"), **requests, **named, **facts)
