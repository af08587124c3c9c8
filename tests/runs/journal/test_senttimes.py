"""How long ago bytes left: never more than is certain."""

from __future__ import annotations

import math

import pytest

from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS
from audiencekit.runs.journal.senttimes import Moment, seconds_in_the_past, this_moment

HERE = Moment("this start", 10_000.0)


@pytest.mark.parametrize(
    ("earlier", "seconds"),
    [
        (Moment("this start", 4_000.0), 6_000.0),
        (Moment("this start", 10_000.0), 0.0),
        (Moment("this start", 11_000.0), 0.0),  # the clock cannot have gone back; this is not believed
        (Moment("another start", 4_000.0), 0.0),
        (Moment("unknown-boot", 4_000.0), 0.0),
    ],
)
def test_time_between_two_moments(earlier: Moment, seconds: float) -> None:
    """Of one start of a machine it is known; of two it is not."""
    assert HERE.seconds_since(earlier) == seconds


def test_machines_that_do_not_tell_their_start_are_not_one() -> None:
    """Two of them look alike."""
    assert Moment("unknown-boot", 900.0).seconds_since(Moment("unknown-boot", 1.0)) == 0.0


@pytest.mark.parametrize(
    ("departures", "seconds"),
    [
        ([], math.inf),
        ([4_000.0], 6_000.0 - EXCHANGE_TIMEOUT_SECONDS),
        ([4_000.0, 9_500.0, 200.0], 500.0 - EXCHANGE_TIMEOUT_SECONDS),
        ([9_999.0], 0.0),
    ],
)
def test_the_last_attempt_counts_and_may_have_taken_all_its_time(departures: list[float], seconds: float) -> None:
    """Nothing is infinitely long ago."""
    assert seconds_in_the_past([Moment("this start", each) for each in departures], HERE) == seconds


def test_this_machine_has_a_moment() -> None:
    """And the next is not before it."""
    first = this_moment()
    assert this_moment().seconds >= first.seconds > 0
