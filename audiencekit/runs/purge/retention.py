"""The setting `retention`: runs that have ended go at the start of the next one, once they are old enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from audiencekit.errors import AudienceBusy, AudiencekitError
from audiencekit.runs.purge.expired import find_runs
from audiencekit.runs.purge.purging import only_purge, receipted, remove_all
from audiencekit.runs.purge.receipt import PurgeReceipt

_MOST_SECONDS: Final = 1.0  # for all that goes at one start; the rest goes at the next


def let_expire(
    state_dir: Path,
    retention: timedelta | None,
    *,
    now: datetime,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """A line on what went, empty when nothing did. It fails no run: what stands in the way is in the line."""
    if retention is None:
        return ""
    until = clock() + _MOST_SECONDS
    try:
        return _purged(state_dir, PurgeReceipt.of(retention, now, "retention"), lambda: clock() > until)
    except AudienceBusy:
        return ""
    except AudiencekitError as error:
        return f"older runs were not purged: {error}; `audiencekit purge` says what to do"


def _purged(state_dir: Path, receipt: PurgeReceipt, is_over: Callable[[], bool]) -> str:
    with only_purge(state_dir):
        found = find_runs(state_dir, receipt.before, is_over=is_over)
        if not found.expired:
            return ""
        receipt.count(found)
        with receipted(state_dir, receipt) as failures:
            failures += remove_all(state_dir, receipt, found.expired, is_over)
    number = receipt.removed.total()
    return f"AUDIENCEKIT_RETENTION: {number:,} older run{'' if number == 1 else 's'} purged"
