"""Cards of every kind together, over the wire."""

from __future__ import annotations

from typing import Any

from tests.emulator.endpoints.conversation_cards_builder import make_image_card
from tests.emulator.endpoints.media_builder import refused
from tests.emulator.endpoints.test_cards import make_card


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


async def test_addresses_must_be_given(caller: Any) -> None:
    """At most two hundred of them, and no list parameters, since there are no pages."""
    path = caller.account + "/cards/all"
    assert await refused(caller, "GET", path) == (400, "MISSING_PARAMETER", "card_uris")
    for query, parameter in (
        ({"card_uris": ",".join(["card://1"] * 201)}, "card_uris"),
        ({"card_uris": "card://1", "count": 5}, "count"),
        ({"card_uris": "card://1", "with_deleted": "maybe"}, "with_deleted"),
    ):
        assert await refused(caller, "GET", path, query) == (400, "INVALID_PARAMETER", parameter)
    assert (await caller.call("GET", path, query={"card_uris": ",".join(["card://1"] * 200)})).body["data"] == []
