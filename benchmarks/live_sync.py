"""One sync with the emulator that the environment names, with no limiter; its state directory outlives it.

python -m benchmarks.live_sync contacts.csv --all-anew
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path

from audiencekit.audiences.sync.sync import sync_async
from audiencekit.delivery.limiter import Unlimited
from audiencekit.process.programs import own_environment
from audiencekit.settings import load_settings
from audiencekit.snapshots import changes
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.keys import find_state_key
from benchmarks.emulator_process import AUDIENCE
from benchmarks.trials import Figures, trial_arguments


def run_sync(path: Path, *, all_anew: bool = False) -> Figures:
    """From the file to the new snapshot. With `all_anew` that is written as a whole, as once in some days."""
    if all_anew:
        vars(changes)["SNAPSHOT_WHOLE_DAYS"] = 0  # not an option: what is due is not for people to decide
    settings, audience = load_settings(own_environment()), os.environ[AUDIENCE]
    started = time.perf_counter()
    report = asyncio.run(sync_async(path, audience=audience, settings=settings, limiter=Unlimited(), replace=True))
    seconds = time.perf_counter() - started
    key = find_state_key(settings.state_dir, settings.key)
    store = SnapshotStore(settings.state_dir, settings.require_account(), audience, key)
    with contextlib.closing(store.open()) as snapshot:
        identifiers, stored_bytes = snapshot.facts.identifiers, snapshot.stored_bytes
    return {
        "rows": report.rows.read,
        "additions": report.changes["additions"],
        "removals": report.changes["removals"],
        "returned": report.changes["returned"],
        "requests": report.requests_confirmed,
        "body_bytes": report.bytes,
        "seconds": seconds,
        "rows_per_second": report.rows.read / seconds,
        "identifiers": identifiers,
        "snapshot_bytes_per_identifier": stored_bytes / identifiers,
    }


if __name__ == "__main__":
    trial_arguments(run_sync, all_anew="write the snapshot as a whole")
