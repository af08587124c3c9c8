"""The snapshot of an audience under sync: who is in it, by hash, and until when. The one place that keeps hashes.

It is a sealed file (`delivery.keptspool`) for each audience of an account, under a key of its own that is made from the
state key. Chunk 0 says what it is; chunk n + 1 holds the members whose tag begins with the byte n, in the order of
their tags. A new one is written aside, synced, and renamed. `serial` counts the snapshots of an audience up, and is
kept, sealed, in a second file: so a snapshot that was removed, or put back from a copy, is noticed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.audiences.synchronisation.members import (
    DOUBTFUL,
    NO_MEMBERS,
    MemberChunk,
    count_identifiers,
    days_of,
    from_bytes,
    to_bytes,
)
from audiencekit.delivery.keptspool import KeptSpool
from audiencekit.delivery.spool import NONCE_BYTES
from audiencekit.errors import InputOutputFailed, SnapshotRefused
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.keys import StateKey, SubKey
from audiencekit.machine.privatefiles import explained, make_private_directory, read_file, replace_file, sync_directory
from audiencekit.machine.workers import cores, in_order
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.partitions import PARTITION_BITS
from audiencekit.preparation.tags import Tagger

SNAPSHOTS: Final = "snapshots"
SNAPSHOT, SERIAL, CHANGES = "snapshot", "serial", "changes"
PARTS: Final = 2**PARTITION_BITS
REBUILD_HINT: Final = (
    "give the AUDIENCEKIT_KEY, keyring or key file of then, or restore the file; else `audiencekit sync … --rebuild` "
    "sends everybody again and begins a new snapshot"
)

_ASIDE: Final = ".new-"
_MOST_SERIAL_BYTES: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFacts:
    """What a snapshot says of itself. Times are in epoch seconds, None for what never happened.

    `days` counts the members by the day that they lapse, 0 for those `in doubt`. `additions_at` and `removals_at` are
    of the last runs that put people in and took people out; `updates_doubted_at` and `deletes_doubted_at` say when a
    request was last known to be one that may still be applied.
    """

    account_id: str
    audience_id: str
    serial: int = 0
    identifiers: int = 0
    days: dict[str, int] = field(default_factory=dict)
    additions_at: float | None = None
    removals_at: float | None = None
    updates_doubted_at: float | None = None
    deletes_doubted_at: float | None = None

    @property
    def members(self) -> int:
        """How many there are, those in doubt included."""
        return sum(self.days.values())

    def live(self, lapsed_before: int) -> int:
        """How many of them have not lapsed before that day."""
        return sum(count for day, count in self.days.items() if int(day) == DOUBTFUL or int(day) >= lapsed_before)

    @property
    def doubtful(self) -> int:
        """How many may be in the audience or not."""
        return self.days.get(str(DOUBTFUL), 0)


class Snapshot:
    """An opened snapshot; one that was never written has no members. Close it."""

    def __init__(self, facts: SnapshotFacts, spool: KeptSpool | None) -> None:
        self.facts, self._spool = facts, spool

    def __repr__(self) -> str:
        return f"<Snapshot {self.facts.serial} of {self.facts.members} members>"

    def members(self, part: int) -> HashedRecords:
        """Those of one part, MEMBER_SCHEMA, in the order of their tags. May be called from any thread.

        Raises SnapshotRefused for a damaged file.
        """
        if self._spool is None:
            return NO_MEMBERS
        with _trusted():
            return from_bytes(MemberChunk(self._spool.read(part + 1)))

    def close(self) -> None:
        """Give up the file."""
        if self._spool is not None:
            self._spool.close()


class SnapshotStore:
    """Where the snapshot of one audience lives. Whoever writes holds the lock of the audience."""

    def __init__(self, state_dir: Path, account_id: str, audience_id: str, key: StateKey) -> None:
        self._first = SnapshotFacts(account_id=account_id, audience_id=audience_id)
        self._directory = state_dir / SNAPSHOTS / f"{account_id}-{audience_id}"
        self._key = key.derive("snapshot", f"{account_id}/{audience_id}")
        self._tags = key.derive("snapshot tags", f"{account_id}/{audience_id}")

    @property
    def changes_path(self) -> Path:
        """Where what a run is about to change is noted."""
        return self._directory / CHANGES

    @property
    def directory(self) -> Path:
        """The directory of the audience."""
        return self._directory

    def spool_key(self) -> SubKey:
        """The key of the files."""
        return self._key

    def tagger(self) -> Tagger:
        """Makes the tags that order this audience's members, the same in every run."""
        return Tagger(self._tags)

    def prepare(self) -> None:
        """Make the directory, and remove what a kill left half written."""
        with explained("the directory of the snapshot cannot be made", self._directory):
            self._directory.parent.parent.mkdir(parents=True, exist_ok=True)
            make_private_directory(self._directory.parent)
            make_private_directory(self._directory)
            for left in self._directory.glob(f"{_ASIDE}*"):
                left.unlink()

    def open(self) -> Snapshot:
        """The snapshot as it was last written; one without members when there never was one.

        Raises SnapshotRefused for one that is damaged, of another key, removed, or older than the last.
        """
        path, serial = self._directory / SNAPSHOT, self._read_serial()
        if not os.path.lexists(path):
            if serial:
                raise SnapshotRefused("the snapshot of the audience is missing", hint=REBUILD_HINT)
            return self.unknown()
        with _trusted():
            spool = KeptSpool.open(path, self.spool_key())
        try:
            facts = _read_facts(spool)
            if (facts.account_id, facts.audience_id) != (self._first.account_id, self._first.audience_id):
                raise SnapshotRefused("this is the snapshot of another audience", hint=REBUILD_HINT)
            if facts.serial not in (serial, serial + 1):  # the second when a kill came before the serial was written
                raise SnapshotRefused("the snapshot is not the last that was written", hint=REBUILD_HINT)
        except BaseException:
            spool.close()
            raise
        return Snapshot(facts, spool)

    def exists(self) -> bool:
        """Whether the audience is under sync."""
        return any(os.path.lexists(self._directory / name) for name in (SNAPSHOT, SERIAL, CHANGES))

    def write(self, members: Callable[[int], HashedRecords], facts: SnapshotFacts) -> None:
        """A new snapshot in the place of the last: the `members` of every part, and `facts` with the next serial.

        `members` is called from several threads.
        """
        if self._read_serial() != facts.serial:  # a kill came before it was written
            self._write_serial(facts.serial)
        path = self._directory / f"{_ASIDE}{secrets.token_hex(8)}"
        spool = KeptSpool.create(path, self.spool_key())
        try:
            counted = _write_parts(spool, members)
            facts = replace(facts, serial=facts.serial + 1, **counted)
            spool.append(orjson.dumps(asdict(facts)), 0)
            spool.finish()
        except BaseException:
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        finally:
            spool.close()
        pass_point("before snapshot")
        with explained("the snapshot cannot be written", path):
            os.replace(path, self._directory / SNAPSHOT)
            sync_directory(self._directory)
            pass_point("after snapshot")
            self._write_serial(facts.serial)

    def unknown(self) -> Snapshot:
        """A snapshot that knows nobody."""
        return Snapshot(self._first, None)

    def forget(self) -> int:
        """Put an empty snapshot in the place of one that is of no use; its serial."""
        serial = 0
        with contextlib.suppress(SnapshotRefused):
            serial = self._read_serial()
        self.remove_changes()
        self._write_serial(serial)
        self.write(lambda part: NO_MEMBERS, replace(self._first, serial=serial))
        return serial + 1

    def remove_changes(self) -> None:
        """The changes are in the snapshot, or of no use."""
        pass_point("before removal")
        with explained("the changes cannot be removed", self.changes_path):
            self.changes_path.unlink(missing_ok=True)
            sync_directory(self._directory)
        pass_point("after removal")

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


