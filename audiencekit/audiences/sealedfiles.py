"""Every file of a state directory that the state key opens or checks, and whether a key is the right one for it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias

from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.errors import AudiencekitError, PlanRefused
from audiencekit.machine.keptspool import KeptSpool
from audiencekit.machine.keys import SPOOL, StateKey, SubKey
from audiencekit.runs.journal.schema import JOURNAL
from audiencekit.runs.resumption import KEPT
from audiencekit.runs.store import RUNS, RunStore
from audiencekit.runs.storedreports import opened_journal
from audiencekit.selection.forgotten.file import read_memory, read_serial
from audiencekit.selection.forgotten.notes import needs_key
from audiencekit.snapshots.store import CHANGES, SNAPSHOTS, SnapshotStore

Look: TypeAlias = Callable[[], None]


def count_sealed(state_dir: Path, key: StateKey) -> dict[str, dict[str, int]]:
    """How many files of each kind `key` opens, and how many it does not: {kind: {"opened": 1, "refused": 0}}."""
    found: dict[str, dict[str, int]] = {}
    for kind, look in _looks(state_dir, key):
        found.setdefault(kind, {"opened": 0, "refused": 0})["opened" if _succeeds(look) else "refused"] += 1
    return found


def refuse_unfinished(state_dir: Path) -> None:
    """Return when there is nothing that only the state key of now can finish. Raises PlanRefused, which counts it."""
    erasures = ErasureStore(state_dir)
    found = {
        "erasures": sum(map(erasures.has_keys, erasures.ids())),
        "runs with a kept spool": len(list((state_dir / RUNS).glob(f"*/{KEPT}"))),
        "syncs": len(list((state_dir / SNAPSHOTS).glob(f"*/{CHANGES}"))),
    }
    if any(found.values()):
        told = ", ".join(f"{count:,} {what}" for what, count in found.items() if count)
        hint = "`audiencekit resume` and the next sync finish them; `audiencekit purge --unfinished` removes runs"
        raise PlanRefused(f"not finished, and only the current key opens them: {told}: nothing was changed", hint=hint)


def _looks(state_dir: Path, key: StateKey) -> Iterator[tuple[str, Look]]:
    """Of each file its kind, and a look into it that fails with another key."""
    if needs_key(state_dir):
        yield "memory of erased people", partial(_look_at_memory, state_dir, key)
    for _, store in SnapshotStore.all_of(state_dir, key):
        if store.exists():
            yield "snapshots", partial(_look_at_snapshot, store)
    runs = RunStore(state_dir)
    for directory in map(runs.directory, runs.ids()):
        if os.path.lexists(directory / JOURNAL):
            yield "journals", partial(_look_at_journal, directory, key)
        if os.path.lexists(directory / KEPT):
            yield "spools", partial(_look_at_spool, directory / KEPT, key.derive(SPOOL, directory.name))
    erasures = ErasureStore(state_dir)
    for erasure_id in filter(erasures.has_keys, erasures.ids()):
        yield "unfinished erasures", partial(_look_at_erasure, erasures, erasure_id, key)


def _look_at_memory(state_dir: Path, key: StateKey) -> None:
    read_memory(state_dir, key)
    read_serial(state_dir, key)


def _look_at_snapshot(store: SnapshotStore) -> None:
    store.open().close()


def _look_at_journal(directory: Path, key: StateKey) -> None:
    with opened_journal(directory, key):
        pass


def _look_at_spool(path: Path, key: SubKey) -> None:
    KeptSpool.open(path, key).close()


def _look_at_erasure(erasures: ErasureStore, erasure_id: str, key: StateKey) -> None:
    erasures.records(erasure_id, key)


def _succeeds(look: Look) -> bool:
    with contextlib.suppress(AudiencekitError):
        look()
        return True
    return False
