"""The snapshot of an audience under the lock of a run: opened, judged, and brought up to date when the run ends."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from audiencekit.audiences.synchronisation.plan.plannedsync import PlannedSync
from audiencekit.audiences.synchronisation.settling import settle_left, settle_run
from audiencekit.audiences.synchronisation.stamp.stamping import judge_unasked
from audiencekit.errors import SnapshotRefused
from audiencekit.machine.keys import SubKey, find_state_key
from audiencekit.planning.plan import PlannedRun
from audiencekit.runs.inthread import in_thread
from audiencekit.runs.run import Run
from audiencekit.selection.tags import Tagger
from audiencekit.settings import Settings
from audiencekit.snapshots.changes import ChangesFacts, write_changes
from audiencekit.snapshots.files import PARTS, Snapshot
from audiencekit.snapshots.members import day_of
from audiencekit.snapshots.store import SnapshotStore

_STAY: Final = "stay until their entries expire"
_LOST: Final = f"the snapshot is lost: all members are sent again; past members that are not in the source {_STAY}"
_NEW: Final = f"this is the first sync of the audience: people who were put in by other means are unknown, and {_STAY}"


def _now() -> datetime:
    return datetime.now(UTC)


class HeldSnapshot:
    """The snapshot of one audience, under the lock of a run. Close it with `stack`.

    Changes of an earlier run are brought into it when it is opened. With `rebuild` a snapshot that cannot be trusted is
    as good as none; it makes way for an empty one before anything is sent.
    """

    def __init__(
        self,
        settings: Settings,
        audience_id: str,
        stack: ExitStack,
        *,
        rebuild: bool = False,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self._state_dir = settings.state_dir
        self._key = find_state_key(settings.state_dir, settings.key)
        self._store = SnapshotStore(settings.state_dir, settings.require_account(), audience_id, self._key)
        self._stack, self._now = stack, now
        self._is_rebuild = rebuild
        self._snapshot: Snapshot | None = None
        self._judge: Callable[[int], tuple[str, ...]] = self._judge_unasked
        self._is_lost = False

    @property
    def tagger(self) -> Tagger:
        """Makes the tags that order the members."""
        return self._store.tagger()

    @property
    def directory(self) -> Path:
        """The directory of its files."""
        return self._store.directory

    @property
    def key(self) -> SubKey:
        """The key that seals files beside it."""
        return self._store.spool_key()

    def judged_by(self, judge: Callable[[int], tuple[str, ...]]) -> None:
        """Have `judge` say whether a serial number is that of the last state, when the service was asked."""
        self._judge = judge

    def open(self) -> tuple[Snapshot, tuple[str, ...]]:
        """The snapshot, and what people should know of it.

        Raises SnapshotRefused for one that cannot be trusted, or that is not the last state of the audience.
        """
        notes: tuple[str, ...] = ()
        try:
            if settle_left(self._store, self._state_dir, self._key, self._now()):
                notes = ("an earlier run was interrupted: its requests in doubt are sent again",)
            snapshot = self._store.open()
            self._stack.callback(snapshot.close)
            if self._is_rebuild:
                for part in range(PARTS):
                    snapshot.members(part)
        except SnapshotRefused:
            if not self._is_rebuild:
                raise
            snapshot, self._is_lost = self._store.unknown(), True
        self._snapshot = snapshot
        return snapshot, notes + self._words_for(snapshot) + self._judge(snapshot.facts.serial)

    def _judge_unasked(self, serial: int) -> tuple[str, ...]:
        """Of a plan, for which the service is not asked, the stamps that are known here."""
        if not self._is_rebuild:
            judge_unasked(self.directory, self.key, serial)
        return ()

    def _words_for(self, snapshot: Snapshot) -> tuple[str, ...]:
        if self._is_lost:
            return (_LOST,)
        if self._is_rebuild:
            return ("the snapshot is built anew: all members are sent again",)
        return () if snapshot.facts.serial else (_NEW,)

    async def note(self, run: Run, planned: PlannedRun) -> None:
        """Note what `planned` changes, so that nothing is lost when the run is killed."""
        await in_thread(functools.partial(self._note, run, planned))

    def _note(self, run: Run, planned: PlannedRun) -> None:
        assert isinstance(planned, PlannedSync)  # noqa: S101
        serial = self._store.forget() if self._is_lost else self.serial
        write_changes(
            self._store.changes_path,
            self.key,
            ChangesFacts(run_id=run.facts.run_id, serial=serial, day=day_of(planned.times.end)),
            layout=planned.layout,
            waves=planned.selection.waves(),
            requests=planned.requests,
            records_of=planned.whole_records,
        )

    async def settle(self, run: Run) -> int:
        """Bring the noted changes that the journal of `run` confirms, or leaves in doubt, into the snapshot.

        The serial number of the snapshot comes back.
        """
        await in_thread(functools.partial(self._settle, run))
        with contextlib.closing(self._store.open()) as snapshot:
            return snapshot.facts.serial

    def _settle(self, run: Run) -> None:
        settle_run(self._store, run.journal, run.facts.run_id, self._now())

    @property
    def serial(self) -> int:
        """The serial number of the snapshot that is open."""
        assert self._snapshot is not None  # noqa: S101
        return self._snapshot.facts.serial
