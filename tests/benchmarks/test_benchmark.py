"""A finished benchmark, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.benchmark import Benchmark, benchmark_parser
from benchmarks.machine import describe_machine, list_versions
from benchmarks.series import Run, Series, Spread

FINISHED = Benchmark(
    name="prepare",
    settings={"rows": 10},
    series=Series((Run(1, "ours", {"rows_per_second": 3_000.0}), Run(1, "loop", {"rows_per_second": 1_500.0}))),
    ratios={"ours / loop": Spread(2.0, 1.5, 2.5)},
)


def test_people_read_medians_and_ratios(capsys: pytest.CaptureFixture[str]) -> None:
    """On stdout, one line each."""
    FINISHED.publish({"rows_per_second": "{:,.0f} rows/s", "absent": "{}"}, None)
    assert capsys.readouterr().out.splitlines() == [
        "ours: 3,000 rows/s",
        "loop: 1,500 rows/s",
        "ours / loop: 2.00 (least 1.50, greatest 2.50)",
    ]


def test_programs_read_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The runs with their figures, the machine, the versions."""
    FINISHED.publish({}, tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text())
    assert set(document) == {
        "name", "measured_on", "settings", "machine", "versions", "runs", "medians", "ratios",
    }  # fmt: skip
    assert document["runs"][1] == {"round": 1, "contestant": "loop", "rows_per_second": 1_500}
    assert document["medians"]["ours"] == {"rows_per_second": 3_000}
    assert document["ratios"]["ours / loop"] == {"median": 2, "min": 1.5, "max": 2.5}


def test_the_machine_is_described_without_its_name() -> None:
    """Processor, cores, memory and system; versions of what takes the time."""
    machine = describe_machine()
    assert set(machine) == {"cpu", "cores", "memory_bytes", "system"}
    assert machine["cores"] >= 1
    assert machine["memory_bytes"] > 100_000_000
    assert {"python", "audiencekit", "phonenumbers", "pyarrow"} <= set(list_versions())


@pytest.mark.parametrize("count", ["0", "-1", "many", "1.5"])
def test_counts_are_whole_numbers_above_zero(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is a usage error."""
    parser = benchmark_parser("prepare", "", rows=1, runs=1)
    with pytest.raises(SystemExit, match="2"):
        parser.parse_args(["--rows", count])
