"""Windows that open with the first request."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.rate_limits import (
    CORE_READS,
    COUNTED_READS,
    KEYWORD_READS,
    READS,
    REFERENCE_READS,
    USERS,
    WRITES,
    RateLimits,
    Window,
)

SMALL = Window("small", 3, 10.0, each_endpoint=True)


@pytest.mark.parametrize(
    ("window", "requests", "seconds"),
    [
        (USERS, 1_500, 60),
        (WRITES, 450, 60),
        (READS, 2_000, 900),
        (CORE_READS, 10_000, 900),
        (REFERENCE_READS, 5, 900),
        (KEYWORD_READS, 500, 900),
        (COUNTED_READS, 200, 900),
    ],
)
def test_the_classes_have_the_published_numbers(window: Window, requests: int, seconds: float) -> None:
    """The table of limits, as published."""
    assert (window.requests, window.seconds) == (requests, seconds)


def test_remaining_counts_down_and_the_next_is_not_granted() -> None:
    """Each request takes one; what comes beyond the limit is refused and takes none."""
    limits = RateLimits()
    quotas = [limits.take(SMALL, "token", 100.0) for _ in range(5)]
    assert [(quota.remaining, quota.granted) for quota in quotas] == [
        (2, True),
        (1, True),
        (0, True),
        (0, False),
        (0, False),
    ]
    assert {quota.limit for quota in quotas} == {3}


def test_reset_stays_until_the_window_has_passed() -> None:
    """The window does not slide: it closes so many seconds after its first request, and opens with the next."""
    limits = RateLimits()
    resets = [limits.take(SMALL, "token", now).reset for now in (100.25, 105.0, 110.2, 110.25, 130.0)]
    assert resets == [111, 111, 111, 121, 140]


def test_a_client_that_waits_for_the_reset_is_granted() -> None:
    """`reset` is a whole second that lies outside the window."""
    limits = RateLimits()
    last = [limits.take(SMALL, "token", 100.75) for _ in range(4)][-1]
    assert not last.granted
    assert limits.take(SMALL, "token", float(last.reset)).granted


def test_owners_and_classes_do_not_share() -> None:
    """Each owner has a window of its own in each class."""
    limits = RateLimits()
    for _ in range(3):
        limits.take(SMALL, "one", 1.0)
    assert not limits.take(SMALL, "one", 1.0).granted
    assert limits.take(SMALL, "two", 1.0).granted
    assert limits.take(USERS, "one", 1.0).granted


def test_a_clock_that_went_back_opens_a_new_window() -> None:
    """A window in the future locks no caller out."""
    limits = RateLimits()
    for _ in range(3):
        limits.take(SMALL, "token", 1_000.0)
    assert limits.take(SMALL, "token", 5.0).granted


@given(st.lists(st.floats(min_value=0, max_value=5), max_size=40))
def test_no_window_grants_more_than_its_limit(gaps: list[float]) -> None:
    """Between two resets never more than the limit is granted."""
    limits, now = RateLimits(), 0.0
    granted: dict[int, int] = {}
    for gap in gaps:
        now += gap
        quota = limits.take(SMALL, "token", now)
        granted[quota.reset] = granted.get(quota.reset, 0) + quota.granted
    assert all(count <= 3 for count in granted.values())


def test_the_refusal_says_too_many_requests() -> None:
    """429 with the published code."""
    quota = RateLimits().take(Window("none", 1, 1.0, each_endpoint=False), "token", 0.0)
    answer = quota.exhausted({"account_id": "a"}).answer
    assert answer.status == 429
    assert isinstance(answer.body, bytes)
    assert json.loads(answer.body)["errors"][0]["code"] == "TOO_MANY_REQUESTS"


def test_a_window_of_the_account_has_headers_of_its_own() -> None:
    """Beside the ordinary three, with the same numbers; other windows have none."""
    headers = RateLimits().take(CORE_READS, "account", 100.0).headers()
    for name, text in (("limit", "10000"), ("remaining", "9999"), ("reset", "1000")):
        assert headers[f"x-rate-limit-{name}"] == headers[f"x-account-rate-limit-{name}"] == text
    assert len(RateLimits().take(READS, "token", 100.0).headers()) == 3
