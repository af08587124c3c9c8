"""The benchmarks that make the whole table, each for its sizes, with as many rounds as time allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.benchmark import CONTACTS, EMAILS, Benchmark, write_options
from benchmarks.machine import describe_machine, list_versions
from benchmarks.mixes import CONTACTS as PLAIN_MIX, EXPORTS, MIXES

MAIN_ROWS: Final = 2_000_000
LOOP_ROWS: Final = 200_000
SEED: Final = 1
CORPORA: Final = "corpora"

_MORE_ROUNDS: Final = 3  # times as many, of what scatters most: each contestant has other cores


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rows of the lists."""

    every: tuple[int, ...]

    @property
    def main(self) -> int:
        """Where most is compared: the largest of up to two million rows; the least when all are larger."""
        return max((rows for rows in self.every if rows <= MAIN_ROWS), default=min(self.every))

    @property
    def largest(self) -> int:
        """Where memory is looked at."""
        return max(self.every)


@dataclass(frozen=True, slots=True)
class Step:
    """One benchmark with its settings; `name` is that of its JSON file."""

    name: str
    benchmark: str
    settings: Mapping[str, Any]

    def options(self, *, lists: Path, json: Path) -> list[str]:
        """Its command line, after the name of the benchmark."""
        places = ["--json", str(json), *(["--lists", str(lists)] if "rows" in self.settings else [])]
        return [*write_options(self.settings), *places]

    def is_measured_by(self, found: Benchmark) -> bool:
        """Whether it would come to the same again: settings, machine, versions and code are those of today."""
        same = found.name == self.benchmark and dict(found.settings) == dict(self.settings)
        return same and found.versions == list_versions() and _lasting(found.machine) == _lasting(describe_machine())


def _lasting(machine: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in machine.items() if name != "load"}


def prepare_step(rows: int, mix: str = PLAIN_MIX) -> str:
    """The name of the step that compares `prepare` with others."""
    return f"prepare-{_of_mix(mix)}{rows}"


def cores_step(rows: int) -> str:
    """The name of the step that compares all cores with one."""
    return f"cores-{rows}"


def upload_step(rows: int, columns: str) -> str:
    """The name of the step that uploads a list of these columns."""
    return f"upload-{columns.replace(',', '-')}-{rows}"


def memory_step(rows: int, mix: str = PLAIN_MIX) -> str:
    """The name of the step that looks at memory."""
    return f"memory-{_of_mix(mix)}{rows}"


def _of_mix(mix: str) -> str:
    return "" if mix == PLAIN_MIX else f"{mix}-"


def duplicates_step(rows: int) -> str:
    """The name of the step that looks for duplicates, and does not."""
    return f"duplicates-{rows}"


def list_steps(sizes: Sizes, *, runs: int, long_runs: int) -> Iterator[Step]:
    """All steps, the short ones first. Lists of more than two million rows have `long_runs` rounds, ratios excepted."""

    def settings(rows: int, **others: Any) -> dict[str, Any]:
        return {"rows": rows, "seed": SEED, "runs": runs if rows <= MAIN_ROWS else long_runs, **others}

    main, largest = sizes.main, sizes.largest
    yield Step(CORPORA, "corpora", {"runs": 1})
    for rows in sorted({*sizes.every} - {largest}):
        yield Step(prepare_step(rows), "prepare", settings(rows, loop_rows=LOOP_ROWS, mix=PLAIN_MIX))
    for columns in (CONTACTS, EMAILS):
        yield Step(upload_step(main, columns), "upload", settings(main, columns=columns, sink=True))
    for rows in sorted({main, largest}):
        yield Step(memory_step(rows), "memory", settings(rows, mix=PLAIN_MIX))
    for rows in sorted({main, largest}):
        yield Step(cores_step(rows), "cores", {**settings(rows), "runs": _MORE_ROUNDS * runs})
    for mix in MIXES:
        prepared = {**settings(largest, loop_rows=LOOP_ROWS, mix=mix), "runs": runs}
        yield Step(prepare_step(largest, mix), "prepare", prepared)
    yield Step(memory_step(largest, EXPORTS), "memory", settings(largest, mix=EXPORTS))
    yield Step(duplicates_step(largest), "duplicates", {**settings(largest), "runs": runs})
