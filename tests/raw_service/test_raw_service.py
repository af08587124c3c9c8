"""The program keeps its word against a service of raw bytes: a few seeds of the campaign of this directory."""

from __future__ import annotations

import asyncio

import pytest

from tests.raw_service.campaign import Outcome, run_seed
from tests.raw_service.preloaded import Preloaded

SEEDS = {"upload": 194, "sync": 240, "forget": 144}


async def run_all() -> list[Outcome]:
    """At once: most of their time is waiting."""
    preloaded = Preloaded()
    try:
        return await asyncio.gather(*(run_seed(*each, preloaded=preloaded) for each in SEEDS.items()))
    finally:
        await preloaded.end()


@pytest.mark.slow
def test_complete_means_exactly_the_people_of_the_source() -> None:
    """Whatever it answers: a run that says complete has put in, or taken out, these and no others."""
    for outcome in asyncio.run(run_all()):
        assert outcome.deviations == [], "\n".join(outcome.log)
        assert outcome.completed
        assert outcome.met.total()
