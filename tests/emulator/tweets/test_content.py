"""The content that drafts, scheduled tweets and tweets may have, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.cards.test_cards import make_card
from tests.emulator.conversation_cards.builder import make_video_card
from tests.emulator.media.builder import media_keys
from tests.emulator.tweets.builder import PATHS, problem, read, write

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
    assert problem(await write(caller, kind, as_user_id="")) == (400, "MISSING_PARAMETER", "as_user_id")
    assert problem(await write(caller, kind, as_user_id="me")) == (400, "INVALID_PARAMETER", "as_user_id")
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


@pytest.mark.parametrize("text", ["d someone hi", "D @someone hi", " dm some_one what is up", "m him 1", "d\tone\nhi"])
@pytest.mark.parametrize("kind", ["tweet", "scheduled"])
async def test_a_direct_message_is_no_tweet(caller: Any, text: str, kind: str) -> None:
    """403 with code 151 (specification part 0, section 7), and nothing is tweeted."""
    reply = await write(caller, kind, text=text)
    assert (reply.status, reply.codes) == (403, [151])
    assert await read(caller, "/tweets", tweet_type="PUBLISHED" if kind == "tweet" else "SCHEDULED") == []


@pytest.mark.parametrize("text", ["d someone", "do someone a favour", "dear someone hi", "hi d someone a", "d: me hi"])
async def test_other_texts_are_tweets(caller: Any, text: str) -> None:
    """A command has a person and words."""
    assert (await write(caller, "tweet", text=text)).status == 200
