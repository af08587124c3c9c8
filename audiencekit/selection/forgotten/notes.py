"""Notes on the memory of erased people in other places, and whether a memory is the last that they tell of.

The serial beside it, the receipts of erasures, and, outside of the state directory, what this user has seen before.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from audiencekit.errors import MemoryRefused
from audiencekit.selection.erasure_witness import Mark, Witness, newest
from audiencekit.selection.forgotten.file import FORGOTTEN, SERIAL, Memory, read_serial
from audiencekit.state.files import MOST_DOCUMENT_BYTES, explained, read_file
from audiencekit.state.keys import StateKey

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
        """The highest of which anything tells."""
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
    """Returns when `memory` is the last of which anything tells. Raises MemoryRefused, and InputOutputFailed."""
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
    """None when there is none; one that cannot be read tells that there was an erasure, and no more."""
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
