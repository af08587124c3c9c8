"""Trials in turn, A B A B: what slows the machine for a while slows both, and each ratio is of two neighbours."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.trials import Contestant, Figures, run_trial


@dataclass(frozen=True, slots=True)
class Run:
    """One trial in its place: `round` counts from 1."""

    round: int
    contestant: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of a handful of figures, with the least and the greatest."""

    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        """The spread of at least one figure."""
        return cls(statistics.median(figures), min(figures), max(figures))

    @classmethod
    def from_json(cls, document: Mapping[str, float]) -> Spread:
        """Read the document of `to_json`."""
        return cls(document["median"], document["min"], document["max"])

    def to_json(self) -> dict[str, float]:
        """median, min, max."""
        return {"median": self.median, "min": self.least, "max": self.greatest}


@dataclass(frozen=True, slots=True)
class Series:
    """All trials of one benchmark, in the order they were run."""

    runs: tuple[Run, ...]

    @classmethod
    def from_json(cls, document: Sequence[Mapping[str, Any]]) -> Series:
        """Read the document of `to_json`."""
        return cls(tuple(map(_read_run, document)))

    @property
    def contestants(self) -> frozenset[str]:
        """The names of all that took part."""
        return frozenset(run.contestant for run in self.runs)

    def tells(self, contestant: str, measure: str) -> bool:
        """Whether there is such a figure in any round."""
        return any(run.contestant == contestant and measure in run.figures for run in self.runs)

    def figures(self, contestant: str, measure: str) -> list[float]:
        """One figure a round. Raises KeyError when the contestant does not tell this measure."""
        return [run.figures[measure] for run in self.runs if run.contestant == contestant]

    def spread(self, contestant: str, measure: str) -> Spread:
        """Over all rounds."""
        return Spread.of(self.figures(contestant, measure))

    def ratio(self, above: str, below: str, measure: str) -> Spread:
        """`above` over `below`, round by round: never a median over a median."""
        pairs = zip(self.figures(above, measure), self.figures(below, measure), strict=True)
        return Spread.of([one / other for one, other in pairs])

    def share(self, contestant: str, measure: str, of: float) -> Spread:
        """`measure` over a fixed number, such as a ceiling."""
        return Spread.of([figure / of for figure in self.figures(contestant, measure)])

    def medians(self) -> dict[str, dict[str, float]]:
        """{contestant: {measure: median}}, for whatever each told."""
        measures = {run.contestant: tuple(run.figures) for run in self.runs}
        return {name: {one: self.spread(name, one).median for one in told} for name, told in measures.items()}

    def to_json(self) -> list[dict[str, Any]]:
        """One object a trial."""
        return [{"round": run.round, "contestant": run.contestant, **run.figures} for run in self.runs]


def _read_run(trial: Mapping[str, Any]) -> Run:
    figures = {name: figure for name, figure in trial.items() if name not in ("round", "contestant")}
    return Run(trial["round"], trial["contestant"], figures)


def run_series(
    contestants: Sequence[Contestant],
    rounds: int,
    *,
    trial: Callable[[Contestant], Figures] = run_trial,
    tell: Callable[[str], None] = lambda text: None,
) -> Series:
    """Every contestant once a round, each round begun by the next one; `tell` is given a line before each trial.

    Who comes after a long trial finds libraries that the system has taken out of memory meanwhile.
    """
    runs: list[Run] = []
    for number in range(1, rounds + 1):
        first = (number - 1) % max(len(contestants), 1)
        for contestant in (*contestants[first:], *contestants[:first]):
            tell(f"round {number} of {rounds}: {contestant.name}")
            runs.append(Run(number, contestant.name, trial(contestant)))
    return Series(tuple(runs))
