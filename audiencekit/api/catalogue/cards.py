"""Cards: components, cards by them, and those for conversations (specification part 2, sections 4.7 and 4.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    CARD_Q,
    COUNT,
    CURSOR,
    SHORT_COUNT,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    Parameter,
    array,
    card_in_path,
    card_uris,
    flag,
    hashtag,
    ids,
    json_object,
    one_of,
    some_of,
    text,
    url,
)
from audiencekit.api.catalogue.rules import ExactlyOneOf, NotTogether, RequiredIf, RequiredUnless, Rule
from audiencekit.service_words import BUTTON_LABELS, CARD_TYPES

_BY_ID: Final = ("the word all stands where other paths have the id: an id all is refused",)

_CARDS: Final = Section("cards", part=2, section="4.7")

CARDS: Final = (
    _CARDS.get(
        "list_cards",
        "/12/accounts/{account_id}/cards",
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
        "get_card", "/12/accounts/{account_id}/cards/{card_id}", card_in_path(), WITH_DELETED, ambiguities=_BY_ID
    ),
    _CARDS.get("list_cards_by_uri", "/12/accounts/{account_id}/cards/all", card_uris(required=True), WITH_DELETED),
    _CARDS.get("get_card_from_all", "/12/accounts/{account_id}/cards/all/{card_id}", card_in_path(), WITH_DELETED),
    _CARDS.post(
        "create_card",
        "/12/accounts/{account_id}/cards",
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
        card_in_path(),
        text("name", place="body", max_length=80, at=("top",)),
        array("components", "object", place="body", at=("top",), note="in this order"),
        array("slides", "array", place="body", at=("top",), note="lists of components, in this order"),
        rules=(NotTogether(("components", "slides")),),
        body="json_object",
        ambiguities=("whether components and slides may be sent together is not stated: one of them at most",),
        notes=("what is given takes the place of what is stored",),
    ),
    _CARDS.delete("delete_card", "/12/accounts/{account_id}/cards/{card_id}", card_in_path()),
)


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


_CTA_LENGTH: Final = 20
_THANKS_LENGTH: Final = 23
_TEXT_OF_HASHTAG: Final = "of the tweet of the user who chooses the hashtag"
_IMAGE: Final = "of an image in the media library, 800 pixels wide or more, aspect ratio 1.91:1"
_VIDEO: Final = "of a video in the media library, aspect ratio 16:9"
_UNLOCKED: Final = text("unlocked_image_media_key", note="never read back: the answer has an address instead")
_UNLOCKED_WIDE: Final = text(
    "unlocked_image_media_key", note="aspect ratio 5:2; never read back: the answer has an address instead"
)

_WORDS: Final = (
    text("name", required=True, max_length=80),
    hashtag("first_cta", required=True, max_length=_CTA_LENGTH),
    text("first_cta_tweet", required=True, note=_TEXT_OF_HASHTAG),
    hashtag("second_cta", required="conditional", max_length=_CTA_LENGTH),
    text("second_cta_tweet", required="conditional"),
    hashtag("third_cta", max_length=_CTA_LENGTH),
    text("third_cta_tweet", required="conditional"),
    hashtag("fourth_cta", max_length=_CTA_LENGTH),
    text("fourth_cta_tweet", required="conditional"),
    text("thank_you_text", required=True, max_length=_THANKS_LENGTH),
    url("thank_you_url"),
    text("title", required="conditional", max_length=_THANKS_LENGTH),
)
_CHANGED_WORDS: Final = tuple(replace(parameter, required=False) for parameter in _WORDS)
_RULES: Final = (
    RequiredUnless("second_cta", "title"),
    RequiredUnless("title", "second_cta"),
    RequiredIf("second_cta_tweet", "second_cta"),
    RequiredIf("third_cta_tweet", "third_cta"),
    RequiredIf("fourth_cta_tweet", "fourth_cta"),
)
_LIST_PARAMETERS: Final = (ids("card_ids"), COUNT, CURSOR, CARD_Q, SORT_BY, WITH_DELETED, WITH_TOTAL_COUNT)
_CREATED: Final = (
    "the length of the name is not stated here: that of other cards",
    "whether a hashtag is written with its # is not stated: with or without, and the # is not counted",
)
_CHANGED: Final = (
    *_CREATED,
    "whether the conditions of a new card hold for a change is not stated: the service decides",
)
_ID_OR_KIND: Final = ("the kind of card stands where other paths have the id of a card: no id is the name of a kind",)

_CONVERSATION_CARDS: Final = Section("conversation_cards", part=2, section="4.8")

CONVERSATION_CARDS: Final = (
    _CONVERSATION_CARDS.get(
        "list_image_conversation_cards",
        "/12/accounts/{account_id}/cards/image_conversation",
        *_LIST_PARAMETERS,
        ambiguities=_ID_OR_KIND,
    ),
    _CONVERSATION_CARDS.get(
        "get_image_conversation_card", "/12/accounts/{account_id}/cards/image_conversation/{card_id}", WITH_DELETED
    ),
    _CONVERSATION_CARDS.post(
        "create_image_conversation_card",
        "/12/accounts/{account_id}/cards/image_conversation",
        *_WORDS,
        _UNLOCKED_WIDE,
        text("media_key", required=True, note=_IMAGE),
        rules=_RULES,
        ambiguities=_CREATED,
    ),
    _CONVERSATION_CARDS.put(
        "update_image_conversation_card",
        "/12/accounts/{account_id}/cards/image_conversation/{card_id}",
        *_CHANGED_WORDS,
        _UNLOCKED_WIDE,
        text("media_key", note=_IMAGE),
        ambiguities=(
            *_CHANGED,
            "the list of parameters is cut off: no others are taken",
            "that the image card can be deleted is said, but the call is not shown: there is none here",
        ),
    ),
    _CONVERSATION_CARDS.get(
        "list_video_conversation_cards",
        "/12/accounts/{account_id}/cards/video_conversation",
        *_LIST_PARAMETERS,
        ambiguities=_ID_OR_KIND,
    ),
    _CONVERSATION_CARDS.get(
        "get_video_conversation_card", "/12/accounts/{account_id}/cards/video_conversation/{card_id}", WITH_DELETED
    ),
    _CONVERSATION_CARDS.post(
        "create_video_conversation_card",
        "/12/accounts/{account_id}/cards/video_conversation",
        *_WORDS,
        _UNLOCKED,
        text("media_key", required=True, note=_VIDEO),
        text("poster_media_key", default="first frame of the video"),
        text("unlocked_video_media_key"),
        rules=_RULES,
        ambiguities=_CREATED,
    ),
    _CONVERSATION_CARDS.put(
        "update_video_conversation_card",
        "/12/accounts/{account_id}/cards/video_conversation/{card_id}",
        *_CHANGED_WORDS,
        _UNLOCKED,
        text("media_key", note=_VIDEO),
        text("poster_media_key"),
        text("unlocked_video_media_key"),
        ambiguities=_CHANGED,
    ),
    _CONVERSATION_CARDS.delete(
        "delete_video_conversation_card", "/12/accounts/{account_id}/cards/video_conversation/{card_id}"
    ),
)
