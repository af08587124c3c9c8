"""What the journal and the checks cost: the same upload with and without them, side by side.

    python -m benchmarks.overhead --rows 400000 --rounds 5

Without: no journal, no fingerprint of the records, no digest of a body, no comparison of the counts of an answer; all
else is the same, to an emulator that only counts users. The ways take turns in one process after a first, uncounted
upload. The least of the rounds counts: what else the machine does only ever adds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from unittest import mock

from audiencekit.delivery.journal import NoJournal
from benchmarks.contacts import write_contacts
from benchmarks.emulator_process import running_emulator
from benchmarks.live_upload import run_live
from benchmarks.machine import describe_machine, list_versions
from benchmarks.sdk_faults import OUT

BEGIN: Final = "<!-- overhead: what follows is written by python -m benchmarks.overhead -->"
END: Final = "<!-- overhead: end -->"
MOST_SHARE: Final = 0.05


class Absent(NoJournal):
    """The journal that is not there, as the execution of a run opens it."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """Of nothing."""

    async def __aenter__(self) -> Absent:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing to wait for."""


class NoFingerprint:
    """Takes every record for the same."""

    def __init__(self, *key: Any) -> None:
        """Without a digest."""

    def add(self, *records: Any) -> None:
        """Not looked at."""

    def finish(self) -> str:
        """Nothing."""
        return ""


@contextlib.contextmanager
def without_journal_and_checks() -> Iterator[None]:
    """Uploads inside keep nothing and compare nothing."""
    with (
        mock.patch("audiencekit.runs.execution.RunJournal", Absent),
        mock.patch("audiencekit.runs.execution.RecordsFingerprint", NoFingerprint),
        mock.patch("audiencekit.runs.execution._check_bodies", return_value=None),
        mock.patch("audiencekit.delivery.sending._checked", lambda counts, records: counts),
    ):
        yield


def measure(path: Path, environment: dict[str, str], *, rounds: int) -> dict[str, Any]:
    """Seconds of every round, with and without, by the clock and of processor time, and the ratios."""
    seconds: dict[str, list[tuple[float, float]]] = {"with": [], "without": []}
    with mock.patch.dict("os.environ", environment):
        _timed(path)
        for turn in range(rounds):
            # Who comes first changes, so that warmth favours nobody.
            for way in ("with", "without") if turn % 2 else ("without", "with"):
                with without_journal_and_checks() if way == "without" else contextlib.nullcontext():
                    seconds[way].append(_timed(path))
    least = {way: tuple(map(min, zip(*found, strict=True))) for way, found in seconds.items()}
    return {
        "wall_seconds": {way: [round(wall, 3) for wall, _ in found] for way, found in seconds.items()},
        "processor_seconds": {way: [round(used, 3) for _, used in found] for way, found in seconds.items()},
        "wall_share": round(least["with"][0] / least["without"][0] - 1, 4),
        "processor_share": round(least["with"][1] / least["without"][1] - 1, 4),
    }


def _timed(path: Path) -> tuple[float, float]:
    began, used = time.perf_counter(), _processor_seconds()
    run_live(path)
    return time.perf_counter() - began, _processor_seconds() - used


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def describe(found: dict[str, Any], rows: int) -> str:
    """The findings in Markdown."""
    machine, versions = describe_machine(), list_versions()
    where = f"{machine['cores']} cores, load {machine['load']} before, Python {versions['python']}"
    lines = [
        f"Measured {datetime.now(UTC):%Y-%m-%d}: {rows:,} rows with emails, {where}, code {versions['code']}.",
        "",
        "| | with (seconds) | without (seconds) | more, least against least |",
        "|---|---|---|---|",
    ]
    for name, share in (("wall", "wall_share"), ("processor", "processor_share")):
        ways = [" ".join(f"{each:.2f}" for each in found[f"{name}_seconds"][way]) for way in ("with", "without")]
        lines.append(f"| {name} | {' | '.join(ways)} | {found[share]:+.1%} |")
    return "\n".join(lines)


def write_section(path: Path, text: str, *, begin: str = BEGIN, end: str = END) -> None:
    """Replace what stands between the marks of `path`. Raises ValueError for a file without them."""
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise ValueError(f"{path.name} must have the lines {begin!r} and {end!r}")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the figures; 1 when the journal and the checks cost more than a twentieth of processor time."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description="What journal and checks cost.")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=OUT, help="the file that the section is written into")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="audiencekit-overhead-") as directory:
        path = Path(directory) / "emails.csv"
        write_contacts(path, rows=given.rows, columns=("email",))
        with running_emulator(sink=True) as environment:
            found = measure(path, environment, rounds=given.rounds)
    write_section(given.out, describe(found, given.rows))
    print(json.dumps(found))
    return 0 if found["processor_share"] <= MOST_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
