"""The targets of the package and the figures reached: each with its bound, from finished benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.benchmark import CONTACTS, EMAILS, Benchmark
from benchmarks.cores import ALL, APART, ONE
from benchmarks.corpora import LISTS
from benchmarks.duplicates import CHECK, WITHOUT
from benchmarks.memory import IN_FLIGHT, PREPARE, UPLOAD
from benchmarks.mixes import EVERY_SPELLING, EXPORTS
from benchmarks.prepare import DATAFUSION, DUCKDB, OURS, PLAIN_LOOP, SDK_LOOP
from benchmarks.series import Series, Spread
from benchmarks.steps import CORPORA, Sizes, cores_step, duplicates_step, memory_step, prepare_step, upload_step
from benchmarks.upload import CEILING

Finished = Mapping[str, Benchmark]  # by the name of the step that measured it

_MEGABYTE: Final = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One figure. `reached` is None when it was not measured; `scale` is what one of `unit` is in what was measured.

    Without a `bound` it is told beside the one above it.
    """

    figure: str
    bound: float | None = None
    at_least: bool = True
    reached: Spread | None
    unit: str = ""
    digits: int = 2
    scale: float = 1

    @property
    def verdict(self) -> str:
        """yes, no or not measured; by the median. Nothing without a bound."""
        if self.reached is None:
            return "not measured"
        if self.bound is None:
            return ""
        median = self.reached.median / self.scale
        return "yes" if (median >= self.bound if self.at_least else median <= self.bound) else "no"

    def cells(self) -> list[str]:
        """The figure, its bound, its median, its least and greatest, the verdict."""
        must = "" if self.bound is None else f"{'≥' if self.at_least else '≤'} {self.bound:g}{self.unit}"
        if self.reached is None:
            return [self.figure, must, "", "", self.verdict]
        ends = f"{self._write(self.reached.least)} – {self._write(self.reached.greatest)}"
        return [self.figure, must, self._write(self.reached.median) + self.unit, ends, self.verdict]

    def _write(self, figure: float) -> str:
        return f"{figure / self.scale:z,.{self.digits}f}"


def list_targets(finished: Finished, sizes: Sizes) -> list[Target]:
    """Every figure that must be reached, in the order of the table."""
    return [
        *(target for rows in sorted({sizes.main, sizes.largest}) for target in _speed(finished, rows)),
        *_exports(finished, sizes.largest, EXPORTS, "exports at their worst"),
        *_exports(finished, sizes.largest, EVERY_SPELLING, "every spelling that was found"),
        *_bodies(finished, sizes),
        *_memory(finished, sizes),
        *_exactness(finished, sizes),
    ]


def _speed(finished: Finished, of_list: int) -> Iterator[Target]:
    series = _series(finished, prepare_step(of_list))
    rows, speed = f"{of_list:,} rows to finished bodies", "rows_per_second"
    yield Target(figure=f"{rows} / {PLAIN_LOOP}", bound=60, digits=1, reached=_ratio(series, OURS, PLAIN_LOOP, speed))
    yield Target(figure=f"{rows} / {SDK_LOOP}", bound=4, reached=_ratio(series, OURS, SDK_LOOP, speed))
    yield Target(figure=f"{rows} / the faster bare limit", bound=0.3, reached=_of_faster_limit(series, speed))
    cores = _series(finished, cores_step(of_list))
    yield Target(figure=f"{rows}, {ALL} / {ONE}", bound=1.7, reached=_ratio(cores, ALL, ONE, speed))
    yield Target(figure=f"{rows}, {APART} / {ONE}: what the machine gives", reached=_ratio(cores, APART, ONE, speed))


def _exports(finished: Finished, of_list: int, mix: str, told: str) -> Iterator[Target]:
    """A list of exports, of whole processes with their start."""
    series = _series(finished, prepare_step(of_list, mix))
    rows, speed = f"{of_list:,} rows of {told}", "process_rows_per_second"
    yield Target(figure=f"{rows} / {PLAIN_LOOP}", bound=60, digits=1, reached=_ratio(series, OURS, PLAIN_LOOP, speed))
    yield Target(figure=f"{rows} / {SDK_LOOP}", reached=_ratio(series, OURS, SDK_LOOP, speed))
    yield Target(figure=f"{rows} / the faster bare limit", bound=0.2, reached=_of_faster_limit(series, speed))
    of, megabytes = f"of the {CEILING:.0f} MB/s that the service allows", "process_megabytes_per_second"
    yield Target(figure=f"{rows}, bodies in memory, {of}", bound=1, reached=_share(series, OURS, megabytes))
    if mix == EXPORTS:
        written = _series(finished, memory_step(of_list, mix))
        yield Target(figure=f"{rows}, bodies on disk, {of}", bound=1, reached=_share(written, PREPARE, megabytes))
    in_bulk = _spread(series, OURS, "decided_in_bulk")
    yield Target(figure=f"{rows}, values decided in bulk", digits=4, reached=in_bulk)


