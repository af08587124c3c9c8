"""Machines that take turns at one audience: no state goes wrong without a message.

TURNS raises the number of histories (2) for a longer run, such as 300; TURNS_FIRST is the first seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiencekit.emulator import Emulator
from tests.crashes.killing import Driver
from tests.crashes.turns import Turns

FIRST, TURNS = int(os.environ.get("TURNS_FIRST", "0")), int(os.environ.get("TURNS", "2"))
STEPS = 9


@pytest.fixture(scope="session")
def second_driver() -> Iterator[Driver]:
    """For what happens at the same moment."""
    started = Driver()
    yield started
    started.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FIRST, FIRST + TURNS))
async def test_no_state_goes_wrong_without_a_message(
    driver: Driver, second_driver: Driver, emulator: Emulator, tmp_path: Path, seed: int
) -> None:
    """A machine that was not the last to change the audience is refused before it sends, or says that it cannot know.

    Through kills, lost answers, uploads from elsewhere, older copies of state directories, syncs at the same moment,
    and people who edit the description, of which what they wrote stays as it is. A rebuild is the way on.
    """
    await Turns(seed, tmp_path, emulator, (driver, second_driver)).live_through(STEPS)
