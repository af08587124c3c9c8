"""Scheduled promoted tweets, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.campaigns.builder import make_campaign, make_line_item
from tests.emulator.tweets.builder import problem, read, write

DAY = 86_400
SCHEDULED_AT = 1_800_086_400  # epoch seconds of the tweets here


async def _line_item(caller: Any, product_type: str = "PROMOTED_TWEETS") -> str:
    campaign = (await make_campaign(caller)).body["data"]["id"]
    return await make_line_item(caller, campaign, product_type=product_type)


async def _scheduled(caller: Any) -> str:
    return str((await write(caller, "scheduled")).body["data"]["id"])


async def _promote(caller: Any, **query: Any) -> Any:
    return await caller.call("POST", caller.account + "/scheduled_promoted_tweets", query=query)


async def _list(caller: Any, **query: Any) -> Any:
    return await read(caller, "/scheduled_promoted_tweets", **query)


async def test_a_scheduled_tweet_is_promoted_until_it_is_deleted(caller: Any) -> None:
    """Made, shown, listed, deleted once before it is out; not changed."""
    item, tweet = await _line_item(caller), await _scheduled(caller)
    reply = await _promote(caller, line_item_id=item, scheduled_tweet_id=tweet)
    made = reply.body["data"]
    assert made == {
        "line_item_id": item,
        "scheduled_tweet_id": tweet,
        "tweet_id": None,
        "id": made["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    assert reply.body["request"]["params"]["scheduled_tweet_id"] == int(tweet)
    path = f"{caller.account}/scheduled_promoted_tweets/{made['id']}"
    assert (await caller.call("GET", path)).body["data"] == made
    assert (await _promote(caller, line_item_id=item, scheduled_tweet_id=tweet)).body["data"] == made
    assert await _list(caller) == [made]
    assert (await caller.call("PUT", path)).status == 405
    await caller.move_clock(advance=DAY - 1)
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert deleted["deleted"] is True
    for method in ("DELETE", "GET"):
        refused = await caller.call(method, path)
        assert (refused.status, refused.codes) == (404, ["NOT_FOUND"])
    assert await _list(caller) == []
    assert await _list(caller, with_deleted="true") == [deleted]


async def test_it_is_tied_to_the_time_of_the_tweet(caller: Any) -> None:
    """From then on it shows the tweet, and neither ends nor begins."""
    item, tweet = await _line_item(caller), await _scheduled(caller)
    made = (await _promote(caller, line_item_id=item, scheduled_tweet_id=tweet)).body["data"]
    await caller.move_clock(set=SCHEDULED_AT)
    (shown,) = await _list(caller)
    (published,) = await read(caller, "/tweets", tweet_type="PUBLISHED")
    assert shown == {**made, "tweet_id": published["tweet_id"], "updated_at": "2027-01-16T08:00:00Z"}
    assert await read(caller, f"/scheduled_promoted_tweets/{made['id']}") == shown
    too_late = (403, "ACTION_NOT_ALLOWED", "scheduled_tweet_id")
    path = f"{caller.account}/scheduled_promoted_tweets/{made['id']}"
    assert problem(await caller.call("DELETE", path)) == too_late
    other = await _line_item(caller)
    assert problem(await _promote(caller, line_item_id=other, scheduled_tweet_id=tweet)) == too_late
    assert await _list(caller) == [shown]


async def test_another_time_of_the_tweet_is_another_end(caller: Any) -> None:
    """A tweet that was moved can be left alone for longer."""
    item, tweet = await _line_item(caller), await _scheduled(caller)
    made = (await _promote(caller, line_item_id=item, scheduled_tweet_id=tweet)).body["data"]
    path = f"{caller.account}/scheduled_tweets/{tweet}"
    assert (await caller.call("PUT", path, query={"scheduled_at": "2027-01-18T08:00:00Z"})).status == 200
    await caller.move_clock(advance=2 * DAY)
    assert (await _list(caller))[0]["tweet_id"] is None
    path = f"{caller.account}/scheduled_promoted_tweets/{made['id']}"
    assert (await caller.call("DELETE", path)).status == 200


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"line_item_id": ""}, (400, "MISSING_PARAMETER", "line_item_id")),
        ({"scheduled_tweet_id": ""}, (400, "MISSING_PARAMETER", "scheduled_tweet_id")),
        ({"scheduled_tweet_id": "x"}, (400, "INVALID_PARAMETER", "scheduled_tweet_id")),
        ({"scheduled_tweet_id": "7"}, (404, "NOT_FOUND", "scheduled_tweet_id")),
        ({"line_item_id": "nothing"}, (404, "NOT_FOUND", "line_item_id")),
        ({"tweet_id": "7"}, (400, "INVALID_PARAMETER", "tweet_id")),
    ],
)
async def test_faulty_requests_are_refused(caller: Any, changes: dict[str, str], expected: tuple[Any, ...]) -> None:
    """Each rule, broken once; nothing is made."""
    query = {"line_item_id": await _line_item(caller), "scheduled_tweet_id": await _scheduled(caller), **changes}
    query = {name: text for name, text in query.items() if text}
    assert problem(await _promote(caller, **query)) == expected
    assert await _list(caller) == []


async def test_only_a_scheduled_tweet_on_a_line_item_for_tweets_is_promoted(caller: Any) -> None:
    """A line item for media, a tweet that is out, and one that was deleted."""
    tweet = await _scheduled(caller)
    media = await _line_item(caller, "MEDIA")
    refused = problem(await _promote(caller, line_item_id=media, scheduled_tweet_id=tweet))
    assert refused == (400, "INCOMPATIBLE_LINE_ITEM", "line_item_id")
    published = (await write(caller, "tweet")).body["data"]["id_str"]
    await caller.call("DELETE", f"{caller.account}/scheduled_tweets/{tweet}")
    item = await _line_item(caller)
    for each in (published, tweet):
        assert (await _promote(caller, line_item_id=item, scheduled_tweet_id=each)).status == 404


async def test_the_list_can_be_narrowed(caller: Any) -> None:
    """By line items and by ids, with a total."""
    items, tweet = [await _line_item(caller) for _ in range(2)], await _scheduled(caller)
    made = [(await _promote(caller, line_item_id=item, scheduled_tweet_id=tweet)).body["data"]["id"] for item in items]
    for query, expected in (
        ({"line_item_ids": items[1]}, made[1:]),
        ({"scheduled_promoted_tweet_ids": made[0]}, made[:1]),
        ({"with_total_count": "true", "sort_by": "created_at-desc"}, made),
    ):
        assert [each["id"] for each in await _list(caller, **query)] == expected
