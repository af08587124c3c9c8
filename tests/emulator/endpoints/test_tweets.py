"""Tweets and previews over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.endpoints.tweets import find_entities
from tests.cases import each_case
from tests.emulator.conftest import Opener
from tests.emulator.endpoints.conversation_cards_builder import make_video_card
from tests.emulator.endpoints.media_builder import media_keys, refused
from tests.emulator.endpoints.test_cards import make_card
from tests.emulator.endpoints.tweets_builder import PATHS, TOMORROW, problem, read, write

# --- Tweets and previews over the wire ---


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


@each_case("kind, tweet_type", [("draft", "DRAFT"), ("scheduled", "SCHEDULED"), ("tweet", "PUBLISHED")])
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


# --- The content that drafts, scheduled tweets and tweets may have, over the wire ---

KINDS = pytest.mark.parametrize("kind", PATHS)
ENDS = {"draft": "/draft_tweets/{}", "scheduled": "/scheduled_tweets/{}"}


@KINDS
async def test_without_media_there_must_be_a_text(caller: Any, kind: str) -> None:
    """Which is not blank, and not longer than a long post; a medium alone is enough."""
    assert problem(await write(caller, kind, text="")) == (400, "MISSING_PARAMETER", "text")
    assert problem(await write(caller, kind, text="   ")) == (400, "TWEET_CANNOT_BE_BLANK", "text")
    assert problem(await write(caller, kind, text="x" * 25_001)) == (400, "INVALID_PARAMETER", "text")
    assert (await write(caller, kind, text="😀" * 25_000)).status == 200
    image = (await media_keys(caller, "IMAGE"))[0]
    made = await write(caller, kind, text="", media_keys=image)
    assert (made.status, made.body["request"]["params"]["media_keys"]) == (200, [image])


@KINDS
async def test_media_are_of_one_type(caller: Any, kind: str) -> None:
    """Up to four images, or one GIF, or one video, out of the library."""
    images, videos = await media_keys(caller, "IMAGE"), await media_keys(caller, "VIDEO")
    gifs = await media_keys(caller, "GIF")
    for keys, good in (
        (images[:4], True),
        (images[:5], False),
        (gifs, True),
        (gifs * 2, False),
        (videos[:1], True),
        (videos[:2], False),
        ([images[0], gifs[0]], False),
        ([images[0], videos[0]], False),
    ):
        reply = await write(caller, kind, media_keys=",".join(keys))
        assert reply.status == 200 if good else problem(reply) == (400, "INVALID_MEDIA", "media_keys")
    assert problem(await write(caller, kind, media_keys="3_1")) == (404, "NOT_FOUND", "media_keys")
    await caller.call("DELETE", f"{caller.account}/media_library/{images[0]}")
    assert problem(await write(caller, kind, media_keys=images[0])) == (404, "NOT_FOUND", "media_keys")


@KINDS
async def test_a_card_must_be_there(caller: Any, kind: str) -> None:
    """Of components or of a conversation, by its address."""
    for make in (make_card, make_video_card):
        uri = (await make(caller)).body["data"]["card_uri"]
        assert (await write(caller, kind, card_uri=uri)).body["data"]["card_uri"] == uri
    for wrong in ("card://1", "1", uri.removeprefix("card://")):
        assert problem(await write(caller, kind, card_uri=wrong)) == (404, "NOT_FOUND", "card_uri")


@KINDS
async def test_a_tweet_needs_an_author(caller: Any, kind: str) -> None:
    """The account's own user, whose number is echoed with all its digits."""
    user_id = caller.emulator.store.origin.user_id
    assert (await write(caller, kind)).body["request"]["params"]["as_user_id"] == int(user_id)
    assert problem(await write(caller, kind, as_user_id="12")) == (400, "INVALID_USER_ID", "as_user_id")


@KINDS
async def test_names_and_switches_are_checked(caller: Any, kind: str) -> None:
    """A name has at most 80 characters; nullcast is true unless it is said not to be; unknown names are refused."""
    assert (await write(caller, kind, name="n" * 80)).body["data"]["name"] == "n" * 80
    assert problem(await write(caller, kind, name="n" * 81)) == (400, "INVALID_PARAMETER", "name")
    assert problem(await write(caller, kind, nullcast="no")) == (400, "INVALID_PARAMETER", "nullcast")
    assert problem(await write(caller, kind, colour="red")) == (400, "INVALID_PARAMETER", "colour")
    if kind != "tweet":
        assert (await write(caller, kind)).body["data"]["nullcast"] is True
        assert (await write(caller, kind, nullcast="false")).body["data"]["nullcast"] is False


