"""A list in PostgreSQL against the same list as Parquet: what `check` takes of each, in one process and in turns.

    python -m benchmarks.databases --url postgresql://USER@HOST/DATABASE [--rows 1000000] [--runs 5] [--out FILE]

It makes a table of its own there, and drops it. The time of the server counts on the clock, and is no time of ours.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

import audiencekit
from audiencekit.settings import load_settings
from benchmarks.benchmark import section_parser, tell
from benchmarks.sections import publish_section

BEGIN: Final = "<!-- databases: what follows is written by python -m benchmarks.databases -->"
END: Final = "<!-- databases: end -->"
TABLE: Final = "audiencekit_benchmark"
LEAST_RATE: Final = 0.5  # of that of Parquet


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds of one `check`: processor time of this process, and by the clock."""

    processor: float
    clock: float


def people(rows: int) -> pa.Table:
    """Invented people with an address and a phone number."""
    numbers = range(rows)
    emails = [f"person{number}@example.com" for number in numbers]
    return pa.table({"email": emails, "phone": [f"+4930{number + 20_000_000:08d}" for number in numbers]})


@contextmanager
def filled(url: str, table: pa.Table) -> Iterator[str]:
    """A query to a table with these rows, which is dropped in the end."""
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(TABLE, table, mode="replace")
        try:
            yield f"SELECT email, phone FROM {TABLE}"
        finally:
            cursor.execute(f"DROP TABLE {TABLE}")


def taken(source: Any, rows: int) -> Taken:
    """Measure one `check`."""
    with tempfile.TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        settings = load_settings({}, directory=Path(directory), state_dir=Path(directory))
        clock, processor = time.perf_counter(), time.process_time()
        plan = audiencekit.check(source, settings=settings)
        found = Taken(time.process_time() - processor, time.perf_counter() - clock)
    if plan.rows.read != rows:
        raise SystemExit("rows are missing: the figures would be of another list")
    return found


def as_table(
    rows: int, known: Sequence[Taken], measured: Sequence[Taken], names: tuple[str, str] = ("Parquet", "PostgreSQL")
) -> str:
    """A line a measure: rows a second of both, and their ratio, round by round."""
    lines = [f"| time | {names[0]}, rows/s | {names[1]}, rows/s | rate for rate (median, range) |", "|---|---|---|---|"]
    for name, field in (("processor", "processor"), ("clock", "clock")):
        first, second = ([getattr(one, field) for one in several] for several in (known, measured))
        ratios = sorted(before / after for before, after in zip(first, second, strict=True))
        rates = [rows / statistics.median(seconds) for seconds in (first, second)]
        told = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} – {ratios[-1]:.2f})"
        lines.append(f"| {name} | {rates[0]:,.0f} | {rates[1]:,.0f} | {told} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = section_parser("databases", "PostgreSQL against Parquet.", rows=1_000_000, runs=5)
    parser.add_argument("--url", required=True, help="a database in which a table may be made")
    given = parser.parse_args(arguments)
    table = people(given.rows)
    of_parquet, of_database = list[Taken](), list[Taken]()
    with tempfile.TemporaryDirectory() as directory, filled(given.url, table) as query:
        path = Path(directory) / "people.parquet"
        pq.write_table(table, path)
        taken(path, given.rows)  # what a process pays once
        for number in range(given.runs):
            tell(f"round {number + 1} of {given.runs}")
            of_parquet.append(taken(path, given.rows))
            of_database.append(taken(audiencekit.from_sql(given.url, query), given.rows))
    text = (
        f"`check` of {given.rows:,} people with email and phone, {given.runs} rounds in turns. Must reach: at least"
        f" {LEAST_RATE} of the rate of Parquet.\n\n{as_table(given.rows, of_parquet, of_database)}"
    )
    publish_section(given.out, text, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
