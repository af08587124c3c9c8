"""A finished benchmark: what people read, and the same as JSON."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .machine import describe_machine, list_versions
from .series import Series, Spread
from .trials import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One series with its ratios; `settings` are the arguments that somebody needs to run it again."""

    name: str
    settings: Mapping[str, Any]
    series: Series
    ratios: Mapping[str, Spread]

    def to_json(self) -> dict[str, Any]:
        """name, measured_on, settings, machine, versions, runs, medians, ratios."""
        return {
            "name": self.name,
            "measured_on": datetime.now(UTC).date().isoformat(),
            "settings": dict(self.settings),
            "machine": describe_machine(),
            "versions": list_versions(),
            "runs": self.series.to_json(),
            "medians": self.series.medians(),
            "ratios": {name: spread.to_json() for name, spread in self.ratios.items()},
        }

    def lines(self, measures: Mapping[str, str]) -> Iterator[str]:
        """Medians of `measures` {measure: how it is written} a contestant, then the ratios."""
        for contestant, medians in self.series.medians().items():
            told = (form.format(medians[name]) for name, form in measures.items() if name in medians)
            yield f"{contestant}: {', '.join(told)}"
        for name, spread in self.ratios.items():
            yield f"{name}: {spread.median:.2f} (least {spread.least:.2f}, greatest {spread.greatest:.2f})"

    def publish(self, measures: Mapping[str, str], path: Path | None) -> None:
        """Print the lines, and write the JSON when there is a path."""
        for line in self.lines(measures):
            print(line)
        if path is not None:
            path.write_text(json.dumps(self.to_json(), indent=2) + "\n", encoding="utf-8")


def benchmark_parser(name: str, description: str, *, rows: int, runs: int) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument("--rows", type=_count, default=rows, help="rows of the contact list (default %(default)s)")
    parser.add_argument("--runs", type=_count, default=runs, help="rounds to take medians of (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the contact list follows from it (default %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything measured to FILE")
    return parser


@contextmanager
def contact_list(rows: int, seed: int, columns: str = "email,phone,country") -> Iterator[Path]:
    """A contact list that is gone afterwards.

    Another process makes it: the memory of a process stands in what the system says of those that it starts.
    """
    with TemporaryDirectory(prefix="audiencekit-benchmark-") as directory:
        path = Path(directory) / "contacts.csv"
        tell(f"making {rows:,} rows")
        options = ["--rows", str(rows), "--seed", str(seed), "--columns", columns]
        subprocess.run([sys.executable, "-m", "benchmarks.contacts", *options, str(path)], cwd=ROOT, check=True)
        yield path


def tell(text: str) -> None:
    """Progress, for people."""
    print(text, file=sys.stderr, flush=True)


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("a whole number above 0")
    return int(text)