def untrusted() -> SnapshotRefused:
    """The refusal of a file that does not open under our key."""
    return SnapshotRefused(
        "the snapshot of the audience is damaged, or was made under another state key: nothing was sent",
        hint=REBUILD_HINT,
    )


@contextlib.contextmanager
def _trusted() -> Iterator[None]:
    """Raises SnapshotRefused in the place of what the sealed file says."""
    try:
        yield
    except InputOutputFailed:
        raise untrusted() from None


def _read_facts(spool: KeptSpool) -> SnapshotFacts:
    with _trusted():
        content = spool.read(0)
    try:
        return SnapshotFacts(**orjson.loads(content))
    except (ValueError, TypeError):
        hint = "use the version of audiencekit that wrote it, or a later one"
        raise SnapshotRefused("the snapshot is of another version", hint=hint) from None


def _write_parts(spool: KeptSpool, members: Callable[[int], HashedRecords]) -> dict[str, Any]:
    """The fields of SnapshotFacts that count."""

    def write(part: int) -> tuple[dict[int, int], int]:
        batch = members(part)
        _seal(spool, to_bytes(batch), part + 1)
        each, counts = np.unique(days_of(batch), return_counts=True)
        return dict(zip(each.tolist(), counts.tolist(), strict=True)), count_identifiers(batch)

    days: Counter[int] = Counter()
    identifiers = 0
    for of_part, count in in_order(write, range(PARTS), workers=cores()):
        days.update(of_part)
        identifiers += count
    return {"days": {str(day): days[day] for day in sorted(days)}, "identifiers": identifiers}


@guarded
def _seal(spool: KeptSpool, chunk: MemberChunk, number: int) -> None:
    spool.append(chunk.unwrap(), number)
