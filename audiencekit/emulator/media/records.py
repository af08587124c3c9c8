"""Images, animated GIFs and videos of a media library, and what of them an account may advertise with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from audiencekit.emulator.resources.records import Record

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
    """Return an asset that a media creative can be made of: a video for prerolls, else an image."""
    is_video = creative_type in PREROLL_TYPES
    fields = {
        "creative_type": creative_type,
        "video_id": video_key if is_video else None,
        "media_url": None if is_video else f"https://media.example/{record_id}.png",
    }
    return Record(record_id, now, now, fields)
