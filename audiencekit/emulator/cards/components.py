"""Components of cards, and the type of card that they make (specification part 2, sections 2 and 4.7).

A card leads to a website by its details, or to an app by its button; the specification knows no card that does neither
or both. How many slides there may be it does not say: as many as one swipeable component has media.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.cards.members import Members
from audiencekit.emulator.envelope import RefusalError
from audiencekit.emulator.media.kinds import choose_media
from audiencekit.emulator.media.records import IMAGE, VIDEO
from audiencekit.emulator.parameters import is_web_address
from audiencekit.servicewords import BUTTON_LABELS

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
    """Return the type of a card of one slide. Raises RefusalError for components that make no card."""
    face = _read_face(call, components, "components")
    if not face.is_swipeable:
        return f"{face.media_types[0]}_{face.destination}"
    kinds = set(face.media_types)
    sort = kinds.pop() if len(kinds) == 1 else "MIXED_MEDIA_SINGLE_DEST"
    return f"{sort}_CAROUSEL_{face.destination}"


def type_of_slides(call: Call, slides: list[Any]) -> str:
    """The type of a card whose slides lead to several websites. Raises RefusalError for slides that make no card."""
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
