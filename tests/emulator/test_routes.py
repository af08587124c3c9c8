"""Which endpoints of the specification are served."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from audiencekit.emulator.calls import Address
from audiencekit.emulator.routes import ROUTES

ENDPOINTS = Path(__file__).resolve().parents[2].parent / "shared" / "spec" / "endpoints.json"
ADDRESSES = {"ads_url": Address.ADS, "ads_sandbox_url": Address.SANDBOX, "base_url": Address.BASE}
# Other forms of the specification's own, and those of the public service without which nothing could be targeted.
BEYOND = {
    ("POST", "/oauth/authorize"),  # the form of the page
    ("POST", "/1.1/oauth/invalidate_token.json"),
    ("GET", "/2/tweets/search/stream/rules"),
    ("POST", "/2/tweets/search/stream/rules"),
    ("GET", "/12/accounts/{}/line_items"),
    ("POST", "/12/accounts/{}/line_items"),
    ("POST", "/12/batch/accounts/{}/line_items"),
    ("GET", "/12/accounts/{}/line_items/{}"),
    ("PUT", "/12/accounts/{}/line_items/{}"),
    ("DELETE", "/12/accounts/{}/line_items/{}"),
    ("POST", "/12/accounts/{}/targeting_criteria"),
    ("POST", "/12/batch/accounts/{}/targeting_criteria"),
    ("DELETE", "/12/accounts/{}/targeting_criteria/{}"),
    ("GET", "/12/accounts/{}/media_library"),
    ("POST", "/12/accounts/{}/media_library"),
    ("GET", "/12/accounts/{}/media_library/{}"),
    ("PUT", "/12/accounts/{}/media_library/{}"),
    ("DELETE", "/12/accounts/{}/media_library/{}"),
    ("DELETE", "/12/accounts/{}/cards/image_conversation/{}"),
    ("GET", "/12/accounts/{}/scheduled_tweets"),
    ("POST", "/12/accounts/{}/scheduled_tweets"),
    ("GET", "/12/accounts/{}/scheduled_tweets/{}"),
}


def _served() -> dict[tuple[str, str], frozenset[Address]]:
    return {(route.method, re.sub(r"\{\w+\}", "{}", route.path)): route.addresses for route in ROUTES}


def test_the_endpoints_that_are_served() -> None:
    """All 122 of the specification, each at its address, sandbox-only ones at no other; and few beyond them."""
    if not ENDPOINTS.exists():
        pytest.skip("the specification is not there")
    document = json.loads(ENDPOINTS.read_text("utf-8"))
    known = {(each["method"], re.sub(r"\{\w+\}", "{}", each["path"])): each for each in document["endpoints"]}
    served = _served()
    assert served.keys() - known.keys() == BEYOND
    for key in served.keys() & known.keys():
        assert ADDRESSES[known[key]["base"]] in served[key]
        assert (Address.ADS in served[key]) is (known[key]["base"] == "ads_url")
    assert len(known) == len(served.keys() & known.keys()) == 122


def test_every_endpoint_is_served_once() -> None:
    """No two routes have the same method and path."""
    assert len(_served()) == len(ROUTES)
