"""The rotation of the state key: all sealed files are written under a new key."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeAlias

from audiencekit.audiences.erasure.receipt import ErasureStore
from audiencekit.audiences.sync.stamp import KnownStamps
from audiencekit.errors import AudiencekitError, PlanRefused, UsageError
from audiencekit.runs.journal.file import JOURNAL
from audiencekit.runs.reports import opened_journal
from audiencekit.runs.start import KEPT
from audiencekit.runs.store import RUNS, RunStore, nothing_at_work
from audiencekit.selection.erased_people import needs_key
from audiencekit.selection.erased_people_file import (
    new_tag_key,
    only_writer,
    read_memory,
    read_serial,
    write_memory,
    write_serial,
)
from audiencekit.selection.erasure_witness import Mark, Witness
from audiencekit.snapshots.changes import Effects, NextSnapshot
from audiencekit.snapshots.files import PARTS
from audiencekit.snapshots.members import DOUBTFUL
from audiencekit.snapshots.store import CHANGES, RECENT, SNAPSHOTS, SnapshotStore
from audiencekit.state.credentials import CredentialStore
from audiencekit.state.files import make_private_directory
from audiencekit.state.key_command import GivenKey, read_entry_name
from audiencekit.state.key_places import KeyPlace, place_of_key, put_next
from audiencekit.state.key_rotation import READY, begin_rotation, changing_key, commit, settle, undo
from audiencekit.state.keys import KEY_BYTES, SPOOL, StateKey, SubKey, existing_state_key, write_earlier
from audiencekit.state.spool import KeptSpool, Spool

_Home: TypeAlias = tuple[Path, StateKey]

# --- A new state key for a state directory: all files are sealed anew, and the old key opens none of them ---
#
# Journals stay under the key that they were made by, which is kept, sealed under the new one: they hold digests, which
# cannot be made again without the lists.


def rotate_key(state_dir: Path, given: GivenKey, fresh: StateKey | None) -> KeyPlace:
    """Replace the state key in its place, and seal everything under the new one; return the place.

    `given` is the key in the settings, and `fresh` the new one, which a keyring and a file do not need: there it is
    made at random. A kill leaves all files under one key; the next command finishes the rotation or undoes it. Raises
    UsageError, PlanRefused when there is unfinished work that only the current key can finish, AudienceBusy,
    InputOutputFailed.
    """
    if not state_dir.exists():
        raise _without_key()
    with changing_key(state_dir):
        settle(state_dir)
        old, place = existing_state_key(state_dir, given), place_of_key(state_dir, given)
        if old is None or place is None:
            raise _without_key()
        _check_fresh(fresh, old, place)
        drawn = fresh or StateKey(secrets.token_bytes(KEY_BYTES))
        new = StateKey(drawn.unwrap(), (old, *old.earlier))
        shadow = begin_rotation(state_dir)
        try:
            with nothing_at_work(state_dir), only_writer(state_dir):
                refuse_unfinished(state_dir)
                _carry_out(state_dir, shadow, old, new, place)
        except AudiencekitError:
            if not os.path.lexists(shadow / READY):
                undo(state_dir)
            raise
    return place


def _without_key() -> UsageError:
    return UsageError("there is no state key yet", hint="it is made by the first run")


def _check_fresh(fresh: StateKey | None, old: StateKey, place: KeyPlace) -> None:
    """Raise UsageError for a new key that is missing, not wanted, or the current one."""
    if fresh is None and place in ("environment", "command"):
        hint = "give the new key by AUDIENCEKIT_NEW_KEY, and store it in its place after the rotation"
        raise UsageError(f"the state key comes from the {place}, where this tool cannot store a new one", hint=hint)
    if fresh is not None and fresh.unwrap() in [one.unwrap() for one in (old, *old.earlier)]:
        raise UsageError(
            "the new key is the current key or an earlier one: nothing was changed", hint="draw another one"
        )


def _carry_out(state_dir: Path, shadow: Path, old: StateKey, new: StateKey, place: KeyPlace) -> None:
    entry = read_entry_name(state_dir) if place == "keyring" else ""
    put_next(shadow, new, place)
    write_earlier(shadow, new)
    mark = _write_memory(state_dir, shadow, old, new)
    stale = list(_write_snapshots(state_dir, shadow, old, new))
    CredentialStore(state_dir, "").write_sealed(shadow, old, new)
    commit(state_dir, stale=stale, entry=entry)
    if mark is not None:
        Witness.of_user().note(state_dir, mark)


def _write_memory(state_dir: Path, shadow: Path, old: StateKey, new: StateKey) -> Mark | None:
    """Return the mark of the memory under the new key; None without a memory."""
    memory = read_memory(state_dir, old)
    if memory is None:
        return None
    people = memory.people.under(new_tag_key())  # the tag key of before opens nothing of later
    # Its digest is another one: to those who have noted the one before it is a later state.
    fresh = write_memory(shadow, new, people, identity=memory.identity, serial=memory.serial + 1)
    write_serial(shadow, new, fresh.mark)
    return fresh.mark


def _write_snapshots(state_dir: Path, shadow: Path, old: StateKey, new: StateKey) -> Iterator[Path]:
    """Write each snapshot as a whole; the earlier files are removed."""
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(os.listdir(state_dir / SNAPSHOTS)):
            make_private_directory(shadow / SNAPSHOTS)
            account_id, _, audience_id = name.partition("-")
            _write_snapshot((state_dir, old), (shadow, new), account_id, audience_id, datetime.now(UTC))
            yield state_dir / SNAPSHOTS / name / RECENT


def _write_snapshot(before: _Home, after: _Home, account_id: str, audience_id: str, now: datetime) -> None:
    """Write all members of the snapshot of `before` into `after`, with the next serial. Raises SnapshotRefused."""
    old = SnapshotStore(before[0], account_id, audience_id, before[1])
    new = SnapshotStore(after[0], account_id, audience_id, after[1])
    if not old.exists():
        return
    new.prepare()
    with contextlib.closing(old.open()) as snapshot, Spool(new.directory) as scratch:
        effects = Effects(scratch, new.tagger())
        for part in range(PARTS):
            effects.add(snapshot.members(part))
        effects.close()
        facts = snapshot.facts
        NextSnapshot(new.unknown(), effects, lapsed_before=DOUBTFUL).write(new, facts, now.timestamp())
    stamps = KnownStamps.read(old.directory, old.spool_key())
    if stamps is not None:
        replace(stamps, serial=stamps.serial + 1).write(new.directory, new.spool_key())


# --- Every file of a state directory that the state key opens, and whether a key is the right one ---

Look: TypeAlias = Callable[[], None]


def count_sealed(state_dir: Path, key: StateKey) -> dict[str, dict[str, int]]:
    """Return how many files of each kind `key` opens, and how many it does not: {kind: {"opened": 1, "refused": 0}}."""
    found: dict[str, dict[str, int]] = {}
    for kind, look in _looks(state_dir, key):
        found.setdefault(kind, {"opened": 0, "refused": 0})["opened" if _succeeds(look) else "refused"] += 1
    return found


def refuse_unfinished(state_dir: Path) -> None:
    """Check that no work is left that only the current state key can finish. Raises PlanRefused with the counts."""
    erasures = ErasureStore(state_dir)
    found = {
        "erasures": sum(map(erasures.has_keys, erasures.ids())),
        "runs with a kept spool": len(list((state_dir / RUNS).glob(f"*/{KEPT}"))),
        "syncs": len(list((state_dir / SNAPSHOTS).glob(f"*/{CHANGES}"))),
    }
    if any(found.values()):
        message = ", ".join(f"{count:,} {what}" for what, count in found.items() if count)
        hint = "`audiencekit resume` and the next sync finish them; `audiencekit purge --unfinished` removes runs"
        raise PlanRefused(
            f"not finished, and only the current key opens them: {message}: nothing was changed", hint=hint
        )


def _looks(state_dir: Path, key: StateKey) -> Iterator[tuple[str, Look]]:
    """Yield for each file its kind, and a function that reads it and fails with another key."""
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
