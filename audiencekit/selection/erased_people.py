"""The people that `forget` was asked to erase, as keyed tags: so that a stale file does not bring them back.

The tags are made under a sub key of the state key, so that the file says nothing without that key. A memory that is
missing, damaged, or older than the last of which anything tells is refused: people who are not found in it would be
sent again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from audiencekit.errors import InputOutputFailed, MemoryRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords, guarded
from audiencekit.process.crash_points import pass_point
from audiencekit.records.columns.hashes import sha256_of
from audiencekit.records.plan_times import format_time
from audiencekit.selection.erased_people_file import (
    FORGOTTEN,
    SERIAL,
    Memory,
    People,
    new_identity,
    no_people,
    only_writer,
    read_memory,
    read_serial,
    write_memory,
    write_serial,
)
from audiencekit.selection.erasure_witness import Mark, Witness, newest
from audiencekit.selection.key_sets import KeyMemory
from audiencekit.selection.tag_arrays import TAG, Tags
from audiencekit.selection.tags import Tagger, are_among
from audiencekit.settings import Settings
from audiencekit.state.directory import check_root
from audiencekit.state.files import CHANGE, MOST_DOCUMENT_BYTES, explained, own_user, read_file, sync_directory
from audiencekit.state.key_command import GivenKey
from audiencekit.state.keys import StateKey, find_state_key, read_earlier

_NOT_ERASED: Final = "no one was erased from this state directory"
_ALL_OF_THEM: Final = "give identifiers of the erasure; `audiencekit forgotten show` says how many keys are remembered"
_MET: Final = "some people were erased with `forget`; they were left out, and count as suppressed"


class Forgotten:
    """The erased people, by their keys: a KeyMemory whose `note` is for the plan of one run."""

    def __init__(self, memory: Memory) -> None:
        self._tagger, self._tags = Tagger(memory.people.key, movable=True), memory.people.all()
        self._keys, self._was_met = memory.keys, False

    def __len__(self) -> int:
        """How many keys are remembered."""
        return self._keys

    def __repr__(self) -> str:
        return f"<Forgotten: {len(self)} keys>"

    def holds(self, kind: Kind, hashes: Any) -> npt.NDArray[np.bool_]:
        """Whether each of `hashes` (HASH_TYPE), keys of one kind, belongs to an erased person.

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
        """Return for each record of a batch with a column for every kind whether any of its keys is held."""
        return _holds_any(self, records)


def read_forgotten(state_dir: Path, given: GivenKey, witness: Witness | None = None) -> Forgotten | None:
    """Return the people erased from this state directory, and those imported; None when there are none. Raises as
    `last_memory`."""
    memory = last_memory(state_dir, given, witness)
    return None if memory is None else Forgotten(memory)


def last_memory(state_dir: Path, given: GivenKey, witness: Witness | None = None) -> Memory | None:
    """Return the memory of this state directory; None when there is none. `given` is the state key, as in the
    settings.

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


def remove_person(
    state_dir: Path, given: GivenKey, records: HashedRecords, witness: Witness | None = None
) -> dict[str, Any]:
    """Remove every key of `records` from the people erased here; the line of the log, with no key in it.

    `removed` and `keys` count the keys that were removed, and those that are left; `imported` says that an import holds
    some of the keys, which it keeps. Raises UsageError when none was erased here, and as `read_forgotten`.
    """
    if not needs_key(state_dir):
        raise UsageError(f"{_NOT_ERASED}: nothing was removed")
    line: dict[str, Any] = {}

    def without(people: People) -> People:
        tags = np.unique(_tags_of(Tagger(people.key, movable=True), records))
        left = replace(people, own=people.own[~are_among(people.own, tags)])
        is_imported = any(are_among(tags, each.tags).any() for each in people.imports)
        removed = len(people.own) - len(left.own)
        if not removed:
            hint = "an import holds some of them: `audiencekit forgotten withdraw`" if is_imported else _ALL_OF_THEM
            raise UsageError(f"{_NOT_ERASED} with these identifiers: nothing was removed", hint=hint)
        line.update(append_line(state_dir, removed=removed, imported=is_imported, keys=len(left.all())))
        return left

    change_memory(state_dir, find_state_key(state_dir, given), without, witness)
    return line


def change_memory(
    state_dir: Path, key: StateKey, change: Callable[[People], People], witness: Witness | None = None
) -> tuple[Mark, bool]:
    """Replace the people by the result of `change`, durably.

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
    """Write the records that a kill, or another machine, left unwritten."""
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


