"""Workers race on a state in a bucket, and are killed anywhere; store and service lose, delay and double calls.

STATE_HISTORIES raises the number of histories (6) for a longer run, such as 900.
"""

from __future__ import annotations

import os
from unittest import mock

import pytest

from audiencekit.mirror.mirror import StateMirror
from audiencekit.runs.first_pass import PendingRequests
from tests.mirror.campaign import relive

COUNT = int(os.environ.get("STATE_HISTORIES", "6"))
CHUNK = 4


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_audiences_end_as_complete_commands_say(first: int) -> None:
    """Upload, resume, sync, renew and forget, each command on a new machine: no person is lost, twice or back in."""
    wrong = {seed: relive(seed).differences() for seed in range(first, min(first + CHUNK, COUNT))}
    assert {seed: differences for seed, differences in wrong.items() if differences} == {}


@pytest.mark.slow
def test_a_history_ends_exactly() -> None:
    """One that is short."""
    assert relive(303).differences() == {}


async def _nothing(_: StateMirror) -> None:
    """No change is stored before a request leaves."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "mistake",
    [
        mock.patch.object(StateMirror, "stored", _nothing),
        mock.patch.object(PendingRequests, "seconds_left", return_value=0.0),
    ],
    ids=["changes that are not stored", "requests in doubt that are not waited for"],
)
def test_a_mistake_is_found_out(mistake: mock._patch[object]) -> None:
    """The histories notice what they are there to notice."""

    def is_found(seed: int) -> bool:
        with mistake:
            return bool(relive(seed).differences())

    assert any(map(is_found, range(100, 140)))
