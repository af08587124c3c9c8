"""A sync with its state in a bucket, from an empty machine each time, against one with its state in a directory.

    python -m benchmarks.mirrored [--rows 10000000] [--runs 3] [--out FILE]

Each round syncs the other of two lists that differ in one person of a hundred, with both states in turns. The bucket
adds 20 ms to each call. Its server is a process beside the command, on the same cores.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.benchmark import section_parser, tell
from benchmarks.cloud_storage import BUCKET
from benchmarks.emulator_process import AUDIENCE, running_emulator
from benchmarks.overlaps import write_people
from benchmarks.sections import publish_section
from benchmarks.series import Spread
from benchmarks.trials import ROOT, run_command

BEGIN: Final = "<!-- mirrored: what follows is written by python -m benchmarks.mirrored -->"
END: Final = "<!-- mirrored: end -->"
MOST: Final = 1.3  # of the seconds of the directory
DELAY_SECONDS: Final = 0.02
_DIRECTORY: Final = "directory"
_BUCKET: Final = "bucket"


@contextmanager
def bucket() -> Iterator[dict[str, str]]:
    """The environment of a state in an empty bucket."""
    command = [sys.executable, "-m", "benchmarks.cloud_storage", str(DELAY_SECONDS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        environment: dict[str, str] = json.loads(server.stdout.readline())
        try:
            yield {**environment, "AUDIENCEKIT_STATE": f"gs://{BUCKET}/benchmark", "AUDIENCEKIT_KEY": "1f" * 32}
        finally:
            server.stdin.close()


def measure(rows: int, runs: int, directory: Path) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Return the seconds of the first sync of each state, and those of the later ones, round by round."""
    lists = [
        write_people(directory / f"{number}.csv", range(number * (rows // 100), number * (rows // 100) + rows))
        for number in range(2)
    ]
    with running_emulator(sink=True) as service, bucket() as stored:
        created = run_command("audiences", "create", "Others", environment=_in(directory, service))
        ways = {
            _DIRECTORY: (_in(directory, service), service[AUDIENCE]),
            _BUCKET: ({**service, **stored}, created.document["id"]),
        }
        run_command("state", "init", environment=ways[_BUCKET][0])
        first, later = dict[str, float](), {way: list[float]() for way in ways}
        for number in range(runs + 1):
            tell(f"round {number} of {runs}")
            for way, (environment, audience) in ways.items():
                words = ("sync", str(lists[number % 2]), "--audience", audience, "-q")
                seconds = run_command(*words, environment=environment).seconds
                if number:
                    later[way].append(seconds)
                else:
                    first[way] = seconds
    return first, later


def _in(directory: Path, service: Mapping[str, str]) -> dict[str, str]:
    return {**service, "AUDIENCEKIT_STATE_DIR": str(directory / "state")}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print the table or write it into a file that has the marks."""
    parser = section_parser("mirrored", "A state in a bucket against a directory.", rows=10_000_000, runs=3)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        first, later = measure(given.rows, given.runs, Path(directory))
    ratios = Spread.of([one / other for one, other in zip(later[_BUCKET], later[_DIRECTORY], strict=True)])
    lines = ["| sync | directory, s | bucket, s | bucket to directory (range) |", "|---|---|---|---|"]
    lines.append(
        f"| the first | {first[_DIRECTORY]:.1f} | {first[_BUCKET]:.1f} | {first[_BUCKET] / first[_DIRECTORY]:.2f} |"
    )
    medians = {way: Spread.of(seconds).median for way, seconds in later.items()}
    lines.append(
        f"| 1 % changed, median of {given.runs} | {medians[_DIRECTORY]:.1f} | {medians[_BUCKET]:.1f} |"
        f" {ratios.median:.2f} ({ratios.least:.2f} – {ratios.greatest:.2f}) |"
    )
    text = f"{given.rows:,} people. Must reach with 1 % changed: at most {MOST}.\n\n" + "\n".join(lines)
    publish_section(given.out, text, begin=BEGIN, end=END)


if __name__ == "__main__":
    main()