LOG: Final = "forgotten.log"
_MOST_BYTES: Final = 16_000_000


def append_line(state_dir: Path, **line: Any) -> dict[str, Any]:
    """Append a line with the time and the user, durably; the line comes back. Raises InputOutputFailed."""
    path, line = state_dir / LOG, {"at": format_time(datetime.now(UTC)), "uid": own_user(), **line}
    with explained("the change of the memory of erased people cannot be logged", path):
        file = os.open(path, CHANGE | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            stream.flush()
            os.fsync(stream.fileno())
        sync_directory(path.parent)
    return line


def read_log(state_dir: Path) -> list[dict[str, Any]]:
    """The lines so far, oldest first; those that cannot be read are left out."""
    try:
        lines = read_file(state_dir / LOG, _MOST_BYTES).splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        with contextlib.suppress(ValueError):
            found.append(orjson.loads(line))
    return found


def describe_memory(state_dir: Path, given: GivenKey, witness: Witness | None = None) -> dict[str, Any]:
    """The state of the memory, as JSON; `given` is the state key, as in the settings.

    `state` (`sound`, `refused`, `none`), `keys`, `serial`, `why` and `hint` of a refusal, and what was `accepted`.
    """
    check_root(state_dir)
    witness = witness or Witness.of_user()
    own = find_state_key(state_dir, given) if needs_key(state_dir) else None
    found: dict[str, Any] = {"state": "none", "keys": None, "serial": None, "why": "", "hint": ""}
    try:
        notes = gather_notes(state_dir, witness, own)
        memory = None if own is None else read_memory(state_dir, own)
        if memory is not None:
            found |= {"state": "sound", "keys": memory.keys, "serial": memory.serial}
        check_memory(memory, notes, state_dir, witness)
    except (MemoryRefused, InputOutputFailed) as error:
        found |= {"state": "refused", "why": str(error), "hint": error.hint}
    return {**found, "accepted": [line for line in read_log(state_dir) if "empty" in line]}


def accept_memory(state_dir: Path, given: GivenKey, *, empty: bool, witness: Witness | None = None) -> dict[str, Any]:
    """Take the memory that is there for the last, or with `empty` begin an empty one; the line of the log.

    Raises UsageError when nothing is refused, MemoryRefused for a memory that cannot be read, unless `empty` takes its
    place, and InputOutputFailed.
    """
    witness = witness or Witness.of_user()
    with only_writer(state_dir):
        before = describe_memory(state_dir, given, witness)
        if before["state"] != "refused":
            state = "is sound" if before["state"] == "sound" else "does not exist, and nothing tells of one"
            raise UsageError(f"the memory of erased people {state}: there is nothing to accept")
        own = find_state_key(state_dir, given)
        known = None if empty else read_memory(state_dir, own)
        if known is None and not empty:
            raise MemoryRefused(
                f"{str(state_dir / FORGOTTEN)!r} is missing: there is no memory to accept",
                hint="put it back; or give `empty=True`, and erased people can be sent again",
            )
        people = no_people() if known is None else known.people
        serial = 1 + max(_highest(state_dir, own, witness), known.serial if known else 0)
        keys = 0 if known is None else known.keys
        line = append_line(state_dir, empty=empty, keys=keys, serial=serial, why=before["why"])
        # Another identity: of two copies of one state directory each goes on for itself.
        memory = write_memory(state_dir, own, people, identity=new_identity(), serial=serial)
        note_memory(state_dir, own, memory, witness)
        return line


def _highest(state_dir: Path, own: StateKey, witness: Witness) -> int:
    """Return the highest serial in any trustworthy record."""
    for outside in (witness, Witness(None)):
        for key in (own, None):
            with contextlib.suppress(MemoryRefused, InputOutputFailed):
                return gather_notes(state_dir, outside, key).serial
    return 0


ERASURES: Final = "erasures"
RECEIPT: Final = "receipt.json"

_MISSING_HINT: Final = (
    "put the file back, or the whole state directory as it was last; without it erased people would be sent again."
    " If they may be: `audiencekit forgotten accept --empty` begins a new memory"
)
_OLDER_HINT: Final = (
    "put the newest copy back, or forget again the people it lacks, after `audiencekit forgotten accept` took this one"
    " for the last"
)


@dataclass(slots=True)
class Notes:
    """Marks by who says them. `seen` is the serial file's; `of_receipts` counts erasures that remembered people."""

    seen: Mark | None = None
    others: dict[str, Mark] = field(default_factory=dict)
    of_place: Mark | None = None
    of_receipts: int = 0

    @property
    def marks(self) -> dict[str, Mark]:
        """All of them."""
        return {**self.others, **({f"{SERIAL!r} beside it": self.seen} if self.seen else {})}

    @property
    def serial(self) -> int:
        """The highest serial in any record."""
        return max((mark.serial for mark in self.marks.values()), default=0)


def gather_notes(state_dir: Path, witness: Witness, key: StateKey | None) -> Notes:
    """Everything noted; the serial file is opened with `key`. To be asked before the memory is read.

    A writer writes the memory first: what is noted here by then is no newer than what is read later. Raises
    MemoryRefused and InputOutputFailed for notes that cannot be believed or read.
    """
    notes = Notes()
    if key is not None:
        notes.seen = read_serial(state_dir, key)
    _add_receipts(state_dir, notes)
    if (mark := witness.of_place(state_dir)) is not None:
        notes.of_place = notes.others["what this user has seen here before"] = mark
    return notes


def needs_key(state_dir: Path) -> bool:
    """Whether there is anything that only the key opens."""
    return any(os.path.lexists(state_dir / name) for name in (FORGOTTEN, SERIAL))


def check_memory(memory: Memory | None, notes: Notes, state_dir: Path, witness: Witness) -> None:
    """Check that no trustworthy record names a later memory than `memory`. Raises MemoryRefused and
    InputOutputFailed."""
    path = str(state_dir / FORGOTTEN)
    if memory is None:
        if notes.marks or notes.of_receipts:
            raise MemoryRefused(
                f"{path!r}, the memory of erased people, is missing, and {_who_says(notes)}: nothing was sent",
                hint=_MISSING_HINT,
            )
        return
    marks = notes.marks
    if (mark := witness.of_identity(memory.identity)) is not None:
        marks["what this user has seen of it before"] = mark
    _check_age(memory, marks, path)
    _check_identity(memory, notes, path)


def _check_age(memory: Memory, marks: dict[str, Mark], path: str) -> None:
    if not marks:
        return
    who, last = newest(marks)
    if last.serial > memory.serial:
        own = f"it is number {memory.serial} with {_keys(memory.keys)}"
        raise _refused(
            path, f"is older than the last: {own}, and {who} tells of number {last.serial}, {_keys(last.keys)}"
        )
    if any(
        (mark.identity, mark.serial) == (memory.identity, memory.serial) and mark.digest != memory.digest
        for mark in marks.values()
    ):
        raise _refused(path, "is not the one that was written last: another of the same serial was seen")


def _check_identity(memory: Memory, notes: Notes, path: str) -> None:
    if notes.seen is None and memory.serial > 1:
        raise _refused(path, f"has no serial beside it in {SERIAL!r}, which was removed")
    for mark in (notes.seen, notes.of_place):
        if mark is not None and mark.identity != memory.identity:
            raise _refused(path, "is that of another state directory")


def _refused(path: str, what: str) -> MemoryRefused:
    return MemoryRefused(f"{path!r}, the memory of erased people, {what}: nothing was sent", hint=_OLDER_HINT)


def _who_says(notes: Notes) -> str:
    if notes.marks:
        who, last = newest(notes.marks)
        return f"{who} tells of {_keys(last.keys)}"
    return f"receipts in {ERASURES!r} tell of people who were erased ({notes.of_receipts:,})"


def _keys(count: int) -> str:
    return f"{count:,} key{'' if count == 1 else 's'}"


def _add_receipts(state_dir: Path, notes: Notes) -> None:
    directory = state_dir / ERASURES
    with explained("the receipts of erasures cannot be listed", directory):
        try:
            entries = [entry.name for entry in os.scandir(directory)]
        except FileNotFoundError:
            return
    found: dict[str, Mark] = {}
    for name in entries:
        receipt = _read_receipt(directory / name / RECEIPT)
        if receipt is None or not receipt.get("remembered"):
            continue
        notes.of_receipts += 1
        with contextlib.suppress(ValueError, KeyError, TypeError):  # a damaged one tells of an erasure alone
            found[f"the receipt of {name}"] = Mark.from_json(receipt["memory"])
    if found:
        notes.others.update([newest(found)])


def _read_receipt(path: Path) -> dict[str, Any] | None:
    """Return the receipt, None when there is none. One that cannot be read still shows that there was an erasure."""
    try:
        content = read_file(path, MOST_DOCUMENT_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        content = b""
    try:
        document = orjson.loads(content)
    except ValueError:
        document = None
    return document if isinstance(document, dict) else {"remembered": True}
