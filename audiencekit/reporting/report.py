"""The plan and the report of a run, whose counts close.

Read = sent + rejected + duplicate + superseded + suppressed + unchanged + pending.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from audiencekit.destinations.target import Target
from audiencekit.errors import Bug, Refused
from audiencekit.identifiers.kinds import Kind
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.findings import Finding
from audiencekit.records.losses import Loss
from audiencekit.records.tally import ColumnTally, Tally

# --- Counts that close: read = sent + rejected + duplicate + superseded + suppressed + unchanged + pending ---


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """Where every row of the source is. Construction fails when the sum does not close."""

    read: int
    sent: int = 0
    rejected: int = 0
    duplicate: int = 0
    superseded: int = 0
    suppressed: int = 0
    unchanged: int = 0
    pending: int = 0

    def __post_init__(self) -> None:
        parts = sum(asdict(self).values()) - self.read
        if parts != self.read:
            raise Bug(f"the report does not close: {self.read} rows were read, {parts} are accounted for")

    def to_json(self) -> dict[str, int]:
        """The counts by name; `unchanged` only where there are any, in a sync."""
        counts = asdict(self)
        if not self.unchanged:
            del counts["unchanged"]
        return counts


def rows_among(waves: Sequence[int], done: int) -> int:
    """Return how many of the first `done` records of a sync are rows; `waves` has the records of each wave.

    Wave by wave, Updates of rows alternate with Deletes, which are not from the source.
    """
    rows = 0
    for number, records in enumerate(waves):
        of_wave = min(records, done)
        rows, done = rows + (0 if number % 2 else of_wave), done - of_wave
    return rows


def identifier_counts(tally: Tally, mapping: ColumnMapping) -> dict[str, dict[str, int]]:
    """{kind: {present, valid, rejected}} over all columns of each mapped kind."""
    found: dict[str, dict[str, int]] = {}
    for column in mapping.columns:
        seen = tally.columns.get(column.key, ColumnTally())
        counts = found.setdefault(column.kind.value, {"present": 0, "valid": 0, "rejected": 0})
        counts["present"] += seen.present
        counts["valid"] += seen.valid
        counts["rejected"] += seen.rejected
    return found


def combination_counts(tally: Tally) -> tuple[dict[str, Any], ...]:
    """Return the rows by the kinds of which they have a valid value: `kinds` and `rows` each, the most rows first."""
    named = ((_kinds_of(bits), rows) for bits, rows in tally.combinations.items() if rows)
    return tuple({"kinds": kinds, "rows": rows} for kinds, rows in sorted(named, key=lambda each: (-each[1], each[0])))


def _kinds_of(bits: int) -> list[str]:
    return [kind.value for place, kind in enumerate(Kind) if bits >> place & 1]


# --- The plan as people and programs read it: the result of `check`, and the requests of an `upload` ---

Verdict = Literal["ready", "ready_with_warnings", "empty", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan:
    """The result of a check. `verdict` says what `upload` would do, `refusals` why it would refuse, worst first.

    `warnings` are large losses; `findings`, of a `check` with `doctor`, are all losses, the most values first. `source`
    describes the format of the source, and `sources` that of each file, with its name and rows. `column_uses` say of
    each column its name (`column`), what it is used as (`use`: a kind, `country`, `operation`, `consent`, `left out` or
    `not used`), and `why`. `suppression` counts
    the rows of each suppression source. `combinations` count the rows by the kinds of identifiers that they have.
    `is_repeatable` is true when the source can be read again, so that `resume` does not need it anew. `minutes` is the
    shortest time that the rate limit allows; None for a destination without one. `bytes` counts bodies as sent.
    """

    source: dict[str, Any]
    column_uses: tuple[dict[str, str], ...] = ()
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
        return self.to_text()

    def to_text(self, *, details: bool = False) -> str:
        """The text of the command line; with `details` that of `--verbose`, with all counts and notes."""
        from audiencekit.reporting.text import render_plan  # `check --json` needs no text

        return render_plan(self.to_json(), details=details)

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
            "column_uses": list(self.column_uses),
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


# --- The report of a run: counts, never people ---

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
    large losses of the plan. `repair_of` names the run whose rejected rows were sent after a repair, with the number of
    these rows; `repairs` are the runs that did so with rows of this one.
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
    repair_of: dict[str, Any] | None = None
    repairs: tuple[dict[str, Any], ...] = ()

    def __repr__(self) -> str:
        sent = f"{self.rows.sent:,} of {self.rows.read:,} rows sent"
        return f"<Report of run {self.run_id}: {self.state}, {sent}>"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, details: bool = False) -> str:
        """The text of the command line; with `details` that of `--verbose`, with all counts and notes."""
        from audiencekit.reporting.text import render_report  # a run needs no text

        return render_report(self.to_json(), details=details)

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
            "repair_of": self.repair_of,
            "repairs": list(self.repairs),
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
            "repairs": tuple(facts.pop("repairs", ())),  # a report that was stored before has none
        }
        del facts["requests"], facts["audience_id"]
        return cls(**facts.pop("reconciliation"), **requests, **named, **facts)
