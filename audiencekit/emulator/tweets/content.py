"""The content of drafts, scheduled tweets and tweets (specification part 2, section 4.9).

A text may be as long as that of a long post (part 0, section 8). The specification does not say which rules a changed
draft or scheduled tweet must keep; here it keeps those of a new one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.cards.every_card import choose_card
from audiencekit.emulator.envelope import refuse_legacy
from audiencekit.emulator.media.kinds import choose_media
from audiencekit.emulator.media.records import GIF, IMAGE, VIDEO
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.people.permissions import refuse_for_want_of
from audiencekit.emulator.people.users import TWEET_COMPOSER
from audiencekit.emulator.tweets.kinds import MAX_NAME
from audiencekit.limits import MAX_TWEET_TEXT

# `d someone words`, also with dm and m: the earlier commands of the public service.
_MESSAGE: Final = re.compile(r"\s*(?:d|dm|m)\s+@?[A-Za-z0-9_]{1,15}\s+\S", re.IGNORECASE)
_MAX_OF_TYPE: Final = {IMAGE: 4, GIF: 1, VIDEO: 1}

Content = dict[str, Any]


def read_new(call: Call, parameters: Parameters) -> Content:
    """Return the content of a new one, and the user it is written for. Raises RefusalError for any other user."""
    user_id = str(parameters.required_long("as_user_id"))
    if user_id != call.store.origin.user_id:
        raise parameters.fault("as_user_id", "The user is no FULL promotable user of the account", "INVALID_USER_ID")
    unsaid: Content = {"text": "", "card_uri": None, "media_keys": [], "nullcast": True, "name": None}
    content = {**unsaid, **_read(call, parameters, empty=False), "user_id": user_id}
    check_content(parameters, content)
    return content


def check_command(content: Mapping[str, Any]) -> None:
    """Refuse (403) a text that is a command for a direct message, which is not tweeted (part 0, section 7)."""
    if _MESSAGE.match(content["text"]):
        raise refuse_legacy(403, 151, "Direct messages cannot be sent through a status update.")


def check_author(call: Call, content: Mapping[str, Any]) -> None:
    """Refuse (403) a tweet in the name of a user by another who may not compose it, or one that is not promoted-only:
    organic tweets are for the authenticated user."""
    if call.user_id == content["user_id"]:
        return
    if not content["nullcast"]:
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "Organic tweets are for their own user", "nullcast")
    if TWEET_COMPOSER not in call.store.users.of(call.user_id).permissions:
        raise refuse_for_want_of(TWEET_COMPOSER, call.ids)


def read_changes(call: Call, parameters: Parameters) -> Content:
    """Return the changes to the content; a field that is given empty is emptied."""
    return _read(call, parameters, empty=True)


def check_content(parameters: Parameters, content: Mapping[str, Any]) -> None:
    """Refuse what says nothing (400): without media there must be a text."""
    if content["media_keys"] or content["text"].strip():
        return
    if content["text"]:
        raise parameters.fault("text", "The text is blank", "TWEET_CANNOT_BE_BLANK")
    raise parameters.fault("text", '"text" is a required parameter', "MISSING_PARAMETER")


def read_name(parameters: Parameters, *, empty: bool) -> str | None:
    """Return a name of up to 80 characters."""
    return parameters.text("name", longest=MAX_NAME, empty=empty)


def _read(call: Call, parameters: Parameters, *, empty: bool) -> Content:
    content: Content = {}
    text, name = parameters.text("text", longest=MAX_TWEET_TEXT, empty=empty), read_name(parameters, empty=empty)
    card_uri, media_keys = parameters.text("card_uri", empty=empty), _read_media(call, parameters, empty=empty)
    if text is not None:
        content["text"] = text
    if name is not None:
        content["name"] = name or None
    if card_uri is not None:
        content["card_uri"] = choose_card(call, card_uri)["card_uri"] if card_uri else None
    if media_keys is not None:
        content["media_keys"] = media_keys
    if parameters.given("nullcast") is not None:
        content["nullcast"] = parameters.boolean("nullcast")
    return content


def _read_media(call: Call, parameters: Parameters, *, empty: bool) -> list[str] | None:
    if empty and parameters.given("media_keys") == "":
        parameters.text("media_keys", empty=True)
        return []
    media_keys = parameters.words("media_keys")
    if media_keys is None:
        return None
    chosen = [choose_media(call, key, "media_keys", tuple(_MAX_OF_TYPE)) for key in media_keys]
    counts = Counter(media.fields["media_type"] for media in chosen)
    if len(counts) > 1 or any(count > _MAX_OF_TYPE[media_type] for media_type, count in counts.items()):
        message = "Expected up to 4 images, or 1 GIF, or 1 video for media_keys"
        raise parameters.fault("media_keys", message, "INVALID_MEDIA")
    return media_keys
