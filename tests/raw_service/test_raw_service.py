"""The program keeps its word against a service of raw bytes: a few seeds of the campaign of this directory."""

from __future__ import annotations

import asyncio

import pytest

from tests.raw_service.campaign import Outcome, run_seed
from tests.raw_service.preloaded import Preloaded

SEEDS = [("upload", 194), ("sync", 240), ("forget", 144)]


async def run(command: str, seed: int, one_fault: str = "") -> Outcome:
    preloaded = Preloaded()
    try:
        return await run_seed(command, seed, one_fault=one_fault, preloaded=preloaded)
    finally:
        await preloaded.end()


@pytest.mark.parametrize(("command", "seed"), SEEDS)
def test_complete_means_exactly_the_people_of_the_source(command: str, seed: int) -> None:
    outcome = asyncio.run(run(command, seed))

    assert outcome.deviations == [], "\n".join(outcome.log)
    assert outcome.completed
    assert outcome.met.total()


@pytest.mark.xfail(strict=True, reason="what follows an answer is noticed only when it is a whole head or no head")
@pytest.mark.parametrize("what", ["an empty line", "one byte of the next", "half the next head"])
def test_an_answer_with_more_behind_it_is_not_believed(what: str) -> None:
    outcome = asyncio.run(run("upload", 15, f"answer and {what} in one packet"))

    assert outcome.deviations == [], "\n".join(outcome.log)
