"""All that `audiencekit upload` does before the wire: read, judge, plan, seal, pack. Nothing is written or sent.

python -m benchmarks.dry_upload contacts.csv
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from audiencekit.destinations.requests.packing import pack_requests
from audiencekit.planning.options import read_keywords
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_run
from audiencekit.profile import SPEC
from audiencekit.records.tally import Tally
from benchmarks.trials import Figures, trial_arguments


def run_dry(path: Path) -> Figures:
    """From the file to finished bodies, the sealed spool between them; bodies are counted and dropped."""
    started = time.perf_counter()
    with ExitStack() as stack:
        terms = PlanTerms.pinned(read_keywords({}, SPEC), SPEC, now=datetime.now(UTC))
        planned = plan_run(path, terms, PlanResources(stack=stack))
        read = time.perf_counter()
        bodies = [request.body_bytes for request in pack_requests(planned.requests, planned.users_of, planned.form)]
        fill_ratio = planned.fill_ratio()
    ended = time.perf_counter()
    if planned.refusals:
        raise SystemExit(f"the plan was refused: {planned.refusals[0]}")
    rows, seconds = planned.tally.rows_read, ended - started
    figures = {
        "rows": rows,
        "records": planned.records,
        "requests": len(bodies),
        "body_bytes": sum(bodies),
        "seconds": seconds,
        "started": started,
        "ended": ended,
        "reading_seconds": read - started,
        "packing_seconds": ended - read,
        "rows_per_second": rows / seconds,
        "megabytes_per_second": sum(bodies) / seconds / 1e6,
        "packing_megabytes_per_second": sum(bodies) / (ended - read) / 1e6,
        "decided_in_bulk": share_in_bulk(planned.tally),
    }
    return figures if fill_ratio is None else {**figures, "fill_ratio": fill_ratio}


def share_in_bulk(*tallies: Tally) -> float:
    """Of all values that are present, those that were decided in bulk and not one by one."""
    columns = [column for tally in tallies for column in tally.columns.values()]
    return 1 - sum(column.by_definition for column in columns) / sum(column.present for column in columns)


if __name__ == "__main__":
    trial_arguments(run_dry)
