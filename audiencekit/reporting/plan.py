"""The plan as people and programs read it: what `check` found and what `upload` would send."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from audiencekit.errors import Refused
from audiencekit.preparation.findings import Finding
from audiencekit.preparation.losses import Loss
from audiencekit.reporting.counts import RowCounts

Verdict = Literal["ready", "ready_with_warnings", "empty", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan:
    """The result of a check. `verdict` says what `upload` would do, `refusals` why it would refuse, worst first.

    `warnings` are large losses; `findings`, of a `check` with `doctor`, are all losses, the most values first. `source`
    describes the format of the source, and `sources` that of each file, with its name and rows. `suppression` counts
    the rows of each suppression source. `combinations` count the rows by the kinds of identifiers that they have.
    `is_repeatable` is true when the source can be read again, so that `resume` does not need it anew. `minutes` is the
    shortest time that the rate limit allows; None for a destination without one. `bytes` counts bodies as sent.
    """

    source: dict[str, Any]
    columns: dict[str, list[str]]
    rows: RowCounts
    identifiers: dict[str, dict[str, int]]
    rejections: dict[str, int]
    requests: int
    operations: int
    records: int
    bytes: int
    minutes: float | None
    fill_ratio: float | None
    plan_time: str
    expires_at: str | None
    effective_at: str | None
    verdict: Verdict
    refusals: tuple[Refused, ...] = ()
    warnings: tuple[Loss, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[dict[str, Any], ...] = ()
    changes: dict[str, Any] = field(default_factory=dict)
    suppression: tuple[dict[str, Any], ...] = ()
    combinations: tuple[dict[str, Any], ...] = ()
    is_repeatable: bool = True

    def __repr__(self) -> str:
        return f"<Plan: {self.verdict.replace('_', ' ')}, {self.records:,} of {self.rows.read:,} rows to send>"

    def __str__(self) -> str:
        """The text of the command line."""
        from audiencekit.reporting.text import render_plan  # `check --json` needs no text

        return render_plan(self.to_json())

    def _repr_html_(self) -> str:
        """The plan in a notebook."""
        from audiencekit.reporting.notebook import plan_html

        return plan_html(self.to_json())

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: that of `upload` before it sends."""
        return self.refusals[0].exit_code if self.refusals else 0

    def to_json(self) -> dict[str, Any]:
        """The document that `check --json` prints."""
        return {
            "source": self.source,
            "sources": list(self.sources),
            "columns": self.columns,
            "rows": self.rows.to_json(),
            "identifiers": self.identifiers,
            "combinations": list(self.combinations),
            "rejections": self.rejections,
            "suppression": list(self.suppression),
            "plan": {
                "requests": self.requests,
                "operations": self.operations,
                "records": self.records,
                "bytes": self.bytes,
                "minutes": self.minutes,
                "fill_ratio": self.fill_ratio,
                "plan_time": self.plan_time,
                "expires_at": self.expires_at,
                "effective_at": self.effective_at,
                "resumable": self.is_repeatable,
            },
            "changes": self.changes,
            "verdict": self.verdict,
            "problems": [{"message": str(refusal), "hint": refusal.hint} for refusal in self.refusals],
            "notes": list(self.notes),
            "warnings": [warning.to_json() for warning in self.warnings],
            "findings": [finding.to_json() for finding in self.findings],
        }
