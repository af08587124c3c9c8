"""Cards of every kind together: `…/cards/all` (specification part 2, section 4.7), and by their address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audiencekit.emulator.calls import Call
from audiencekit.emulator.cards.kinds import CARDS
from audiencekit.emulator.conversation_cards.kinds import IMAGE_CONVERSATION, VIDEO_CONVERSATION
from audiencekit.emulator.envelope import Answer, RefusalError, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.resources.resource import Resource

_KINDS = (CARDS, IMAGE_CONVERSATION, VIDEO_CONVERSATION)


def list_by_uri(call: Call) -> Answer:
    """Answer `GET …/cards/all`: in the order asked for; the list has no pages."""
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
    """Return the card that a tweet takes with it. Raises RefusalError (404) when there is none."""
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
