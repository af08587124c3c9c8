"""The benchmarks that make the whole table."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.benchmark import Benchmark
from benchmarks.series import Series
from benchmarks.steps import Sizes, list_steps

SIZES = Sizes((200_000, 2_000_000, 20_000_000))


@pytest.mark.parametrize(
    ("rows", "main", "largest"),
    [
        ((200_000, 2_000_000, 20_000_000), 2_000_000, 20_000_000),
        ((300,), 300, 300),
        ((3_000_000, 9_000_000), 3_000_000, 9_000_000),
    ],
)
def test_most_is_compared_at_two_million_rows(rows: tuple[int, ...], main: int, largest: int) -> None:
    """Or where it is nearest; memory is looked at where the list is longest."""
    assert (Sizes(rows).main, Sizes(rows).largest) == (main, largest)


def test_long_lists_have_fewer_rounds() -> None:
    """Ratios have as many as others: five rounds of `prepare` and of `check` at 20 million rows."""
    runs = {step.name: step.settings["runs"] for step in list_steps(SIZES, runs=5, long_runs=2)}
    assert runs == {
        "corpora": 1,
        "prepare-200000": 5,
        "prepare-2000000": 5,
        "upload-email-phone-country-2000000": 5,
        "upload-email-2000000": 5,
        "memory-2000000": 5,
        "memory-20000000": 2,
        "cores-2000000": 15,
        "cores-20000000": 15,
        "prepare-20000000": 5,
        "prepare-exports-20000000": 5,
        "memory-exports-20000000": 2,
        "duplicates-20000000": 5,
    }


def test_every_benchmark_takes_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever a step says, the benchmark knows: with --help after it, it says how it is used."""
    for step in list_steps(SIZES, runs=5, long_runs=2):
        module = importlib.import_module(f"benchmarks.{step.benchmark}")
        with pytest.raises(SystemExit, match="0"):
            module.main([*step.options(lists=Path("lists"), json=Path("out.json")), "--help"])
        assert f"python -m benchmarks.{step.benchmark}" in capsys.readouterr().out


def test_figures_of_today_are_kept_and_no_others() -> None:
    """The same settings, code, versions and machine; how busy it was does not matter."""
    step = next(step for step in list_steps(SIZES, runs=5, long_runs=2) if step.benchmark == "prepare")
    found = Benchmark(name="prepare", settings=step.settings, series=Series(()))
    assert step.is_measured_by(found)
    assert step.is_measured_by(replace(found, machine={**found.machine, "load": 99.0}))
    assert not step.is_measured_by(replace(found, machine={**found.machine, "cores": 999}))
    assert not step.is_measured_by(replace(found, versions={**found.versions, "code": "other"}))
    assert not step.is_measured_by(replace(found, settings={**step.settings, "runs": 4}))
    assert not step.is_measured_by(replace(found, name="upload"))
