"""A finished benchmark: what people read, and the same as JSON, which can be read again."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.machine import describe_machine, list_versions
from benchmarks.measures import known_measures
from benchmarks.mixes import CONTACTS as PLAIN_MIX, MIXES
from benchmarks.series import Series, Spread
from benchmarks.trials import ROOT, Contestant

CONTACTS: Final = "email,phone,country"
EMAILS: Final = "email"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One series with its ratios; `settings` are the options to run it again with.

    `left_out` are the contestants that could not take part, with the reason.
    """

    name: str
    settings: Mapping[str, Any]
    series: Series
    ratios: Mapping[str, Spread] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    measured_on: str = field(default_factory=_today)
    machine: Mapping[str, Any] = field(default_factory=describe_machine)
    versions: Mapping[str, str] = field(default_factory=list_versions)

    @classmethod
    def read(cls, path: Path) -> Benchmark:
        """Read a benchmark that `publish` wrote to `path`."""
        document = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            name=document["name"],
            settings=document["settings"],
            series=Series.from_json(document["runs"]),
            ratios={name: Spread.from_json(spread) for name, spread in document["ratios"].items()},
            left_out=document["left_out"],
            measured_on=document["measured_on"],
            machine=document["machine"],
            versions=document["versions"],
        )

    @property
    def command(self) -> str:
        """The command line that measures this again."""
        return " ".join(["python", "-m", f"benchmarks.{self.name}", *write_options(self.settings)])

    def to_json(self) -> dict[str, Any]:
        """name, command, measured_on, settings, machine, versions, left_out, runs, medians, ratios."""
        return {
            "name": self.name,
            "command": self.command,
            "measured_on": self.measured_on,
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "versions": dict(self.versions),
            "left_out": dict(self.left_out),
            "runs": self.series.to_json(),
            "medians": self.series.medians(),
            "ratios": {name: spread.to_json() for name, spread in self.ratios.items()},
        }

    def lines(self) -> Iterator[str]:
        """Medians of every measure a contestant, then the ratios, then who is missing."""
        for contestant, medians in self.series.medians().items():
            told = (f"{measure.write(medians[name])} {measure.unit}" for name, measure in known_measures(medians))
            yield f"{contestant}: {', '.join(told)}"
        for name, spread in self.ratios.items():
            yield f"{name}: {spread.median:.2f} (least {spread.least:.2f}, greatest {spread.greatest:.2f})"
        for name, reason in self.left_out.items():
            yield f"{name}: left out, {reason}"

    def publish(self, path: Path | None) -> None:
        """Print the lines, and write the JSON when there is a path; it is there as a whole or not at all."""
        for line in self.lines():
            print(line)
        if path is not None:
            part = path.with_name(f"{path.name}.part")
            part.write_text(json.dumps(self.to_json(), indent=2) + "\n", encoding="utf-8")
            part.replace(path)


def split_available(contestants: Sequence[Contestant]) -> tuple[list[Contestant], dict[str, str]]:
    """Those that can take part here, and of the others {name: reason}, which is told at once."""
    left_out = {one.name: reason for one in contestants if (reason := one.hindrance()) is not None}
    for name, reason in left_out.items():
        tell(f"{name} is left out: {reason}")
    return [one for one in contestants if one.name not in left_out], left_out


def benchmark_parser(name: str, description: str, *, rows: int | None, runs: int) -> argparse.ArgumentParser:
    """The options that every benchmark has; those about the list only where there are `rows`."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    if rows is not None:
        parser.add_argument("--rows", type=count, default=rows, help="rows of the contact list (default %(default)s)")
        parser.add_argument(
            "--seed", type=int, default=1, help="the contact list follows from it (default %(default)s)"
        )
        parser.add_argument("--lists", type=Path, metavar="DIR", help="where contact lists are kept for the next time")
    parser.add_argument("--runs", type=count, default=runs, help="rounds to take medians of (default %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured to FILE")
    return parser


def section_parser(name: str, description: str, *, rows: int, runs: int) -> argparse.ArgumentParser:
    """The options of a benchmark whose table is a section of a file."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument("--rows", type=count, default=rows, help="rows of the list (default %(default)s)")
    parser.add_argument("--runs", type=count, default=runs, help="rounds (default %(default)s)")
    parser.add_argument("--out", type=Path, help="a file with the marks; without it the table is printed")
    return parser


def add_mix(parser: argparse.ArgumentParser) -> None:
    """The option that says what the contact list is made of: see `contacts.MIXES`."""
    parser.add_argument(
        "--mix", choices=MIXES, default=PLAIN_MIX, help="what the list is made of (default %(default)s)"
    )


def settings_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return every option of the measurement, without those that name places of files."""
    return {name: value for name, value in vars(given).items() if name not in ("json", "lists", "corpora")}


def write_options(settings: Mapping[str, Any]) -> list[str]:
    """The options of a command line that give these settings."""
    written: list[str] = []
    for name, value in settings.items():
        option = name.replace("_", "-")
        written += (
            [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]
        )
    return written


@contextmanager
def contact_list(
    rows: int, seed: int, columns: str = CONTACTS, *, lists: Path | None = None, mix: str = PLAIN_MIX
) -> Iterator[Path]:
    """A contact list that is gone afterwards, or, in the directory `lists`, is kept and found again."""
    with TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        folder = (lists or Path(directory)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        of_mix = "" if mix == PLAIN_MIX else f"{mix}-"
        path = folder / f"{of_mix}{columns.replace(',', '-')}-{rows}-{seed}.csv"
        if not path.exists():
            _make_list(path, rows, seed, columns, mix)
        yield path


def _make_list(path: Path, rows: int, seed: int, columns: str, mix: str) -> None:
    """Another process makes it: the memory of a process stands in what the system says of those that it starts."""
    tell(f"making {rows:,} rows")
    part = path.with_name(f"{path.name}.part")
    options = ["--rows", str(rows), "--seed", str(seed), "--columns", columns, "--mix", mix]
    subprocess.run([sys.executable, "-m", "benchmarks.contacts", *options, str(part)], cwd=ROOT, check=True)
    part.replace(path)


def tell(text: str) -> None:
    """Progress, for people."""
    print(text, file=sys.stderr, flush=True)


def count(text: str) -> int:
    """A whole number above 0. Raises ArgumentTypeError."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("a whole number above 0")
    return int(text)
