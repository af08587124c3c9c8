"""Cards that are made of components, over the wire."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.cases import each_case
from tests.emulator.endpoints.conversation_cards_builder import make_image_card
from tests.emulator.endpoints.media_builder import media_keys, refused

NOT_FOUND = (404, "NOT_FOUND", "card_id")
JSON = {"Content-Type": "application/json"}
DETAILS = {"type": "DETAILS", "title": "A shop", "destination": {"type": "WEBSITE", "url": "https://shop.example/"}}
APP = {"type": "APP", "country_code": "DE", "googleplay_app_id": "example.shop", "googleplay_deep_link": "shop://in"}
BUTTON = {"type": "BUTTON", "label": {"type": "ENUM", "value": "INSTALL"}, "destination": APP}


async def _media(caller: Any, *types: str) -> list[str]:
    """Keys of the given types, each another."""
    keys = {kind: await media_keys(caller, kind) for kind in set(types)}
    return [keys[kind].pop(0) for kind in types]


async def _swipeable(caller: Any, *types: str) -> dict[str, Any]:
    return {"type": "SWIPEABLE_MEDIA", "media_keys": await _media(caller, *types)}


async def _one(caller: Any, media_type: str) -> dict[str, Any]:
    return {"type": "MEDIA", "media_key": (await _media(caller, media_type))[0]}


async def make_card(caller: Any, **more: Any) -> Any:
    """A card with one image that leads to a website, unless told otherwise."""
    if not {"components", "slides"} & more.keys():
        more["components"] = [await _one(caller, "IMAGE"), DETAILS]
    data = json.dumps({"name": "Spring", **more}).encode()
    return await caller.call("POST", caller.account + "/cards", data=data, headers=JSON)


async def _change(caller: Any, card_id: str, **body: Any) -> Any:
    return await caller.call("PUT", f"{caller.account}/cards/{card_id}", data=json.dumps(body).encode(), headers=JSON)


@each_case(
    "media, end, card_type",
    [
        (("IMAGE",), DETAILS, "IMAGE_WEBSITE"),
        (("VIDEO",), DETAILS, "VIDEO_WEBSITE"),
        (("IMAGE",), BUTTON, "IMAGE_APP"),
        (("VIDEO",), BUTTON, "VIDEO_APP"),
        (("IMAGE", "IMAGE"), DETAILS, "IMAGE_CAROUSEL_WEBSITE"),
        (("IMAGE",) * 6, BUTTON, "IMAGE_CAROUSEL_APP"),
        (("VIDEO", "VIDEO"), DETAILS, "VIDEO_CAROUSEL_WEBSITE"),
        (("VIDEO", "VIDEO"), BUTTON, "VIDEO_CAROUSEL_APP"),
        (("IMAGE", "VIDEO"), DETAILS, "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_WEBSITE"),
        (("VIDEO", "IMAGE", "IMAGE"), BUTTON, "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP"),
    ],
)
async def test_the_type_follows_from_the_components(
    caller: Any, media: tuple[str, ...], end: dict[str, Any], card_type: str
) -> None:
    """From the media, and from where they lead to."""
    first = await _one(caller, *media) if len(media) == 1 else await _swipeable(caller, *media)
    made = await make_card(caller, components=[first, end])
    assert (made.status, made.body["data"]["card_type"]) == (200, card_type)
    assert made.body["data"]["components"] == [first, end]


@each_case(
    "media, card_type",
    [
        (("IMAGE", "IMAGE"), "IMAGE_MULTI_DEST_CAROUSEL_WEBSITE"),
        (("VIDEO", "VIDEO"), "VIDEO_MULTI_DEST_CAROUSEL_WEBSITE"),
        (("IMAGE", "VIDEO", "IMAGE"), "MIXED_MEDIA_MULTI_DEST_CAROUSEL_WEBSITE"),
    ],
)
async def test_slides_lead_to_several_websites(caller: Any, media: tuple[str, ...], card_type: str) -> None:
    """Each has one medium and one address."""
    keys = await _media(caller, *media)
    slides = [[{"type": "MEDIA", "media_key": key}, DETAILS] for key in keys]
    made = await make_card(caller, slides=slides)
    assert (made.body["data"]["card_type"], made.body["data"]["slides"]) == (card_type, slides)
    assert "components" not in made.body["data"]


async def test_a_card_goes_through_its_life(caller: Any) -> None:
    """Made as an object; shown, changed and deleted as an array of one; not found the second time."""
    made = await make_card(caller)
    card = made.body["data"]
    assert made.body["request"] == {"params": {"account_id": caller.emulator.account_id}}
    assert card["card_uri"] == f"card://{card['id']}"
    assert int(card["id"]) > 2**53
    path = f"{caller.account}/cards/{card['id']}"
    shown = (await caller.call("GET", path)).body
    assert shown["data"] == [card]
    assert shown["request"]["params"] == {"account_id": caller.emulator.account_id, "card_id": card["id"]}
    await caller.move_clock(advance=1)
    renamed = (await _change(caller, card["id"], name="Summer")).body["data"][0]
    assert renamed == {**card, "name": "Summer", "updated_at": "2027-01-15T08:00:01Z"}
    assert (await caller.call("DELETE", path)).body["data"] == [{**renamed, "deleted": True}]
    assert await refused(caller, "DELETE", path) == NOT_FOUND
    assert await refused(caller, "GET", path) == NOT_FOUND
    assert await refused(caller, "PUT", path, body={"name": "Autumn"}) == NOT_FOUND
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).body["data"][0]["deleted"] is True


async def test_slides_take_the_place_of_components(caller: Any) -> None:
    """And the type follows; what is not given stays."""
    card = (await make_card(caller)).body["data"]
    slides = [[await _one(caller, "VIDEO"), DETAILS]] * 2
    changed = (await _change(caller, card["id"], slides=slides)).body["data"][0]
    assert changed["card_type"] == "VIDEO_MULTI_DEST_CAROUSEL_WEBSITE"
    assert changed["name"] == "Spring"
    assert "components" not in changed
    back = (await _change(caller, card["id"], components=card["components"])).body["data"][0]
    assert back == card


async def test_cards_are_listed_by_what_they_are(caller: Any) -> None:
    """By type, id, address, and the beginning of the name in any case; a hundred at a time."""
    image = (await make_card(caller, name="Spring")).body["data"]
    video = (await make_card(caller, name="sprint", components=[await _one(caller, "VIDEO"), BUTTON])).body["data"]
    for query, found in (
        ({}, [image, video]),
        ({"card_types": "VIDEO_APP,IMAGE_APP"}, [video]),
        ({"card_id": image["id"]}, [image]),
        ({"card_uris": f"{video['card_uri']},card://1"}, [video]),
        ({"q": "SPRIN"}, [image, video]),
        ({"q": "spring"}, [image]),
        ({"include_legacy_cards": "true", "sort_by": "name-desc"}, [video, image]),
    ):
        listed = (await caller.call("GET", caller.account + "/cards", query=query)).body
        assert listed["data"] == found, query
        assert listed["next_cursor"] is None
    for _ in range(99):
        await make_card(caller, components=image["components"])
    assert len((await caller.call("GET", caller.account + "/cards")).body["data"]) == 100
    rest = (await caller.call("GET", caller.account + "/cards", query={"count": 200})).body["data"]
    assert len(rest) == 101


async def test_the_body_of_a_card_is_read_strictly(caller: Any) -> None:
    """A name of at most 80 characters and one of the two forms; nothing else, and nothing is made of a bad one."""
    components = [await _one(caller, "IMAGE"), DETAILS]
    slides = [components, components]
    path, good = caller.account + "/cards", {"name": "Spring", "components": components}
    for body, code, parameter in (
        ([good], "INVALID_PARAMETER", "body"),
        ({"components": components}, "MISSING_PARAMETER", "name"),
        ({**good, "name": ""}, "INVALID_PARAMETER", "name"),
        ({**good, "name": 7}, "INVALID_PARAMETER", "name"),
        ({**good, "name": "n" * 81}, "INVALID_PARAMETER", "name"),
        ({"name": "Spring"}, "MISSING_PARAMETER", "components"),
        ({**good, "slides": slides}, "EXCLUSIVE_PARAMETERS", "slides"),
        ({**good, "colour": "red"}, "INVALID_PARAMETER", "body"),
        ({**good, "components": []}, "INVALID_PARAMETER", "components"),
        ({**good, "components": DETAILS}, "INVALID_PARAMETER", "components"),
        ({"name": "Spring", "slides": [components]}, "INVALID_PARAMETER", "slides"),
        ({"name": "Spring", "slides": [components] * 7}, "INVALID_PARAMETER", "slides"),
        ({"name": "Spring", "slides": components}, "INVALID_PARAMETER", "slides"),
        ({"name": "Spring", "slides": [[components[0], BUTTON]] * 2}, "INVALID_PARAMETER", "slides"),
        ({"name": "Spring", "slides": [[], []]}, "INVALID_PARAMETER", "slides"),
    ):
        assert await refused(caller, "POST", path, body=body) == (400, code, parameter), body
    assert (await make_card(caller, name="n" * 80)).status == 200
    query = {"name": "Spring"}
    assert await refused(caller, "POST", path, query) == (400, "INVALID_PARAMETER", None)
    assert (await caller.call("POST", path, data=b"{}", headers={"Content-Type": "text/plain"})).status == 415
    assert len((await caller.call("GET", path)).body["data"]) == 1


async def _spoilt_components(caller: Any) -> list[tuple[list[Any], str]]:
    """Components that make no card, and what is wrong with them."""
    image, swipeable = await _one(caller, "IMAGE"), await _swipeable(caller, "IMAGE", "IMAGE")
    (key,), (gif,) = await _media(caller, "IMAGE"), await _media(caller, "GIF")

    def spoilt(component: dict[str, Any], *path: str, value: Any = None) -> list[Any]:
        """`component` with another value at `path`, or without it, and a medium before it."""
        changed = holder = copy.deepcopy(component)
        for name in path[:-1]:
            holder = holder[name]
        holder.pop(path[-1], None)
        if value is not None:
            holder[path[-1]] = value
        return [image, changed]

    return [
        ([image], "components"),
        ([DETAILS], "components"),
        ([image, image, DETAILS], "components"),
        ([image, DETAILS, BUTTON], "components"),
        ([image, swipeable, DETAILS], "components"),
        ([image, "DETAILS"], "component"),
        ([{"type": "MEDIA", "media_key": gif}, DETAILS], "media_key"),
        ([{"type": "MEDIA", "media_key": 3}, DETAILS], "media_key"),
        ([{"type": "SWIPEABLE_MEDIA", "media_keys": [key]}, DETAILS], "media_keys"),
        ([{"type": "SWIPEABLE_MEDIA", "media_keys": [key] * 7}, DETAILS], "media_keys"),
        ([{"type": "SWIPEABLE_MEDIA", "media_keys": [key, 7]}, DETAILS], "media_keys"),
        ([{**image, "media_keys": [key]}, DETAILS], "component"),
        (spoilt(DETAILS, "type", value="WORDS"), "type"),
        (spoilt(DETAILS, "type"), "type"),
        (spoilt(DETAILS, "title"), "title"),
        (spoilt(DETAILS, "destination"), "destination"),
        (spoilt(DETAILS, "destination", value="shop"), "destination"),
        (spoilt(DETAILS, "destination", value=APP), "type"),
        (spoilt(DETAILS, "destination", "url"), "url"),
        (spoilt(DETAILS, "destination", "url", value="shop.example"), "url"),
        (spoilt(DETAILS, "destination", "country_code", value="DE"), "destination"),
        (spoilt(BUTTON, "label"), "label"),
        (spoilt(BUTTON, "label", "type", value="TEXT"), "type"),
        (spoilt(BUTTON, "label", "value", value="BUY"), "value"),
        (spoilt(BUTTON, "label", "colour", value="red"), "label"),
        (spoilt(BUTTON, "destination", value=DETAILS["destination"]), "type"),
        (spoilt(BUTTON, "destination", "country_code"), "country_code"),
        (spoilt(BUTTON, "destination", "country_code", value="de"), "country_code"),
        (spoilt(BUTTON, "destination", "country_code", value="DEU"), "country_code"),
        (spoilt(BUTTON, "destination", value={"type": "APP", "country_code": "DE"}), "googleplay_app_id"),
        (spoilt(BUTTON, "destination", "ios_deep_link", value="shop://in"), "ios_deep_link"),
        (spoilt(BUTTON, "destination", "googleplay_app_id", value=7), "googleplay_app_id"),
    ]


async def test_components_are_read_strictly(caller: Any) -> None:
    """Every wrong member is named; nothing is made."""
    path = caller.account + "/cards"
    for components, parameter in await _spoilt_components(caller):
        status, _, named = await refused(caller, "POST", path, body={"name": "Spring", "components": components})
        assert (status, named) == (400, parameter), components
    body = {"name": "Spring", "components": [{"type": "MEDIA", "media_key": "3_1"}, DETAILS]}
    assert await refused(caller, "POST", path, body=body) == (404, "NOT_FOUND", "media_key")
    assert (await caller.call("GET", path)).body["data"] == []


@each_case("value", ["BOOK", "CONNECT", "INSTALL", "OPEN", "ORDER", "PLAY", "SHOP"])
async def test_a_button_has_one_of_seven_labels(caller: Any, value: str) -> None:
    """And leads to an app of one shop or of both, with a link where there is an app."""
    label = {"type": "ENUM", "value": value}
    app = {"type": "APP", "country_code": "FR", "ios_app_store_identifier": "1234", "ios_deep_link": "shop://in"}
    for destination in (APP, app, {**APP, **app}):
        button = {"type": "BUTTON", "label": label, "destination": destination}
        assert (await make_card(caller, components=[await _one(caller, "IMAGE"), button])).status == 200


# --- Cards of every kind together, over the wire ---


async def test_cards_are_found_by_their_address(caller: Any) -> None:
    """In the order asked for, conversation cards too, each once; deleted ones with `with_deleted` alone."""
    plain = (await make_card(caller)).body["data"]
    conversation = (await make_image_card(caller)).body["data"]
    gone = (await make_card(caller)).body["data"]
    await caller.call("DELETE", f"{caller.account}/cards/{gone['id']}")
    path = caller.account + "/cards/all"
    uris = [conversation["card_uri"], gone["card_uri"], plain["card_uri"], plain["card_uri"], "card://1"]
    query = {"card_uris": ",".join(uris)}
    listed = (await caller.call("GET", path, query=query)).body
    assert listed["data"] == [conversation, plain]
    assert "next_cursor" not in listed
    everything = (await caller.call("GET", path, query={**query, "with_deleted": "true"})).body["data"]
    assert [card["id"] for card in everything] == [conversation["id"], gone["id"], plain["id"]]


async def test_a_card_of_any_kind_is_shown(caller: Any) -> None:
    """By its id, which is another word for a conversation card than its address has."""
    for card in ((await make_card(caller)).body["data"], (await make_image_card(caller)).body["data"]):
        path = f"{caller.account}/cards/all/{card['id']}"
        assert (await caller.call("GET", path)).body["data"] == card
        kind = "cards/image_conversation" if card["card_type"] == "IMAGE_CONVERSATION" else "cards"
        await caller.call("DELETE", f"{caller.account}/{kind}/{card['id']}")
        assert await refused(caller, "GET", path) == (404, "NOT_FOUND", "card_id")
        shown = await caller.call("GET", path, query={"with_deleted": "true"})
        assert shown.body["data"]["deleted"] is True
