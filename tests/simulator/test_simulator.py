"""Runs on virtual time: whatever happens, the service ends with what the source says."""

from __future__ import annotations

import random

import pytest

from audiencekit.delivery.options import DOUBT, RATE_LIMIT, RETRY
from audiencekit.errors import ExchangeError, Outcome
from tests.shortened import shortened
from tests.simulator.__main__ import command_for
from tests.simulator.faults import EFFECTS, Effect
from tests.simulator.run import simulate

SEEDS, CHUNK = 800, 50  # `python -m tests.simulator` makes more
PAIRS, PAIRS_CHUNK = 200, 20  # of 36 x 36; `python -m tests.simulator --pairs` makes all of them
# 3 is 2 applied late; an answer that began was of a request applied
TIMED_OUT, PASSED_ON, CUT_SHORT, MISCOUNTED, PAGES, OTHERS = 2, 8, 15, 17, 19, 39
SAMPLED = random.Random(36).sample([(first, second) for first in EFFECTS for second in EFFECTS], PAIRS)


@pytest.mark.parametrize("first", shortened(range(0, SEEDS, CHUNK), 1))
def test_every_seed_ends_exact(first: int) -> None:
    """0 to 12 faults each, kills included: nothing lost, nothing unexpected, no silent wait, sums that close."""
    wrong = {command_for(seed, None): simulate(seed).differences for seed in range(first, first + CHUNK)}
    assert {command: differences for command, differences in wrong.items() if differences} == {}


@pytest.mark.slow
@pytest.mark.parametrize("place", range(0, PAIRS, PAIRS_CHUNK))
def test_ordered_pairs_of_faults_end_exact(place: int) -> None:
    """The second on the heels of the first."""
    wrong = {}
    for first, second in SAMPLED[place : place + PAIRS_CHUNK]:
        seed, pair = first * 100 + second, (first, second)
        wrong[command_for(seed, pair)] = simulate(seed, pair=pair).differences
    assert {command: differences for command, differences in wrong.items() if differences} == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [PASSED_ON, MISCOUNTED, PAGES, OTHERS],
    ids=["5xx of a balancer", "wrong counts", "400 of a gateway", "the answer to another request"],
)
def test_nothing_but_one_fault_ends_exact(fault: int) -> None:
    """Each of its requests is applied never, soon or late: 50 lists of all kinds."""
    wrong = {seed: simulate(seed, only=fault).differences for seed in range(50)}
    assert {seed: differences for seed, differences in wrong.items() if differences} == {}


def test_a_lost_answer_says_nothing_of_its_request() -> None:
    """Such a fault can come late: all but 2, whose late form is 3, and an answer that had begun."""
    late = {number for number, effects in EFFECTS.items() if any(effect.apply == "late" for effect in effects)}
    assert {number for number, effects in EFFECTS.items() if any(_is_open(effect) for effect in effects)} - late == {
        TIMED_OUT, CUT_SHORT,
    }  # fmt: skip


def _is_open(effect: Effect) -> bool:
    try:
        if effect.raised is not None:
            raise effect.raised()
    except ExchangeError as error:
        return error.outcome is Outcome.UNKNOWN
    return False


@pytest.mark.slow
def test_every_fault_and_every_wait_is_met() -> None:
    """No fault of the catalogue is left out by the seeds, and no reason of a wait that comes by itself."""
    left = {*EFFECTS, RATE_LIMIT, RETRY, DOUBT}
    for seed in range(150):
        outcome = simulate(seed)
        left -= {*outcome.met, *outcome.whys}
        if not left:
            return
    assert left == set()


def test_one_seed_is_one_run() -> None:
    """The same seed gives the same run to the last detail."""
    assert [simulate(seed) for seed in range(20)] == [simulate(seed) for seed in range(20)]


def test_mistake_shows() -> None:
    """Without the settle time a late Update undoes a Delete, and the reference notices."""
    found = (simulate(seed, settle_seconds=0.0).differences for seed in range(400))
    assert any("unexpected" in difference or "lost" in difference for one in found for difference in one)
