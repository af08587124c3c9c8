"""The emulator's clock: the time that every rule of it goes by."""

from __future__ import annotations

from collections.abc import Callable


class Clock:
    """A source of epoch seconds, and how far it was moved."""

    def __init__(self, source: Callable[[], float]) -> None:
        self._source = source
        self.offset_seconds = 0.0

    def now(self) -> float:
        """Return epoch seconds."""
        return self._source() + self.offset_seconds

    def advance(self, seconds: float) -> None:
        """Move the clock, backwards when `seconds` is negative."""
        self.offset_seconds += seconds

    def set(self, epoch: float) -> None:
        """Move the clock so that it says `epoch` now, and goes on from there."""
        self.offset_seconds = epoch - self._source()