@pytest.mark.parametrize("kind", ENDS)
async def test_a_part_given_empty_goes(caller: Any, kind: str) -> None:
    """Card, media, name and text, as long as something is left to say."""
    image = (await media_keys(caller, "IMAGE"))[0]
    uri = (await make_card(caller)).body["data"]["card_uri"]
    made = (await write(caller, kind, media_keys=image, card_uri=uri, name="First")).body["data"]
    path = caller.account + ENDS[kind].format(made["id"])
    await caller.move_clock(advance=1)
    changed = (await caller.call("PUT", path, query={"text": "", "card_uri": "", "name": ""})).body["data"]
    assert changed == {**made, "text": "", "card_uri": None, "name": None, "updated_at": "2027-01-15T08:00:01Z"}
    assert problem(await caller.call("PUT", path, query={"media_keys": ""})) == (400, "MISSING_PARAMETER", "text")
    query = {"media_keys": "", "text": "Another", "nullcast": "false"}
    changed = (await caller.call("PUT", path, query=query)).body["data"]
    assert (changed["media_keys"], changed["text"], changed["nullcast"]) == ([], "Another", False)
    for query, parameter in (
        ({"name": "n" * 81}, "name"),
        ({"nullcast": "1"}, "nullcast"),
        ({"text": "x" * 25_001}, "text"),
        ({"as_user_id": "1"}, "as_user_id"),
    ):
        assert problem(await caller.call("PUT", path, query=query)) == (400, "INVALID_PARAMETER", parameter)


@each_case("text", ["d someone hi", "D @someone hi", " dm some_one what is up", "m him 1", "d\tone\nhi"])
@each_case("kind", ["tweet", "scheduled"])
async def test_a_direct_message_is_no_tweet(caller: Any, text: str, kind: str) -> None:
    """403 with code 151 (specification part 0, section 7), and nothing is tweeted."""
    reply = await write(caller, kind, text=text)
    assert (reply.status, reply.codes) == (403, [151])
    assert await read(caller, "/tweets", tweet_type="PUBLISHED" if kind == "tweet" else "SCHEDULED") == []


@each_case("text", ["d someone", "do someone a favour", "dear someone hi", "hi d someone a", "d: me hi"])
async def test_other_texts_are_tweets(caller: Any, text: str) -> None:
    """A command has a person and words."""
    assert (await write(caller, "tweet", text=text)).status == 200


# --- Draft tweets over the wire ---

NOT_FOUND = (404, "NOT_FOUND", "draft_tweet_id")


async def test_a_draft_goes_through_its_life(caller: Any) -> None:
    """Made, shown, listed, changed, previewed; deleted for good. The account is not echoed."""
    made = await write(caller, "draft")
    draft, user_id = made.body["data"], caller.emulator.store.origin.user_id
    assert made.body["request"]["params"] == {"as_user_id": int(user_id), "text": "Spring is here"}
    assert draft == {
        "id": draft["id"],
        "user_id": user_id,
        "text": "Spring is here",
        "card_uri": None,
        "media_keys": [],
        "nullcast": True,
        "name": None,
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
    }
    path = f"{caller.account}/draft_tweets/{draft['id']}"
    shown = (await caller.call("GET", path)).body
    assert shown == {"request": {"params": {"draft_tweet_id": int(draft["id"])}}, "data": draft}
    assert await read(caller, "/draft_tweets") == [draft]
    changed = (await caller.call("PUT", path, query={"text": "Summer"})).body["data"]
    assert changed["text"] == "Summer"
    assert (await caller.call("DELETE", path)).body["data"] == {**changed, "status": "DELETED"}
    for method in ("GET", "PUT", "DELETE"):
        assert await refused(caller, method, path) == NOT_FOUND
    assert await read(caller, "/draft_tweets") == []


