"""The program keeps its word against a service of raw bytes: a few seeds of the campaign of this directory."""

from __future__ import annotations

import asyncio

import pytest

from tests.raw_service.campaign import Outcome, run_seed
from tests.raw_service.preloaded import Preloaded

SEEDS = [("upload", 194), ("sync", 240), ("forget", 144)]


async def run(command: str, seed: int) -> Outcome:
    preloaded = Preloaded()
    try:
        return await run_seed(command, seed, preloaded=preloaded)
    finally:
        await preloaded.end()


@pytest.mark.slow
@pytest.mark.parametrize(("command", "seed"), SEEDS)
def test_complete_means_exactly_the_people_of_the_source(command: str, seed: int) -> None:
    """Whatever it answers: a run that says complete has put in, or taken out, these and no others."""
    outcome = asyncio.run(run(command, seed))

    assert outcome.deviations == [], "\n".join(outcome.log)
    assert outcome.completed
    assert outcome.met.total()
