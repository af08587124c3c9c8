"""The files of the snapshot of one audience.

Each file is written under another name, synced, and renamed, and has its own key that is derived from the state key.
`serial` counts the snapshots of an audience, and is stored, sealed, in a separate file: so a snapshot that was removed,
or put back from a copy, is noticed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.errors import SnapshotRefused
from audiencekit.process.crash_points import pass_point
from audiencekit.selection.tags import Tagger
from audiencekit.snapshots.facts import REBUILD_HINT, SnapshotFacts, untrusted
from audiencekit.snapshots.files import NewParts, PartsFile, Snapshot, write_parts
from audiencekit.state.directory import make_directory, safe_child
from audiencekit.state.files import explained, read_file, replace_file, sync_directory
from audiencekit.state.keys import StateKey, SubKey
from audiencekit.state.spool import NONCE_BYTES, KeptSpool

SNAPSHOTS: Final = "snapshots"
SNAPSHOT, RECENT, SERIAL, CHANGES = "snapshot", "recent", "serial", "changes"

_ASIDE: Final = ".new-"
_MOST_SERIAL_BYTES: Final = 1_000


class SnapshotStore:
    """The directory of one audience. A writer holds the lock of the audience."""

    def __init__(self, state_dir: Path, account_id: str, audience_id: str, key: StateKey) -> None:
        self._first = SnapshotFacts(account_id=account_id, audience_id=audience_id)
        self._state_dir = state_dir
        self._directory = safe_child(state_dir / SNAPSHOTS, f"{account_id}-{audience_id}")
        self._key = key.derive("snapshot", f"{account_id}/{audience_id}")
        self._tags = key.derive("snapshot tags", f"{account_id}/{audience_id}")

    @classmethod
    def all_of(cls, state_dir: Path, key: StateKey) -> Iterator[tuple[str, Self]]:
        """Yield the store of every audience that is or was under sync, and the ids of account and audience."""
        for name in sorted(os.listdir(state_dir / SNAPSHOTS)) if (state_dir / SNAPSHOTS).is_dir() else ():
            account_id, _, audience_id = name.partition("-")
            yield name, cls(state_dir, account_id, audience_id, key)

    @classmethod
    def audiences(cls, state_dir: Path, account_id: str) -> list[str]:
        """Return the ids of the audiences of an account that are, or were, under sync."""
        begin = f"{account_id}-"
        with contextlib.suppress(FileNotFoundError):
            names = sorted(os.listdir(state_dir / SNAPSHOTS))
            return [name.removeprefix(begin) for name in names if name.startswith(begin)]
        return []

    @classmethod
    def accounts(cls, state_dir: Path) -> set[str]:
        """Return the ids of the accounts with an audience that is, or was, under sync."""
        with contextlib.suppress(FileNotFoundError):
            return {name.partition("-")[0] for name in os.listdir(state_dir / SNAPSHOTS) if "-" in name}
        return set()

    @property
    def audience_id(self) -> str:
        """The id of the audience."""
        return self._first.audience_id

    @property
    def changes_path(self) -> Path:
        """The file with the changes that a run is about to make."""
        return self._directory / CHANGES

    @property
    def directory(self) -> Path:
        """The directory of the audience."""
        return self._directory

    def spool_key(self) -> SubKey:
        """The key of the files."""
        return self._key

    def tagger(self) -> Tagger:
        """Return the tagger that orders this audience's members, the same in every run."""
        return Tagger(self._tags)

    def prepare(self) -> None:
        """Make the directory, and remove files that a kill left incomplete or that are out of date."""
        make_directory(self._state_dir, SNAPSHOTS, self._directory.name)
        with explained("the directory of the snapshot cannot be made", self._directory):
            for left in self._directory.glob(f"{_ASIDE}*"):
                left.unlink()
        with contextlib.suppress(SnapshotRefused), contextlib.closing(self.open()) as snapshot:
            if snapshot.recent is None:
                self._remove_recent()

    def open(self) -> Snapshot:
        """Open the last snapshot; one without members when there never was one.

        Raises SnapshotRefused for one that is damaged, of another key, removed, or older than the last.
        """
        serial = self._read_serial()
        with contextlib.ExitStack() as stack:
            # In this order, so that a writer who comes between leaves what belongs together.
            recent, whole = (self._open_file(name, stack) for name in (RECENT, SNAPSHOT))
            if whole is None:
                if serial:
                    raise SnapshotRefused("the snapshot of the audience is missing", hint=REBUILD_HINT)
                return self.unknown()
            if recent is not None and recent.facts.whole_serial < whole.facts.serial:
                recent.close()  # a kill came before it was removed
                recent = None
            last = whole.facts if recent is None else recent.facts
            belongs = whole.facts.whole_serial == 0 and (recent is None or last.whole_serial == whole.facts.serial)
            if not belongs or last.serial not in (serial, serial + 1):  # a kill came before the serial was written
                raise SnapshotRefused("the snapshot is not the last that was written", hint=REBUILD_HINT)
            stack.pop_all()
        return Snapshot(last, whole, recent)

    def _open_file(self, name: str, stack: contextlib.ExitStack) -> PartsFile | None:
        file = PartsFile.open(self._directory / name, self._key)
        if file is None:
            return None
        stack.callback(file.close)
        if (file.facts.account_id, file.facts.audience_id) != (self._first.account_id, self._first.audience_id):
            raise SnapshotRefused("this is the snapshot of another audience", hint=REBUILD_HINT)
        return file

    def exists(self) -> bool:
        """Whether the audience is under sync."""
        return any(os.path.lexists(self._directory / name) for name in (SNAPSHOT, SERIAL, CHANGES))

    def write_whole(self, parts: Callable[[int], NewParts], facts: SnapshotFacts, at: float | None) -> None:
        """Replace the snapshot by one with all members in its `parts` and with `facts`, under the next serial.

        `parts` is called from several threads. `at` is now, in epoch seconds.
        """
        self._write(
            SNAPSHOT,
            lambda numbers: parts(numbers[0]),
            replace(facts, days={}, identifiers=0, whole_serial=0, whole_at=at),
        )
        self._remove_recent()

    def write_recent(
        self,
        parts: Callable[[range], NewParts],
        facts: SnapshotFacts,
        whole: SnapshotFacts,
        *,
        together: int = 1,
        workers: int | None = None,
    ) -> None:
        """Replace the snapshot by one whose `parts` are the changes since all members were written.

        `whole` are the facts of then. The counts of the parts are added to `facts`. So many parts are made `together`,
        by so many `workers`, by default one a core.
        """
        followed = replace(facts, whole_serial=whole.serial, whole_at=whole.whole_at)
        self._write(RECENT, parts, followed, together=together, workers=workers)

    def _write(
        self,
        name: str,
        parts: Callable[[range], NewParts],
        facts: SnapshotFacts,
        *,
        together: int = 1,
        workers: int | None = None,
    ) -> None:
        if self._read_serial() != facts.serial:  # a kill came before it was written
            self._write_serial(facts.serial)
        path = self._directory / f"{_ASIDE}{secrets.token_hex(8)}"
        spool = KeptSpool.create(path, self.spool_key())
        try:
            following = replace(facts, serial=facts.serial + 1)
            write_parts(spool, parts, following, together=together, workers=workers)
        except BaseException:
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        finally:
            spool.close()
        pass_point("before snapshot")
        with explained("the snapshot cannot be written", path):
            os.replace(path, self._directory / name)
            sync_directory(self._directory)
            pass_point("after snapshot")
            self._write_serial(facts.serial + 1)

    def unknown(self) -> Snapshot:
        """Return a snapshot without members."""
        return Snapshot(self._first)

    def forget(self) -> int:
        """Replace an unusable snapshot by an empty one; return its serial."""
        serial = 0
        with contextlib.suppress(SnapshotRefused):
            serial = self._read_serial()
        self.remove_changes()
        self._write_serial(serial)
        self.write_whole(lambda part: NewParts(), replace(self._first, serial=serial), None)
        return serial + 1

    def remove_changes(self) -> None:
        """Remove the changes: they are in the snapshot, or of no use."""
        pass_point("before removal")
        self._remove(self.changes_path)
        pass_point("after removal")

    def _remove_recent(self) -> None:
        if os.path.lexists(path := self._directory / RECENT):
            pass_point("before recent")
            self._remove(path)
            pass_point("after recent")

    def _remove(self, path: Path) -> None:
        with explained("what is of no use any more cannot be removed", path):
            path.unlink(missing_ok=True)
            sync_directory(self._directory)

    def _write_serial(self, serial: int) -> None:
        pass_point("before serial")
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = AESGCM(self._key.unwrap()).encrypt(nonce, str(serial).encode(), SERIAL.encode())
        replace_file(self._directory / SERIAL, nonce + sealed)
        pass_point("after serial")

    def _read_serial(self) -> int:
        path = self._directory / SERIAL
        if not os.path.lexists(path):
            return 0
        with explained("the serial of the snapshot cannot be read", path):
            content = read_file(path, _MOST_SERIAL_BYTES)
        nonce, sealed = content[:NONCE_BYTES], content[NONCE_BYTES:]
        try:
            return int(AESGCM(self._key.unwrap()).decrypt(nonce, sealed, SERIAL.encode()))
        except (InvalidTag, ValueError):
            raise untrusted() from None
