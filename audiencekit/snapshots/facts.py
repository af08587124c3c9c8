"""The facts in a snapshot, and the refusals of a snapshot that cannot be trusted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Final, Self

import orjson

from audiencekit.errors import InputOutputFailed, SnapshotRefused
from audiencekit.snapshots.members import DOUBTFUL
from audiencekit.state.spool import MARK, OtherSpoolFormat

FORM: Final = 2
REBUILD_HINT: Final = (
    "give the AUDIENCEKIT_KEY, keyring or key file of that time, or restore the file; else "
    "a sync with `rebuild=True` sends all members again and begins a new snapshot"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFacts:
    """The facts in a snapshot. Times are in epoch seconds, None for what never happened.

    `days` counts the members by the day on which they expire, 0 for those in doubt. `additions_at` and `removals_at`
    are the times of the last runs that put people in and took people out. `form` is the number of the format.
    `whole_serial` is 0 in a file that holds all members; a file with later changes has the serial of that file.
    `whole_at` is when all members were last written.
    """

    account_id: str
    audience_id: str
    serial: int = 0
    form: int = FORM
    whole_serial: int = 0
    whole_at: float | None = None
    identifiers: int = 0
    days: dict[str, int] = field(default_factory=dict)
    additions_at: float | None = None
    removals_at: float | None = None

    @classmethod
    def from_bytes(cls, content: bytes | memoryview) -> Self:
        """Return the facts that `to_bytes` wrote. Raises SnapshotRefused for another form."""
        with contextlib.suppress(ValueError, TypeError, KeyError):
            known = orjson.loads(content)
            if known["form"] == FORM:
                return cls(**known)
        raise _of_another_version()

    def to_bytes(self) -> bytes:
        """Return the facts as JSON."""
        return orjson.dumps(asdict(self))

    @property
    def members(self) -> int:
        """The number of members, with those in doubt."""
        return sum(self.days.values())

    def live(self, lapsed_before: int) -> int:
        """Return how many of them have not expired before that day."""
        return sum(count for day, count in self.days.items() if int(day) == DOUBTFUL or int(day) >= lapsed_before)

    @property
    def doubtful(self) -> int:
        """The number of members that are in doubt."""
        return self.days.get(str(DOUBTFUL), 0)


def untrusted() -> SnapshotRefused:
    """Return the refusal of a file that does not open under our key."""
    return SnapshotRefused(
        "the snapshot of the audience is damaged, or was made under another state key: nothing was sent",
        hint=REBUILD_HINT,
    )


@contextlib.contextmanager
def trusted() -> Iterator[None]:
    """Raise SnapshotRefused in place of the errors of the sealed file."""
    try:
        yield
    except OtherSpoolFormat:
        raise _of_another_version() from None
    except InputOutputFailed:
        raise untrusted() from None


def _of_another_version() -> SnapshotRefused:
    return SnapshotRefused(
        "the snapshot was written by another version of audiencekit:"
        f" this one reads form {FORM} in {MARK.decode()} only",
        hint="use that version; or sync with `rebuild=True`, which sends all members again and begins a new snapshot",
    )
