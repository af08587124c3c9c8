"""Erasures on virtual time, through kills, faults and late answers: no erased person is left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.audiences.erasure.trial import run_trial

# All hundred of the bar with ERASURE_TRIALS=100, or by `python -m tests.audiences.erasure.trial`.
TRIALS = int(os.environ.get("ERASURE_TRIALS", "1"))
FIRST = 1  # which has kills, and nine kinds of faults


@pytest.mark.parametrize("seed", range(FIRST, FIRST + TRIALS))
def test_all_erased_people_are_gone_and_no_others(seed: int, tmp_path: Path) -> None:
    """50 audiences, 30 people in random subsets and key mixes; and the do-not-reach list holds every form."""
    assert run_trial(seed, tmp_path).differences() == []


def test_an_erasure_that_does_not_wait_for_late_updates_leaves_people(tmp_path: Path) -> None:
    """The trial notices what it is there to notice."""
    assert any("people left" in one for one in run_trial(FIRST, tmp_path, settling=False).differences())
