"""The cost of a list by the form of its file: processor time of `check` in one process, against plain CSV, in turns.

    python -m benchmarks.forms [--rows 300000] [--runs 3] [--only TEXT] [--out benchmarks/RESULTS.md]

The forms are those of `file_forms.py`, all of the same people.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import audiencekit
from audiencekit.settings import load_settings
from benchmarks.benchmark import count, tell
from benchmarks.file_forms import FORMS, PLAIN, Form, people
from benchmarks.sections import publish_section

ROWS: Final = 300_000
RUNS: Final = 3
MOST_TIMES: Final = 2
BEGIN: Final = "<!-- forms: what follows is written by python -m benchmarks.forms -->"
END: Final = "<!-- forms: end -->"


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of processor time for a form and for the plain file beside it, and their bytes."""

    form: str
    seconds: float
    plain_seconds: float
    size_times: float

    @property
    def times(self) -> float:
        """How many plain files it is worth."""
        return self.seconds / self.plain_seconds


def measure(forms: Sequence[Form], rows: int, runs: int) -> Iterator[Cost]:
    """The least of some rounds in turns, of each form, after one that nothing is measured in."""
    with TemporaryDirectory(prefix="audiencekit-benchmark-") as temporary:
        folder = Path(temporary)
        cells = people(rows)
        plain = PLAIN.write(folder, "plain", cells)
        _seconds(plain, {}, rows)
        for form in forms:
            path = form.write(folder, "form", cells)
            pairs = [(_seconds(plain, {}, rows), _seconds(path, form.options, rows)) for _ in range(runs)]
            plain_seconds, seconds = map(min, zip(*pairs, strict=True))
            yield Cost(form.name, seconds, plain_seconds, path.stat().st_size / plain.stat().st_size)
            tell(f"{form.name}: {seconds:.2f} s, plain {plain_seconds:.2f} s")
            path.unlink()


def _seconds(path: Path, options: Mapping[str, Any], rows: int) -> float:
    """Processor time of a `check` that reads so many rows. Raises ValueError where it reads others."""
    settings = load_settings({}, directory=path.parent, state_dir=path.parent)
    begin = time.process_time()
    plan = audiencekit.check(path, settings=settings, **options)
    seconds = time.process_time() - begin
    if plan.rows.read != rows:
        raise ValueError(f"{path.name} has {plan.rows.read} rows")
    return seconds


def as_table(costs: Sequence[Cost]) -> str:
    """A line a form."""
    lines = ["| form | times plain CSV | times its bytes |", "|---|---|---|"]
    for cost in costs:
        told = f"**{cost.times:.1f}**" if cost.times > MOST_TIMES else f"{cost.times:.1f}"
        lines.append(f"| {cost.form} | {told} | {cost.size_times:.1f} |")
    return "\n".join(lines)


def _section(rows: int, runs: int, forms: Sequence[Form]) -> str:
    costs = list(measure(forms, rows, runs))
    plain, slow = min(cost.plain_seconds for cost in costs), sum(cost.times > MOST_TIMES for cost in costs)
    return (
        f"{rows:,} rows of five columns, least of {runs} rounds in turns; plain CSV takes {plain:.2f} s. "
        f"Of {len(costs)} forms, {slow} take more than {MOST_TIMES} times as long:\n\n{as_table(costs)}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forms", description="The cost of each form of a file.")
    parser.add_argument("--rows", type=count, default=ROWS, help="of a file (default %(default)s)")
    parser.add_argument("--runs", type=count, default=RUNS, help="rounds of each form (default %(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT", help="the forms whose names hold it")
    parser.add_argument("--out", type=Path, help="the file that the table is written into")
    given = parser.parse_args(arguments)
    forms = [form for form in FORMS if given.only in form.name]
    if not forms:
        parser.error("no form has such a name")
    publish_section(given.out, _section(given.rows, given.runs, forms), begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
