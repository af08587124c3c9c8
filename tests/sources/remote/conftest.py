"""Waits that take no time."""

from __future__ import annotations

import pytest

from audiencekit.sources.remote.remote_file import Patience


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
