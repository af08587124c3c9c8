"""The receipt of an erasure that begins."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.keys import count_by_kind, fingerprint
from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.audiences.erasure.subjects import Asked
from audiencekit.machine.keys import DIGESTS, StateKey
from audiencekit.personal import HashedRecords
from audiencekit.preparation.times import format_time, pin_list_times
from audiencekit.settings import Settings

_FINGERPRINTS: Final = "erasures"


def begun(asked: Asked, records: HashedRecords, key: StateKey, settings: Settings, *, do_not_reach: bool) -> Receipt:
    """A receipt with all that is known before the first request."""
    now = datetime.now(UTC)
    until = format_time(pin_list_times(now, now).end) if do_not_reach else None
    return Receipt(
        erasure_id=ErasureStore.new_id(now.timestamp()),
        account_id=settings.require_account(),
        profile=settings.profile.name,
        started_at=format_time(now),
        asked=asked.rows,
        identifiers=dict(asked.identifiers),
        forms=count_by_kind(records),
        rejected=asked.reasons(),
        do_not_reach_until=until,
        fingerprint=fingerprint_of(records, key),
    )


def fingerprint_of(records: HashedRecords, key: StateKey) -> str:
    """By which an erasure of the same people is found again."""
    return fingerprint(records, key.derive(DIGESTS, _FINGERPRINTS))
