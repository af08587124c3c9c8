"""Posts by their numbers, with fields and expansions, over the wire."""

from __future__ import annotations

from typing import Any

from audiencekit.service_words import MEDIA_FIELDS, TWEET_FIELDS, USER_FIELDS
from tests.cases import each_case
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_line_item
from tests.emulator.endpoints.data_api_builder import ask, get_token, is_invalid
from tests.emulator.endpoints.media_builder import media_keys
from tests.emulator.endpoints.tweets_builder import read, write

FIELDS = "tweet.fields"


async def _tweet(caller: Any, **more: Any) -> str:
    return str((await write(caller, "tweet", **more)).body["data"]["id_str"])


async def test_a_post_has_two_fields_unless_more_are_asked_for(caller: Any) -> None:
    """Number and text; no related objects."""
    tweet_id = await _tweet(caller)
    reply = await ask(caller, "GET", "/tweets", {"ids": tweet_id})
    assert reply.body == {"data": [{"id": tweet_id, "text": "Spring is here"}]}
    assert int(reply.headers["x-rate-limit-limit"]) == 300


async def test_all_fields_of_a_post(caller: Any) -> None:
    """Fields without a value are left out."""
    image = (await media_keys(caller, "IMAGE"))[0]
    text = "A #sale, @friend_1: https://shop.example/a"
    tweet_id = await _tweet(caller, text=text, media_keys=image, conversation_settings="MENTIONED_USERS")
    names = (
        "attachments,author_id,created_at,conversation_id,possibly_sensitive,in_reply_to_user_id,referenced_tweets,"
        "public_metrics,entities,context_annotations,lang,reply_settings"
    )
    (post,) = (await ask(caller, "GET", "/tweets", {"ids": tweet_id, FIELDS: names})).body["data"]
    address = {"url": "https://shop.example/a", "expanded_url": "https://shop.example/a"}
    assert post == {
        "id": tweet_id,
        "text": text,
        "attachments": {"media_keys": [image]},
        "author_id": caller.emulator.store.origin.user_id,
        "created_at": "2027-01-15T08:00:00.250Z",
        "conversation_id": tweet_id,
        "possibly_sensitive": False,
        "public_metrics": {
            "retweet_count": 0,
            "reply_count": 0,
            "like_count": 0,
            "quote_count": 0,
            "impression_count": 0,
        },
        "entities": {
            "hashtags": [{"start": 2, "end": 7, "tag": "sale"}],
            "mentions": [{"start": 9, "end": 18, "username": "friend_1"}],
            "urls": [{"start": 20, "end": 42, "display_url": "shop.example/a", **address}],
        },
        "lang": "und",
        "reply_settings": "mentionedUsers",
    }


async def test_media_come_by_their_expansion(caller: Any) -> None:
    """One object for each key, with two fields unless more are asked for; fields alone bring none."""
    video, images = (await media_keys(caller, "VIDEO"))[0], (await media_keys(caller, "IMAGE"))[:2]
    ids = [await _tweet(caller, media_keys=keys) for keys in (video, ",".join(images), images[0])]
    query = {"ids": ",".join(ids), "expansions": "attachments.media_keys"}
    included = (await ask(caller, "GET", "/tweets", query)).body["includes"]
    photos = [{"media_key": key, "type": "photo"} for key in images]
    assert included == {"media": [{"media_key": video, "type": "video"}, *photos]}
    names = "duration_ms,height,width,preview_image_url,public_metrics,alt_text,variants"
    full = (await ask(caller, "GET", "/tweets", {**query, "media.fields": names})).body["includes"]["media"]
    assert full[0] == {
        "media_key": video,
        "type": "video",
        "duration_ms": 15_000,
        "height": 720,
        "width": 1_280,
        "preview_image_url": f"https://media.example/{video}/first-frame.jpg",
        "alt_text": "A day at the harbour",
        "public_metrics": {"view_count": 0},
        "variants": [{"content_type": "video/mp4", "url": f"https://media.example/{video}.mp4"}],
    }
    photo = {"media_key": images[0], "type": "photo", "height": 628, "width": 1_200}
    assert full[1] == {**photo, "alt_text": "A view of the harbour"}
    assert "includes" not in (await ask(caller, "GET", "/tweets", {"ids": ids[0], "media.fields": names})).body