async def test_a_preview_says_where_to_look(caller: Any) -> None:
    """In words, without data; only of a draft that is there."""
    draft = (await write(caller, "draft")).body["data"]
    path = caller.account + "/draft_tweets/preview/"
    previewed = (await caller.call("POST", path + draft["id"])).body
    assert previewed == {
        "request": {"params": {"draft_tweet_id": int(draft["id"])}},
        "message": "See @local_user's notifications in the X app to preview your Tweet.",
    }
    assert await refused(caller, "POST", path + "1") == NOT_FOUND


async def test_a_draft_is_named_by_a_number(caller: Any) -> None:
    """Else the parameter of the path is refused."""
    path = caller.account + "/draft_tweets/first"
    assert await refused(caller, "GET", path) == (400, "INVALID_PARAMETER", "draft_tweet_id")


async def test_drafts_come_in_pages_of_their_own(caller: Any) -> None:
    """A hundred unless told otherwise, two hundred at most; of one user; without the other list parameters."""
    for _ in range(102):
        await write(caller, "draft")
    path, whole = caller.account + "/draft_tweets", await read(caller, "/draft_tweets", count=200)
    assert len(whole) == 102
    first = (await caller.call("GET", path)).body
    assert first["data"] == whole[:100]
    assert await read(caller, "/draft_tweets", cursor=first["next_cursor"]) == whole[100:]
    assert await read(caller, "/draft_tweets", user_id=caller.emulator.store.origin.user_id) == whole[:100]
    assert await read(caller, "/draft_tweets", user_id=7) == []
    for query, parameter in (
        ({"count": 201}, "count"),
        ({"count": 0}, "count"),
        ({"cursor": "c-1"}, "cursor"),
        ({"user_id": "me"}, "user_id"),
        ({"sort_by": "created_at-asc"}, "sort_by"),
        ({"with_deleted": "true"}, "with_deleted"),
        ({"with_total_count": "true"}, "with_total_count"),
    ):
        assert problem(await caller.call("GET", path, query=query)) == (400, "INVALID_PARAMETER", parameter)


# --- Scheduled tweets over the wire, by a clock that is moved ---

SCHEDULED_NOT_FOUND = (404, "NOT_FOUND", "scheduled_tweet_id")
DAY = 86_400


async def test_a_scheduled_tweet_waits(caller: Any) -> None:
    """It is shown, listed and changed meanwhile; deleted, it never goes out."""
    made = await write(caller, "scheduled")
    waiting = made.body["data"]
    assert "account_id" not in made.body["request"]["params"]
    assert waiting == {
        "id": waiting["id"],
        "user_id": caller.emulator.store.origin.user_id,
        "text": "Spring is here",
        "card_uri": None,
        "media_keys": [],
        "nullcast": True,
        "name": None,
        "scheduled_at": TOMORROW,
        "scheduled_status": "SCHEDULED",
        "completed_at": None,
        "tweet_id": None,
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
    }
    path = f"{caller.account}/scheduled_tweets/{waiting['id']}"
    assert (await caller.call("GET", path)).body["data"] == waiting
    assert await read(caller, "/scheduled_tweets") == [waiting]
    changed = (await caller.call("PUT", path, query={"name": "Later", "scheduled_at": "2027-02-01T10:00:30+01"})).body
    assert changed["data"] == {**waiting, "name": "Later", "scheduled_at": "2027-02-01T09:00:00Z"}
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert deleted == {**changed["data"], "scheduled_status": "DELETED"}
    for method in ("GET", "PUT", "DELETE"):
        assert await refused(caller, method, path) == SCHEDULED_NOT_FOUND
    await caller.move_clock(advance=30 * DAY)
    assert await read(caller, "/tweets", tweet_type="PUBLISHED") == []


