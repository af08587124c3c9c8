"""Tweets and previews over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.media.builder import media_keys, refused
from tests.emulator.tweets.builder import problem, read, write


async def _listed(caller: Any, **query: Any) -> list[str]:
    data = await read(caller, "/tweets", **{"tweet_type": "PUBLISHED", **query})
    return [tweet["tweet_id"] for tweet in data]


async def test_a_tweet_is_answered_in_the_form_of_version_1_1(caller: Any) -> None:
    """With its entities at their places, and the author."""
    text = "Spring #sale at https://shop.example/a with @friend_1"
    made = (await write(caller, "tweet", text=text)).body["data"]
    user_id = caller.emulator.store.origin.user_id
    assert made == {
        "created_at": "Fri Jan 15 08:00:00 +0000 2027",
        "id": int(made["id_str"]),
        "id_str": made["id_str"],
        "text": text,
        "truncated": False,
        "entities": {
            "hashtags": [{"text": "sale", "indices": [7, 12]}],
            "urls": [
                {
                    "url": "https://shop.example/a",
                    "expanded_url": "https://shop.example/a",
                    "display_url": "shop.example/a",
                    "indices": [16, 38],
                }
            ],
            "user_mentions": [{"screen_name": "friend_1", "indices": [44, 53]}],
        },
        "user": {"id": int(user_id), "id_str": user_id, "name": "Local user", "screen_name": "local_user"},
        "card_uri": None,
        "retweet_count": 0,
        "favorite_count": 0,
        "lang": "und",
        "name": None,
    }
    assert made["id"] > 2**53


async def test_a_tweet_can_be_answered_in_other_forms(caller: Any) -> None:
    """Extended, and with the number of its author alone."""
    made = (await write(caller, "tweet", tweet_mode="extended", trim_user="true")).body["data"]
    assert made["full_text"] == "Spring is here"
    assert made["user"] == {"id": int(made["user"]["id_str"]), "id_str": caller.emulator.store.origin.user_id}
    compact = (await write(caller, "tweet", tweet_mode="compat", trim_user="false")).body["data"]
    assert (compact["text"], "full_text" in compact) == ("Spring is here", False)


async def test_a_video_says_more(caller: Any) -> None:
    """Title, description and what to do; an image has none of it."""
    video, image = (await media_keys(caller, "VIDEO"))[0], (await media_keys(caller, "IMAGE"))[0]
    fields = {
        "video_title": "t" * 70,
        "video_description": "d" * 200,
        "video_cta": "VISIT_SITE",
        "video_cta_value": "https://shop.example/",
    }
    made = (await write(caller, "tweet", media_keys=video, **fields)).body["data"]
    assert made["extended_entities"]["media"] == [
        {
            "media_key": video,
            "type": "video",
            "media_url_https": f"https://media.example/{video}.mp4",
            "additional_media_info": {
                "title": "t" * 70,
                "description": "d" * 200,
                "call_to_actions": {"visit_site": {"url": "https://shop.example/"}},
            },
        }
    ]
    plain = (await write(caller, "tweet", media_keys=image, **fields)).body["data"]
    assert plain["extended_entities"]["media"][0].keys() == {"media_key", "type", "media_url_https"}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("conversation_settings", ["EVERYONE", "FOLLOWING", "MENTIONED_USERS"], ["UNKNOWN"]),
        ("tweet_mode", ["compat", "extended"], ["short"]),
        ("trim_user", ["true", "false"], ["yes"]),
        ("video_cta", ["VISIT_SITE", "WATCH_NOW"], ["BUY"]),
        ("video_title", ["t"], ["t" * 71]),
        ("video_description", ["d"], ["d" * 201]),
    ],
)
async def test_the_parameters_of_a_tweet(caller: Any, name: str, good: list[str], bad: list[str]) -> None:
    """Each with its good values and a bad one, of which nothing comes."""
    for text in good:
        assert (await write(caller, "tweet", **{name: text})).status == 200
    for text in bad:
        assert problem(await write(caller, "tweet", **{name: text})) == (400, "INVALID_PARAMETER", name)
    assert len(await _listed(caller)) == len(good)


async def test_a_list_knows_more_of_a_tweet(caller: Any) -> None:
    """Its type, its name, who may answer, and whether it is promoted only."""
    made = await write(caller, "tweet", name="First", conversation_settings="FOLLOWING")
    (tweet,) = await read(caller, "/tweets", tweet_type="PUBLISHED")
    more = {
        "tweet_id": made.body["data"]["id_str"],
        "tweet_type": "PUBLISHED",
        "nullcast": True,
        "scheduled_at": None,
        "conversation_settings": "FOLLOWING",
    }
    assert tweet == {**made.body["data"], **more}
    assert "conversation_settings" not in made.body["data"]
    (trimmed,) = await read(caller, "/tweets", tweet_type="PUBLISHED", trim_user="true")
    assert set(trimmed["user"]) == {"id", "id_str"}


async def test_lists_are_of_one_type(caller: Any) -> None:
    """Drafts and scheduled tweets are listed too, each under its own."""
    draft = (await write(caller, "draft", text="A draft")).body["data"]
    waiting = (await write(caller, "scheduled", text="Later")).body["data"]
    assert await _listed(caller) == []
    assert await _listed(caller, tweet_type="DRAFT") == [draft["id"]]
    (listed,) = await read(caller, "/tweets", tweet_type="SCHEDULED")
    assert (listed["tweet_id"], listed["scheduled_at"]) == (waiting["id"], waiting["scheduled_at"])


async def test_lists_are_narrowed(caller: Any) -> None:
    """By timeline, name, number and user; answers and mentions are left out unless asked for."""
    ids = []
    for more in ({"name": "First"}, {"nullcast": "false"}, {"text": "@friend_1 hello"}):
        ids.append((await write(caller, "tweet", **more)).body["data"]["id_str"])
        await caller.move_clock(advance=1)
    promoted, organic, mention = ids
    for query, found in (
        ({}, [promoted]),
        ({"timeline_type": "NULLCAST"}, [promoted]),
        ({"timeline_type": "ORGANIC"}, [organic]),
        ({"timeline_type": "ALL"}, [promoted, organic]),
        ({"timeline_type": "ALL", "include_mentions_and_replies": "true"}, ids),
        ({"include_mentions_and_replies": "true"}, [promoted, mention]),
        ({"name": "fir"}, [promoted]),
        ({"name": "irst"}, []),
        ({"tweet_ids": f"{promoted},1"}, [promoted]),
        ({"user_id": "1"}, []),
        ({"user_id": caller.emulator.store.origin.user_id}, [promoted]),
    ):
        assert await _listed(caller, **query) == found, query


async def test_lists_refuse_what_they_cannot_read(caller: Any) -> None:
    """Each wrong parameter by its name; a type must be given."""
    path = caller.account + "/tweets"
    assert await refused(caller, "GET", path) == (400, "MISSING_PARAMETER", "tweet_type")
    for query, parameter in (
        ({"tweet_type": "RETWEET"}, "tweet_type"),
        ({"timeline_type": "HOME"}, "timeline_type"),
        ({"count": 1_001}, "count"),
        ({"count": 0}, "count"),
        ({"cursor": "c-1"}, "cursor"),
        ({"name": "n" * 81}, "name"),
        ({"include_mentions_and_replies": "1"}, "include_mentions_and_replies"),
        ({"trim_user": "1"}, "trim_user"),
        ({"tweet_ids": "one"}, "tweet_ids"),
        ({"tweet_ids": ",".join(["1"] * 201)}, "tweet_ids"),
        ({"user_id": "me"}, "user_id"),
        ({"sort_by": "created_at-asc"}, "sort_by"),
    ):
        query = {"tweet_type": "PUBLISHED", **query}
        assert await refused(caller, "GET", path, query) == (400, "INVALID_PARAMETER", parameter)


async def test_tweets_come_in_pages(caller: Any) -> None:
    """Oldest first."""
    ids = [(await write(caller, "tweet", text=f"Number {number}")).body["data"]["id_str"] for number in range(3)]
    path, query = caller.account + "/tweets", {"tweet_type": "PUBLISHED", "count": 2}
    first = (await caller.call("GET", path, query=query)).body
    assert await _listed(caller, count=2) + await _listed(caller, cursor=first["next_cursor"]) == ids


async def test_a_tweet_is_named(caller: Any) -> None:
    """Changed, left alone, taken away; too long a name is refused."""
    tweet_id = (await write(caller, "tweet")).body["data"]["id_str"]
    path = f"{caller.account}/tweets/{tweet_id}/name"
    for query, name in (({"name": "n" * 80}, "n" * 80), ({}, "n" * 80), ({"name": ""}, None)):
        assert (await caller.call("PUT", path, query=query)).body["data"] == {"tweet_id": tweet_id, "name": name}
    assert await refused(caller, "PUT", path, {"name": "n" * 81}) == (400, "INVALID_PARAMETER", "name")
    assert await refused(caller, "PUT", path.replace(tweet_id, "1")) == (404, "NOT_FOUND", "tweet_id")
    assert await refused(caller, "PUT", path.replace(tweet_id, "one")) == (400, "INVALID_PARAMETER", "tweet_id")


async def test_previews_are_frames_of_their_own(caller: Any) -> None:
    """One for each tweet, in the order asked for; what a text says cannot get out of its frame."""
    text = "Say <b>\"spring\"</b> & 'sun'"
    ids = [(await write(caller, "tweet", text=each)).body["data"]["id_str"] for each in (text, "Other")]
    path = caller.account + "/tweet_previews"
    query = {"tweet_ids": ",".join(reversed(ids)), "tweet_type": "PUBLISHED"}
    reply = (await caller.call("GET", path, query=query)).body
    assert [preview["tweet_id"] for preview in reply["data"]] == ids[::-1]
    assert "next_cursor" not in reply
    frame = reply["data"][1]["preview"]
    assert frame.startswith("<iframe class='tweet-preview' sandbox srcdoc='")
    assert frame.endswith("'></iframe>")
    assert frame.count("'") == 4
    assert "<b>" not in frame


@pytest.mark.parametrize(
    ("kind", "tweet_type"), [("draft", "DRAFT"), ("scheduled", "SCHEDULED"), ("tweet", "PUBLISHED")]
)
async def test_previews_are_of_the_type_asked_for(caller: Any, kind: str, tweet_type: str) -> None:
    """A number of another type is not found."""
    made = (await write(caller, kind)).body["data"]
    tweet_id = made.get("id_str") or made["id"]
    path = caller.account + "/tweet_previews"
    for asked in ("DRAFT", "PUBLISHED", "SCHEDULED"):
        query = {"tweet_ids": tweet_id, "tweet_type": asked}
        if asked == tweet_type:
            assert (await caller.call("GET", path, query=query)).body["data"][0]["tweet_id"] == tweet_id
        else:
            assert await refused(caller, "GET", path, query) == (404, "NOT_FOUND", "tweet_ids")


async def test_previews_need_both_parameters(caller: Any) -> None:
    """Up to two hundred numbers, and a type."""
    path, good = caller.account + "/tweet_previews", {"tweet_ids": "1", "tweet_type": "DRAFT"}
    for name in good:
        rest = {key: value for key, value in good.items() if key != name}
        assert await refused(caller, "GET", path, rest) == (400, "MISSING_PARAMETER", name)
    for name, value in (("tweet_ids", "one"), ("tweet_ids", ",".join(["1"] * 201)), ("tweet_type", "OLD")):
        assert await refused(caller, "GET", path, {**good, name: value}) == (400, "INVALID_PARAMETER", name)
