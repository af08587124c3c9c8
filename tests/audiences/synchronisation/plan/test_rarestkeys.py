"""Keys that may have to be struck, while their holders are being counted."""

from __future__ import annotations

import numpy as np

from audiencekit.audiences.synchronisation.plan.rarestkeys import RarestKeys

# Three members: the first has keys 0 and 1, the second 1 and 2, the third 3 alone.
OWNERS, NUMBERS = np.array([0, 1, 2, 0, 1]), np.array([0, 1, 3, 1, 2])


def _counted(*batches: list[int]) -> RarestKeys:
    rarest = RarestKeys(OWNERS, NUMBERS, 4)
    for numbers in batches:
        rarest.count(np.array(numbers, dtype=np.int64))
    return rarest


def test_at_first_every_key_may_be_struck() -> None:
    """No member is known to hold any."""
    assert _counted().likely.all()
    assert _counted([]).likely.all()


def test_a_key_that_more_hold_is_not() -> None:
    """Unless its member has no other; where hardly more do, it may be chance."""
    assert _counted([1, 1, 1, 3, 3, 3]).likely.tolist() == [True, False, True, True]
    assert _counted([0, 0, 0, 1, 2, 2, 2, 2]).likely.tolist() == [True, True, False, True]


def test_it_is_looked_at_again() -> None:
    """When more have been counted; every holder counts."""
    rarest = _counted([1], [0, 0], [0], [0, 0, 2, 2])
    assert rarest.likely.tolist() == [False, True, True, True]
    assert rarest.holders.tolist() == [5, 1, 2, 0]


def test_no_member_leaves() -> None:
    """Then there is no key."""
    none = np.zeros(0, dtype=np.int64)
    rarest = RarestKeys(none, none, 0)
    rarest.count(none)
    assert rarest.likely.tolist() == []
    assert repr(rarest) == "<RarestKeys of 0>"
