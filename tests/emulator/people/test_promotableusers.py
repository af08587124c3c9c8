"""Promotable users, over the wire."""

from __future__ import annotations

from typing import Any

import pytest


async def _users(caller: Any, **query: Any) -> Any:
    return (await caller.call("GET", caller.account + "/promotable_users", query=query)).body


async def test_an_account_promotes_its_user_and_a_partners_tweets(caller: Any) -> None:
    """The user of the token in full, another one's tweets alone; each is shown by its id."""
    own, partner = (await _users(caller))["data"]
    user_id = caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"].partition("-")[0]
    assert own == {
        "user_id": user_id,
        "type": "FULL",
        "id": own["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    assert (partner["type"], partner["user_id"] != user_id) == ("RETWEETS_ONLY", True)
    for each in (own, partner):
        assert (await caller.call("GET", f"{caller.account}/promotable_users/{each['id']}")).body["data"] == each


async def test_the_same_seed_gives_the_same_users(open_emulator: Any) -> None:
    """Another seed gives others."""
    seen = []
    for seed in (1, 1, 2):
        async with open_emulator(seed=seed) as caller:
            seen.append((await _users(caller))["data"])
    assert seen[0] == seen[1] != seen[2]


async def test_the_public_service_has_another_name_for_the_type(open_emulator: Any) -> None:
    """With profile x, in lists and alone."""
    async with open_emulator(profile="x") as caller:
        own = (await _users(caller))["data"][0]
        assert (own["promotable_user_type"], "type" in own) == ("FULL", False)
        assert (await caller.call("GET", f"{caller.account}/promotable_users/{own['id']}")).body["data"] == own


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ({"count": 1}, [0]),
        ({"with_total_count": "true", "with_deleted": "true"}, [0, 1]),
        ({"promotable_user_ids": "SECOND"}, [1]),
        ({"promotable_user_ids": "nothing"}, []),
        ({"cursor": "c-FIRST"}, [1]),
    ],
)
async def test_the_list_can_be_narrowed(caller: Any, query: dict[str, Any], places: list[int]) -> None:
    """By ids and by pages."""
    users = (await _users(caller))["data"]
    words = {"FIRST": users[0]["id"], "SECOND": users[1]["id"]}
    for word, text in words.items():
        query = {name: str(value).replace(word, text) for name, value in query.items()}
    page = await _users(caller, **query)
    assert page["data"] == [users[place] for place in places]


async def test_faults_are_refused(caller: Any) -> None:
    """A user that there is not, too many ids, and a parameter that there is not."""
    path = caller.account + "/promotable_users"
    refused = await caller.call("GET", path + "/nothing")
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (404, "promotable_user_id")
    for query in ({"promotable_user_ids": ",".join(["a"] * 201)}, {"user_ids": "a"}):
        assert (await caller.call("GET", path, query=query)).codes == ["INVALID_PARAMETER"]
