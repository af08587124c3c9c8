"""Directories whose changes are stored elsewhere, too: they are noted when they are durable here, and stored before
anything leaves for the service.

Nothing is noted and nothing waits where no directory is mirrored.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Protocol

STATE: Final = "AUDIENCEKIT_STATE"
WITNESS: Final = f"{STATE}_WITNESS"


def is_bucket(place: str) -> bool:
    """Whether a place of a state is the address of a bucket, and no directory."""
    return "://" in place


class Mirror(Protocol):
    """A copy of the directory `root` elsewhere."""

    root: Path
    address: str

    def note(self, directory: Path, content: tuple[str, bytes] | None = None) -> None:
        """Note that files of `directory` have changed; `content` is the name and the bytes of one that stays open."""

    def when_stored(self, action: Callable[[], None]) -> None:
        """Call `action` when all that was noted is stored, in any thread; never when it cannot be stored."""

    async def stored(self) -> None:
        """Return when all that was noted is stored. Raises AudiencekitError: then nothing may leave."""


_MIRRORS: Final[list[Mirror]] = []


@contextlib.contextmanager
def mirrored(mirror: Mirror) -> Iterator[None]:
    """Note the changes below `mirror.root` with `mirror` meanwhile."""
    _MIRRORS.append(mirror)
    try:
        yield
    finally:
        _MIRRORS.remove(mirror)


def note_change(directory: Path, content: tuple[str, bytes] | None = None) -> None:
    """Note that files in `directory` are durable with other content, as `Mirror.note` does. Any thread may call it."""
    for mirror in tuple(_MIRRORS):
        if directory.is_relative_to(mirror.root):
            mirror.note(directory, content)


def working_copy(address: str) -> Path | None:
    """Return the directory that is mirrored at `address`; None when none is."""
    return next((mirror.root for mirror in _MIRRORS if mirror.address == address), None)


def is_mirrored(path: Path) -> bool:
    """Whether changes of `path` are noted."""
    return any(path.is_relative_to(mirror.root) for mirror in _MIRRORS)


def when_stored(path: Path, action: Callable[[], None]) -> None:
    """Call `action` when the changes of `path` are stored elsewhere, where they are to be, too; else at once."""
    mirrors = [mirror for mirror in tuple(_MIRRORS) if path.is_relative_to(mirror.root)]
    if mirrors:
        mirrors[0].when_stored(action)
    else:
        action()


async def store_changes() -> None:
    """Return when all noted changes are stored. Raises AudiencekitError: then nothing may leave."""
    for mirror in tuple(_MIRRORS):
        await mirror.stored()
