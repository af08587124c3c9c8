"""Cards (specification part 2, section 4.7)."""

from __future__ import annotations

from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    CARD_Q,
    CURSOR,
    SHORT_COUNT,
    SORT_BY,
    WITH_DELETED,
    array,
    card_in_path,
    card_uris,
    flag,
    ids,
    some_of,
    text,
)
from audiencekit.api.catalogue.rules import ExactlyOneOf, NotTogether
from audiencekit.servicewords import CARD_TYPES

_BY_ID: Final = ("the word all stands where other paths have the id: an id all is refused",)

_CARDS: Final = Section("cards", part=2, section="4.7")

ENDPOINTS: Final = (
    _CARDS.get(
        "list_cards",
        "/12/accounts/{account_id}/cards",
        ACCOUNT_ID,
        some_of("card_types", *CARD_TYPES),
        ids("card_id"),
        card_uris(),
        SHORT_COUNT,
        CURSOR,
        flag("include_legacy_cards", default=False),
        CARD_Q,
        SORT_BY,
        WITH_DELETED,
        ambiguities=(
            "the filter by ids is written card_id, with up to 200 of them: a list under that name",
            "card_types is not said to be a list: it is sent as one",
        ),
        notes=("only cards that came through create_card",),
    ),
    _CARDS.get(
        "get_card",
        "/12/accounts/{account_id}/cards/{card_id}",
        ACCOUNT_ID,
        card_in_path(),
        WITH_DELETED,
        ambiguities=_BY_ID,
    ),
    _CARDS.get(
        "list_cards_by_uri", "/12/accounts/{account_id}/cards/all", ACCOUNT_ID, card_uris(required=True), WITH_DELETED
    ),
    _CARDS.get(
        "get_card_from_all", "/12/accounts/{account_id}/cards/all/{card_id}", ACCOUNT_ID, card_in_path(), WITH_DELETED
    ),
    _CARDS.post(
        "create_card",
        "/12/accounts/{account_id}/cards",
        ACCOUNT_ID,
        text("name", place="body", required=True, max_length=80, at=("top",)),
        array("components", "object", place="body", required="conditional", at=("top",), note="in this order"),
        array(
            "slides",
            "array",
            place="body",
            required="conditional",
            at=("top",),
            note="lists of components, in this order",
        ),
        rules=(ExactlyOneOf(("components", "slides")),),
        body="json_object",
    ),
    _CARDS.put(
        "update_card",
        "/12/accounts/{account_id}/cards/{card_id}",
        ACCOUNT_ID,
        card_in_path(),
        text("name", place="body", max_length=80, at=("top",)),
        array("components", "object", place="body", at=("top",), note="in this order"),
        array("slides", "array", place="body", at=("top",), note="lists of components, in this order"),
        rules=(NotTogether(("components", "slides")),),
        body="json_object",
        ambiguities=("whether components and slides may be sent together is not stated: one of them at most",),
        notes=("what is given takes the place of what is stored",),
    ),
    _CARDS.delete("delete_card", "/12/accounts/{account_id}/cards/{card_id}", ACCOUNT_ID, card_in_path()),
)
