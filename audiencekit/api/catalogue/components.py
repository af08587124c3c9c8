"""The contents of the components of a card (specification part 2, section 4.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from audiencekit.api.catalogue.parameters import Parameter, array, json_object, one_of, text, url
from audiencekit.api.catalogue.rules import RequiredIf, RequiredUnless, Rule
from audiencekit.servicewords import BUTTON_LABELS


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A JSON object: its members, those that have a shape of their own, and the rules between them."""

    members: tuple[Parameter, ...]
    inner: Mapping[str, Shape] = field(default_factory=lambda: MappingProxyType({}))
    rules: tuple[Rule, ...] = ()


_LABEL: Final = Shape(
    members=(
        one_of("type", "ENUM", required=True),
        one_of("value", *BUTTON_LABELS, required=True),
    )
)
_WEBSITE: Final = Shape(members=(one_of("type", "WEBSITE", required=True), url("url", required=True)))
_APP: Final = Shape(
    members=(
        one_of("type", "APP", required=True),
        text("country_code", required=True, pattern="[A-Z]{2}"),
        text("googleplay_app_id", min_length=1),
        text("googleplay_deep_link", min_length=1),
        text("ios_app_store_identifier", min_length=1),
        text("ios_deep_link", min_length=1),
    ),
    rules=(
        RequiredUnless("googleplay_app_id", "ios_app_store_identifier"),
        RequiredIf("googleplay_app_id", "googleplay_deep_link"),
        RequiredIf("ios_app_store_identifier", "ios_deep_link"),
    ),
)
_TYPE: Final = one_of("type", "BUTTON", "DETAILS", "MEDIA", "SWIPEABLE_MEDIA", required=True)

# By the type of the component, which each of them has as a member.
COMPONENTS: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "MEDIA": Shape(members=(_TYPE, text("media_key", required=True))),
        "SWIPEABLE_MEDIA": Shape(members=(_TYPE, array("media_keys", "text", required=True, min_items=2, max_items=6))),
        "DETAILS": Shape(
            members=(_TYPE, text("title", required=True), json_object("destination", required=True)),
            inner=MappingProxyType({"destination": _WEBSITE}),
        ),
        "BUTTON": Shape(
            members=(_TYPE, json_object("label", required=True), json_object("destination", required=True)),
            inner=MappingProxyType({"label": _LABEL, "destination": _APP}),
        ),
    }
)
