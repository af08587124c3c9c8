"""Cards: listed, made, changed (specification part 2, section 4.7).

One card is answered as an array of one, except when it is made (public documentation). `include_legacy_cards` is taken
and adds nothing: there are no cards here from before there were components.
"""

from __future__ import annotations

from typing import Any

from audiencekit.emulator.accounts.limitedreleases import APP_CARDS_OF_VIDEO
from audiencekit.emulator.calls import Call
from audiencekit.emulator.cards.components import MAX_SWIPEABLE, MIN_SWIPEABLE, type_of_components, type_of_slides
from audiencekit.emulator.cards.kinds import CARDS, MAX_NAME, card_uri
from audiencekit.emulator.cards.members import Members
from audiencekit.emulator.documents import read_document
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.paging import read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.records import Record
from audiencekit.servicewords import CARD_TYPES

_FORMS = ("components", "slides")


def list_cards(call: Call) -> Answer:
    """Answer `GET …/cards`: by type, id, address, or the beginning of the name."""
    parameters = Parameters(call)
    query = read_list_query(parameters, CARDS.listing)
    prefix = (parameters.text("q", longest=MAX_NAME) or "").casefold()
    filters = {
        "card_type": parameters.words("card_types", choices=CARD_TYPES),
        "id": parameters.words("card_id"),
        "card_uri": parameters.words("card_uris"),
    }
    parameters.boolean("include_legacy_cards")
    parameters.finish()

    def wanted(card: Record) -> bool:
        listed = all(given is None or card.value(attribute) in given for attribute, given in filters.items())
        return listed and card.fields["name"].casefold().startswith(prefix)

    page = query.page(parameters, list(CARDS.all(call).values()), wanted)
    return success(parameters.echo, [CARDS.show(card) for card in page.records], **page.members())


def create_card(call: Call) -> Answer:
    """Answer `POST …/cards`: a name, and components or slides."""
    members = Members(call, read_document(call), "body")
    name = members.text("name", longest=MAX_NAME)
    form = _read_form(members)
    if not form:
        raise members.fault("components", "One of components and slides is required", "MISSING_PARAMETER")
    members.finish()
    number = call.store.make_long_id(call.now)
    card = CARDS.make(call, {"name": name, **form, "card_uri": card_uri(number)}, number)
    return success(dict(call.ids), CARDS.show(card))


def change_card(call: Call) -> Answer:
    """Answer `PUT …/cards/:card_id`: what is given takes the place of what was there, slides that of components too."""
    members = Members(call, read_document(call), "body")
    changes: dict[str, Any] = {"name": members.text("name", longest=MAX_NAME)} if members.has("name") else {}
    form = _read_form(members)
    members.finish()
    card = CARDS.find(call, call.ids["card_id"])
    # Of the two forms a card has one: the other goes.
    card.change({**(dict.fromkeys(_FORMS) if form else {}), **changes, **form}, call.now)
    return success(dict(call.ids), _show_one(call, card))


def show_card(call: Call) -> Answer:
    """Answer `GET …/cards/:card_id`."""
    parameters = Parameters(call)
    with_deleted = parameters.boolean("with_deleted")
    parameters.finish()
    card = CARDS.find(call, call.ids["card_id"], with_deleted=with_deleted)
    return success(parameters.echo, _show_one(call, card))


def delete_card(call: Call) -> Answer:
    """Answer `DELETE …/cards/:card_id`."""
    parameters = Parameters(call)
    parameters.finish()
    card = CARDS.find(call, call.ids["card_id"])
    card.delete(call.now)
    return success(parameters.echo, [CARDS.show(card)])


def _show_one(call: Call, card: Record) -> dict[str, Any] | list[dict[str, Any]]:
    # The specification shows a list of one; the client of the public service reads the card itself.
    shown = CARDS.show(card)
    return shown if call.options.profile == "x" else [shown]


def _read_form(members: Members) -> dict[str, Any]:
    """Return the components or slides of a body with the card type that follows; nothing when it has neither."""
    if all(map(members.has, _FORMS)):
        raise members.fault("slides", "components and slides are exclusive parameters", "EXCLUSIVE_PARAMETERS")
    if members.has("components"):
        components = members.array("components")
        card_type = type_of_components(members.call, components)
        if card_type == "VIDEO_APP":
            members.call.require_feature(APP_CARDS_OF_VIDEO, "components")
        return {"components": components, "card_type": card_type}
    if members.has("slides"):
        slides = members.array("slides", least=MIN_SWIPEABLE, most=MAX_SWIPEABLE)
        return {"slides": slides, "card_type": type_of_slides(members.call, slides)}
    return {}
