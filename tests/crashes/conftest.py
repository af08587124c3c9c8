"""Fixtures of the tests of crashes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from audiencekit.emulator import Emulator, EmulatorOptions

DISK = Path("/var/tmp")


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On a disk, even where the files of other tests stand in memory."""
    with TemporaryDirectory(dir=DISK if DISK.is_dir() else None) as directory:
        yield Path(directory)


@pytest.fixture
async def emulator() -> AsyncIterator[Emulator]:
    """A local ads API that is never in a hurry."""
    async with Emulator(EmulatorOptions(rate=(1_000_000, 1.0))) as running:
        yield running
