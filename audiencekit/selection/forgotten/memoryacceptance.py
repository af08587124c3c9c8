"""The way out for who knows why the memory of erased people is not the last: to take what is there for the last.

Never by itself, and never without a line in `forgotten.log`, which is written first.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from audiencekit.errors import InputOutputFailed, MemoryRefused, UsageError
from audiencekit.selection.erasure_witness import Witness
from audiencekit.selection.forgotten.file import (
    FORGOTTEN,
    new_identity,
    no_people,
    only_writer,
    read_memory,
    write_memory,
)
from audiencekit.selection.forgotten.log import append_line, read_log
from audiencekit.selection.forgotten.notes import check_memory, gather_notes, needs_key
from audiencekit.selection.forgotten.people import note_memory
from audiencekit.state.directory import check_root
from audiencekit.state.key_command import GivenKey
from audiencekit.state.keys import StateKey, find_state_key


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
    """The highest serial of which anything tells that can be believed."""
    for outside in (witness, Witness(None)):
        for key in (own, None):
            with contextlib.suppress(MemoryRefused, InputOutputFailed):
                return gather_notes(state_dir, outside, key).serial
    return 0
