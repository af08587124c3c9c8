"""Which handler answers."""

from __future__ import annotations

import json

import pytest

from audiencekit.emulator.calls import Address, Call
from audiencekit.emulator.envelope import Answer, RefusalError, success
from audiencekit.emulator.rate_limits import READS
from audiencekit.emulator.routing import EARLIER, Route, Router


def _handler(call: Call) -> Answer:
    return success({}, None)


_ROUTES = [
    Route("GET", "/accounts/:account_id/things", _handler, READS),
    Route("POST", "/accounts/:account_id/things", _handler, READS),
    Route("GET", "/accounts/:account_id/things/:thing_id", _handler, READS),
    Route("DELETE", "/accounts/:account_id", _handler, READS, addresses=frozenset({Address.SANDBOX})),
    Route("GET", "/accounts/:account_id/old", _handler, READS, version="5"),
]
ROUTER = Router(_ROUTES)


@pytest.mark.parametrize(
    ("method", "path", "address", "ids"),
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


@pytest.mark.parametrize(
    ("method", "path", "address", "status", "code"),
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


@pytest.mark.parametrize(("version", "path"), [("11", "things"), ("5", "things"), ("5", "old"), ("12", "things")])
def test_earlier_versions_are_answered_where_they_are_wanted(version: str, path: str) -> None:
    """As today's, unless they have a path of their own."""
    match = Router(_ROUTES, EARLIER).find("GET", f"/{version}/accounts/a1/{path}", Address.ADS)
    assert (match.route.path, match.ids) == (f"/accounts/:account_id/{path}", {"account_id": "a1"})


@pytest.mark.parametrize(
    ("method", "path", "status"),
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


@pytest.mark.parametrize(
    ("method", "path"),
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
