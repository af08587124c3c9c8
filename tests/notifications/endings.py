"""Reports of invented runs, and how they ended."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from audiencekit.destinations.target import Target
from audiencekit.notifications.notices import Ending
from audiencekit.reporting.report import Report, RowCounts

NOW = datetime(2026, 11, 28, 3, 30, tzinfo=UTC)


def report(sent: int = 900, rejected: int = 100, **more: Any) -> dict[str, Any]:
    """The report of a complete upload."""
    facts: dict[str, Any] = {
        "run_id": "20261128-031500-00000000",
        "state": "complete",
        "target": Target.audience("h1ab2"),
        "operation": "update",
        "rows": RowCounts(read=sent + rejected, sent=sent, rejected=rejected),
        "identifiers": {"email": {"present": sent + rejected, "valid": sent, "rejected": rejected}},
        "rejections": {"invalid_syntax": rejected},
        "columns": {"email": ["Ada Lovelace"]},
        "source_names": ("ada@example.com.csv",),
        "notes": ("column 'Ada Lovelace' is used",),
        "started_at": "2026-11-28T03:15:00Z",
        "finished_at": "2026-11-28T03:25:00Z",
    }
    return Report(**{**facts, **more}).to_json()


def ending(state: str = "complete", document: dict[str, Any] | None = None, **more: Any) -> Ending:
    """A run that ended so."""
    return Ending(state=state, report=report() if document is None else document, now=NOW, **more)
