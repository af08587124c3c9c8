"""The way out for who knows why the memory of erased people is not the last: to take what is there for the last.

Never by itself, and never without a line in `forgotten.log`, which is written first.
"""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson

from audiencekit.errors import InputOutputFailed, MemoryRefused, UsageError
from audiencekit.machine.keys import SubKey, find_state_key
from audiencekit.machine.privatefiles import explained, read_file, sync_directory
from audiencekit.machine.statedirectory import check_root
from audiencekit.machine.witness import Witness
from audiencekit.personal import Secret
from audiencekit.preparation.times import format_time
from audiencekit.selection.forgotten.file import FORGOTTEN, PURPOSE, alone, new_identity, read_memory, write_memory
from audiencekit.selection.forgotten.notes import check_memory, gather_notes, needs_key
from audiencekit.selection.forgotten.people import note_memory
from audiencekit.selection.tags import TAG

LOG: Final = "forgotten.log"
_MOST_LOG_BYTES: Final = 16_000_000


def describe_memory(state_dir: Path, given: Secret | None, witness: Witness | None = None) -> dict[str, Any]:
    """The state of the memory, as JSON; `given` is the state key, as in the settings.

    `state` (`sound`, `refused`, `none`), `keys`, `serial`, `why` and `hint` of a refusal, and what was `accepted`.
    """
    check_root(state_dir)
    witness, own = witness or Witness.of_user(), _key(state_dir, given) if needs_key(state_dir) else None
    found: dict[str, Any] = {"state": "none", "keys": None, "serial": None, "why": "", "hint": ""}
    try:
        notes = gather_notes(state_dir, witness, own)
        memory = None if own is None else read_memory(state_dir, own)
        if memory is not None:
            found |= {"state": "sound", "keys": len(memory.tags), "serial": memory.serial}
        check_memory(memory, notes, state_dir, witness)
    except (MemoryRefused, InputOutputFailed) as error:
        found |= {"state": "refused", "why": str(error), "hint": error.hint}
    return {**found, "accepted": _read_log(state_dir)}


def accept_memory(
    state_dir: Path, given: Secret | None, *, empty: bool, witness: Witness | None = None
) -> dict[str, Any]:
    """Take the memory that is there for the last, or with `empty` begin an empty one; the line of the log.

    Raises UsageError when nothing is refused, MemoryRefused for a memory that cannot be read, unless `empty` takes its
    place, and InputOutputFailed.
    """
    witness = witness or Witness.of_user()
    with alone(state_dir):
        before = describe_memory(state_dir, given, witness)
        if before["state"] != "refused":
            state = "is sound" if before["state"] == "sound" else "does not exist, and nothing tells of one"
            raise UsageError(f"the memory of erased people {state}: there is nothing to accept")
        own = _key(state_dir, given)
        known = None if empty else read_memory(state_dir, own)
        if known is None and not empty:
            raise MemoryRefused(
                f"{str(state_dir / FORGOTTEN)!r} is missing: there is nothing that could be taken for the last",
                hint="put it back; or give --empty, and who was erased can be sent again",
            )
        tags = np.zeros(0, dtype=TAG) if known is None else known.tags
        serial = 1 + max(_highest(state_dir, own, witness), known.serial if known else 0)
        line = {
            "at": format_time(datetime.now(UTC)), "uid": os.getuid(), "empty": empty,
            "keys": len(tags), "serial": serial, "why": before["why"],
        }  # fmt: skip
        _append(state_dir / LOG, line)
        # Another identity: of two copies of one state directory each goes on for itself.
        memory = write_memory(state_dir, own, tags, identity=new_identity(), serial=serial)
        note_memory(state_dir, own, memory, witness)
        return line


def _key(state_dir: Path, given: Secret | None) -> SubKey:
    return find_state_key(state_dir, given).derive(PURPOSE)


def _highest(state_dir: Path, own: SubKey, witness: Witness) -> int:
    """The highest serial of which anything tells that can be believed."""
    for outside in (witness, Witness(None)):
        for key in (own, None):
            with contextlib.suppress(MemoryRefused, InputOutputFailed):
                return gather_notes(state_dir, outside, key).serial
    return 0


def _append(path: Path, line: dict[str, Any]) -> None:
    with explained("what is accepted cannot be logged", path):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            stream.flush()
            os.fsync(stream.fileno())
        sync_directory(path.parent)


def _read_log(state_dir: Path) -> list[Any]:
    try:
        lines = read_file(state_dir / LOG, _MOST_LOG_BYTES).splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        with contextlib.suppress(ValueError):
            found.append(orjson.loads(line))
    return found
