"""Counts that close: read = sent + rejected + duplicate + superseded + suppressed + unchanged + pending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from audiencekit.errors import Bug
from audiencekit.identifiers.kinds import Kind
from audiencekit.preparation.batches import ColumnMapping
from audiencekit.preparation.tally import ColumnTally, Tally


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
    """How many of the first `done` records of a sync are rows, where `waves` count the records of each wave.

    Wave by wave, Updates of rows take turns with Deletes, which are not of the source.
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
        seen = tally.columns.get(column.position, ColumnTally())
        counts = found.setdefault(column.kind.value, {"present": 0, "valid": 0, "rejected": 0})
        counts["present"] += seen.present
        counts["valid"] += seen.valid
        counts["rejected"] += seen.rejected
    return found


def combination_counts(tally: Tally) -> tuple[dict[str, Any], ...]:
    """The rows by the kinds that they have a valid value of: `kinds` and `rows` each, the most rows first."""
    named = ((_kinds_of(bits), rows) for bits, rows in tally.combinations.items() if rows)
    return tuple({"kinds": kinds, "rows": rows} for kinds, rows in sorted(named, key=lambda each: (-each[1], each[0])))


def _kinds_of(bits: int) -> list[str]:
    return [kind.value for place, kind in enumerate(Kind) if bits >> place & 1]
