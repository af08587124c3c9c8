"""Histories of an audience in which nothing but answers is lost: what completed runs said is what holds.

HISTORIES raises the number of seeds (20) for a longer run, such as 200.
"""

from __future__ import annotations

import os

import pytest

from audiencekit.delivery import faults
from tests.simulator.histories import relive

COUNT = int(os.environ.get("HISTORIES", "20"))
CHUNK = 10


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_completed_runs_hold(first: int) -> None:
    """Uploads, erasures, syncs; some stopped in the middle, with requests that are applied when they have ended."""
    wrong = {seed: relive(seed).differences() for seed in range(first, min(first + CHUNK, COUNT))}
    assert {seed: differences for seed, differences in wrong.items() if differences} == {}


@pytest.mark.slow
def test_a_run_that_does_not_wait_for_earlier_ones_is_found_out() -> None:
    """The histories notice what they are there to notice."""
    assert any(relive(seed, waits=False).differences() for seed in range(COUNT))


def test_a_broken_connection_that_is_no_doubt_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that broke says nothing of what became of the request that it carried."""
    monkeypatch.setattr(faults.RetryClass, "may_apply_late", lambda self, error: False)
    assert any(relive(seed).differences() for seed in range(COUNT))