async def test_a_scheduled_tweet_goes_out_at_its_time(caller: Any) -> None:
    """Then it is a tweet with a number of its own, and nothing can be done about it any more."""
    image = (await media_keys(caller, "IMAGE"))[0]
    waiting = (await write(caller, "scheduled", media_keys=image)).body["data"]
    path = f"{caller.account}/scheduled_tweets/{waiting['id']}"
    await caller.move_clock(set=1_800_000_000 + DAY - 1)
    assert (await caller.call("GET", path)).body["data"] == waiting
    await caller.move_clock(set=1_800_000_000 + DAY)
    out = (await caller.call("GET", path)).body["data"]
    assert out == {
        **waiting,
        "scheduled_status": "SUCCESS",
        "completed_at": TOMORROW,
        "tweet_id": out["tweet_id"],
        "updated_at": TOMORROW,
    }
    (tweet,) = await read(caller, "/tweets", tweet_type="PUBLISHED")
    assert (tweet["tweet_id"], tweet["text"]) == (out["tweet_id"], waiting["text"])
    assert tweet["created_at"] == "Sat Jan 16 08:00:00 +0000 2027"
    assert int(out["tweet_id"]) > int(waiting["id"])
    for method in ("PUT", "DELETE"):
        assert await refused(caller, method, path) == (403, "ACTION_NOT_ALLOWED", "scheduled_tweet_id")
    assert await read(caller, "/tweets", tweet_type="SCHEDULED") == []
    library = await read(caller, f"/media_library/{image}")
    assert library["tweeted"] is True


@pytest.mark.parametrize(
    "scheduled_at", ["2027-01-15T08:00:00Z", "2027-01-15T08:00:59Z", "2020-01-01T00:00:00Z", "2028-01-15T08:01:00Z"]
)
async def test_the_time_lies_in_the_coming_year(caller: Any, scheduled_at: str) -> None:
    """At a minute after now; when it is made, and when it is changed."""
    waiting = (await write(caller, "scheduled")).body["data"]
    fault = (400, "INVALID_PARAMETER", "scheduled_at")
    assert problem(await write(caller, "scheduled", scheduled_at=scheduled_at)) == fault
    path = f"{caller.account}/scheduled_tweets/{waiting['id']}"
    assert await refused(caller, "PUT", path, {"scheduled_at": scheduled_at}) == fault
    assert await read(caller, "/scheduled_tweets") == [waiting]


async def test_this_very_minute_is_too_late(caller: Any) -> None:
    """At its first moment, too; the last minute of the year is good then."""
    await caller.move_clock(set=1_800_000_000)
    for scheduled_at, status in (("2027-01-15T08:00:00Z", 400), ("2028-01-15T08:00:00Z", 200)):
        assert (await write(caller, "scheduled", scheduled_at=scheduled_at)).status == status


async def test_the_ends_of_the_coming_year_are_good(caller: Any) -> None:
    """Its first minute, and its last."""
    for scheduled_at in ("2027-01-15T08:01:00Z", "2028-01-15T08:00:00Z"):
        assert (await write(caller, "scheduled", scheduled_at=scheduled_at)).status == 200


async def test_a_restarted_emulator_has_the_same_tweets(open_emulator: Opener, tmp_path: Path) -> None:
    """Whichever call came first, and whatever got a number in between."""
    state = tmp_path / "state"
    async with open_emulator(state=state) as caller:
        await write(caller, "scheduled")
        await caller.move_clock(advance=2 * DAY)
        await read(caller, "/scheduled_tweets")
        later = (await write(caller, "tweet")).body["data"]["id_str"]
        before = await read(caller, "/tweets", tweet_type="PUBLISHED")
        assert len({later, *(tweet["tweet_id"] for tweet in before)}) == 2
    async with open_emulator(state=state) as caller:
        assert await read(caller, "/tweets", tweet_type="PUBLISHED") == before


# --- Entities in the text of a tweet ---


@each_case(
    "text, found",
    [
        ("", []),
        ("#one #two", [("hashtag", "one"), ("hashtag", "two")]),
        ("a#one b@two", []),
        ("me@shop.example", []),
        ("(@friend_1)", [("mention", "friend_1")]),
        ("#grün", [("hashtag", "grün")]),
        ("https://shop.example/#one", [("url", "https://shop.example/#one")]),
        ("# @ https://", []),
    ],
)
def test_entities_of_a_text(text: str, found: list[tuple[str, str]]) -> None:
    """Hashtags and mentions stand free; what is within an address is part of it."""
    assert [(entity.kind, entity.word) for entity in find_entities(text)] == found


@given(st.lists(st.sampled_from(["#tag", "@name", "https://shop.example", "word", "ß", "😀"])).map(" ".join))
def test_places_count_characters(text: str) -> None:
    """The characters at the indices are the word, with its sign."""
    for entity in find_entities(text):
        sign = {"hashtag": "#", "mention": "@", "url": ""}[entity.kind]
        assert text[entity.start : entity.end] == sign + entity.word
