"""The people that `forget` was asked to erase, as keyed tags: so that a stale file does not bring them back.

The tags are made under a sub key of the state key, so that the file says nothing without that key. A memory that is
missing, damaged, or older than the last of which anything tells is refused: people who are not found in it would be
sent again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from audiencekit.errors import InputOutputFailed
from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.keys import StateKey, SubKey, find_state_key
from audiencekit.machine.statedirectory import check_root
from audiencekit.machine.witness import Mark, Witness
from audiencekit.personal import HashedRecords, Secret, guarded
from audiencekit.preparation.columnar.hashing import sha256_of
from audiencekit.selection.forgotten.file import (
    PURPOSE,
    Memory,
    alone,
    new_identity,
    read_memory,
    write_memory,
    write_serial,
)
from audiencekit.selection.forgotten.notes import Notes, check_memory, gather_notes, needs_key
from audiencekit.selection.suppression import KeyMemory
from audiencekit.selection.tags import TAG, Tagger, Tags, are_among
from audiencekit.settings import Settings

_MET: Final = (
    "there are people among the rows who were erased by `forget`: they are not put in, and count as suppressed"
)


class Forgotten:
    """Who was erased, as far as keys tell: a KeyMemory, whose `note` is for the plan of one run."""

    def __init__(self, key: SubKey, tags: Tags) -> None:
        self._tagger, self._tags, self._was_met = Tagger(key), tags, False

    def __len__(self) -> int:
        """How many keys are remembered."""
        return len(self._tags)

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


def read_forgotten(state_dir: Path, given: Secret | None, witness: Witness | None = None) -> Forgotten | None:
    """The people erased from this state directory; None for none. `given` is the state key, as in the settings.

    Raises MemoryRefused for a memory that is not the last of which anything tells, and InputOutputFailed.
    """
    check_root(state_dir)
    witness = witness or Witness.of_user()
    key = find_state_key(state_dir, given).derive(PURPOSE) if needs_key(state_dir) else None
    notes = gather_notes(state_dir, witness, key)
    if key is None and needs_key(state_dir):  # the first erasure came between
        return read_forgotten(state_dir, given, witness)
    memory = None if key is None else read_memory(state_dir, key)
    check_memory(memory, notes, state_dir, witness)
    if key is None or memory is None:
        return None
    try:
        _settle(state_dir, key, memory, notes, witness)
    except InputOutputFailed:  # of a state directory that can only be read
        if memory.serial:
            witness.note(state_dir, memory.mark)
    return Forgotten(key, memory.tags)


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
    witness, own = witness or Witness.of_user(), key.derive(PURPOSE)
    with alone(state_dir):
        notes = gather_notes(state_dir, witness, own)
        known = read_memory(state_dir, own)
        check_memory(known, notes, state_dir, witness)
        identity = known.identity if known and known.serial else new_identity()
        tags = _joined(np.zeros(0, dtype=TAG) if known is None else known.tags, _tags_of(Tagger(own), records))
        memory = write_memory(state_dir, own, tags, identity=identity, serial=(known.serial if known else 0) + 1)
        return memory.mark, note_memory(state_dir, own, memory, witness)


def _settle(state_dir: Path, key: SubKey, memory: Memory, notes: Notes, witness: Witness) -> None:
    """Note what a kill, or another machine, or an earlier version, has left to be noted."""
    if memory.serial and memory.mark == notes.seen == notes.of_place == witness.of_identity(memory.identity):
        return
    with alone(state_dir):
        known = read_memory(state_dir, key)
        if known is None or known.mark != memory.mark:
            return  # who has written since has noted it
        if not known.serial:  # trusted once: from now on it has a serial
            known = write_memory(state_dir, key, known.tags, identity=new_identity(), serial=1)
        note_memory(state_dir, key, known, witness)


def note_memory(state_dir: Path, key: SubKey, memory: Memory, witness: Witness) -> bool:
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


def _joined(known: Tags, fresh: Tags) -> Tags:
    """All of both, each once, ascending."""
    tags: Tags = np.unique(np.concatenate([known, fresh]))
    return tags
