"""One upload to the emulator that the environment names, with no limiter.

python -m benchmarks.live_upload emails.csv
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from audiencekit.delivery.limiter import Unlimited
from audiencekit.pipeline import upload_async
from audiencekit.process.programs import own_environment
from audiencekit.settings import load_settings
from benchmarks.emulator_process import AUDIENCE
from benchmarks.trials import Figures, trial_arguments


class Stopwatch:
    """Progress that notes when the last of the source was read and when the last request was confirmed."""

    def __init__(self) -> None:
        self.started = self.read = self.sent = time.perf_counter()

    def tell(self, message: str) -> None:
        """Not a matter of time."""

    def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
        """Look at the clock."""
        if stage == "sending":
            self.sent = time.perf_counter()
        else:
            self.read = time.perf_counter()


def run_live(path: Path | str) -> Figures:
    """From the file to the report of a complete run. Sending is everything after the last row: plan, pack, wire."""
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        settings = load_settings(own_environment(), directory=Path(directory), state_dir=Path(directory))
        upload = upload_async(
            path, audience=os.environ[AUDIENCE], settings=settings, progress=watch, limiter=Unlimited()
        )
        report = asyncio.run(upload)
    whole, sending = time.perf_counter() - watch.started, watch.sent - watch.read
    return {
        "rows": report.rows.read,
        "records": report.rows.sent,
        "requests": report.requests_confirmed,
        "body_bytes": report.bytes,
        "seconds": whole,
        "reading_seconds": watch.read - watch.started,
        "sending_seconds": sending,
        "rows_per_second": report.rows.read / whole,
        "requests_per_second": report.requests_confirmed / whole,
        "megabytes_per_second": report.bytes / whole / 1e6,
        "sending_requests_per_second": report.requests_confirmed / sending,
        "sending_megabytes_per_second": report.bytes / sending / 1e6,
    }


if __name__ == "__main__":
    trial_arguments(run_live)
