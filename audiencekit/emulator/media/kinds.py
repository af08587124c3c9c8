"""Media, account media and media creatives: the kinds, and who is found by what."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.media.records import show_media
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.resources.resource import Resource

MEDIA: Final = Resource(
    kind="media_library",
    noun="Media",
    id_name="media_key",
    has_q=True,
    show=show_media,
)
ACCOUNT_MEDIA: Final = Resource(kind="account_media", noun="Account Media", id_name="account_media_id")
MEDIA_CREATIVES: Final = Resource(
    kind="media_creatives",
    noun="Media Creative",
    id_name="media_creative_id",
    filters=("line_item_ids",),
)


def choose_media(call: Call, media_key: str, parameter: str, media_types: Collection[str]) -> Record:
    """Return the media of the library under a key that `parameter` named.

    Raises RefusalError: 404 for an unknown key, 400 when the media is of none of `media_types`.
    """
    found = MEDIA.all(call).get(media_key)
    if found is None or found.deleted:
        message = f"Media {media_key} was not found for Account {call.account.id}"
        raise call.refuse(404, "NOT_FOUND", message, parameter)
    if found.fields["media_type"] not in media_types:
        raise call.refuse(400, "INVALID_MEDIA", f"Expected {' or '.join(media_types)} for {parameter}", parameter)
    return found
