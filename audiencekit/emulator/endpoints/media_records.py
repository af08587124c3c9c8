"""Images, animated GIFs and videos of a media library, and those with which an account may advertise."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any, Final

from audiencekit.emulator.authentication import base36
from audiencekit.emulator.records import Record
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
