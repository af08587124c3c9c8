"""Image and video conversation cards over the wire."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case
from tests.emulator.endpoints.conversation_cards_builder import TEXTS, make_image_card, make_video_card
from tests.emulator.endpoints.media_builder import media_keys, refused

MAKERS = {"image_conversation": make_image_card, "video_conversation": make_video_card}
KINDS = pytest.mark.parametrize("kind", MAKERS)
NOT_FOUND = (404, "NOT_FOUND", "card_id")


def _path(caller: Any, kind: str, card_id: str = "") -> str:
    return f"{caller.account}/cards/{kind}" + (f"/{card_id}" if card_id else "")


def _problem(reply: Any) -> tuple[Any, ...]:
    error = reply.body["errors"][0]
    return reply.status, error["code"], error["parameter"]


async def test_an_image_card_is_shown_with_its_image(caller: Any) -> None:
    """Fields without a value are left out; sizes are texts."""
    made = await make_image_card(caller)
    card, key = made.body["data"], (await media_keys(caller, "IMAGE"))[0]
    assert card == {
        **TEXTS,
        "media_key": key,
        "media_url": f"https://media.example/{key}.jpg",
        "image_display_width": "1200",
        "image_display_height": "628",
        "card_uri": card["card_uri"],
        "card_type": "IMAGE_CONVERSATION",
        "id": card["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    assert made.body["request"]["params"]["card_type"] == "IMAGE_CONVERSATION"
    assert card["card_uri"].removeprefix("card://").isdigit()
    assert not card["id"].isdigit()


async def test_a_video_card_is_shown_with_its_video(caller: Any) -> None:
    """The first frame is its picture, unless a poster was chosen."""
    card = (await make_video_card(caller)).body["data"]
    key = (await media_keys(caller, "VIDEO"))[0]
    assert (card["video_width"], card["video_height"]) == ("16", "9")
    assert card["video_owner_id"] == caller.emulator.store.origin.user_id
    assert card["poster_media_url"] == f"https://media.example/{key}/first-frame.jpg"
    poster = (await media_keys(caller, "IMAGE"))[1]
    path = _path(caller, "video_conversation", card["id"])
    changed = await caller.call("PUT", path, query={"poster_media_key": poster, "unlocked_video_media_key": key})
    assert changed.body["data"]["poster_media_url"] == f"https://media.example/{poster}.jpg"
    assert changed.body["data"]["unlocked_video_media_key"] == key
    back = await caller.call("PUT", path, query={"poster_media_key": "", "unlocked_video_media_key": ""})
    assert back.body["data"] == card


@KINDS
async def test_a_card_goes_through_its_life(caller: Any, kind: str) -> None:
    """Listed, shown, changed, deleted once; of a deleted one little is left."""
    card = (await MAKERS[kind](caller)).body["data"]
    path = _path(caller, kind, card["id"])
    listed = (await caller.call("GET", _path(caller, kind))).body
    assert (listed["data"], listed["request"]["params"]["card_type"]) == ([card], kind)
    assert (await caller.call("GET", path)).body["data"] == card
    await caller.move_clock(advance=1)
    changed = await caller.call("PUT", path, query={"name": "Another"})
    assert changed.body["data"] == {**card, "name": "Another", "updated_at": "2027-01-15T08:00:01Z"}
    left = {"name": "Another", "id": card["id"], "deleted": True, "card_type": card["card_type"]}
    left |= {"created_at": card["created_at"], "updated_at": "2027-01-15T08:00:01Z"}
    assert (await caller.call("DELETE", path)).body["data"] == left
    for method in ("DELETE", "GET", "PUT"):
        assert await refused(caller, method, path) == NOT_FOUND
    assert (await caller.call("GET", _path(caller, kind))).body["data"] == []
    query = {"with_deleted": "true"}
    assert (await caller.call("GET", path, query=query)).body["data"] == left
    assert (await caller.call("GET", _path(caller, kind), query=query)).body["data"] == [left]


async def test_the_two_kinds_do_not_meet(caller: Any) -> None:
    """A card of one is not found under the other, nor among cards of components."""
    card = (await make_image_card(caller)).body["data"]
    assert await refused(caller, "GET", _path(caller, "video_conversation", card["id"])) == NOT_FOUND
    assert await refused(caller, "GET", f"{caller.account}/cards/{card['id']}") == NOT_FOUND
    assert (await caller.call("GET", caller.account + "/cards")).body["data"] == []


@KINDS
@each_case("name", ["name", "first_cta", "first_cta_tweet", "thank_you_text", "media_key", "title"])
async def test_a_missing_part_of_a_card_is_named(caller: Any, kind: str, name: str) -> None:
    """Each by its name when it is missing; the title may be missing beside a second hashtag."""
    assert _problem(await MAKERS[kind](caller, **{name: ""})) == (400, "MISSING_PARAMETER", name)
    assert (await caller.call("GET", _path(caller, kind))).body["data"] == []
    more = {name: "", "second_cta": "#sea", "second_cta_tweet": "Down there"}
    assert (await MAKERS[kind](caller, **more)).status == (200 if name == "title" else 400)


@KINDS
@each_case("ordinal", ["second", "third", "fourth"])
async def test_a_hashtag_needs_its_tweet(caller: Any, kind: str, ordinal: str) -> None:
    """The text that is tweeted when it is chosen."""
    hashtag = {f"{ordinal}_cta": "sea"}
    problem = (400, "MISSING_PARAMETER", f"{ordinal}_cta_tweet")
    assert _problem(await MAKERS[kind](caller, **hashtag)) == problem
    made = await MAKERS[kind](caller, **hashtag, **{f"{ordinal}_cta_tweet": "Down there"})
    assert made.body["data"][f"{ordinal}_cta"] == "#sea"


@KINDS
@each_case(
    "name, good, bad",
    [
        ("name", ["n" * 80], ["n" * 81]),
        ("thank_you_text", ["t" * 23], ["t" * 24]),
        ("title", ["t" * 23], ["t" * 24]),
        ("first_cta", ["#" + "h" * 20, "h" * 20, "grün"], ["#" + "h" * 21, "h" * 21, "two words", "##h", "#"]),
        ("second_cta", ["#" + "h" * 20], ["#" + "h" * 21]),
        ("third_cta", ["#" + "h" * 20], ["#" + "h" * 21]),
        ("fourth_cta", ["#" + "h" * 20], ["#" + "h" * 21]),
        ("thank_you_url", ["https://shop.example/?a=b"], ["shop.example", "javascript:alert(1)"]),
    ],
)
async def test_texts_have_their_lengths(caller: Any, kind: str, name: str, good: list[str], bad: list[str]) -> None:
    """When a card is made, and when it is changed."""
    tweets = {f"{ordinal}_cta_tweet": "Down there" for ordinal in ("second", "third", "fourth")}
    made = [await MAKERS[kind](caller, **tweets, **{name: text}) for text in good]
    assert {reply.status for reply in made} == {200}
    path = _path(caller, kind, made[0].body["data"]["id"])
    for text in bad:
        assert _problem(await MAKERS[kind](caller, **tweets, **{name: text})) == (400, "INVALID_PARAMETER", name)
        assert await refused(caller, "PUT", path, {name: text}) == (400, "INVALID_PARAMETER", name)


async def test_media_must_fit(caller: Any) -> None:
    """Images 1.91 times as wide as high, and 800 pixels; unlocked ones 2.5 times; videos 16 to 9."""
    images, videos = await media_keys(caller, "IMAGE"), await media_keys(caller, "VIDEO")
    (gif,) = await media_keys(caller, "GIF")
    wide, narrow, square = images[5], images[6], videos[2]
    for key, status, code in (
        (wide, 400, "INVALID_IMAGE"),
        (narrow, 400, "INVALID_IMAGE"),
        (gif, 400, "INVALID_MEDIA"),
        (videos[0], 400, "INVALID_MEDIA"),
        ("3_1", 404, "NOT_FOUND"),
    ):
        assert _problem(await make_image_card(caller, media_key=key)) == (status, code, "media_key")
    for key, code in ((square, "INVALID_MEDIA"), (images[0], "INVALID_MEDIA")):
        assert _problem(await make_video_card(caller, media_key=key)) == (400, code, "media_key")
    for make in (make_image_card, make_video_card):
        reply = await make(caller, unlocked_image_media_key=images[0])
        assert _problem(reply) == (400, "INVALID_IMAGE", "unlocked_image_media_key")
        card = (await make(caller, unlocked_image_media_key=wide)).body["data"]
        assert card["unlocked_image_media_url"] == f"https://media.example/{wide}.jpg"
        assert "unlocked_image_media_key" not in card
    for name, key in (("poster_media_key", videos[0]), ("unlocked_video_media_key", images[0])):
        assert _problem(await make_video_card(caller, **{name: key})) == (400, "INVALID_MEDIA", name)
        assert _problem(await make_image_card(caller, **{name: key})) == (400, "INVALID_PARAMETER", name)


async def test_a_change_keeps_the_rules_of_a_card(caller: Any) -> None:
    """An empty text takes away what may be missing, and nothing else."""
    card = (await make_image_card(caller, second_cta="#sea", second_cta_tweet="Down there")).body["data"]
    path = _path(caller, "image_conversation", card["id"])
    assert "title" not in (await caller.call("PUT", path, query={"title": ""})).body["data"]
    assert await refused(caller, "PUT", path, {"second_cta": ""}) == (400, "MISSING_PARAMETER", "title")
    assert await refused(caller, "PUT", path, {"second_cta_tweet": ""}) == (
        400,
        "MISSING_PARAMETER",
        "second_cta_tweet",
    )
    assert await refused(caller, "PUT", path, {"name": ""}) == (400, "MISSING_PARAMETER", "name")
    assert await refused(caller, "PUT", path, {"media_key": ""}) == (400, "INVALID_PARAMETER", "media_key")
    both = {"title": "Where to", "second_cta": "", "second_cta_tweet": ""}
    changed = (await caller.call("PUT", path, query=both)).body["data"]
    assert (changed["title"], changed.keys() & {"second_cta", "second_cta_tweet"}) == ("Where to", set())


@KINDS
async def test_lists_are_narrowed(caller: Any, kind: str) -> None:
    """By id and by the beginning of the name."""
    card = (await MAKERS[kind](caller)).body["data"]
    other = (await MAKERS[kind](caller, name="Another")).body["data"]
    path = _path(caller, kind)
    for query, found in (({"card_ids": other["id"]}, [other]), ({"q": "WHICH"}, [card])):
        assert (await caller.call("GET", path, query=query)).body["data"] == found
    total = (await caller.call("GET", path, query={"with_total_count": "true", "count": 1})).body
    assert (total["total_count"], len(total["data"])) == (2, 1)
