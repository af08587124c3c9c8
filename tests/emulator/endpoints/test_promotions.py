"""Promoted tweets, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_line_item
from tests.emulator.endpoints.tweets_builder import problem, read, write

# --- Promoted tweets, over the wire ---


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


@each_case(
    "query, status, parameter",
    [
        ({"line_item_id": "nothing", "tweet_ids": "TWEET"}, 404, "line_item_id"),
        ({"line_item_id": "ITEM", "tweet_ids": "TWEET,7"}, 404, "tweet_ids"),
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


# --- Promoted accounts, over the wire ---


async def _account_line_item(caller: Any, product_type: str = "PROMOTED_ACCOUNT") -> str:
    campaign = (await make_campaign(caller)).body["data"]["id"]
    return await make_line_item(caller, campaign, product_type=product_type)


async def _user(caller: Any, kind: str = "FULL") -> str:
    users = (await caller.call("GET", caller.account + "/promotable_users")).body["data"]
    return str(next(user["user_id"] for user in users if user["type"] == kind))


async def _promote_account(caller: Any, **query: Any) -> Any:
    return await caller.call("POST", caller.account + "/promoted_accounts", query=query)


async def _list_accounts(caller: Any, **query: Any) -> Any:
    return await caller.call("GET", caller.account + "/promoted_accounts", query=query)


async def test_an_account_is_promoted_until_it_is_deleted(caller: Any) -> None:
    """Made, shown, listed, deleted once."""
    item, user = await _account_line_item(caller), await _user(caller)
    reply = await _promote_account(caller, line_item_id=item, user_id=user)
    made = reply.body["data"]
    assert made == {
        "line_item_id": item,
        "user_id": user,
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
        "id": made["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    echo = {"account_id": caller.emulator.account_id, "line_item_id": item, "user_id": int(user)}
    assert reply.body["request"]["params"] == echo
    path = f"{caller.account}/promoted_accounts/{made['id']}"
    assert (await caller.call("GET", path)).body["data"] == made
    assert (await _list_accounts(caller)).body["data"] == [made]
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert deleted["deleted"] is True
    for method in ("DELETE", "GET"):
        refused = await caller.call(method, path)
        assert (refused.status, refused.codes) == (404, ["NOT_FOUND"])
    assert (await _list_accounts(caller)).body["data"] == []
    assert (await _list_accounts(caller, with_deleted="true")).body["data"] == [deleted]
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).body["data"] == deleted


async def test_an_account_that_is_promoted_already_is_ignored(caller: Any) -> None:
    """The record stays as it is; another line item promotes it, too, and so does the same one after an end."""
    item, user = await _account_line_item(caller), await _user(caller)
    first = (await _promote_account(caller, line_item_id=item, user_id=user)).body["data"]
    await caller.move_clock(advance=1)
    again = await _promote_account(caller, line_item_id=item, user_id=user)
    assert (again.status, again.body["data"]) == (200, first)
    assert (await _list_accounts(caller)).body["data"] == [first]
    other = (await _promote_account(caller, line_item_id=await _account_line_item(caller), user_id=user)).body["data"]
    assert other["id"] != first["id"]
    await caller.call("DELETE", f"{caller.account}/promoted_accounts/{first['id']}")
    anew = (await _promote_account(caller, line_item_id=item, user_id=user)).body["data"]
    assert anew["id"] != first["id"]


@each_case("product_type", ["PROMOTED_TWEETS", "MEDIA"])
async def test_other_line_items_promote_no_accounts(caller: Any, product_type: str) -> None:
    """Nor can accounts be listed when no other line item is named."""
    wrong, right = await _account_line_item(caller, product_type), await _account_line_item(caller)
    refused = await _promote_account(caller, line_item_id=wrong, user_id=await _user(caller))
    assert (refused.status, refused.codes) == (400, ["INCOMPATIBLE_LINE_ITEM"])
    for named in (wrong, "nothing", f"{wrong},nothing"):
        refused = await _list_accounts(caller, line_item_ids=named)
        assert (refused.status, refused.codes) == (400, ["INCOMPATIBLE_LINE_ITEM"])
    assert (await _list_accounts(caller, line_item_ids=f"{wrong},{right}")).body["data"] == []


async def test_only_the_accounts_own_user_is_promoted(caller: Any) -> None:
    """A partner's tweets alone can be promoted, and of other users nothing."""
    item = await _account_line_item(caller)
    for user in (await _user(caller, "RETWEETS_ONLY"), "783214"):
        refused = await _promote_account(caller, line_item_id=item, user_id=user)
        assert (refused.status, refused.codes) == (400, ["INVALID_USER_ID"])
    assert (await _list_accounts(caller)).body["data"] == []


