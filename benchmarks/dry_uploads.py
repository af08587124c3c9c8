"""`dry_upload` in as many processes as there are cores, each on a core of its own with the whole list, all at once.

python -m benchmarks.dry_uploads contacts.csv
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.trials import Contestant, Figures, core_numbers, start, trial_arguments


def run_apart(path: Path) -> Figures:
    """The rows of all processes, and the seconds from the first one's start to the last one's end.

    Raises RuntimeError when one fails.
    """
    trial = Contestant(name="", module="benchmarks.dry_upload", is_ours=True, arguments=(str(path),))
    processes = [start(trial.command, cores=[core]) for core in core_numbers()]
    printed = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        raise RuntimeError("one of the processes failed")
    figures = [json.loads(each) for each in printed]
    rows = sum(each["rows"] for each in figures)
    # The clock is one for all processes of a machine.
    seconds = max(each["ended"] for each in figures) - min(each["started"] for each in figures)
    return {"rows": rows, "seconds": seconds, "rows_per_second": rows / seconds}


if __name__ == "__main__":
    trial_arguments(run_apart)
