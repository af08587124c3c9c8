"""The named points: in pairs, silent unless a test listens, and none forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import audiencekit
from audiencekit.process.crash_points import (
    AUDIT_CUT_POINTS,
    AUDIT_POINTS,
    ERASURE_POINTS,
    KEY_POINTS,
    POINTS,
    PURGE_POINTS,
    STEPS,
    SYNC_POINTS,
    TOLD_POINTS,
    pass_point,
    set_hook,
)

ROOM = Path(audiencekit.__file__).parent  # as it is installed


@pytest.fixture
def heard() -> Iterator[list[str]]:
    """Collect the crash points that are passed."""
    passed: list[str] = []
    set_hook(passed.append)
    yield passed
    set_hook(None)


def test_a_hook_hears_every_point(heard: list[str]) -> None:
    """By name, in order, and nothing after it was taken away."""
    for point in POINTS:
        pass_point(point)
    set_hook(None)
    pass_point(POINTS[0])
    assert heard == list(POINTS)


def test_every_point_is_passed_somewhere_and_nothing_else() -> None:
    """The names in the code are those of the lists; an erasure passes some points of a run, too."""
    found = [
        name
        for path in ROOM.rglob("*.py")
        for name in re.findall(r'pass_point\("([a-z ]+)"\)', path.read_text("utf-8"))
    ]
    lists = (POINTS, SYNC_POINTS, ERASURE_POINTS, KEY_POINTS, PURGE_POINTS, TOLD_POINTS, AUDIT_POINTS, AUDIT_CUT_POINTS)
    assert set(found) == {point for points in lists for point in points}


def test_points_lie_around_steps() -> None:
    """One before and one after each."""
    assert {point.split(" ", 1)[1] for point in POINTS} == set(STEPS)
    assert len(POINTS) == 2 * len(STEPS)
