"""Image and video conversation cards: the kinds, and how one is shown (specification part 2, section 4.8).

Of a deleted card little is left (public documentation). What a card does not have is left out, not null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from audiencekit.emulator.paging import Listing
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.resources.resource import Resource

MAX_NAME: Final = 80  # characters; specification part 2, section 8, by which `q` is bounded too

_WRITE_ONLY: Final = "unlocked_image_media_key"
_OF_DELETED: Final = ("name", "id", "created_at", "updated_at", "deleted", "card_type")


def show_card(record: Record) -> dict[str, Any]:
    """Return a conversation card."""
    shown = {name: value for name, value in record.document().items() if value is not None and name != _WRITE_ONLY}
    return {name: shown[name] for name in _OF_DELETED} if record.deleted else shown


def _show_video_card(record: Record) -> dict[str, Any]:
    """Return a video card: without a poster the first frame is the picture."""
    shown = show_card(record)
    if not record.deleted:
        shown.setdefault("poster_media_url", f"https://media.example/{shown['media_key']}/first-frame.jpg")
    return shown


def _make_kind(segment: str, show: Callable[[Record], dict[str, Any]]) -> Resource:
    return Resource(
        kind=segment,
        noun="Card",
        id_name="card_id",
        listing=Listing(sortable=("name", "created_at", "updated_at", "deleted")),
        has_q=True,
        longest_q=MAX_NAME,
        show=show,
    )


# Named by the segment of the path; the type of a card is the same word in capitals.
IMAGE_CONVERSATION: Final = _make_kind("image_conversation", show_card)
VIDEO_CONVERSATION: Final = _make_kind("video_conversation", _show_video_card)