async def test_the_list_can_be_narrowed(caller: Any) -> None:
    """By line items, by ids, in either order; faulty lists are refused as such."""
    user = await _user(caller)
    items = [await _account_line_item(caller) for _ in range(2)]
    ids = [(await _promote_account(caller, line_item_id=item, user_id=user)).body["data"]["id"] for item in items]
    for query, expected in (
        ({"line_item_ids": items[1]}, ids[1:]),
        ({"promoted_account_ids": ids[0]}, ids[:1]),
        ({"with_total_count": "true"}, ids),
    ):
        assert [each["id"] for each in (await _list_accounts(caller, **query)).body["data"]] == expected
    for query in ({"line_item_ids": "a,,b"}, {"promoted_account_ids": ",".join(["a"] * 201)}, {"user_id": "1"}):
        assert (await _list_accounts(caller, **query)).codes == ["INVALID_PARAMETER"]


# --- Scheduled promoted tweets, over the wire ---

DAY = 86_400
SCHEDULED_AT = 1_800_086_400  # epoch seconds of the tweets here


async def _scheduled_line_item(caller: Any, product_type: str = "PROMOTED_TWEETS") -> str:
    campaign = (await make_campaign(caller)).body["data"]["id"]
    return await make_line_item(caller, campaign, product_type=product_type)


async def _scheduled(caller: Any) -> str:
    return str((await write(caller, "scheduled")).body["data"]["id"])


async def _promote_scheduled(caller: Any, **query: Any) -> Any:
    return await caller.call("POST", caller.account + "/scheduled_promoted_tweets", query=query)


async def _list_scheduled(caller: Any, **query: Any) -> Any:
    return await read(caller, "/scheduled_promoted_tweets", **query)


async def test_a_scheduled_tweet_is_promoted_until_it_is_deleted(caller: Any) -> None:
    """Made, shown, listed, deleted once before it is out; not changed."""
    item, tweet = await _scheduled_line_item(caller), await _scheduled(caller)
    reply = await _promote_scheduled(caller, line_item_id=item, scheduled_tweet_id=tweet)
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
    assert (await _promote_scheduled(caller, line_item_id=item, scheduled_tweet_id=tweet)).body["data"] == made
    assert await _list_scheduled(caller) == [made]
    assert (await caller.call("PUT", path)).status == 405
    await caller.move_clock(advance=DAY - 1)
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert deleted["deleted"] is True
    for method in ("DELETE", "GET"):
        refused = await caller.call(method, path)
        assert (refused.status, refused.codes) == (404, ["NOT_FOUND"])
    assert await _list_scheduled(caller) == []
    assert await _list_scheduled(caller, with_deleted="true") == [deleted]


