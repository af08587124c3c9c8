"""Draft tweets, scheduled tweets and tweets: the kinds, and how the first two are shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from audiencekit.emulator.paging import Listing
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.resources.resource import Resource
from audiencekit.emulator.times import format_time

MAX_NAME: Final = 80  # characters; specification part 2, section 8
DRAFT, PUBLISHED, SCHEDULED = "DRAFT", "PUBLISHED", "SCHEDULED"
ORIGINAL: Final = "original_tweet_id"  # the field of a tweet that was posted again
TWEET_TYPES: Final = (DRAFT, PUBLISHED, SCHEDULED)


def show_draft(record: Record) -> dict[str, Any]:
    """Return a draft tweet. One that was deleted says so, and is never seen again (public documentation)."""
    shown = record.document()
    deleted = {"status": "DELETED"} if shown.pop("deleted") else {}
    return {**shown, **deleted}


def show_scheduled(record: Record) -> dict[str, Any]:
    """Return a scheduled tweet, with its state."""
    shown = record.document()
    deleted = {"scheduled_status": "DELETED"} if shown.pop("deleted") else {}
    times = {name: _show_time(record.fields[name]) for name in ("scheduled_at", "completed_at")}
    return {**shown, **times, **deleted}


def _show_time(epoch: float | None) -> str | None:
    return None if epoch is None else format_time(epoch)


_PAGES: Final = Listing(takes_sort_by=False, takes_with_deleted=False, takes_with_total_count=False)
_SHORT_PAGES: Final = replace(_PAGES, default_count=100, max_count=200)

DRAFTS: Final = Resource(
    kind="draft_tweets", noun="Draft Tweet", id_name="draft_tweet_id", listing=_SHORT_PAGES, show=show_draft
)
SCHEDULED_TWEETS: Final = Resource(
    kind="scheduled_tweets",
    noun="Scheduled Tweet",
    id_name="scheduled_tweet_id",
    listing=_SHORT_PAGES,
    show=show_scheduled,
)
TWEETS: Final = Resource(kind="tweets", noun="Tweet", id_name="tweet_id", listing=_PAGES)
