"""The time and the memory of `overlap` of two audiences under sync, which share half of their members.

    python -m benchmarks.overlaps [--rows 10000000] [--runs 3] [--out FILE]

The members are put in by two syncs. The overlap must be exact but for its rounding to tens, and the memory is compared
with that of a tenth of the people.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.benchmark import section_parser, tell
from benchmarks.emulator_process import AUDIENCE, running_emulator
from benchmarks.sections import publish_section
from benchmarks.series import Spread
from benchmarks.trials import EndedProcess, run_command

BEGIN: Final = "<!-- overlaps: what follows is written by python -m benchmarks.overlaps -->"
END: Final = "<!-- overlaps: end -->"
MOST_SECONDS: Final = 10.0


def write_people(path: Path, numbers: range) -> Path:
    """Write a list of invented people with an address."""
    with path.open("w", encoding="utf-8") as file:
        file.write("email\n")
        for number in numbers:
            file.write(f"person{number}@example.com\n")
    return path


def measure(rows: int, runs: int, directory: Path) -> list[EndedProcess]:
    """Return the overlaps of two audiences of so many people. Raises RuntimeError for a wrong number of people."""
    with running_emulator(sink=True) as service:
        environment = {**service, "AUDIENCEKIT_STATE_DIR": str(directory / "state")}
        created = run_command("audiences", "create", "Others", environment=environment)
        audiences = (service[AUDIENCE], created.document["id"])
        for audience, first in zip(audiences, (0, rows // 2), strict=True):
            tell(f"a sync of {rows:,} people")
            path = write_people(directory / "people.csv", range(first, first + rows))
            run_command("sync", str(path), "--audience", audience, "-q", environment=environment)
        words = [word for audience in audiences for word in ("--audience", audience)]
        found = [run_command("overlap", *words, environment=environment) for _ in range(runs)]
    shared = rows - rows // 2
    for one in found:
        if abs(one.document["in_all"] - shared) > one.document["floor"] // 2:
            raise RuntimeError(f"{one.document['in_all']:,} people were found in both, of {shared:,}")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = section_parser("overlaps", "The overlap of two audiences.", rows=10_000_000, runs=3)
    given = parser.parse_args(arguments)
    lines = [
        "| members of each | seconds, the median (range) | processor time, s | memory at the peak, MB |",
        "|---|---|---|---|",
    ]
    for rows in (given.rows // 10, given.rows):
        with tempfile.TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
            found = measure(rows, given.runs, Path(directory))
        seconds = Spread.of([one.seconds for one in found])
        processor = Spread.of([one.processor_seconds for one in found]).median
        peak = max(one.peak_bytes for one in found) / 1e6
        clock = f"{seconds.median:.1f} ({seconds.least:.1f} – {seconds.greatest:.1f})"
        lines.append(f"| {rows:,} | {clock} | {processor:.1f} | {peak:.0f} |")
    text = f"Half of the members are in both. Must reach: at most {MOST_SECONDS:.0f} s.\n\n" + "\n".join(lines)
    publish_section(given.out, text, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
