"""Each fault of the catalogue over a real socket: the right class, the right exit code, and a list that is exact.

FAULT_PLACES=all tries each of them at all six places of a run.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audiencekit.delivery.faults import FAULTS
from tests.live_faults.cases import CASES, OUTSIDE, At, Case
from tests.live_faults.run import LAST, MIDDLE, live_run, strike
from tests.shortened import shortened

PLACES = [*At] if os.environ.get("FAULT_PLACES") == "all" else [At.MIDDLE]


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("case", shortened(CASES, 10), ids=str)
async def test_a_run_that_meets_a_fault_ends_exact(
    case: Case, at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several requests in two waves; at first, last, only, twice running, and more often than a request is tried."""
    async with live_run(tmp_path, is_single=at is At.ONLY, is_silent=case.is_silent) as live:
        plain = live.settings
        ended = await strike(live, case, at, tmp_path, monkeypatch)
        assert (0 if ended is None else ended.exit_code) == case.code(at), ended
        assert bool(await live.strikes(case.fault)) == (at not in case.spared)
        assert set(live.met) <= set(case.answers)
        await live.door("DELETE")
        if ended is not None:
            go_on = live.resume(plain) if ended.exit_code != 3 else live.begin()
            if ended.exit_code == 3:
                live.settings = plain
            assert await go_on is None
        assert live.verdict().exact, live.verdict()


async def test_places_are_those_of_the_run(tmp_path: Path) -> None:
    """There is a last request, and one in the middle; nothing but the faults troubles a run."""
    async with live_run(tmp_path, is_single=False) as live:
        assert await live.begin() is None
        assert 1 < MIDDLE < live.requests - 1
        assert live.requests == LAST
        assert live.verdict().exact
        assert not live.met


def test_every_fault_has_its_case() -> None:
    """All of the catalogue but those that no answer to an upload can show."""
    assert {case.fault for case in CASES} | OUTSIDE == {fault.number for fault in FAULTS}
