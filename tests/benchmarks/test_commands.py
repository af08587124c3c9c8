"""A benchmark's command, run whole on a small list: its figures are there, plausible and in their places.

Those that take more than some seconds even so run with BENCHMARKS=all.
"""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks import __main__ as command, corpora
from benchmarks.benchmark import CONTACTS, EMAILS, Benchmark
from benchmarks.cores import ALL, APART, ONE
from benchmarks.corpora import LISTS
from benchmarks.duplicates import CHECK, WITHOUT
from benchmarks.file_forms import FORMS as FILE_FORMS
from benchmarks.memory import PREPARE, UPLOAD
from benchmarks.prepare import DATAFUSION, DUCKDB, OURS, PLAIN_LOOP, SDK_LOOP
from benchmarks.results import BEGIN
from benchmarks.series import Run, Series
from benchmarks.sheet_writing import FORMS
from benchmarks.start import CHECK as STARTED, FLOOR, INTERPRETER, commands
from benchmarks.steps import Sizes, Step, list_steps
from benchmarks.trials import OUT, core_numbers
from benchmarks.values.dirt import DIRTY_ADDRESSES, DIRTY_NUMBERS
from benchmarks.values.kinds import KINDS
from benchmarks.values.spellings import EMAIL_SPELLINGS, PHONE_SPELLINGS
from benchmarks.watched import WAYS
from tests.postgresserver import postgresql

ROWS = 300
LOOP_ROWS = 200

# Module and options; the rows that each contestant reads; how many ratios there are.
SERIES = {
    "prepare": (
        ["prepare", "--loop-rows", str(LOOP_ROWS)],
        {OURS: ROWS, DATAFUSION: ROWS, DUCKDB: ROWS, SDK_LOOP: LOOP_ROWS, PLAIN_LOOP: LOOP_ROWS},
        4,
    ),
    "memory": (["memory"], {PREPARE: ROWS, UPLOAD: ROWS}, 0),
    "duplicates": (["duplicates"], {CHECK: ROWS, WITHOUT: ROWS}, 1),
    "upload": (["upload", "--columns", EMAILS], {OURS: ROWS}, 2),
    "upload, applied": (["upload", "--no-sink", "--columns", CONTACTS], {OURS: ROWS}, 2),
    "cores": (["cores"], {ALL: ROWS, ONE: ROWS, APART: ROWS * len(core_numbers())}, 3),
}

