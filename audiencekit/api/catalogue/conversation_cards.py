"""Image and video conversation cards (specification part 2, section 4.8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from audiencekit.api.catalogue.endpoint import Section
from audiencekit.api.catalogue.parameters import (
    ACCOUNT_ID,
    CARD_Q,
    COUNT,
    CURSOR,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
    hashtag,
    ids,
    in_path,
    text,
    url,
)
from audiencekit.api.catalogue.rules import CURSOR_OR_TOTAL, RequiredIf, RequiredUnless

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
_LIST_PARAMETERS: Final = (
    ACCOUNT_ID,
    ids("card_ids"),
    COUNT,
    CURSOR,
    CARD_Q,
    SORT_BY,
    WITH_DELETED,
    WITH_TOTAL_COUNT,
)
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

ENDPOINTS: Final = (
    _CONVERSATION_CARDS.get(
        "list_image_conversation_cards",
        "/12/accounts/{account_id}/cards/image_conversation",
        *_LIST_PARAMETERS,
        rules=(CURSOR_OR_TOTAL,),
        ambiguities=_ID_OR_KIND,
    ),
    _CONVERSATION_CARDS.get(
        "get_image_conversation_card",
        "/12/accounts/{account_id}/cards/image_conversation/{card_id}",
        ACCOUNT_ID,
        in_path("card_id"),
        WITH_DELETED,
    ),
    _CONVERSATION_CARDS.post(
        "create_image_conversation_card",
        "/12/accounts/{account_id}/cards/image_conversation",
        ACCOUNT_ID,
        *_WORDS,
        _UNLOCKED_WIDE,
        text("media_key", required=True, note=_IMAGE),
        rules=_RULES,
        ambiguities=_CREATED,
    ),
    _CONVERSATION_CARDS.put(
        "update_image_conversation_card",
        "/12/accounts/{account_id}/cards/image_conversation/{card_id}",
        ACCOUNT_ID,
        in_path("card_id"),
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
        rules=(CURSOR_OR_TOTAL,),
        ambiguities=_ID_OR_KIND,
    ),
    _CONVERSATION_CARDS.get(
        "get_video_conversation_card",
        "/12/accounts/{account_id}/cards/video_conversation/{card_id}",
        ACCOUNT_ID,
        in_path("card_id"),
        WITH_DELETED,
    ),
    _CONVERSATION_CARDS.post(
        "create_video_conversation_card",
        "/12/accounts/{account_id}/cards/video_conversation",
        ACCOUNT_ID,
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
        ACCOUNT_ID,
        in_path("card_id"),
        *_CHANGED_WORDS,
        _UNLOCKED,
        text("media_key", note=_VIDEO),
        text("poster_media_key"),
        text("unlocked_video_media_key"),
        ambiguities=_CHANGED,
    ),
    _CONVERSATION_CARDS.delete(
        "delete_video_conversation_card",
        "/12/accounts/{account_id}/cards/video_conversation/{card_id}",
        ACCOUNT_ID,
        in_path("card_id"),
    ),
)
