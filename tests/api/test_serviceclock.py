"""The time that requests are signed with, whatever happens to our own clock."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.api.exchange import ApiRequest
from audiencekit.api.oauth import Credentials
from audiencekit.api.serviceclock import ServiceClock, elapsed_seconds
from audiencekit.api.wire import read_answer
from audiencekit.delivery.faults import CLOCK_OFF, retry_class
from audiencekit.errors import Unauthorized

NOW = 1_790_000_000.0


class Times:
    """A wall clock and a steady one, both moved by the test."""

    def __init__(self) -> None:
        self.wall, self.steady = NOW, 100.0

    def clock(self) -> ServiceClock:
        return ServiceClock(wall=lambda: self.wall, elapsed=lambda: self.steady)

    def wait(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@pytest.mark.parametrize("jump", [-3600.0, 3600.0, 86_400.0])
def test_jumps_of_the_wall_clock_do_not_matter(jump: float) -> None:
    """Summer time, a correction, a leap second: time goes on as it was."""
    times = Times()
    clock = times.clock()
    times.wait(10)
    times.wall += jump
    assert clock.now() == NOW + 10


@pytest.mark.parametrize(
    ("status", "off", "learnt"),
    [
        (401, 600.0, 600.0),
        (401, -600.0, -600.0),
        (401, 900.0, 900.0),
        (401, 901.0, 0.0),  # that far off, our clock is to be set
        (401, -86_400.0, 0.0),
        (401, 29.0, 0.0),  # not the reason
        (401, None, 0.0),
        (200, 600.0, 0.0),  # what was accepted proves our time right
        (403, 600.0, 0.0),
        (429, 600.0, 0.0),
        (503, 600.0, 0.0),
    ],
)
def test_offset_is_learnt_from_a_refused_signature(status: int, off: float | None, learnt: float) -> None:
    """Only a 401 teaches, within 15 minutes."""
    clock = Times().clock()
    clock.learn(status=status, answered_at=None if off is None else NOW + off)
    assert clock.now() == NOW + learnt


def test_offset_is_learnt_anew() -> None:
    """A machine that slept where its steady clock did not count learns once more."""
    times = Times()
    clock = times.clock()
    clock.learn(status=401, answered_at=NOW + 600)
    times.wait(60)
    clock.learn(status=401, answered_at=NOW + 60 + 300)
    assert clock.now() == NOW + 360
    clock.learn(status=401, answered_at=NOW + 60)
    assert clock.now() == NOW + 60


def test_elapsed_time_goes_on() -> None:
    """The clock behind it never goes back."""
    assert elapsed_seconds() <= elapsed_seconds()


async def test_next_attempt_is_signed_by_the_clock_of_the_service(
    answering: Any, answer_bytes: Any, make_transport: Any, read_header: Any, credentials: Credentials
) -> None:
    """A 401 with a `Date` ten minutes ahead: the re-send bears that time, and the error says what to do."""
    ahead = "Mon, 21 Sep 2026 14:23:20 GMT"  # NOW + 600
    refused = answer_bytes(401, b'{"errors": [{"code": 135}]}', {"Date": ahead})
    request = ApiRequest(method="GET", path="/12/accounts")
    times = Times()
    async with (
        answering(refused, answer_bytes()) as listener,
        make_transport(listener, clock=times.clock()) as transport,
    ):
        with pytest.raises(Unauthorized) as caught:
            read_answer(await transport.exchange(request))
        assert retry_class(caught.value) is CLOCK_OFF
        assert "clock" in caught.value.hint
        await transport.exchange(request)
    stamps = [
        read_header(head, "authorization").partition('oauth_timestamp="')[2][:10] for head, _ in listener.requests
    ]
    assert [int(stamp) - NOW for stamp in stamps] == [0, 600]
