"""Promoted tweets, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.campaigns.builder import make_campaign, make_line_item
from tests.emulator.tweets.builder import read, write


async def _line_item(caller: Any, product_type: str = "PROMOTED_TWEETS", **more: str) -> str:
    campaign = (await make_campaign(caller)).body["data"]["id"]
    return await make_line_item(caller, campaign, product_type=product_type, **more)


async def _tweet(caller: Any) -> str:
    return str((await write(caller, "tweet")).body["data"]["id_str"])


async def _promote(caller: Any, **query: Any) -> Any:
    return await caller.call("POST", caller.account + "/promoted_tweets", query=query)


async def _list(caller: Any, **query: Any) -> Any:
    return await caller.call("GET", caller.account + "/promoted_tweets", query=query)


async def test_tweets_are_promoted_until_they_are_deleted(caller: Any) -> None:
    """A list of records and their number; each has an id of its own, which ends it once."""
    item = await _line_item(caller)
    tweets = [await _tweet(caller) for _ in range(2)]
    reply = await _promote(caller, line_item_id=item, tweet_ids=",".join(tweets))
    first, second = reply.body["data"]
    assert reply.body["total_count"] == 2
    assert reply.body["request"]["params"]["tweet_ids"] == [*map(int, tweets)]
    assert first == {
        "line_item_id": item,
        "tweet_id": tweets[0],
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
        "id": first["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    path = f"{caller.account}/promoted_tweets/{first['id']}"
    assert (await caller.call("GET", path)).body["data"] == first
    assert (await _list(caller)).body["data"] == [first, second]
    assert (await caller.call("DELETE", f"{caller.account}/promoted_tweets/{tweets[0]}")).status == 404
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert deleted["deleted"] is True
    for method in ("DELETE", "GET"):
        refused = await caller.call(method, path)
        assert (refused.status, refused.codes) == (404, ["NOT_FOUND"])
    assert (await caller.call("PUT", path)).status == 405
    assert (await _list(caller)).body["data"] == [second]
    assert (await _list(caller, with_deleted="true")).body["data"] == [deleted, second]


async def test_a_tweet_is_promoted_once_by_a_line_item(caller: Any) -> None:
    """The record that there is answers for a second time; a repeated number is one tweet."""
    item, one, two = await _line_item(caller), await _tweet(caller), await _tweet(caller)
    (first,) = (await _promote(caller, line_item_id=item, tweet_ids=f"{one},{one}")).body["data"]
    both = (await _promote(caller, line_item_id=item, tweet_ids=f"{one},{two}")).body["data"]
    assert (both[0], len((await _list(caller)).body["data"])) == (first, 2)
    (other,) = (await _promote(caller, line_item_id=await _line_item(caller), tweet_ids=one)).body["data"]
    assert other["id"] != first["id"]


async def test_tweets_below_a_deleted_line_item_are_hidden(caller: Any) -> None:
    """Listed with `with_deleted` only, and not deleted themselves."""
    item = await _line_item(caller)
    made = (await _promote(caller, line_item_id=item, tweet_ids=await _tweet(caller))).body["data"]
    await caller.call("DELETE", f"{caller.account}/line_items/{item}")
    for query in ({}, {"line_item_ids": item}, {"with_deleted": "false"}):
        assert (await _list(caller, **query)).body["data"] == []
    assert (await _list(caller, with_deleted="true")).body["data"] == made
    assert made[0]["deleted"] is False


@pytest.mark.parametrize(
    ("product_type", "placements", "then"),
    [
        ("PROMOTED_ACCOUNT", "TWITTER_SEARCH", ["TWITTER_SEARCH", "TWITTER_TIMELINE"]),
        ("PROMOTED_ACCOUNT", "TWITTER_TIMELINE", ["TWITTER_TIMELINE"]),
        ("PROMOTED_ACCOUNT", "ALL_ON_TWITTER", ["ALL_ON_TWITTER", "TWITTER_TIMELINE"]),
        ("PROMOTED_TWEETS", "TWITTER_SEARCH", ["TWITTER_SEARCH"]),
    ],
)
async def test_a_line_item_for_an_account_gets_timelines(
    caller: Any, product_type: str, placements: str, then: list[str]
) -> None:
    """With the first tweet, unless it has them; others stay as they are."""
    item = await _line_item(caller, product_type, placements=placements)
    for _ in range(2):
        assert (await _promote(caller, line_item_id=item, tweet_ids=await _tweet(caller))).status == 200
    (shown,) = (await caller.call("GET", caller.account + "/line_items")).body["data"]
    assert shown["placements"] == then


async def test_line_items_for_media_promote_no_tweets(caller: Any) -> None:
    """They are refused, and nothing is made."""
    refused = await _promote(caller, line_item_id=await _line_item(caller, "MEDIA"), tweet_ids=await _tweet(caller))
    assert (refused.status, refused.codes) == (400, ["INCOMPATIBLE_LINE_ITEM"])
    assert (await _list(caller, with_deleted="true")).body["data"] == []


@pytest.mark.parametrize(
    ("query", "status", "parameter"),
    [
        ({"tweet_ids": "7"}, 400, "line_item_id"),
        ({"line_item_id": "ITEM"}, 400, "tweet_ids"),
        ({"line_item_id": "ITEM", "tweet_ids": ""}, 400, "tweet_ids"),
        ({"line_item_id": "ITEM", "tweet_ids": "7,[TWEET_ID]"}, 400, "tweet_ids"),
        ({"line_item_id": "ITEM", "tweet_ids": ",".join(map(str, range(1, 52)))}, 400, "tweet_ids"),
        ({"line_item_id": "nothing", "tweet_ids": "TWEET"}, 404, "line_item_id"),
        ({"line_item_id": "ITEM", "tweet_ids": "TWEET,7"}, 404, "tweet_ids"),
        ({"line_item_id": "ITEM", "tweet_ids": "7", "tweet_id": "7"}, 400, "tweet_id"),
    ],
)
async def test_faulty_requests_are_refused(caller: Any, query: dict[str, str], status: int, parameter: str) -> None:
    """Each rule, broken once; nothing is made."""
    item, tweet = await _line_item(caller), await _tweet(caller)
    words = {name: text.replace("ITEM", item) for name, text in query.items()}
    words["tweet_ids"] = words.get("tweet_ids", "").replace("TWEET", tweet)
    refused = await _promote(caller, **{name: words[name] for name in query})
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (status, parameter)
    assert (await _list(caller)).body["data"] == []


async def test_fifty_tweets_can_be_promoted_at_once(caller: Any) -> None:
    """The most that there may be; the list has pages, filters, and the account's rate."""
    item = await _line_item(caller)
    tweets = ",".join([await _tweet(caller) for _ in range(50)])
    made = (await _promote(caller, line_item_id=item, tweet_ids=tweets)).body["data"]
    assert len(made) == 50
    page = await _list(caller, count=20, line_item_ids=item)
    assert page.body["data"] == made[:20]
    assert (await _list(caller, count=50, cursor=page.body["next_cursor"])).body["data"] == made[20:]
    assert (await _list(caller, promoted_tweet_ids=made[3]["id"])).body["data"] == made[3:4]
    assert page.headers["x-account-rate-limit-limit"] == "10000"
    counted = await _list(caller, with_total_count="true")
    assert (counted.body["total_count"], counted.headers["x-rate-limit-limit"]) == (50, "200")


