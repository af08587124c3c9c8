"""The receipt of a purge: counts by kind, and ages. It names no run, no audience and no person.

purges/<id>.json    kept before the first thing goes, and once more at the end; for good
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from audiencekit.machine.checkeddocuments import encode_checked
from audiencekit.machine.privatefiles import explained, replace_file
from audiencekit.preparation.plantimes import format_time
from audiencekit.runs.purge.expired import (
    COMPLETE,
    DAMAGED,
    ENDED,
    LEFT,
    NOT_BEGUN,
    NOT_RESUMABLE,
    REFUSED,
    RESUMABLE,
    RUNNING,
    UNFINISHED,
    PurgeCandidates,
)
from audiencekit.runs.store import new_run_id

PURGES: Final = "purges"
PREFIX: Final = "purge-"
FORM: Final = "audiencekit-purge/1"
ERASURES, ERASURE_FILES, RECEIPTS = "erasures", "erasure_files", "receipts"
WORDS: Final = {
    COMPLETE: "complete runs",
    REFUSED: "refused runs",
    NOT_BEGUN: "runs never begun",
    NOT_RESUMABLE: "runs that ended early and cannot be resumed",
    RESUMABLE: "runs that can be resumed",
    DAMAGED: "runs whose journal is damaged",
    RUNNING: "at work, or their audience is",
    LEFT: "left by a purge that was killed",
    ERASURES: "erasures that are not finished",
    ERASURE_FILES: "files that erasures have left",
    RECEIPTS: "receipts of erasures",
}
REMOVABLE: Final = (*ENDED, *UNFINISHED, LEFT, ERASURE_FILES, RECEIPTS)
KEEPABLE: Final = (*UNFINISHED, RUNNING, ERASURES, RECEIPTS)

State = Literal["planned", "begun", "complete", "incomplete"]


@dataclass(slots=True, kw_only=True)
class PurgeReceipt:
    """The counts of one purge, by kind. `by` is the command or the retention.

    `expired` was old enough and is to go, `removed` went, `bytes` in all; `kept` was old enough and stays.
    `changes` are the last changes of all that is to go, in epoch seconds.
    """

    purge_id: str
    by: Literal["command", "retention"]
    started_at: datetime
    older_than: timedelta
    state: State = "planned"
    finished_at: datetime | None = None
    expired: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    changes: list[float] = field(default_factory=list)
    bytes: int = 0

    @classmethod
    def of(cls, older_than: timedelta, now: datetime, by: Literal["command", "retention"]) -> PurgeReceipt:
        """That of a purge at `now`, of which nothing is known yet."""
        return cls(purge_id=PREFIX + new_run_id(now.timestamp()), by=by, started_at=now, older_than=older_than)

    @property
    def before(self) -> float:
        """The time, in epoch seconds, before which the last change of something is to be that goes."""
        return max(0.0, self.started_at.timestamp() - self.older_than.total_seconds())

    def count(self, found: PurgeCandidates) -> None:
        """Add the counts of `found`."""
        self.expired.update(each.kind for each in found.expired)
        self.changes += [each.changed_at for each in found.expired if each.kind != LEFT]
        self.kept += found.kept

    def to_json(self) -> dict[str, Any]:
        """Everything, with times as reports write them, and each kind, also those with none."""
        return {
            "purge_id": self.purge_id,
            "state": self.state,
            "by": self.by,
            "started_at": format_time(self.started_at),
            "finished_at": self.finished_at and format_time(self.finished_at),
            "older_than_seconds": int(self.older_than.total_seconds()),
            "before": _time(self.before),
            "expired": {kind: self.expired[kind] for kind in REMOVABLE},
            "removed": {kind: self.removed[kind] for kind in REMOVABLE},
            "kept": {kind: self.kept[kind] for kind in KEEPABLE},
            "oldest": _time(min(self.changes)) if self.changes else None,
            "newest": _time(max(self.changes)) if self.changes else None,
            "bytes": self.bytes,
        }

    def to_text(self) -> str:
        """Some lines for people."""
        is_plan = self.state == "planned"
        lines = _table("to be purged" if is_plan else "purged", self.expired if is_plan else self.removed)
        return "\n".join([f"last changed before {_time(self.before)}:", *lines, *_table("kept", self.kept)])


def _table(title: str, counts: Counter[str]) -> list[str]:
    rows = [f"  {title:<12}  {number:>7,}  {WORDS[kind]}" for kind, number in counts.items() if number]
    return rows or [f"  {title:<12}  {'none':>7}"]


def _time(moment: float) -> str:
    return format_time(datetime.fromtimestamp(moment, UTC))


def write_receipt(state_dir: Path, receipt: PurgeReceipt) -> None:
    """Keep the receipt as it stands, whole at every moment. Raises InputOutputFailed."""
    path = state_dir / PURGES / f"{receipt.purge_id}.json"
    with explained("the receipt of the purge cannot be written", path):
        replace_file(path, encode_checked(receipt.to_json(), FORM))