def _of_faster_limit(series: Series, measure: str) -> Spread | None:
    limits = [ratio for name in (DATAFUSION, DUCKDB) if (ratio := _ratio(series, OURS, name, measure))]
    return min(limits, key=lambda ratio: ratio.median, default=None)


def _bodies(finished: Finished, sizes: Sizes) -> Iterator[Target]:
    of = f"of the {CEILING:.0f} MB/s that the service allows"
    dry = _series(finished, prepare_step(sizes.main))
    written = _series(finished, memory_step(sizes.main))
    yield Target(
        figure=f"`prepare`, bodies in memory, {of}", bound=1, reached=_share(dry, OURS, "megabytes_per_second")
    )
    yield Target(
        figure=f"`prepare --requests`, bodies on disk, {of}",
        bound=1,
        reached=_share(written, PREPARE, "megabytes_per_second"),
    )
    for columns in (CONTACTS, EMAILS):
        sent = _series(finished, upload_step(sizes.main, columns))
        figure = f"pass two of `upload` ({columns.replace(',', ', ')}), {of}"
        yield Target(figure=figure, bound=1, reached=_share(sent, OURS, "sending_megabytes_per_second"))


def _memory(finished: Finished, sizes: Sizes) -> Iterator[Target]:
    long, short = (_series(finished, memory_step(rows)) for rows in (sizes.largest, sizes.main))
    for name, bound, told in ((PREPARE, 300, "`prepare`"), (UPLOAD, 450, f"`upload`, {IN_FLIGHT} in flight")):
        peak = _spread(long, name, "peak_bytes")
        figure = f"{told}: memory at the peak, {sizes.largest:,} rows"
        yield Target(figure=figure, bound=bound, at_least=False, reached=peak, unit=" MB", digits=0, scale=_MEGABYTE)
        growth = _quotient(peak, _spread(short, name, "peak_bytes")) if sizes.largest > sizes.main else None
        yield Target(figure=f"{told}: the same / {sizes.main:,} rows", bound=1.2, at_least=False, reached=growth)


def _exactness(finished: Finished, sizes: Sizes) -> Iterator[Target]:
    dry = _series(finished, prepare_step(sizes.main))
    lists = _series(finished, CORPORA)
    in_bulk, share = "values decided in bulk", "decided_in_bulk"
    yield Target(figure=f"{in_bulk}, generated list", bound=0.995, digits=4, reached=_spread(dry, OURS, share))
    yield Target(figure=f"{in_bulk}, {LISTS}", bound=0.97, digits=4, reached=_spread(lists, LISTS, share))
    yield Target(figure="`fill_ratio`", bound=0.99, digits=4, reached=_spread(dry, OURS, "fill_ratio"))
    added = _ratio(_series(finished, duplicates_step(sizes.largest)), CHECK, WITHOUT, "seconds")
    yield Target(
        figure=f"finding duplicates, {sizes.largest:,} rows, added to `check`",
        bound=25,
        at_least=False,
        reached=added and Spread(added.median - 1, added.least - 1, added.greatest - 1),
        unit=" %",
        digits=0,
        scale=0.01,
    )


def _series(finished: Finished, step: str) -> Series:
    """The trials of a step; none when it did not end."""
    return finished[step].series if step in finished else Series(())


def _spread(series: Series, contestant: str, measure: str) -> Spread | None:
    return series.spread(contestant, measure) if series.tells(contestant, measure) else None


def _share(series: Series, contestant: str, measure: str) -> Spread | None:
    return series.share(contestant, measure, CEILING) if series.tells(contestant, measure) else None


def _ratio(series: Series, above: str, below: str, measure: str) -> Spread | None:
    both = series.tells(above, measure) and series.tells(below, measure)
    return series.ratio(above, below, measure) if both else None


def _quotient(above: Spread | None, below: Spread | None) -> Spread | None:
    """Of figures that were not measured in the same rounds: the medians, and the furthest that it could be."""
    if above is None or below is None:
        return None
    return Spread(above.median / below.median, above.least / below.greatest, above.greatest / below.least)
