"""Waits that take no time, and files in small pieces."""

from __future__ import annotations

import pytest

from audiencekit.sources.remote import remote_file
from audiencekit.sources.remote.remote_file import Patience
from tests.sources.remote.reading import PIECE_BYTES


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files come in pieces of `PIECE_BYTES`."""
    for name in ("PIECE_BYTES", "_BEGINNING_BYTES"):
        monkeypatch.setattr(remote_file, name, PIECE_BYTES)


class Waits(list[float]):
    """The waits that were asked for, none of which took place."""

    async def sleep(self, seconds: float) -> None:
        """Note it."""
        self.append(seconds)


@pytest.fixture
def waits() -> Waits:
    """Those of `patience`."""
    return Waits()


@pytest.fixture
def patience(waits: Waits) -> Patience:
    """As many attempts as always, without waiting between them."""
    return Patience(sleep=waits.sleep)
