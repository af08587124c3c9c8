"""The people that `forget` was asked to erase, as keyed tags: so that a stale file does not bring them back.

The tags are made under a sub key of the state key, so that the file says nothing without that key. A memory that is
missing, damaged, or older than the last of which anything tells is refused: people who are not found in it would be
sent again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.errors import InputOutputFailed
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.preparation.columnar.hashing import sha256_of
from audiencekit.process.crash_points import pass_point
from audiencekit.selection.erasure_witness import Mark, Witness
from audiencekit.selection.forgotten.file import (
    Memory,
    People,
    new_identity,
    no_people,
    only_writer,
    read_memory,
    write_memory,
    write_serial,
)
from audiencekit.selection.forgotten.notes import Notes, check_memory, gather_notes, needs_key
from audiencekit.selection.suppression import KeyMemory
from audiencekit.selection.tags import TAG, Tagger, Tags, are_among
from audiencekit.settings import Settings
from audiencekit.state.directory import check_root
from audiencekit.state.key_command import GivenKey
from audiencekit.state.keys import StateKey, find_state_key, read_earlier

_MET: Final = "some rows are of people who were erased by `forget`: they are not put in, and count as suppressed"


class Forgotten:
    """The erased people, as far as keys tell: a KeyMemory, whose `note` is for the plan of one run."""

    def __init__(self, memory: Memory) -> None:
        self._tagger, self._tags = Tagger(memory.people.key, movable=True), memory.people.all()
        self._keys, self._was_met = memory.keys, False

    def __len__(self) -> int:
        """How many keys are remembered."""
        return self._keys

    def __repr__(self) -> str:
        return f"<Forgotten: {len(self)} keys>"

    def holds(self, kind: Kind, hashes: Any) -> npt.NDArray[np.bool_]:
        """Of each of `hashes` (HASH_TYPE), keys of one kind, whether it is that of an erased person.

        Of the kind that is sent as it is, they are the SHA-256. To be called from a guarded function only.
        """
        held = are_among(self._tagger.tag_hashes(hashes, kind), self._tags)
        self._was_met |= bool(held.any())
        return held

    @property
    def note(self) -> str:
        """The note for a plan in which keys were held; empty while none were."""
        return _MET if self._was_met else ""

    def holds_any(self, records: HashedRecords) -> npt.NDArray[np.bool_]:
        """Of each record of a batch with a column for every kind, whether any of its keys is held."""
        return _holds_any(self, records)


def read_forgotten(state_dir: Path, given: GivenKey, witness: Witness | None = None) -> Forgotten | None:
    """The people erased from this state directory, and those imported; None for none. Raises as `last_memory`."""
    memory = last_memory(state_dir, given, witness)
    return None if memory is None else Forgotten(memory)


def last_memory(state_dir: Path, given: GivenKey, witness: Witness | None = None) -> Memory | None:
    """The memory of this state directory; None for none. `given` is the state key, as in the settings.

    Raises MemoryRefused for a memory that is not the last of which anything tells, and InputOutputFailed.
    """
    check_root(state_dir)
    witness = witness or Witness.of_user()
    key = find_state_key(state_dir, given) if needs_key(state_dir) else None
    notes = gather_notes(state_dir, witness, key)
    if key is None and needs_key(state_dir):  # the first erasure came between
        return last_memory(state_dir, given, witness)
    memory = None if key is None else read_memory(state_dir, key)
    check_memory(memory, notes, state_dir, witness)
    if key is None or memory is None:
        return None
    try:
        _settle(state_dir, key, memory, notes, witness)
    except InputOutputFailed:  # of a state directory that can only be read
        witness.note(state_dir, memory.mark)
    return memory


def memories_of(settings: Settings) -> tuple[KeyMemory, ...]:
    """The memories that keep records out of every plan. Raises as `read_forgotten`."""
    forgotten = read_forgotten(settings.state_dir, settings.key)
    return () if forgotten is None else (forgotten,)


def remember(
    state_dir: Path, key: StateKey, records: HashedRecords, witness: Witness | None = None
) -> tuple[Mark, bool]:
    """Add every key of `records`, durably; the mark of the new memory, and whether it is noted outside, too.

    Raises as `read_forgotten`.
    """

    def added(people: People) -> People:
        tags = _tags_of(Tagger(people.key, movable=True), records)
        return replace(people, own=np.unique(np.concatenate([people.own, tags])))

    return change_memory(state_dir, key, added, witness)


def change_memory(
    state_dir: Path, key: StateKey, change: Callable[[People], People], witness: Witness | None = None
) -> tuple[Mark, bool]:
    """Put what `change` makes of the people in their place, durably.

    The mark of the new memory comes back, and whether it is noted outside, too. Raises as `read_forgotten`.
    """
    witness = witness or Witness.of_user()
    with only_writer(state_dir):
        read_earlier(state_dir, key)  # refuses a key that was rotated meanwhile
        notes = gather_notes(state_dir, witness, key)
        known = read_memory(state_dir, key)
        check_memory(known, notes, state_dir, witness)
        people = change(known.people if known else no_people())
        identity, serial = (known.identity, known.serial) if known else (new_identity(), 0)
        memory = write_memory(state_dir, key, people, identity=identity, serial=serial + 1)
        return memory.mark, note_memory(state_dir, key, memory, witness)


def _settle(state_dir: Path, key: StateKey, memory: Memory, notes: Notes, witness: Witness) -> None:
    """Note what a kill, or another machine, has left to be noted."""
    if memory.mark == notes.seen == notes.of_place == witness.of_identity(memory.identity):
        return
    with only_writer(state_dir):
        known = read_memory(state_dir, key)
        if known is None or known.mark != memory.mark:
            return  # who has written since has noted it
        note_memory(state_dir, key, known, witness)


def note_memory(state_dir: Path, key: StateKey, memory: Memory, witness: Witness) -> bool:
    """Note the memory that was just written; whether it could be done outside of the state directory, too."""
    write_serial(state_dir, key, memory.mark)
    pass_point("before witness")
    is_noted = witness.note(state_dir, memory.mark)
    pass_point("after witness")
    return is_noted


@guarded
def _holds_any(forgotten: Forgotten, records: HashedRecords) -> npt.NDArray[np.bool_]:
    batch = records.unwrap()
    found = np.zeros(batch.num_rows, dtype=bool)
    for kind in Kind:
        lists = batch.column(kind.value)
        if len(values := lists.flatten()):
            held = forgotten.holds(kind, values if kind.is_hashed else sha256_of(values))
            found[lists.value_parent_indices().to_numpy(zero_copy_only=False)[held]] = True
    return found


@guarded
def _tags_of(tagger: Tagger, records: HashedRecords) -> Tags:
    found = [np.zeros(0, dtype=TAG), *(tags for _, tags in tagger.tag_keys(records.unwrap()))]
    return np.concatenate(found)
