"""What the tests of crashes share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from audiencekit.emulator import Emulator, EmulatorOptions


@pytest.fixture
async def emulator() -> AsyncIterator[Emulator]:
    """A local ads API that is never in a hurry."""
    async with Emulator(EmulatorOptions(rate=(1_000_000, 1.0))) as running:
        yield running
