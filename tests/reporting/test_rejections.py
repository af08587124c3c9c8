"""rejections.csv."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.records.batches import REJECTION_SCHEMA
from audiencekit.reporting.rejections import RejectionsFile, append_refused, refuse_other_file

BATCH = pa.record_batch([[1, 2], ["email", None], ["empty", "ragged"]], schema=REJECTION_SCHEMA)


def test_rows_columns_and_reasons_are_written(tmp_path: Path) -> None:
    """One line a rejection, for the owner's eyes."""
    with RejectionsFile(tmp_path / "why.csv") as file:
        file.add(BATCH)
        file.add(BATCH.slice(0, 1))
    assert (tmp_path / "why.csv").read_text() == "row,column,reason\n1,email,empty\n2,,ragged\n1,email,empty\n"
    assert (tmp_path / "why.csv").stat().st_mode & 0o077 == 0


def test_a_column_name_never_becomes_a_formula(tmp_path: Path) -> None:
    """Spreadsheets run what starts with =, +, - or @."""
    batch = pa.record_batch([[1], ["=cmd()"], ["empty"]], schema=REJECTION_SCHEMA)
    with RejectionsFile(tmp_path / "why.csv") as file:
        file.add(batch)
    assert (tmp_path / "why.csv").read_text().splitlines()[1] == "1,'=cmd(),empty"


def test_a_batch_is_written_as_its_rows_one_by_one(tmp_path: Path) -> None:
    """Whatever the columns are called."""
    names = ["a,b", 'say "so"', "two\nlines", "", None, "=a,b", " ", "'"]
    rows = [(number, name, "empty") for number, name in enumerate(names * 2, 1)]
    batch = pa.record_batch([list(column) for column in zip(*rows, strict=True)], schema=REJECTION_SCHEMA)
    with RejectionsFile(tmp_path / "batch.csv") as file:
        file.add(batch)
    with RejectionsFile(tmp_path / "rows.csv") as file:
        file.add_rows(rows)
    assert (tmp_path / "batch.csv").read_bytes() == (tmp_path / "rows.csv").read_bytes()


def test_an_earlier_file_stays_whole_when_a_run_fails(tmp_path: Path) -> None:
    """The new one appears under its name only at the end; nothing else is left behind."""
    (tmp_path / "why.csv").write_text("earlier")

    def fail() -> None:
        with RejectionsFile(tmp_path / "why.csv") as file:
            file.add(BATCH)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"why.csv": "earlier"}


def test_a_directory_that_is_not_there_is_an_input_output_failure(tmp_path: Path) -> None:
    """The path is named."""
    with pytest.raises(InputOutputFailed, match="missing"), RejectionsFile(tmp_path / "missing" / "why.csv"):
        pass


def test_rows_are_appended(tmp_path: Path) -> None:
    """Those that the service refused follow what was there, whose lines stay as they were."""
    path = tmp_path / "why.csv"
    with RejectionsFile(path) as file:
        file.add(BATCH)
    append_refused(path, [9])
    append_refused(path, [])
    assert path.read_text() == "row,column,reason\n1,email,empty\n2,,ragged\n9,,refused_by_service\n"
    assert path.stat().st_mode & 0o077 == 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["why.csv"]


def test_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    """A file that was removed during the run is reported, and not made anew without its first rows."""
    with pytest.raises(InputOutputFailed):
        append_refused(tmp_path / "why.csv", [9])
    assert list(tmp_path.iterdir()) == []


def test_only_rejections_and_empty_files_are_replaced(tmp_path: Path) -> None:
    """A list that was given in a wrong place stays."""
    place = tmp_path / "april.csv"
    for text in (None, "", "row,column,reason\n1,email,empty\n"):
        if text is not None:
            place.write_text(text)
        refuse_other_file(place)
    place.write_text("email\nzz.one@canarymail.com\n")
    with pytest.raises(UsageError, match=r"april\.csv' is another file than rejections"):
        refuse_other_file(place)