async def test_it_is_tied_to_the_time_of_the_tweet(caller: Any) -> None:
    """From then on it shows the tweet, and neither ends nor begins."""
    item, tweet = await _scheduled_line_item(caller), await _scheduled(caller)
    made = (await _promote_scheduled(caller, line_item_id=item, scheduled_tweet_id=tweet)).body["data"]
    await caller.move_clock(set=SCHEDULED_AT)
    (shown,) = await _list_scheduled(caller)
    (published,) = await read(caller, "/tweets", tweet_type="PUBLISHED")
    assert shown == {**made, "tweet_id": published["tweet_id"], "updated_at": "2027-01-16T08:00:00Z"}
    assert await read(caller, f"/scheduled_promoted_tweets/{made['id']}") == shown
    too_late = (403, "ACTION_NOT_ALLOWED", "scheduled_tweet_id")
    path = f"{caller.account}/scheduled_promoted_tweets/{made['id']}"
    assert problem(await caller.call("DELETE", path)) == too_late
    other = await _scheduled_line_item(caller)
    assert problem(await _promote_scheduled(caller, line_item_id=other, scheduled_tweet_id=tweet)) == too_late
    assert await _list_scheduled(caller) == [shown]


async def test_another_time_of_the_tweet_is_another_end(caller: Any) -> None:
    """A tweet that was moved can be left alone for longer."""
    item, tweet = await _scheduled_line_item(caller), await _scheduled(caller)
    made = (await _promote_scheduled(caller, line_item_id=item, scheduled_tweet_id=tweet)).body["data"]
    path = f"{caller.account}/scheduled_tweets/{tweet}"
    assert (await caller.call("PUT", path, query={"scheduled_at": "2027-01-18T08:00:00Z"})).status == 200
    await caller.move_clock(advance=2 * DAY)
    assert (await _list_scheduled(caller))[0]["tweet_id"] is None
    path = f"{caller.account}/scheduled_promoted_tweets/{made['id']}"
    assert (await caller.call("DELETE", path)).status == 200


@each_case(
    "changes, expected",
    [
        ({"scheduled_tweet_id": "7"}, (404, "NOT_FOUND", "scheduled_tweet_id")),
        ({"line_item_id": "nothing"}, (404, "NOT_FOUND", "line_item_id")),
    ],
)
async def test_faulty_requests_for_scheduled_tweets_are_refused(
    caller: Any, changes: dict[str, str], expected: tuple[Any, ...]
) -> None:
    """Each rule, broken once; nothing is made."""
    query = {
        "line_item_id": await _scheduled_line_item(caller),
        "scheduled_tweet_id": await _scheduled(caller),
        **changes,
    }
    query = {name: text for name, text in query.items() if text}
    assert problem(await _promote_scheduled(caller, **query)) == expected
    assert await _list_scheduled(caller) == []


async def test_only_a_scheduled_tweet_on_a_line_item_for_tweets_is_promoted(caller: Any) -> None:
    """A line item for media, a tweet that is out, and one that was deleted."""
    tweet = await _scheduled(caller)
    media = await _scheduled_line_item(caller, "MEDIA")
    refused = problem(await _promote_scheduled(caller, line_item_id=media, scheduled_tweet_id=tweet))
    assert refused == (400, "INCOMPATIBLE_LINE_ITEM", "line_item_id")
    published = (await write(caller, "tweet")).body["data"]["id_str"]
    await caller.call("DELETE", f"{caller.account}/scheduled_tweets/{tweet}")
    item = await _scheduled_line_item(caller)
    for each in (published, tweet):
        assert (await _promote_scheduled(caller, line_item_id=item, scheduled_tweet_id=each)).status == 404


async def test_the_list_of_scheduled_tweets_can_be_narrowed(caller: Any) -> None:
    """By line items and by ids, with a total."""
    items, tweet = [await _scheduled_line_item(caller) for _ in range(2)], await _scheduled(caller)
    made = [
        (await _promote_scheduled(caller, line_item_id=item, scheduled_tweet_id=tweet)).body["data"]["id"]
        for item in items
    ]
    for query, expected in (
        ({"line_item_ids": items[1]}, made[1:]),
        ({"scheduled_promoted_tweet_ids": made[0]}, made[:1]),
        ({"with_total_count": "true", "sort_by": "created_at-desc"}, made),
    ):
        assert [each["id"] for each in await _list_scheduled(caller, **query)] == expected