async def test_the_author_comes_by_an_expansion(caller: Any) -> None:
    """Once, however many posts there are."""
    ids = [await _tweet(caller), await _tweet(caller, text="Another")]
    query = {"ids": ",".join(ids), "expansions": "author_id", "user.fields": "verified_type,public_metrics"}
    (user,) = (await ask(caller, "GET", "/tweets", query)).body["includes"]["users"]
    assert user == {
        "id": caller.emulator.store.origin.user_id,
        "name": "Local user",
        "username": "local_user",
        "verified_type": "none",
        "public_metrics": dict.fromkeys(("followers_count", "following_count", "tweet_count", "listed_count"), 0),
    }


async def test_every_field_of_the_specification_is_filled(caller: Any) -> None:
    """In the partner's tweets: of posts, entities, media and users (part 0, sections 2.3 to 2.6)."""
    partner = (await read(caller, "/promotable_users"))[1]["user_id"]
    listing = {"tweet_type": "PUBLISHED", "timeline_type": "ALL", "include_mentions_and_replies": "true"}
    ids = [each["tweet_id"] for each in await read(caller, "/tweets", **listing, user_id=partner)]
    query = {
        "ids": ",".join(ids),
        FIELDS: ",".join(TWEET_FIELDS),
        "user.fields": ",".join(USER_FIELDS),
        "media.fields": ",".join(MEDIA_FIELDS),
        "expansions": "author_id,attachments.media_keys,referenced_tweets.id",
    }
    body = (await ask(caller, "GET", "/tweets", query)).body
    posts = body["data"]
    assert {"id", "text", *TWEET_FIELDS} == {name for post in posts for name in post}
    (user,), (video,) = body["includes"]["users"], body["includes"]["media"]
    assert (set(user), set(video)) == (set(USER_FIELDS), {"media_key", "type", *MEDIA_FIELDS})
    answer = next(post for post in posts if "in_reply_to_user_id" in post)
    (address,) = answer["entities"]["urls"]
    assert set(address) == {"start", "end", "url", "expanded_url", "display_url", "unwound_url", "status", "title",
                            "description", "images"}  # fmt: skip
    assert set(address["images"][0]) == {"url", "width", "height"}
    (annotation,) = answer["entities"]["annotations"]
    assert answer["text"][annotation["start"] : annotation["end"]] == annotation["normalized_text"]
    (context,) = answer["context_annotations"]
    assert {name for each in context.values() for name in each} == {"id", "name", "description"}
    assert {each["type"] for post in posts for each in post.get("referenced_tweets", ())} == {"replied_to", "quoted"}
    counts = {post["id"]: post["public_metrics"] for post in posts}
    assert (counts[ids[0]]["reply_count"], counts[ids[1]]["quote_count"]) == (1, 1)
    assert [each["id"] for each in body["includes"]["tweets"]] == ids[:2]
    assert (user["pinned_tweet_id"], user["verified_type"], user["location"]) == (ids[0], "business", "Hamburg")
    assert set(user["entities"]) == {"url", "description"}


async def test_a_partners_tweet_is_found_behind_its_promotion(caller: Any) -> None:
    """A post made again for a line item refers to the tweet of its author."""
    partner = next(
        user["user_id"] for user in await read(caller, "/promotable_users") if user["type"] == "RETWEETS_ONLY"
    )
    query = {"tweet_type": "PUBLISHED", "timeline_type": "ALL", "user_id": partner}
    original = (await read(caller, "/tweets", **query))[0]
    assert original["user"]["screen_name"] == "local_partner"
    line_item = await make_line_item(caller, (await make_campaign(caller)).body["data"]["id"])
    promotion = {"line_item_id": line_item, "tweet_ids": original["tweet_id"]}
    path = caller.account + "/promoted_tweets"
    again = (await caller.call("POST", path, query=promotion)).body["data"][0]["tweet_id"]
    query = {"ids": again, "expansions": "referenced_tweets.id,author_id", FIELDS: "referenced_tweets"}
    reply = (await ask(caller, "GET", "/tweets", query)).body
    assert reply["data"][0]["referenced_tweets"] == [{"type": "retweeted", "id": original["tweet_id"]}]
    assert reply["includes"]["tweets"] == [{"id": original["tweet_id"], "text": original["text"]}]
    assert [user["username"] for user in reply["includes"]["users"]] == ["local_user"]


async def test_a_post_that_is_not_there_is_a_problem(caller: Any) -> None:
    """Beside those that are, which come in the order asked for, each once."""
    first, second = await _tweet(caller), await _tweet(caller, text="Another")
    reply = await ask(caller, "GET", "/tweets", {"ids": f"{second},1,{first},{second}"})
    assert reply.status == 200
    assert [post["id"] for post in reply.body["data"]] == [second, first]
    (problem,) = reply.body["errors"]
    assert (problem["title"], problem["status"]) == ("Not Found Error", 404)
    assert problem["detail"] == "Could not find tweet with ids: [1]."
    assert (await ask(caller, "GET", "/tweets", {"ids": "1"})).body["data"] == []


