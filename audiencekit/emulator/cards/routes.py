"""The endpoints of cards that are made of components, and of cards of every kind."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.cards.cards import change_card, create_card, delete_card, list_cards, show_card
from audiencekit.emulator.cards.every_card import list_by_uri, show_any
from audiencekit.emulator.rate_limits import READS, WRITES
from audiencekit.emulator.routing import Route

_CARDS: Final = "/accounts/:account_id/cards"

# `all` stands where an id could: the first route that fits is taken.
ROUTES: Final = (
    Route("GET", _CARDS, list_cards, READS),
    Route("POST", _CARDS, create_card, WRITES),
    Route("GET", _CARDS + "/all", list_by_uri, READS),
    Route("GET", _CARDS + "/all/:card_id", show_any, READS),
    Route("GET", _CARDS + "/:card_id", show_card, READS),
    Route("PUT", _CARDS + "/:card_id", change_card, WRITES),
    Route("DELETE", _CARDS + "/:card_id", delete_card, WRITES),
)