# Module and options; the first cells of lines that stand in its section.
SECTIONS = {
    "buckets": (["--rows", "2000", "--runs", "1"], ["time", "processor", "clock"]),
    "databases": (["--rows", "2000", "--runs", "1"], ["time", "processor", "clock"]),
    "spreadsheets": (["--rows", "200", "--runs", "1"], ["sheet", *FORMS]),
    "cliffs": (
        ["--regions", "US", "--values", "20"],
        [*PHONE_SPELLINGS, *EMAIL_SPELLINGS, *DIRTY_NUMBERS, *DIRTY_ADDRESSES],
    ),
    "long_cells": (["--cells", "1", "--random", "1", "--bytes", "2000"], ["email", "phone_number", "platform_id"]),
    "forms": (
        ["--rows", "1000", "--runs", "1", "--only", "name"],
        [form.name for form in FILE_FORMS if "name" in form.name],
    ),
    "start": (["--rounds", "1"], [INTERPRETER, FLOOR, STARTED, *commands(Path())]),
    "differential": (["--count", "300"], [kind.name for kind in KINDS]),
    "watched": (["--rows", "300", "--runs", "1"], [*WAYS]),
    "sync": (
        ["--rows", "400", "--runs", "1"],
        ["bytes of sync / bytes that the changes need", "check", "sync", "sync that writes all members anew"],
    ),
}
LONG = {"upload, applied", "duplicates", "memory", "cores"} | {
    *("cliffs", "long_cells", "spreadsheets", "start", "sync", "watched"),
}
CHOSEN = [name for name in (*SERIES, *SECTIONS) if os.environ.get("BENCHMARKS") == "all" or name not in LONG]
NEEDS = {"buckets": "obstore", "databases": "adbc_driver_postgresql", "spreadsheets": "fastexcel"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SERIES if name in CHOSEN])
def test_contestants_take_turns(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each did its whole job and tells what it took; what is printed is written, and lists that are kept stay."""
    options, rows, ratios = SERIES[name]
    module, out = importlib.import_module(f"benchmarks.{options[0]}"), tmp_path / "out.json"
    lists = ["--lists", str(tmp_path / "lists")]
    module.main(["--rows", str(ROWS), "--runs", "1", "--json", str(out), *lists, *options[1:]])
    found, printed = Benchmark.read(out), capsys.readouterr().out
    assert {**{run.contestant: run.figures["rows"] for run in found.series.runs}, **found.left_out}.keys() == {*rows}
    for run in found.series.runs:
        figures = run.figures
        assert figures["rows"] == rows[run.contestant]
        assert figures.get("requests", 1) == 1
        assert 0.6 * figures["rows"] < figures.get("records", figures["rows"]) <= figures["rows"]
        assert 0 < figures["seconds"] <= figures["process_seconds"]
        assert figures.get("reading_seconds", 0) + figures.get("sending_seconds", 0) <= figures["seconds"]
        assert figures["cpu_seconds"] > 0
        assert figures["peak_bytes"] > 1_000_000
        assert f"{run.contestant}: {figures['rows']:,.0f} rows, " in printed
    assert len(found.ratios) == ratios - len(found.left_out)
    assert all(name in printed and spread.least > 0 for name, spread in found.ratios.items())
    assert {path.suffix for path in (tmp_path / "lists").iterdir()} == {".csv"}
    assert not {"json", "lists"} & found.settings.keys()
    figures_of_all = [run.figures for run in found.series.runs if run.figures["rows"] == ROWS]
    assert len({figures["body_bytes"] for figures in figures_of_all if "body_bytes" in figures}) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SECTIONS if name in CHOSEN])
def test_sections_are_written_in_their_place(name: str, tmp_path: Path) -> None:
    """Every line of the table with a figure in it, and nothing else of the file changes."""
    options, cells = SECTIONS[name]
    pytest.importorskip(NEEDS.get(name, "benchmarks"), reason="the extra is not installed")
    module, out = importlib.import_module(f"benchmarks.{name}"), tmp_path / "RESULTS.md"
    shutil.copy(OUT, out)
    with _places(name) as more:
        module.main([*options, *more, "--out", str(out)])
    kept, written = OUT.read_text("utf-8"), out.read_text("utf-8")
    assert written.partition(module.BEGIN)[0] == kept.partition(module.BEGIN)[0]
    assert written.partition(module.END)[2] == kept.partition(module.END)[2]
    section = written.partition(module.BEGIN)[2].partition(module.END)[0]
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in section.splitlines() if " | " in line}
    assert [cell for cell in cells if cell not in lines] == []
    assert all(any(digit in lines[cell] for digit in "0123456789") for cell in cells[1:])


@contextmanager
def _places(name: str) -> Iterator[list[str]]:
    """Options that the benchmark `name` needs besides: the address of a database."""
    if name != "databases":
        yield []
        return
    with postgresql() as url:
        yield ["--url", url]


def test_without_published_lists_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the JSON, too: nothing was measured."""
    out = tmp_path / "out.json"
    corpora.main(["--corpora", str(tmp_path), "--json", str(out)])
    found = Benchmark.read(out)
    assert (found.series.runs, set(found.left_out)) == ((), {LISTS})
    assert "left out, the directory of the lists is not there" in capsys.readouterr().out


def test_every_step_of_the_table_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """With --help behind its options, each benchmark says how it is used."""
    for step in list_steps(Sizes((200_000, 2_000_000, 20_000_000)), runs=5, long_runs=2):
        module = importlib.import_module(f"benchmarks.{step.benchmark}")
        with pytest.raises(SystemExit, match="0"):
            module.main([*step.options(lists=Path("lists"), json=Path("out.json")), "--help"])
        assert f"python -m benchmarks.{step.benchmark}" in capsys.readouterr().out


def _arguments(tmp_path: Path) -> list[str]:
    places = ["--dir", str(tmp_path), "--out", str(tmp_path / "RESULTS.md")]
    return ["--rows", str(ROWS), "--runs", "1", "--long-runs", "1", *places]


@pytest.mark.slow
def test_an_interrupted_table_goes_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Of all steps only the missing one is run, and one that fails; then the table is written, and the code is 1."""
    pytest.importorskip("matplotlib")
    steps = list(list_steps(Sizes((ROWS,)), runs=1, long_runs=1))
    for step in steps:
        if step.benchmark != "corpora":
            series = Series((Run(1, OURS, {"rows": ROWS, "rows_per_second": 1_000.0}),))
            Benchmark(name=step.benchmark, settings=step.settings, series=series).publish(
                tmp_path / f"{step.name}.json"
            )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "list_steps", lambda sizes, **runs: [*steps, Step("bad", "prepare", {"rows": 0})])
        assert command.main(_arguments(tmp_path)) == 1
    told, written = capfd.readouterr().err, (tmp_path / "RESULTS.md").read_text("utf-8")
    assert told.count("and kept") == len(steps) - 1
    assert "corpora: begins" in told
    assert "bad: failed with 2" in told
    assert f"`python -m benchmarks --rows {ROWS} --runs 1 --long-runs 1`" in written.replace("\n", " ")
    assert "`python -m benchmarks.corpora --runs 1`" in written
    assert str(tmp_path) not in written


def test_a_file_without_a_place_is_refused_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half an hour later would be late."""
    (tmp_path / "RESULTS.md").write_text("# Mine")
    with pytest.raises(SystemExit, match="2"):
        command.main(_arguments(tmp_path))
    assert BEGIN in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["RESULTS.md"]
