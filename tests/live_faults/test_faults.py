"""Each fault of the catalogue over a real socket: the right class, the right exit code, and a list that is exact.

The large count, at all six places, runs with `-m live_matrix`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.delivery.faults import FAULTS
from tests.live_faults.cases import CASES, OUTSIDE, At, Case
from tests.live_faults.run import LAST, MIDDLE, live_run, strike


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_fault_in_the_middle(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a run of several requests, in two waves."""
    await _check(case, At.MIDDLE, tmp_path, monkeypatch)


@pytest.mark.live_matrix
@pytest.mark.parametrize("at", [at for at in At if at is not At.MIDDLE])
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_fault_at_every_place(case: Case, at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First, last, only, twice running, and more often than one request is tried."""
    await _check(case, at, tmp_path, monkeypatch)


async def _check(case: Case, at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
