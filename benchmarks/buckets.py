"""A list in a bucket on this machine against the same file on its disk: what `check` takes of each, in turns.

    python -m benchmarks.buckets [--rows 4000000] [--runs 5] [--out FILE]

A server in a process of its own stands for S3. Its time counts on the clock, and is no time of ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyarrow.csv as pa_csv

from benchmarks.benchmark import section_parser, tell
from benchmarks.databases import Taken, as_table, people, taken
from benchmarks.sections import publish_section

BEGIN: Final = "<!-- buckets: what follows is written by python -m benchmarks.buckets -->"
END: Final = "<!-- buckets: end -->"
LEAST_RATE: Final = 0.8  # of that of the file
ADDRESS: Final = "s3://lists/people.csv"


@contextmanager
def served(directory: Path) -> Iterator[None]:
    """The files of `directory` as those of the bucket, for this process and those that it starts."""
    command = [sys.executable, "-m", "benchmarks.bucket_server", str(directory)]
    before = dict(os.environ)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        endpoint = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        os.environ |= {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1"}
        os.environ |= {"AWS_ACCESS_KEY_ID": "invented", "AWS_SECRET_ACCESS_KEY": "invented"}
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
            server.stdin.close()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    given = section_parser("buckets", "A bucket against a file.", rows=4_000_000, runs=5).parse_args(arguments)
    of_file, of_bucket = list[Taken](), list[Taken]()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "people.csv"
        pa_csv.write_csv(people(given.rows), path)
        with served(path.parent):
            for source in (path, ADDRESS):
                taken(source, given.rows)  # what a process pays once
            for number in range(given.runs):
                tell(f"round {number + 1} of {given.runs}")
                of_file.append(taken(path, given.rows))
                of_bucket.append(taken(ADDRESS, given.rows))
    table = as_table(given.rows, of_file, of_bucket, names=("file", "S3"))
    text = (
        f"`check` of {given.rows:,} people with email and phone as CSV, {given.runs} rounds in turns. Must reach: at"
        f" least {LEAST_RATE} of the rate of the file.\n\n{table}"
    )
    publish_section(given.out, text, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
