"""The services that are known, one table each, and what the client makes of them."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.client import AdsClient
from audiencekit.api.exchange import ApiRequest, ApiResponse
from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.profile import PROFILES, SPEC, Profile, X, find_profile

PAGE = Path(__file__).resolve().parents[1] / "docs" / "accounts.md"
PEOPLE = [{"operation_type": "Update", "params": {"users": [{"platform_id": ["ab" * 32]}]}}]


class _Kept:
    """A transport that keeps the requests."""

    def __init__(self) -> None:
        self.requests: list[ApiRequest] = []

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        self.requests.append(request)
        token = b"oauth_token=t&oauth_token_secret=s&oauth_callback_confirmed=true"
        counts = json.dumps({"data": {"success_count": 1, "total_count": 1}}).encode()
        return ApiResponse(status=200, body=token if request.path.startswith("/oauth") else counts)


def _client(profile: Profile, transport: Any) -> AdsClient:
    return AdsClient(transport, account_id="abc1", wire_names=profile.wire_names)


def test_a_profile_is_found_by_its_name() -> None:
    """And an unknown one is refused with those that are known."""
    assert [find_profile(name) for name in PROFILES] == [SPEC, X]
    with pytest.raises(UsageError) as caught:
        find_profile("X")
    assert caught.value.hint == "choose one of: spec, x"


@pytest.mark.parametrize("profile", [SPEC, X], ids=["spec", "x"])
def test_kinds_have_their_wire_names(profile: Profile) -> None:
    """One is called otherwise by the public service."""
    renamed = {
        kind.value: profile.wire_name(kind.value) for kind in Kind if profile.wire_name(kind.value) != kind.value
    }
    assert renamed == ({} if profile is SPEC else {"platform_id": "twitter_id"})


@pytest.mark.parametrize(
    ("profile", "name"), [(SPEC, "platform_auth_access_type"), (X, "x_auth_access_type")], ids=["spec", "x"]
)
async def test_parameters_are_sent_by_the_name_of_the_service(profile: Profile, name: str) -> None:
    """Whatever the service, they are given by the name of the specification."""
    transport = _Kept()
    given = {"oauth_callback": "oob", "platform_auth_access_type": "read"}
    await _client(profile, transport).call("oauth_request_token", given)
    assert transport.requests[0].query == ((name, "read"),)


async def test_members_of_bodies_are_checked_by_the_name_of_the_service() -> None:
    """A body is sent as it is: the other service's name is none."""
    transport = _Kept()
    await _client(SPEC, transport).call("add_custom_audience_users", {"custom_audience_id": "1nmth"}, PEOPLE)
    with pytest.raises(UsageError, match="twitter_id"):
        await _client(X, transport).call("add_custom_audience_users", {"custom_audience_id": "1nmth"}, PEOPLE)
    renamed = json.loads(json.dumps(PEOPLE).replace("platform_id", "twitter_id"))
    await _client(X, transport).call("add_custom_audience_users", {"custom_audience_id": "1nmth"}, renamed)
    assert len(transport.requests) == 2


def _written(value: Any) -> str:
    if value is None or value == {}:
        return "none"
    if isinstance(value, str):
        return f"`{value}`"
    return ", ".join(f"`{ours}` is `{theirs}`" for ours, theirs in value.items())


def test_the_tables_are_documented() -> None:
    """Every fact of both, with its value."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| .*\|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    facts = [each.name for each in fields(Profile) if each.name != "name"]
    assert rows == [(fact, _written(getattr(SPEC, fact)), _written(getattr(X, fact))) for fact in facts]
