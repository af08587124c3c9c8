"""The bytes of one file elsewhere, over one connection: every scheme has its own. And an attempt that was in vain."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from audiencekit.errors import SourceRefused


@dataclass(frozen=True, slots=True)
class Version:
    """The version of a file that was seen first, and is read to its end: its size and how its place marks it."""

    size_bytes: int
    mark: str


class Connection(AbstractAsyncContextManager[Any], Protocol):
    """A connection to a place, made when it is entered."""

    async def look(self) -> Version:
        """The version that lies there. Raises SourceRefused, InputOutputFailed and Lost."""

    async def read(self, offset: int, length: int, version: Version, into: bytearray) -> None:
        """Add `length` bytes of `version` from `offset` on.

        Raises Lost when they came in part, or not at all; SourceRefused when another version lies there.
        """


class Lost(Exception):
    """An attempt that another one may mend. The text says what happened, in our words."""


def changed() -> SourceRefused:
    """The refusal of a file that is another one by now."""
    return SourceRefused("the file changed while it was read", hint="run again when nothing writes to it")


def missing() -> SourceRefused:
    """The refusal of a file that is not there."""
    return SourceRefused("there is no such file")
