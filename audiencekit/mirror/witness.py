"""The witness of a state: a sealed note of its last head at another place, in a second bucket or a file.

All objects of a state that were returned to one earlier moment look sound by themselves. The note says that there was a
later one. The states of head and note, by the number of the last change:

    head G      note G       nothing is under way
    head G + 1  note G       a change is being stored, or was when its command was killed
    head G      note > G     the state was returned to an earlier moment: refused

A change writes the head, then the note, and no request leaves before both. So of a head that has no note yet nothing
was relied upon: the next holder writes its note before it does anything else, and where that head was returned to G
meanwhile, it is as if the command had been killed a moment earlier. A note is written over an earlier one only, so that
a holder that was overtaken cannot put an earlier one back.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from audiencekit.errors import InputOutputFailed, StateRefused
from audiencekit.mirror.objects import Overtaken, Stored, Swaps, SwapsRepeated
from audiencekit.mirror.records import Head, Sealer, refusal
from audiencekit.state.durability import WITNESS
from audiencekit.state.files import explained, read_file, replace_file
from audiencekit.state.locks import locked

NOTE: Final = "witness"  # the name of the object
PLACE: Final = "the witness of the state"
_HINT: Final = f"check {WITNESS}"
_MOST_BYTES: Final = 10_000
_ATTEMPTS: Final = 3  # to write the note over those of earlier holders


class Witness:
    """The note among `objects`. Raises InputOutputFailed for a place that cannot be used."""

    def __init__(self, objects: Swaps, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._objects = SwapsRepeated(objects, sleep=sleep, place=PLACE)
        self._version: str | None = None
        self._noted = 0  # the change

    async def read(self) -> Stored | None:
        """Return the note, which `check` judges."""
        return await self._objects.read(NOTE)

    def check(self, found: Stored | None, sealer: Sealer, head: Head) -> None:
        """Raise StateRefused for a head that is earlier than the note that was found, InputOutputFailed without one."""
        if found is None:
            raise InputOutputFailed(
                "the witness knows nothing of this state: nothing was sent",
                hint=f"check {WITNESS}; `audiencekit state accept` notes the present head there",
            )
        generation, digest = _read(found, sealer)
        if head.generation < generation or (head.generation == generation and head.digest != digest):
            raise refusal(
                f"its head is of change {head.generation}, and its witness saw change {generation}: it was rolled back"
            )
        self._version, self._noted = found.version, generation

    async def note(self, sealer: Sealer, head: Head) -> None:
        """Write the note of this head, unless it is there. Raises Overtaken when another holder wrote a later one."""
        for _ in range(_ATTEMPTS):
            if self._noted >= head.generation:
                return
            try:
                self._version = await self._swap(sealer, head)
            except Overtaken:  # an earlier holder's may have come late
                found = await self._objects.read(NOTE)
                if found is None:
                    raise refusal("its witness is gone") from None
                if _read(found, sealer)[0] >= head.generation:
                    raise
                self._version = found.version
                continue
            self._noted = head.generation
            return
        raise Overtaken

    async def check_free(self) -> None:
        """Raise InputOutputFailed where there is a note."""
        if await self.read() is not None:
            raise InputOutputFailed(
                "there is a witness of a state at this place already", hint=f"name another place in {WITNESS}"
            )

    async def accept(self, sealer: Sealer, head: Head) -> None:
        """Write the note of this head over any other. Raises Overtaken when it is changed meanwhile."""
        found = await self._objects.read(NOTE)
        self._version = None if found is None else found.version
        await self._swap(sealer, head)

    async def _swap(self, sealer: Sealer, head: Head) -> str:
        return await self._objects.swap(NOTE, sealer.seal(NOTE, head.note.encode()), self._version)


def _read(found: Stored, sealer: Sealer) -> tuple[int, str]:
    """Return change and digest of a note. Raises StateRefused."""
    try:
        generation, _, digest = sealer.open(NOTE, found.data).decode().partition(":")
    except StateRefused:
        raise refusal("its witness saw another state, or was changed") from None
    return int(generation), digest


class FileObjects:
    """Objects in a directory of this machine, such as a disk that lasts. Raises InputOutputFailed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def read(self, name: str) -> Stored | None:
        """See `Swaps`."""
        with explained(f"{PLACE} cannot be read", self._directory, hint=_HINT):
            return self._read(name)

    async def swap(self, name: str, data: bytes, version: str | None) -> str:
        """See `Swaps`."""
        place = explained(f"{PLACE} cannot be written", self._directory, hint=_HINT)
        with place, locked(self._directory / f".{name}.lock"):
            found = self._read(name)
            if (None if found is None else found.version) != version:
                raise Overtaken
            replace_file(self._directory / name, data)
        return _version_of(data)

    def _read(self, name: str) -> Stored | None:
        os.stat(self._directory)  # one that is not there holds no note, and is no place for one
        with contextlib.suppress(FileNotFoundError):
            data = read_file(self._directory / name, _MOST_BYTES)
            return Stored(data, _version_of(data))
        return None


def _version_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
