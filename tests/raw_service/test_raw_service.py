"""The program keeps its word against a service of raw bytes: a few seeds of the campaign of this directory."""

from __future__ import annotations

import asyncio

import pytest

from tests.raw_service.campaign import run_seed


@pytest.mark.parametrize(("command", "seed"), [("upload", 3), ("sync", 4), ("forget", 2)])
def test_complete_means_exactly_the_people_of_the_source(command: str, seed: int) -> None:
    outcome = asyncio.run(run_seed(command, seed))

    assert outcome.deviations == [], "\n".join(outcome.log)
    assert outcome.completed
    assert outcome.met.total()
