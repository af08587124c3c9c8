"""`audiencekit prepare --requests` as it is: the records, the manifest and every body, on disk.

python -m benchmarks.live_prepare contacts.csv
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import audiencekit
from audiencekit.settings import load_settings
from benchmarks.trials import Figures, trial_arguments


def run_prepare(path: Path) -> Figures:
    """From the file to the finished directory, which lies beside the list and is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="audiencekit-benchmark-", dir=path.parent) as directory:
        settings = load_settings({}, directory=Path(directory), state_dir=Path(directory))
        started = time.perf_counter()
        plan = audiencekit.prepare(path, out=Path(directory) / "prepared", requests=True, settings=settings)
        seconds = time.perf_counter() - started
    if plan.refusals:
        raise SystemExit(f"the plan was refused: {plan.refusals[0]}")
    return {
        "rows": plan.rows.read,
        "requests": plan.requests,
        "body_bytes": plan.bytes,
        "seconds": seconds,
        "rows_per_second": plan.rows.read / seconds,
        "megabytes_per_second": plan.bytes / seconds / 1e6,
    }


if __name__ == "__main__":
    trial_arguments(run_prepare)
