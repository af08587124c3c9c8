"""The share of values that are decided in bulk in the contact lists that people publish.

python -m benchmarks.known_lists ../shared/corpora/csv/contacts
"""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from audiencekit.planning.options import Keywords, read_keywords
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_run
from audiencekit.profile import SPEC
from audiencekit.records.tally import Tally
from benchmarks.dry_upload import share_in_bulk
from benchmarks.trials import Figures, trial_arguments

COUNTRIES: Final = {"uk-500": "GB", "data-orginal": "GB", "ca-500": "CA"}  # of numbers without one, by the file's name


def run_lists(folder: Path) -> Figures:
    """Every list read as `check` reads it; all values count the same, whatever list they are from."""
    tallies = [_read(path) for path in sorted(folder.glob("*.csv"))]
    columns = [column for tally in tallies for column in tally.columns.values()]
    return {
        "lists": len(tallies),
        "rows": sum(tally.rows_read for tally in tallies),
        "values": sum(column.present for column in columns),
        "valid": sum(column.valid for column in columns),
        "decided_in_bulk": share_in_bulk(*tallies),
    }


def _read(path: Path) -> Tally:
    country = COUNTRIES.get(path.stem.partition("-")[2])
    keywords: Keywords = {"country": country} if country else {}
    with ExitStack() as stack:
        terms = PlanTerms.pinned(read_keywords(keywords, SPEC), SPEC, now=datetime.now(UTC))
        planned = plan_run(path, terms, PlanResources(stack=stack))
    return planned.tally


if __name__ == "__main__":
    trial_arguments(run_lists)
