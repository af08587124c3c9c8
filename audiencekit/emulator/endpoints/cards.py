"""Cards of components, and cards of every kind together (specification part 2, sections 2 and 4.7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from audiencekit.emulator.answers import Answer, RefusalError, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import APP_CARDS_OF_VIDEO
from audiencekit.emulator.endpoints.conversation_cards import IMAGE_CONVERSATION, MAX_NAME, VIDEO_CONVERSATION, card_uri
from audiencekit.emulator.endpoints.media import IMAGE, VIDEO, choose_media
from audiencekit.emulator.paging import Listing, read_list_query
from audiencekit.emulator.parameters import Parameters, is_web_address, read_document
from audiencekit.emulator.resources import Record, Resource
from audiencekit.service_words import BUTTON_LABELS, CARD_TYPES

# --- Components of cards, and the type of card that they make (specification part 2, sections 2 and 4.7) ---
#
# A card leads to a website by its details, or to an app by its button; the specification knows no card that does
# neither or both. How many slides there may be it does not say: as many as one swipeable component has media.

MIN_SWIPEABLE, MAX_SWIPEABLE = 2, 6
_WEBSITE, _APP = "WEBSITE", "APP"
_COUNTRY: Final = re.compile("[A-Z]{2}", re.ASCII)
_STORES: Final = (("googleplay_app_id", "googleplay_deep_link"), ("ios_app_store_identifier", "ios_deep_link"))


@dataclass(frozen=True, slots=True)
class _Part:
    """The types of media and the destination of one component, or of all components of a card or a slide."""

    media_types: tuple[str, ...] = ()
    is_swipeable: bool = False
    destination: str = ""


def type_of_components(call: Call, components: list[Any]) -> str:
    """Return the type of a card of one slide. Raises RefusalError for an invalid combination of components."""
    face = _read_face(call, components, "components")
    if not face.is_swipeable:
        return f"{face.media_types[0]}_{face.destination}"
    kinds = set(face.media_types)
    sort = kinds.pop() if len(kinds) == 1 else "MIXED_MEDIA_SINGLE_DEST"
    return f"{sort}_CAROUSEL_{face.destination}"


def type_of_slides(call: Call, slides: list[Any]) -> str:
    """Return the type of a card whose slides lead to several websites. Raises RefusalError for invalid slides."""
    kinds: set[str] = set()
    for slide in slides:
        if not isinstance(slide, list) or not slide:
            raise _fault(call, "slides", "Expected an array of components for every slide")
        face = _read_face(call, slide, "slides")
        if face.is_swipeable or face.destination != _WEBSITE:
            raise _fault(call, "slides", "A slide has one MEDIA and one DETAILS")
        kinds.update(face.media_types)
    return f"{kinds.pop() if len(kinds) == 1 else 'MIXED_MEDIA'}_MULTI_DEST_CAROUSEL_WEBSITE"


def _read_face(call: Call, components: list[Any], place: str) -> _Part:
    parts = [_read_component(call, component) for component in components]
    media = [part for part in parts if part.media_types]
    destinations = [part.destination for part in parts if part.destination]
    if len(media) != 1 or len(destinations) != 1:
        raise _fault(call, place, "Expected one MEDIA or SWIPEABLE_MEDIA, and one DETAILS or BUTTON")
    return _Part(media[0].media_types, media[0].is_swipeable, destinations[0])


def _read_component(call: Call, component: object) -> _Part:
    members = Members(call, component, "component")
    part = _READERS[members.choice("type", tuple(_READERS))](members)
    members.finish()
    return part


def _read_media(members: Members) -> _Part:
    return _Part((_media_type(members, members.text("media_key"), "media_key"),))


def _read_swipeable(members: Members) -> _Part:
    keys = members.array("media_keys", least=MIN_SWIPEABLE, most=MAX_SWIPEABLE)
    return _Part(tuple(_media_type(members, key, "media_keys") for key in keys), is_swipeable=True)


def _media_type(members: Members, key: object, parameter: str) -> str:
    if not isinstance(key, str):
        raise members.fault(parameter, f"Expected string for {parameter}")
    return str(choose_media(members.call, key, parameter, (IMAGE, VIDEO)).fields["media_type"])


def _read_details(members: Members) -> _Part:
    members.text("title")
    destination = members.object("destination")
    destination.choice("type", (_WEBSITE,))
    if not is_web_address(destination.text("url")):
        raise destination.fault("url", "Expected URL for url")
    destination.finish()
    return _Part(destination=_WEBSITE)


def _read_button(members: Members) -> _Part:
    label = members.object("label")
    label.choice("type", ("ENUM",))
    label.choice("value", BUTTON_LABELS)
    label.finish()
    _read_app(members.object("destination"))
    return _Part(destination=_APP)


def _read_app(destination: Members) -> None:
    destination.choice("type", (_APP,))
    if not _COUNTRY.fullmatch(destination.text("country_code")):
        raise destination.fault("country_code", "Expected two capital letters for country_code")
    if not any(destination.has(app) for app, _ in _STORES):
        message = "One of googleplay_app_id and ios_app_store_identifier is required"
        raise destination.fault("googleplay_app_id", message, "MISSING_PARAMETER")
    for app, link in _STORES:
        if destination.has(app):
            destination.text(app)
        elif destination.has(link):
            raise destination.fault(link, f"{link} needs {app}", "INCLUSIVE_PARAMETERS")
        if destination.has(link):
            destination.text(link)
    destination.finish()


_READERS: Final[Mapping[str, Callable[[Members], _Part]]] = {
    "MEDIA": _read_media,
    "SWIPEABLE_MEDIA": _read_swipeable,
    "DETAILS": _read_details,
    "BUTTON": _read_button,
}


def _fault(call: Call, parameter: str, message: str) -> RefusalError:
    return call.refuse(400, "INVALID_PARAMETER", message, parameter)


# --- Cards: listed, made, changed (specification part 2, section 4.7) ---
#
# One card is answered as an array of one, except when it is made (public documentation). `include_legacy_cards` is
# taken and adds nothing: there are no cards here from before there were components.

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
    """Answer `PUT …/cards/:card_id`: given fields replace the old ones; slides also replace components."""
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
    """Return the components or slides of a body and the resulting card type; nothing without either."""
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


# --- Cards that are made of components: the kind, and how one is shown (specification part 2, sections 2 and 4.7) ---


def _card_fields(record: Record) -> dict[str, Any]:
    """Return a card with its components or its slides."""
    return {name: value for name, value in record.document().items() if value is not None}


CARDS: Final = Resource(
    kind="cards",
    noun="Card",
    id_name="card_id",
    listing=Listing(
        sortable=("name", "created_at", "updated_at", "deleted"),
        default_count=100,
        max_count=200,
        takes_with_total_count=False,
    ),
    show=_card_fields,
)


# --- Members of JSON objects, read one at a time ---


class Members:
    """The members of one object of a body; `place` says which. Every fault raises RefusalError (400)."""

    def __init__(self, call: Call, given: object, place: str) -> None:
        self.call, self._place = call, place
        if not isinstance(given, dict):
            raise self.fault(place, f"Expected object for {place}")
        self._unread: dict[str, Any] = dict(given)

    def fault(self, name: str, message: str, code: str = "INVALID_PARAMETER") -> RefusalError:
        """Return the refusal of one member."""
        return self.call.refuse(400, code, message, name)

    def has(self, name: str) -> bool:
        """Whether there is a member that was not read yet."""
        return name in self._unread

    def take(self, name: str) -> Any:
        """Return a required member of any type."""
        if name not in self._unread:
            raise self.fault(name, f'"{name}" is a required parameter', "MISSING_PARAMETER")
        return self._unread.pop(name)

    def text(self, name: str, *, longest: int | None = None) -> str:
        """Return a text of 1 to `longest` characters."""
        given = self.take(name)
        if not isinstance(given, str) or not given or (longest is not None and len(given) > longest):
            raise self.fault(name, f"Expected string{f' of 1 to {longest} characters' if longest else ''} for {name}")
        return given

    def choice(self, name: str, choices: Collection[str]) -> str:
        """Return one of several words."""
        given = self.take(name)
        if not isinstance(given, str) or given not in choices:
            raise self.fault(name, f"Expected one of {', '.join(choices)} for {name}")
        return given

    def array(self, name: str, *, least: int = 1, most: int | None = None) -> list[Any]:
        """Return an array of `least` to `most` elements."""
        given = self.take(name)
        if not isinstance(given, list) or len(given) < least or (most is not None and len(given) > most):
            bounds = f"{least} to {most}" if most else f"at least {least}"
            raise self.fault(name, f"Expected array of {bounds} elements for {name}")
        return given

    def object(self, name: str) -> Members:
        """Return an object inside of this one."""
        return Members(self.call, self.take(name), name)

    def finish(self) -> None:
        """Refuse members that were not read; profile `x` ignores them: its clients send cards back as received."""
        if self.call.options.profile == "x":
            return
        for name in self._unread:
            raise self.fault(self._place, f'"{name}" is not a member of {self._place}')


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