async def test_scheduled_tweets_are_posts_once_they_are_out(caller: Any) -> None:
    """Drafts never are."""
    await write(caller, "draft")
    waiting = (await write(caller, "scheduled")).body["data"]["id"]
    assert (await ask(caller, "GET", "/tweets", {"ids": waiting})).body["data"] == []
    await caller.move_clock(advance=86_400)
    shown = (await caller.call("GET", f"{caller.account}/scheduled_tweets/{waiting}")).body["data"]
    (post,) = (await ask(caller, "GET", "/tweets", {"ids": shown["tweet_id"], FIELDS: "created_at"})).body["data"]
    assert post["created_at"] == "2027-01-16T08:00:00.000Z"


@each_case(
    "query",
    [
        {},
        {"ids": ""},
        {"ids": "one"},
        {"ids": "1,"},
        {"ids": "12345678901234567890"},
        {"ids": ",".join(str(number) for number in range(101))},
        {"ids": "1", FIELDS: "source"},
        {"ids": "1", FIELDS: ""},
        {"ids": "1", "media.fields": "no such, name"},
        {"ids": "1", "poll.fields": "no such, name"},
        {"ids": "1", "id": "1"},
    ],
)
async def test_an_unreadable_request_is_a_problem(caller: Any, query: dict[str, str]) -> None:
    """400, in the form of the data API."""
    assert is_invalid(await ask(caller, "GET", "/tweets", query))


async def test_a_hundred_posts_can_be_asked_for(caller: Any) -> None:
    """And any fields and expansions: the lists of the specification are not complete."""
    ids = ",".join(str(number) for number in range(100))
    unlisted = {FIELDS: "withheld", "media.fields": "url", "user.fields": "withheld", "expansions": "geo.place_id"}
    query = {"ids": ids, "poll.fields": "options,end_datetime", "place.fields": "full_name", **unlisted}
    assert (await ask(caller, "GET", "/tweets", query)).status == 200
    twice = f"/2/tweets?ids={await _tweet(caller)}&ids=1"
    assert is_invalid(await ask(caller, "GET", twice.removeprefix("/2")))


@each_case("authorization", [None, "Bearer ", "Bearer wrong", "Basic wrong", "OAuth oauth_token=x"])
async def test_the_token_is_needed(caller: Any, authorization: str | None) -> None:
    """401 as a problem, without it, or with another than the one that was given out."""
    await get_token(caller)
    headers = {} if authorization is None else {"Authorization": authorization}
    reply = await caller.send("GET", "/2/tweets?ids=1", base=caller.emulator.base_url, headers=headers)
    assert reply.status == 401
    problem = {"title": "Unauthorized", "type": "about:blank", "detail": "Unauthorized", "status": 401}
    assert reply.body == {"errors": [problem]}


async def test_an_invalidated_token_is_refused(caller: Any) -> None:
    """From the next call on."""
    assert (await ask(caller, "GET", "/tweets", {"ids": "1"})).status == 200
    old = {"Authorization": f"Bearer {caller.emulator.store.tokens.bearer}"}
    caller.emulator.store.tokens.bearer = None
    assert (await caller.send("GET", "/2/tweets?ids=1", base=caller.emulator.base_url, headers=old)).status == 401


async def test_the_data_api_is_rate_limited(caller: Any) -> None:
    """429 as a problem, until the window is over."""
    headers = {"Authorization": f"Bearer {caller.emulator.store.tokens.give_bearer()}"}
    url = caller.emulator.base_url
    first = await caller.send("GET", "/2/tweets?ids=1", base=url, headers=headers)
    assert (first.status, first.headers["x-rate-limit-remaining"]) == (200, "299")
    caller.spend_quota(300)
    refused = await caller.send("GET", "/2/tweets?ids=1", base=url, headers=headers)
    assert (refused.status, refused.body["errors"][0]["title"]) == (429, "Too Many Requests")
    await caller.move_clock(advance=900)
    assert (await caller.send("GET", "/2/tweets?ids=1", base=url, headers=headers)).status == 200


async def test_retired_endpoints_are_gone(caller: Any) -> None:
    """410, and no data."""
    reply = await caller.send("GET", "/labs/2/tweets?ids=1", base=caller.emulator.base_url)
    assert (reply.status, reply.body) == (410, {})
