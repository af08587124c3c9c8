"""Another state key for a state directory: what is sealed is sealed anew, and the key before opens none of it.

Journals stay under the key that they were made by, which is kept, sealed under the new one: they hold digests, which
cannot be made again without the lists.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from audiencekit.audiences.sealedfiles import refuse_unfinished
from audiencekit.audiences.synchronisation.rekeying import write_under
from audiencekit.errors import AudiencekitError, UsageError
from audiencekit.machine.credentialstore import CredentialStore
from audiencekit.machine.erasurewitness import Mark, Witness
from audiencekit.machine.keycommand import GivenKey
from audiencekit.machine.keyentry import read_entry_name
from audiencekit.machine.keyplaces import KeyPlace, place_of_key, put_next
from audiencekit.machine.keyrotation import READY, begin_rotation, changing_key, commit, settle, undo
from audiencekit.machine.keys import KEY_BYTES, StateKey, existing_state_key, write_earlier
from audiencekit.machine.privatefiles import make_private_directory
from audiencekit.runs.locks import nothing_at_work
from audiencekit.selection.forgotten.file import new_tag_key, only_writer, read_memory, write_memory, write_serial
from audiencekit.snapshots.store import RECENT, SNAPSHOTS


def rotate_key(state_dir: Path, given: GivenKey, fresh: StateKey | None) -> KeyPlace:
    """Have another key where the state key is, and everything sealed under it; the place.

    `given` is the key, as in the settings, and `fresh` the new one, which a keyring and a file do without: there it is
    drawn. A kill leaves all under one key; the next command finishes or undoes it. Raises UsageError, PlanRefused where
    something is unfinished that only the key of now can finish, AudienceBusy, InputOutputFailed.
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
    """Raises UsageError for a new key that is missing, not wanted, or the one of now."""
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
    """The mark of the memory under the new key; None where there is none."""
    memory = read_memory(state_dir, old)
    if memory is None:
        return None
    people = memory.people.under(new_tag_key())  # the tag key of before opens nothing of later
    # Its digest is another one: to those who have noted the one before it is a later state.
    fresh = write_memory(shadow, new, people, identity=memory.identity, serial=memory.serial + 1)
    write_serial(shadow, new, fresh.mark)
    return fresh.mark


def _write_snapshots(state_dir: Path, shadow: Path, old: StateKey, new: StateKey) -> Iterator[Path]:
    """Write each snapshot as a whole; the files that go with those before."""
    with contextlib.suppress(FileNotFoundError):
        for name in sorted(os.listdir(state_dir / SNAPSHOTS)):
            make_private_directory(shadow / SNAPSHOTS)
            account_id, _, audience_id = name.partition("-")
            write_under((state_dir, old), (shadow, new), account_id, audience_id, datetime.now(UTC))
            yield state_dir / SNAPSHOTS / name / RECENT