async def test_a_partners_tweet_is_posted_again(caller: Any) -> None:
    """By the account's user, for promotion only: another number comes back, the same one each time."""
    own, partner = await read(caller, "/promotable_users")
    organic = {"tweet_type": "PUBLISHED", "timeline_type": "ORGANIC"}
    theirs = await read(caller, "/tweets", **organic, user_id=partner["user_id"])
    assert len(theirs) == 3  # and an answer, which is listed with `include_mentions_and_replies`
    item = await _line_item(caller)
    (promoted,) = (await _promote(caller, line_item_id=item, tweet_ids=theirs[0]["tweet_id"])).body["data"]
    assert promoted["tweet_id"] != theirs[0]["tweet_id"]
    (again,) = (await _promote(caller, line_item_id=item, tweet_ids=theirs[0]["tweet_id"])).body["data"]
    assert again == promoted
    (posted,) = await read(caller, "/tweets", tweet_type="PUBLISHED", tweet_ids=promoted["tweet_id"])
    assert (posted["text"], posted["user"]["id_str"], posted["nullcast"]) == (theirs[0]["text"], own["user_id"], True)
    assert await read(caller, "/tweets", **organic, user_id=partner["user_id"]) == theirs


async def test_a_scheduled_tweet_can_be_promoted_once_it_is_out(caller: Any, open_emulator: Any) -> None:
    """Whether or not a call asked for it before."""
    scheduled = (await write(caller, "scheduled")).body["data"]["id"]
    item = await _line_item(caller)
    assert (await _promote(caller, line_item_id=item, tweet_ids=scheduled)).status == 404
    await caller.move_clock(advance=86_400)
    assert (await _promote(caller, line_item_id=item, tweet_ids=scheduled)).status == 404
    (tweet,) = await read(caller, "/tweets", tweet_type="PUBLISHED")
    assert tweet["tweet_id"] != scheduled
    assert (await _promote(caller, line_item_id=item, tweet_ids=tweet["tweet_id"])).status == 200
    async with open_emulator() as twin:  # the same seed has the same ids
        await write(twin, "scheduled")
        item = await _line_item(twin)
        await twin.move_clock(advance=86_400)
        assert (await _promote(twin, line_item_id=item, tweet_ids=tweet["tweet_id"])).status == 200
