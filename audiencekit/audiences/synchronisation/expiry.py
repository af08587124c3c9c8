"""`expiry`: when the members of an audience under sync expire, unless they are renewed."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from audiencekit.api.calls import check_identifier
from audiencekit.errors import PlanRefused
from audiencekit.machine.keys import find_state_key
from audiencekit.settings import Settings, load_settings
from audiencekit.snapshots.members import DOUBTFUL, date_of, day_of
from audiencekit.snapshots.store import SNAPSHOTS, SnapshotStore

WITHIN_DAYS: Final = (7, 30, 90)  # what people ask for


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """The members of an audience by the day on which their entries expire, in UTC.

    `doubtful` may be in the audience or not. `within` counts those that expire in so many days. With `unsettled`, a run
    is at work or was cut short, and what it has changed is not counted yet.
    """

    audience_id: str
    members: int
    doubtful: int
    lapsed: int
    within: dict[int, int]
    days: dict[date, int]
    unsettled: bool

    def to_json(self) -> dict[str, Any]:
        """Return the document that `expiry --json` prints."""
        return {
            "audience_id": self.audience_id,
            "members": self.members,
            "doubtful": self.doubtful,
            "lapsed": self.lapsed,
            "within_days": {str(days): count for days, count in self.within.items()},
            "days": [{"date": day.isoformat(), "members": count} for day, count in self.days.items()],
            "unsettled": self.unsettled,
        }


def is_under_sync(audience_id: str, settings: Settings) -> bool:
    """Whether this state directory has a snapshot of the audience. Without any, no state key is made for asking."""
    return (settings.state_dir / SNAPSHOTS).exists() and _store(audience_id, settings).exists()


def _store(audience_id: str, settings: Settings) -> SnapshotStore:
    check_identifier("audience", audience_id)
    key = find_state_key(settings.state_dir, settings.key)
    return SnapshotStore(settings.state_dir, settings.require_account(), audience_id, key)


def expiry(*, audience_id: str, settings: Settings | None = None, now: datetime | None = None) -> Expiry:
    """Count the members of the snapshot by the day on which they expire. Sends nothing, and needs no credentials.

    Raises PlanRefused for an audience that is not under sync, SnapshotRefused for a snapshot that cannot be trusted.
    """
    settings = settings or load_settings()
    store = _store(audience_id, settings)
    if not store.exists():
        raise PlanRefused("the audience is not under sync", hint="`audiencekit sync SOURCE --audience ID` begins it")
    with closing(store.open()) as snapshot:
        days = {int(day): count for day, count in snapshot.facts.days.items()}
        members, doubtful = snapshot.facts.members, days.pop(DOUBTFUL, 0)
    today = day_of(now or datetime.now(UTC))
    return Expiry(
        audience_id=audience_id,
        members=members,
        doubtful=doubtful,
        lapsed=sum(count for day, count in days.items() if day < today),
        within={
            within: sum(count for day, count in days.items() if today <= day <= today + within)
            for within in WITHIN_DAYS
        },
        days={date_of(day): count for day, count in days.items()},
        unsettled=store.changes_path.exists(),
    )
