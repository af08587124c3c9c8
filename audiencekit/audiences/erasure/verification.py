"""The search for erased people in snapshots and in stored records."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from audiencekit.audiences.erasure.receipt import ErasureStore
from audiencekit.audiences.sync.run import settle_previous_run
from audiencekit.errors import AudiencekitError, InputOutputFailed, SnapshotRefused
from audiencekit.identifiers.kinds import Reason
from audiencekit.limits import SNAPSHOT_WHOLE_DAYS
from audiencekit.personal import HashedRecords, guarded
from audiencekit.pipeline import check
from audiencekit.records.batches import IS_DELETE
from audiencekit.records.chunks import RecordChunk, from_chunk
from audiencekit.records.record_bits import Bools
from audiencekit.reporting.report import Plan
from audiencekit.reporting.sealed_rejections import sealed_files
from audiencekit.runs.purge import SEALED_REJECTIONS, leftovers, name_of
from audiencekit.runs.start import KEPT
from audiencekit.runs.store import RUNS, RunStore
from audiencekit.selection.erased_people import Forgotten, describe_memory, read_forgotten
from audiencekit.settings import Settings
from audiencekit.snapshots.changes import Changes, whole_part
from audiencekit.snapshots.files import PARTS, NewParts, Snapshot
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.keys import SPOOL, StateKey, SubKey, find_state_key
from audiencekit.state.spool import KeptSpool

# --- Whether erased people are still in files of the state directory, prepared directories or lists ---
#
# The memory of erased people says who they are, the receipts say whether every erasure is finished.

_SOUND: Final = "sound"
# Of values that no audience can have.
_NAMES_NO_ONE: Final = frozenset(
    {Reason.EMPTY, Reason.PLACEHOLDER, Reason.ZEROED, Reason.HASH_OF_PLACEHOLDER, Reason.NO_IDENTIFIER}
    | {Reason.SPECIAL_USE_DOMAIN, Reason.NOT_POSSIBLE}
)
SOURCE: Final = "source"
_OWNER_ALONE: Final = (
    "only the owner of its key can open it; it goes after 30 days, or with `audiencekit purge --older-than 1h`"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedFile:
    """One file, and how many of its `records` hold a key of an erased person.

    `kind` is that of StoredRecords, source, or sealed_rejections, which are never read; `name` the audience, the run or
    the path. Both counts are None for a file that cannot be read. `why` says so, or how erased people will be
    removed from it.
    """

    kind: str
    name: str
    records: int | None = None
    erased: int | None = None
    why: str = ""


def verify_erasures(settings: Settings, sources: Sequence[str] = ()) -> dict[str, Any]:
    """Look for erased people in the state directory, and in `sources`: prepared directories, or any lists.

    Return a JSON document: `verified`, `memory` (as `forgotten show --json`), `erasures` (`complete`, how many, and
    `unfinished` and `changed`, their ids), `files` (each with the fields of VerifiedFile). It is verified when the
    memory is the last, every erasure is finished, every receipt is as it was signed, every file was read, and no file
    holds an erased person. Deletes may name them. Where no one was erased, nothing is verified.
    """
    memory = describe_memory(settings.state_dir, settings.key)
    summaries = ErasureStore(settings.state_dir).summaries()
    unfinished = [str(one["run_id"]) for one in summaries if one["state"] != "complete"]
    is_sound = memory["state"] == _SOUND
    changed = list(_changed_receipts(settings))
    files = list(_look(settings, sources)) if is_sound else []
    return {
        "verified": is_sound and not (unfinished or changed) and all(file.erased == 0 for file in files),
        "memory": memory,
        "erasures": {"complete": len(summaries) - len(unfinished), "unfinished": unfinished, "changed": changed},
        "files": [asdict(file) for file in files],
    }


def _changed_receipts(settings: Settings) -> Iterator[str]:
    """Yield the erasures whose receipt is not as it was signed. Those of earlier versions are not signed."""
    store = ErasureStore(settings.state_dir)
    for erasure_id in store.ids():
        with contextlib.suppress(InputOutputFailed):  # one that cannot be read is no complete one
            receipt = store.receipt(erasure_id)
            if receipt.signed_note and not receipt.is_as_signed(find_state_key(settings.state_dir, settings.key)):
                yield erasure_id


def _look(settings: Settings, sources: Sequence[str]) -> Iterator[VerifiedFile]:
    forgotten = read_forgotten(settings.state_dir, settings.key)
    if forgotten is not None:
        for stored in stored_records(settings.state_dir, find_state_key(settings.state_dir, settings.key)):
            yield _in_file(stored, forgotten)
        for path in sealed_files(settings.state_dir):
            yield VerifiedFile(kind=SEALED_REJECTIONS, name=path.name, why=_OWNER_ALONE)
    for source in sources:
        yield _in_source(source, settings)


def _in_file(stored: StoredRecords, forgotten: Forgotten) -> VerifiedFile:
    records = erased = 0
    try:
        for batch in stored.batches():
            added = _added(batch)
            records += len(added)
            erased += int(np.count_nonzero(forgotten.holds_any(batch) & added))
    except AudiencekitError as error:
        return VerifiedFile(kind=stored.kind, name=stored.name, why=_words(error))
    why = stored.removal if erased else ""
    return VerifiedFile(kind=stored.kind, name=stored.name, records=records, erased=erased, why=why)


@guarded
def _added(records: HashedRecords) -> Bools:
    """Return for each record whether it is in the audience or an Update: a Delete is not."""
    batch = records.unwrap()
    if IS_DELETE not in batch.schema.names:
        return np.ones(batch.num_rows, dtype=bool)
    added: Bools = ~batch.column(IS_DELETE).to_numpy(zero_copy_only=False)
    return added


def _in_source(source: str, settings: Settings) -> VerifiedFile:
    """Return the result of a `check`: the records that an upload of the source would leave out.

    A row in which nothing was looked for, since its values were rejected or no column of identifiers is known, may be
    that of an erased person: such a source was not read.
    """
    try:
        plan = check(source, settings=settings, shared_values="keep", phone_validity="possible")
    except AudiencekitError as error:
        return VerifiedFile(kind=SOURCE, name=source, why=_words(error))
    rows = plan.rows
    if not rows.suppressed and (unread := _unread(plan)):
        return VerifiedFile(kind=SOURCE, name=source, why=unread)
    why = "uploads leave them out; prepare a prepared directory again" if rows.suppressed else ""
    return VerifiedFile(kind=SOURCE, name=source, records=rows.read, erased=rows.suppressed, why=why)


def _unread(plan: Plan) -> str:
    """Return why an erased person may be in the list all the same; empty when all values were looked for."""
    lost = {reason: count for reason, count in plan.rejections.items() if reason not in _NAMES_NO_ONE}
    if lost:
        counts = ", ".join(f"{count:,} {reason}" for reason, count in sorted(lost.items()))
        return f"values could not be read ({counts}): `audiencekit check` says where and what to do"
    if not any(counts["valid"] for counts in plan.identifiers.values()):
        return "no column with values of identifiers was recognised in it: `audiencekit check` says more"
    return ""


def _words(error: AudiencekitError) -> str:
    return f"{error}; {error.hint}" if error.hint else str(error)


# --- The snapshot of an audience under sync: erased people are removed from it, so that no renewal adds them again ---


def remove_from_snapshot(
    state_dir: Path, account_id: str, audience_id: str, *, key: StateKey, forgotten: Forgotten, now: datetime
) -> None:
    """Take all people that `forgotten` holds out of the snapshot, if there is one. Called under the audience's lock.

    The snapshot is written anew at once, so that nothing of them stays on the disk. Changes of an earlier run are
    merged into it first. A snapshot that cannot be trusted stays as it is: nothing is sent from it before it is
    rebuilt, which uses the memory. Raises InputOutputFailed.
    """
    store = SnapshotStore(state_dir, account_id, audience_id, key)
    if not store.exists():
        return
    with contextlib.suppress(SnapshotRefused):
        settle_previous_run(store, state_dir, key, now)
        with contextlib.closing(store.open()) as snapshot:
            if any(_holds_any(snapshot, part, forgotten) for part in range(PARTS)):
                parts = partial(_others, snapshot, forgotten)
                store.write_whole(parts, snapshot.facts, now.timestamp())


def _holds_any(snapshot: Snapshot, part: int, forgotten: Forgotten) -> bool:
    """Whether one part has people to be removed, also among those who have gone but are still in the file."""
    return any(forgotten.holds_any(members).any() for members in snapshot.stored(part))


def _others(snapshot: Snapshot, forgotten: Forgotten, part: int) -> NewParts:
    index = snapshot.index(part)
    others = index.take(~forgotten.holds_any(snapshot.chosen(part, index)))
    return whole_part(others.marks, snapshot.chosen(part, others))


# --- Every file of a state directory that can hold records of people: snapshots, stored changes, kept spools ---

_BY_SYNC: Final = f"the next sync takes them out of the audience, a sync {SNAPSHOT_WHOLE_DAYS} days later of the file"


@dataclass(frozen=True, slots=True)
class StoredRecords:
    """One file. `kind` is snapshot, changes or spool; `name` the audience or the run; `removal` how people leave it.

    `batches` reads its records, and raises InputOutputFailed or SnapshotRefused for a damaged file.
    """

    kind: str
    name: str
    batches: Callable[[], Iterator[HashedRecords]]
    removal: str


def stored_records(state_dir: Path, key: StateKey) -> Iterator[StoredRecords]:
    """Yield all files.

    The erasures' own sealed keys are not records: they are destroyed when the erasure is complete.
    """
    for name, store in SnapshotStore.all_of(state_dir, key):
        if store.exists():
            yield StoredRecords("snapshot", name, partial(_members, store), _BY_SYNC)
        if os.path.lexists(store.changes_path):
            yield StoredRecords("changes", name, partial(_changed, store), _BY_SYNC)
    runs = RunStore(state_dir)
    for run_id in runs.ids():
        path = runs.directory(run_id) / KEPT
        if os.path.lexists(path):
            batches = partial(_kept, path, key.derive(SPOOL, run_id))
            yield StoredRecords("spool", run_id, batches, "`audiencekit resume` refuses to send them")
    for leftover in leftovers(state_dir / RUNS):
        if os.path.lexists(leftover / KEPT):
            batches = partial(_kept, leftover / KEPT, key.derive(SPOOL, name_of(leftover)))
            yield StoredRecords("spool", name_of(leftover), batches, "the next `audiencekit purge` removes it")


def _members(store: SnapshotStore) -> Iterator[HashedRecords]:
    with contextlib.closing(store.open()) as snapshot:
        for part in range(PARTS):
            yield from snapshot.stored(part)


def _changed(store: SnapshotStore) -> Iterator[HashedRecords]:
    changes = Changes.open(store.changes_path, store.spool_key())
    if changes is not None:
        with contextlib.closing(changes):
            for _, _, records in changes.chunks():
                yield records


def _kept(path: Path, key: SubKey) -> Iterator[HashedRecords]:
    """Yield the records of a spool: the first of two chunks of each batch; the last chunk is about the source."""
    with KeptSpool.open(path, key) as spool:
        for number in range((len(spool) - 1) // 2):
            yield from_chunk(RecordChunk(spool.read(number)))
