"""Cards of all types together: `…/cards/all` (specification part 2, section 4.7), and by their address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from audiencekit.emulator.answers import Answer, RefusalError, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.cards import CARDS, change_card, create_card, delete_card, list_cards, show_card
from audiencekit.emulator.endpoints.conversation_cards import IMAGE_CONVERSATION, VIDEO_CONVERSATION
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.records import Record
from audiencekit.emulator.resources import Resource
from audiencekit.emulator.routing import READS, WRITES, Route

# --- Cards of every kind together: `…/cards/all` (specification part 2, section 4.7), and by their address ---

_KINDS = (CARDS, IMAGE_CONVERSATION, VIDEO_CONVERSATION)


def list_by_uri(call: Call) -> Answer:
    """Answer `GET …/cards/all`, in the requested order; the list has no pages."""
    parameters = Parameters(call)
    uris = parameters.required_words("card_uris")
    with_deleted = parameters.boolean("with_deleted")
    parameters.finish()
    shown = {card.fields["card_uri"]: kind.show(card) for kind, card in _cards(call, with_deleted=with_deleted)}
    return success(parameters.echo, [shown[uri] for uri in dict.fromkeys(uris) if uri in shown])


def show_any(call: Call) -> Answer:
    """Answer `GET …/cards/all/:card_id`."""
    parameters = Parameters(call)
    with_deleted = parameters.boolean("with_deleted")
    parameters.finish()
    for kind, card in _cards(call, with_deleted=with_deleted):
        if card.id == call.ids["card_id"]:
            return success(parameters.echo, kind.show(card))
    raise _not_found(call, call.ids["card_id"], "card_id")


def choose_card(call: Call, uri: str) -> dict[str, Any]:
    """Return the card of a tweet. Raises RefusalError (404) when there is none."""
    for kind, card in _cards(call, with_deleted=False):
        if card.fields["card_uri"] == uri:
            return kind.show(card)
    raise _not_found(call, uri, "card_uri")


def _cards(call: Call, *, with_deleted: bool) -> Iterator[tuple[Resource, Record]]:
    for kind in _KINDS:
        for card in kind.all(call).values():
            if with_deleted or not card.deleted:
                yield kind, card


def _not_found(call: Call, name: str, parameter: str) -> RefusalError:
    return call.refuse(404, "NOT_FOUND", f"Card {name} was not found for Account {call.account.id}", parameter)


# --- The endpoints of cards that are made of components, and of cards of every kind ---

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
