"""The measured part of RESULTS.md: the table of what must be reached, the plot, and everything that was measured."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.benchmark import Benchmark
from benchmarks.measures import known_measures
from benchmarks.plot import draw_throughput
from benchmarks.sections import split_at
from benchmarks.series import Series
from benchmarks.steps import Sizes
from benchmarks.targets import Finished, list_targets

BEGIN: Final = "<!-- measured: what follows is written by python -m benchmarks -->"
END: Final = "<!-- measured: end -->"
PLOT: Final = "throughput.svg"

_WIDTH: Final = 120
_NEW: Final = f"# Results\n\n{BEGIN}\n{END}\n"
_HEAD: Final = ("figure", "must reach", "reached", "least – greatest", "")


def write_results(path: Path, finished: Finished, sizes: Sizes, command: str) -> None:
    """Replace the text between the marks of `path` (a new file gets them), and draw the plot beside it.

    Raises NoPlace, before anything is written, for a file without the marks.
    """
    before, after = split_results(path)
    if lines := _throughput(finished):
        path.with_name(PLOT).write_text(draw_throughput(lines), encoding="utf-8")
    section = "\n".join(_section(finished, sizes, command, is_drawn=bool(lines)))
    path.write_text(f"{before}{BEGIN}\n\n{section}\n{END}{after}", encoding="utf-8")


def split_results(path: Path) -> tuple[str, str]:
    """Return the text before and after the measured part. Raises NoPlace."""
    text = path.read_text(encoding="utf-8") if path.exists() else _NEW
    return split_at(path, text, begin=BEGIN, end=END)


def _section(finished: Finished, sizes: Sizes, command: str, *, is_drawn: bool) -> Iterator[str]:
    days = sorted({one.measured_on for one in finished.values()})
    yield f"## Measured {' to '.join(dict.fromkeys((days[0], days[-1])))}"
    yield ""
    yield _paragraph(*_circumstances(list(finished.values())))
    yield _paragraph(
        f"All of it by `{command}`.",
        "A figure is the median of its rounds; a ratio is taken round by round, between neighbours.",
    )
    yield from _table(_HEAD, [target.cells() for target in list_targets(finished, sizes)])
    if is_drawn:
        yield f"![Rows a second against the rows of the list]({PLOT})"
        yield ""
    for benchmark in finished.values():
        yield from _details(benchmark)


def _circumstances(benchmarks: Sequence[Benchmark]) -> Iterator[str]:
    """The machine and the versions: of every benchmark the same, or each is told."""
    yield from _distinct(f"{_write_machine(one.machine)}." for one in benchmarks)
    yield f"Load {min(one.machine['load'] for one in benchmarks)} before it began."
    yield from _distinct(f"{_write_versions(one.versions)}." for one in benchmarks)


def _distinct(texts: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _write_machine(machine: Mapping[str, Any]) -> str:
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_bytes'] / 1e9:.0f} GB, {machine['system']}"


def _write_versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _paragraph(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), _WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def _details(benchmark: Benchmark) -> Iterator[str]:
    """Everything that one benchmark measured: medians, with the least and the greatest."""
    series = benchmark.series
    names = [name for run in series.runs for name in run.figures]
    yield f"`{benchmark.command}`"
    yield ""
    if series.runs:
        measures = list(known_measures(names))
        rows = [[name, *(_cell(series, name, one) for one, _ in measures)] for name in _distinct(_names(series))]
        yield from _table(("", *(measure.unit for _, measure in measures)), rows)
    if benchmark.left_out:
        yield _paragraph(f"Left out: {'; '.join(f'{name} ({why})' for name, why in benchmark.left_out.items())}.")


def _names(series: Series) -> Iterator[str]:
    return (run.contestant for run in series.runs)


def _cell(series: Series, contestant: str, name: str) -> str:
    if not series.tells(contestant, name):
        return ""
    ((_, measure),) = known_measures([name])
    spread = series.spread(contestant, name)
    median, least, greatest = (measure.write(figure) for figure in (spread.median, spread.least, spread.greatest))
    return median if least == greatest else f"{median} ({least} – {greatest})"


def _throughput(finished: Finished) -> dict[str, list[tuple[float, float]]]:
    """{contestant: (rows of its list, median of rows/s)}, by rows; a loop may have run on one list several times."""
    figures: dict[str, dict[float, list[float]]] = {}
    for run in (run for one in finished.values() if one.name == "prepare" for run in one.series.runs):
        of_rows = figures.setdefault(run.contestant, {})
        of_rows.setdefault(run.figures["rows"], []).append(run.figures["rows_per_second"])
    return {
        name: [(rows, statistics.median(speeds)) for rows, speeds in sorted(of_rows.items())]
        for name, of_rows in figures.items()
    }


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
