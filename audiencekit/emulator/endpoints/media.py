"""Media libraries, account media and media creatives (specification parts 1, section 4.7, and 2, section 4.7)."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.authentication import base36
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.campaigns import LINE_ITEMS
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Record, Resource
from audiencekit.service_words import CREATIVE_TYPES

# --- Images, animated GIFs and videos of a media library, and what of them an account may advertise with ---

IMAGE, GIF, VIDEO = "IMAGE", "GIF", "VIDEO"
PREROLL_TYPES: Final = ("PREROLL", "VAST_PREROLL")

# The number before the underscore says what a key leads to: type, category, ending, and the size of what was not
# measured here.
_SORTS: Final = {
    "3": (IMAGE, "TWEET_IMAGE", "jpg", (1_200, 628)),
    "7": (VIDEO, "TWEET_VIDEO", "mp4", (1_280, 720)),
    "13": (VIDEO, "AMPLIFY_VIDEO", "mp4", (1_280, 720)),
    "16": (GIF, "TWEET_GIF", "mp4", (480, 270)),
}
_KEY: Final = re.compile(rf"({'|'.join(_SORTS)})_[0-9]{{1,19}}", re.ASCII)
_ALT_TEXTS: Final = {IMAGE: "A view of the harbour", GIF: "Waves of the harbour", VIDEO: "A day at the harbour"}
_VIDEO_MILLISECONDS: Final = 15_000
# Known of media, and shown elsewhere than in the library.
_UNSHOWN: Final = ("id", "alt_text", "width", "height", "duration_ms")


def is_media_key(text: str) -> bool:
    """Return whether `text` is a key of an image, a GIF or a video."""
    return _KEY.fullmatch(text) is not None


def make_media(
    media_key: str,
    now: float,
    *,
    size: tuple[int, int] | None = None,
    names: Mapping[str, str | None] | None = None,
) -> Record:
    """Return the media of `media_key`; `size` is width and height in pixels, `names` are `name` and `file_name`."""
    media_type, category, ending, usual = _SORTS[media_key.partition("_")[0]]
    width, height = size or usual
    fields = {
        "media_key": media_key,
        "media_type": media_type,
        "media_category": category,
        "media_status": "TRANSCODE_COMPLETED",
        "media_url": f"https://media.example/{media_key}.{ending}",
        "name": None,
        "file_name": None,
        **(names or {}),
        "alt_text": _ALT_TEXTS[media_type],
        "tweeted": False,
        "width": width,
        "height": height,
        "duration_ms": _VIDEO_MILLISECONDS if media_type == VIDEO else None,
    }
    return Record(media_key, now, now, fields)


def show_media(record: Record) -> dict[str, Any]:
    """Return an entry of the media library."""
    return {name: value for name, value in record.document().items() if name not in _UNSHOWN}


def make_account_media(record_id: str, creative_type: str, video_key: str, now: float) -> Record:
    """Return an asset for media creatives: a video for prerolls, otherwise an image."""
    is_video = creative_type in PREROLL_TYPES
    fields = {
        "creative_type": creative_type,
        "video_id": video_key if is_video else None,
        "media_url": None if is_video else f"https://media.example/{record_id}.png",
    }
    return Record(record_id, now, now, fields)


# --- Media that every account has from the start ---
#
# The specification does not show how media come into a library or become account media, and without any a client could
# make nothing of them. There is one of every sort and of every creative type, and more images than a tweet may have.

# The number before the underscore of the key, and width and height in pixels.
_STOCK: Final = (
    *[("3", (1_200, 628))] * 5,
    ("3", (1_000, 400)),
    ("3", (640, 335)),
    ("16", (480, 270)),
    *[("13", (1_280, 720))] * 2,
    ("13", (720, 720)),
)
_FIRST_SERIAL: Final = 10**18


def seed_media(account_id: str, now: float) -> dict[str, dict[str, Record]]:
    """Return the records of a new account, by kind and id. The same account has the same ones."""
    chance = random.Random(f"media of {account_id}")
    first = chance.randrange(_FIRST_SERIAL, 2 * _FIRST_SERIAL)
    library = [make_media(f"{sort}_{first + place}", now, size=size) for place, (sort, size) in enumerate(_STOCK)]
    video_key = library[-2].id
    serial = chance.randrange(36**4, 36**5 // 2)
    assets = [
        make_account_media(base36(serial + 37 * place), creative_type, video_key, now)
        for place, creative_type in enumerate(CREATIVE_TYPES)
    ]
    return {
        "media_library": {record.id: record for record in library},
        "account_media": {record.id: record for record in assets},
    }


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
