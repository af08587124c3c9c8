"""The match rate of an audience, as the service defines it: users active in the last 90 days over users provided.

The service tells the first number. The second it does not: under sync the snapshot knows who is in the audience now;
else the runs of this machine bound it, since people who were sent twice are one, and others may have sent, too.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, Self

from audiencekit.audiences.readiness import Readiness
from audiencekit.audiences.synchronisation.expiry import expiry, is_under_sync
from audiencekit.destinations.audience_sizes import AudienceSizes
from audiencekit.errors import AudiencekitError, SnapshotRefused
from audiencekit.limits import MIN_SHOWN_PEOPLE, MIN_TARGETABLE_PEOPLE
from audiencekit.preparation.plantimes import format_time
from audiencekit.runs.store import RunStore
from audiencekit.settings import Settings
from audiencekit.shown import shown

_DELETE: Final = "delete"
_DELETING: Final = frozenset({_DELETE, "update and delete"})  # of the second, how many records are which is not told


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """The records that are in the audience now: from `least` to `most`, as the snapshot or the runs tell."""

    least: int
    most: int
    source: Literal["snapshot", "runs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """An audience at one moment: what the service says of it, and how many records were provided; None if unknown."""

    readiness: Readiness
    provided: Provided | None

    @classmethod
    def of(cls, readiness: Readiness, settings: Settings) -> Self:
        """With what this state directory knows; a snapshot that cannot be trusted says nothing. The size is noted."""
        now = format_time(datetime.now(UTC))
        AudienceSizes(settings.state_dir, settings.account_id).note(readiness.audience_id, readiness.size, now)
        provided = None
        with contextlib.suppress(SnapshotRefused):
            provided = count_provided(readiness.audience_id, settings)
        return cls(readiness=readiness, provided=provided)

    @property
    def rate(self) -> tuple[float, float] | None:
        """The least and the greatest match rate; None where one of the two numbers is not known, or zero."""
        size, provided = self.readiness.size, self.provided
        if size is None or provided is None or not provided.most:
            return None
        return min(size / provided.most, 1.0), min(size / max(provided.least, 1), 1.0)

    def to_json(self) -> dict[str, Any]:
        """audience_id, targetable, reasons_not_targetable, audience_size, provided, match_rate."""
        document = self.readiness.to_json()
        provided, rate = self.provided, self.rate
        document["provided"] = provided and {"least": provided.least, "most": provided.most, "source": provided.source}
        document["match_rate"] = rate and {"least": rate[0], "most": rate[1]}
        return document

    def to_text(self) -> str:
        """Some lines for people."""
        state = "can be targeted" if self.readiness.is_targetable else "cannot be targeted yet"
        lines = [f"audience {shown(self.readiness.audience_id)} {state}", f"  active in 90 days   {self._size()}"]
        lines.append(f"  provided            {self._provided()}")
        lines.append(f"  match rate          {self._rate()}")
        return "\n".join(lines + self._floors())

    def _size(self) -> str:
        return "the service does not say" if self.readiness.size is None else f"{self.readiness.size:,}"

    def _provided(self) -> str:
        if self.provided is None:
            return "not known: no run of this machine tells"
        told = {"snapshot": "by the snapshot of the last sync", "runs": "by the runs of this machine"}
        return f"{_span(f'{self.provided.least:,}', f'{self.provided.most:,}')}, {told[self.provided.source]}"

    def _rate(self) -> str:
        if self.rate is None:
            return "not known"
        least, most = (f"{100 * share:.0f} %" for share in self.rate)
        return f"{_span(least, most)}: users active in 90 days over users provided"

    def _floors(self) -> list[str]:
        size = self.readiness.size
        if size is None:
            return []
        found = []
        if size < MIN_TARGETABLE_PEOPLE:
            found.append(f"note: {MIN_TARGETABLE_PEOPLE} are needed before the audience can be targeted")
        if size < MIN_SHOWN_PEOPLE:
            found.append(f"note: the service's own pages show a size from {MIN_SHOWN_PEOPLE} on")
        return found


def _span(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def count_provided(audience_id: str, settings: Settings, now: datetime | None = None) -> Provided | None:
    """The records in the audience now; None where nothing tells. Raises SnapshotRefused for a damaged snapshot."""
    now = now or datetime.now(UTC)
    if is_under_sync(audience_id, settings):
        found = expiry(audience_id=audience_id, settings=settings, now=now)
        live = found.members - found.lapsed
        return Provided(least=live - found.doubtful, most=live, source="snapshot")
    put_in, largest, taken_out = [], 0, 0
    for run in RunStore(settings.state_dir).list_runs():
        if run.get("audience_id") != audience_id or "rows" not in run:
            continue
        sent, operation = int(run["rows"].get("sent", 0)), run.get("operation")
        if operation in _DELETING:
            taken_out += sent
        if operation != _DELETE and (run.get("expires_at") or format_time(now)) >= format_time(now):
            put_in.append(sent)
            largest = max(largest, 0 if operation in _DELETING else sent)
    if not any(put_in):
        return None
    return Provided(least=max(0, largest - taken_out), most=sum(put_in), source="runs")


def size_history(audience_id: str, settings: Settings) -> list[dict[str, Any]]:
    """The sizes that the service told this machine, the oldest first: `seen_at`, `audience_size`, `members`.

    `members` are those that the last complete sync before had left in the audience, and `match_rate` is the size over
    them; both are None where no sync of this machine tells.
    """
    left, found = _members_after_syncs(audience_id, settings), []
    for seen_at, size in AudienceSizes(settings.state_dir, settings.account_id).of(audience_id).items():
        members = next((count for finished_at, count in reversed(left) if finished_at <= seen_at), None)
        rate = round(min(size / members, 1.0), 4) if members else None
        found.append({"seen_at": seen_at, "audience_size": size, "members": members, "match_rate": rate})
    return found


def _members_after_syncs(audience_id: str, settings: Settings) -> list[tuple[str, int]]:
    """When each complete sync of the audience ended, and the members after it, the first first."""
    store, found = RunStore(settings.state_dir), []
    for run in store.list_runs():
        if run.get("audience_id") == audience_id and run["state"] == "complete" and run.get("finished_at"):
            with contextlib.suppress(AudiencekitError, OSError):
                members = store.read(run["run_id"]).get("changes", {}).get("members_after")
                found += [(str(run["finished_at"]), int(members))] if members is not None else []
    return sorted(found)
