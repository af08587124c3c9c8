"""All that `audiencekit upload` does before the wire: read, judge, plan, seal, pack. Nothing is written or sent.

python -m benchmarks.dry_upload contacts.csv
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from audiencekit.options import read_keywords
from audiencekit.planning import plan_run
from audiencekit.preparation.packing import pack_requests
from audiencekit.profile import SPEC
from audiencekit.reporting.progress import NoProgress

from .trials import Figures, trial_arguments


def run_dry(path: Path) -> Figures:
    """From the file to finished bodies, the sealed spool between them; bodies are counted and dropped."""
    started = time.perf_counter()
    with ExitStack() as stack:
        planned = plan_run(
            path,
            read_keywords({}, SPEC),
            profile=SPEC,
            now=datetime.now(UTC),
            progress=NoProgress(),
            stack=stack,
        )
        read = time.perf_counter()
        bodies = [request.body_bytes for request in pack_requests(planned.requests, planned.users_of, planned.times)]
    ended = time.perf_counter()
    if planned.refusals:
        raise SystemExit(f"the plan was refused: {planned.refusals[0]}")
    rows, seconds = planned.tally.rows_read, ended - started
    return {
        "rows": rows,
        "records": planned.records,
        "requests": len(bodies),
        "body_bytes": sum(bodies),
        "seconds": seconds,
        "reading_seconds": read - started,
        "packing_seconds": ended - read,
        "rows_per_second": rows / seconds,
        "megabytes_per_second": sum(bodies) / seconds / 1e6,
        "packing_megabytes_per_second": sum(bodies) / (ended - read) / 1e6,
    }


if __name__ == "__main__":
    trial_arguments(run_dry)
