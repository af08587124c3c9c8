"""The media library, with the endpoints of the public service: the specification names the library and shows none.

Only keys are added, since nothing is uploaded here: the media of a key follows from the number it begins with.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.campaign_records import LINE_ITEMS
from audiencekit.emulator.endpoints.media_records import (
    GIF,
    IMAGE,
    PREROLL_TYPES,
    VIDEO,
    is_media_key,
    make_media,
    show_media,
)
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.records import Record
from audiencekit.emulator.resources import Resource
from audiencekit.emulator.routing import READS, WRITES, Route
from audiencekit.service_words import CREATIVE_TYPES

# --- The media library. Its endpoints are the public service's: the specification names the library and shows none
#
# Only keys are added, since nothing is uploaded here: what a key leads to follows from the number it begins with.

_NAMES = ("name", "file_name")


def list_media(call: Call) -> Answer:
    """Answer `GET …/media_library`, with `media_type` those of one type."""
    parameters = Parameters(call)
    media_type = parameters.choice("media_type", (IMAGE, GIF, VIDEO), "")
    return MEDIA.list_wanted(
        call, parameters, lambda record: not media_type or record.fields["media_type"] == media_type
    )


def add_media(call: Call) -> Answer:
    """Answer `POST …/media_library`: an existing key stays unchanged; a deleted one comes back."""
    parameters = Parameters(call)
    media_key = parameters.required_text("media_key")
    if not is_media_key(media_key):
        raise parameters.fault("media_key", "Expected a media key for media_key", "INVALID_MEDIA_ID")
    names = {name: parameters.text(name) for name in _NAMES}
    parameters.finish()
    record = MEDIA.all(call).get(media_key)
    if record is None or record.deleted:
        record = MEDIA.all(call)[media_key] = make_media(media_key, call.now, names=names)
    return success(parameters.echo, show_media(record))


def change_media(call: Call) -> Answer:
    """Answer `PUT …/media_library/:media_key`: an empty name is removed."""
    parameters = Parameters(call)
    names = {name: parameters.text(name, empty=True) for name in _NAMES}
    parameters.finish()
    record = MEDIA.find(call, call.ids["media_key"])
    record.change({name: text or None for name, text in names.items() if text is not None}, call.now)
    return success(parameters.echo, show_media(record))


# --- Account media: what media creatives are made of (specification part 2, section 4.7) ---


def list_account_media(call: Call) -> Answer:
    """Answer `GET …/account_media`, of some creative types if any are named."""
    parameters = Parameters(call)
    types = parameters.words("creative_types", choices=CREATIVE_TYPES)
    return ACCOUNT_MEDIA.list_wanted(
        call, parameters, lambda record: types is None or record.fields["creative_type"] in types
    )


# --- Media creatives: account media with a line item (specification part 1, section 4.7) ---


def list_creatives(call: Call) -> Answer:
    """Answer `GET …/media_creatives`, with `campaign_id` those of one campaign."""
    parameters = Parameters(call)
    campaign_id = parameters.text("campaign_id")
    line_items = LINE_ITEMS.all(call)

    def wanted(creative_line_item: str) -> bool:
        return campaign_id is None or line_items[creative_line_item].fields["campaign_id"] == campaign_id

    return MEDIA_CREATIVES.list_wanted(call, parameters, lambda record: wanted(record.fields["line_item_id"]))


def create_creative(call: Call) -> Answer:
    """Answer `POST …/media_creatives`. A preroll has its address elsewhere: `landing_url` is not stored for it."""
    parameters = Parameters(call)
    account_media_id = parameters.required_text("account_media_id")
    line_item_id = parameters.required_text("line_item_id")
    landing_url = parameters.web_address("landing_url")
    parameters.finish()
    asset, line_item = ACCOUNT_MEDIA.find(call, account_media_id), LINE_ITEMS.find(call, line_item_id)
    is_preroll = asset.fields["creative_type"] in PREROLL_TYPES
    if landing_url is None and not is_preroll and line_item.fields["objective"] == "WEBSITE_CLICKS":
        raise parameters.fault("landing_url", '"landing_url" is a required parameter', "MISSING_PARAMETER")
    fields = {
        "account_media_id": asset.id,
        "line_item_id": line_item.id,
        "landing_url": None if is_preroll else landing_url,
        "creative_type": asset.fields["creative_type"],
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
    }
    return success(parameters.echo, MEDIA_CREATIVES.make(call, fields).document())


# --- Media, account media and media creatives: the kinds, and who is found by what ---

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
    """Return the media of the library with the key in `parameter`.

    Raises RefusalError: 404 for an unknown key, 400 when the media is of none of `media_types`.
    """
    found = MEDIA.all(call).get(media_key)
    if found is None or found.deleted:
        message = f"Media {media_key} was not found for Account {call.account.id}"
        raise call.refuse(404, "NOT_FOUND", message, parameter)
    if found.fields["media_type"] not in media_types:
        raise call.refuse(400, "INVALID_MEDIA", f"Expected {' or '.join(media_types)} for {parameter}", parameter)
    return found


# --- The endpoints of the media library, of account media and of media creatives ---

_ACCOUNT: Final = "/accounts/:account_id"
_LIBRARY: Final = _ACCOUNT + "/media_library"
_ACCOUNT_MEDIA: Final = _ACCOUNT + "/account_media"
_CREATIVES: Final = _ACCOUNT + "/media_creatives"

ROUTES: Final = (
    Route("GET", _LIBRARY, list_media, READS),
    Route("POST", _LIBRARY, add_media, WRITES),
    Route("GET", _LIBRARY + "/:media_key", MEDIA.show_record, READS),
    Route("PUT", _LIBRARY + "/:media_key", change_media, WRITES),
    Route("DELETE", _LIBRARY + "/:media_key", MEDIA.delete_record, WRITES),
    Route("GET", _ACCOUNT_MEDIA, list_account_media, READS),
    Route("GET", _ACCOUNT_MEDIA + "/:account_media_id", ACCOUNT_MEDIA.show_record, READS),
    Route("DELETE", _ACCOUNT_MEDIA + "/:account_media_id", ACCOUNT_MEDIA.delete_record, WRITES),
    Route("GET", _CREATIVES, list_creatives, READS),
    Route("POST", _CREATIVES, create_creative, WRITES),
    Route("GET", _CREATIVES + "/:media_creative_id", MEDIA_CREATIVES.show_record, READS),
    Route("DELETE", _CREATIVES + "/:media_creative_id", MEDIA_CREATIVES.delete_record, WRITES),
)
