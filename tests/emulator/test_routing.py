"""Which handler answers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.answers import Answer, RefusalError, success
from audiencekit.emulator.calls import Address, Call
from audiencekit.emulator.routing import (
    CORE_READS,
    COUNTED_READS,
    EARLIER,
    KEYWORD_READS,
    READS,
    REFERENCE_READS,
    USERS,
    WRITES,
    RateLimits,
    Route,
    Router,
    Window,
)
from tests.cases import each_case

# --- Which handler answers ---


def _handler(call: Call) -> Answer:
    return success({}, None)


_ROUTES = [
    Route("GET", "/12/accounts/{account_id}/things", _handler, READS),
    Route("POST", "/12/accounts/{account_id}/things", _handler, READS),
    Route("GET", "/12/accounts/{account_id}/things/{thing_id}", _handler, READS),
    Route("DELETE", "/12/accounts/{account_id}", _handler, READS, addresses=frozenset({Address.SANDBOX})),
    Route("GET", "/5/accounts/{account_id}/old", _handler, READS),
]
ROUTER = Router(_ROUTES)


@each_case(
    "method, path, address, ids",
    [
        ("GET", "/12/accounts/a1/things", Address.ADS, {"account_id": "a1"}),
        ("POST", "/12/accounts/a1/things", Address.SANDBOX, {"account_id": "a1"}),
        ("GET", "/12/accounts/a1/things/t%2F1", Address.ADS, {"account_id": "a1", "thing_id": "t/1"}),
        ("DELETE", "/12/accounts/a1", Address.SANDBOX, {"account_id": "a1"}),
        ("GET", "/5/accounts/a1/old", Address.ADS, {"account_id": "a1"}),
    ],
)
def test_a_path_is_found_with_its_ids(method: str, path: str, address: Address, ids: dict[str, str]) -> None:
    """Ids are what stands in their place, decoded."""
    match = ROUTER.find(method, path, address)
    assert (match.route.method, match.ids) == (method, ids)


@each_case(
    "method, path, address, status, code",
    [
        ("GET", "/", Address.ADS, 404, "ROUTE_NOT_FOUND"),
        ("GET", "", Address.ADS, 404, "ROUTE_NOT_FOUND"),
        ("GET", "/12/accounts//things", Address.ADS, 404, "ROUTE_NOT_FOUND"),
        ("GET", "/12/accounts/a1/things/", Address.ADS, 404, "ROUTE_NOT_FOUND"),
        ("GET", "//12/accounts/a1/things", Address.ADS, 404, "ROUTE_NOT_FOUND"),
        ("GET", "/accounts/a1/things", Address.ADS, 404, "ROUTE_NOT_FOUND"),
        ("GET", "/12/accounts/a1/nothing", Address.ADS, 404, "ROUTE_NOT_FOUND"),
        ("DELETE", "/12/accounts/a1", Address.ADS, 404, "ROUTE_NOT_FOUND"),
        ("GET", "/12/accounts/a1/things", Address.BASE, 404, "ROUTE_NOT_FOUND"),
        ("GET", "/5/accounts/a1/things", Address.BASE, 404, "ROUTE_NOT_FOUND"),
        ("GET", "/12/accounts/a1/old", Address.ADS, 404, "ROUTE_NOT_FOUND"),
        ("PUT", "/12/accounts/a1/things", Address.ADS, 405, "METHOD_NOT_ALLOWED"),
        ("get", "/12/accounts/a1/things", Address.ADS, 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/11/accounts/a1/things", Address.ADS, 400, "INVALID"),
        ("GET", "/5/accounts/a1/things", Address.SANDBOX, 400, "INVALID"),
        ("GET", "/013/accounts/a1/things", Address.ADS, 404, "ROUTE_NOT_FOUND"),
    ],
)
def test_unknown_paths_methods_and_versions_are_told_apart(
    method: str, path: str, address: Address, status: int, code: str
) -> None:
    """No such path, no such method on it, or a version that has ended."""
    with pytest.raises(RefusalError) as caught:
        ROUTER.find(method, path, address)
    assert caught.value.answer.status == status
    assert isinstance(caught.value.answer.body, bytes)
    assert json.loads(caught.value.answer.body)["errors"][0]["code"] == code


def test_an_ended_version_is_named() -> None:
    """The captured text for an ended version."""
    with pytest.raises(RefusalError) as caught:
        ROUTER.find("GET", "/5/accounts/a1/things", Address.ADS)
    assert b"Version 5.0 is not available." in bytes(caught.value.answer.body)  # type: ignore[arg-type]


def test_a_wrong_method_hears_the_right_ones() -> None:
    """405 lists what is allowed."""
    with pytest.raises(RefusalError) as caught:
        ROUTER.find("PATCH", "/12/accounts/a1/things", Address.ADS)
    assert caught.value.answer.headers == {"Allow": "GET, POST"}


@each_case(
    "version, path, answered",
    [("11", "things", "12"), ("5", "things", "12"), ("5", "old", "5"), ("12", "things", "12")],
)
def test_earlier_versions_are_answered_where_they_are_wanted(version: str, path: str, answered: str) -> None:
    """As today's, unless they have a path of their own."""
    match = Router(_ROUTES, EARLIER).find("GET", f"/{version}/accounts/a1/{path}", Address.ADS)
    assert (match.route.path, match.ids) == (f"/{answered}/accounts/{{account_id}}/{path}", {"account_id": "a1"})


@each_case(
    "method, path, status",
    [
        ("GET", "/4/accounts/a1/things", 400),
        ("GET", "/13/accounts/a1/things", 400),
        ("GET", "/11/accounts/a1/nothing", 404),
        ("PUT", "/11/accounts/a1/things", 405),
    ],
)
def test_earlier_versions_refuse_as_todays(method: str, path: str, status: int) -> None:
    """Unknown paths, and versions that are no longer called."""
    with pytest.raises(RefusalError) as caught:
        Router(_ROUTES, EARLIER).find(method, path, Address.ADS)
    assert caught.value.answer.status == status


@each_case(
    "method, path",
    [
        ("GET", "/labs/2/tweets"),
        ("POST", "/labs/2/tweets/sample/stream"),
        ("GET", "/1.1/statuses/oembed"),
        ("GET", "/1.1/statuses/oembed.json"),
    ],
)
def test_the_retired_endpoints_have_no_answer(method: str, path: str) -> None:
    """410 at the base address, whatever follows."""
    with pytest.raises(RefusalError) as caught:
        ROUTER.find(method, path, Address.BASE)
    assert (caught.value.answer.status, caught.value.answer.body) == (410, b"{}")


# --- Windows that open with the first request ---

SMALL = Window("small", 3, 10.0, each_endpoint=True)


@each_case(
    "window, requests, seconds",
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
