"""`python -m benchmarks.corpora`, with lists and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.benchmark import Benchmark
from benchmarks.corpora import LISTS, main
from benchmarks.known_lists import run_lists


def test_without_lists_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the JSON, too: nothing was measured."""
    out = tmp_path / "out.json"
    main(["--corpora", str(tmp_path), "--json", str(out)])
    found = Benchmark.read(out)
    assert (found.series.runs, set(found.left_out)) == ((), {LISTS})
    assert "left out, the directory of the lists is not there" in capsys.readouterr().out


def test_all_values_of_all_lists_count_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One of five goes to the definition: an address with a letter that a decoder gave up."""
    folder = tmp_path / "csv" / "contacts"
    folder.mkdir(parents=True)
    (folder / "1-few.csv").write_text("email\nida\ufffd@larch.example\n", encoding="utf-8")
    (folder / "2-many.csv").write_text("email\nada@larch.example\nbo@larch.example\ncem@elm.example\nlev@elm.example\n")
    out = tmp_path / "out.json"
    main(["--corpora", str(tmp_path), "--json", str(out)])
    (run,) = Benchmark.read(out).series.runs
    assert (run.figures["lists"], run.figures["values"], run.figures["decided_in_bulk"]) == (2, 5, 0.8)


def test_numbers_are_read_for_the_country_of_their_list(tmp_path: Path) -> None:
    """Where the file's name is known; a number without a country is refused."""
    for name in ("1-uk-500.csv", "2-unknown.csv"):
        (tmp_path / name).write_text("phone\n07400 123456\n07400 123457\n")
    figures = run_lists(tmp_path)
    assert (figures["values"], figures["valid"]) == (4, 2)


def test_published_lists_are_decided_in_bulk(shared: Path) -> None:
    """Nearly all of their values."""
    figures = run_lists(shared / "corpora/csv/contacts")
    assert figures["lists"] >= 5
    assert figures["decided_in_bulk"] >= 0.97
