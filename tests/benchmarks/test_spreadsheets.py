"""The benchmark of a whole sheet: what it writes is a sheet for any reader, and each form has its line."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from benchmarks.read_sheet import run_reading
from benchmarks.series import Run, Series
from benchmarks.sheet_writing import FORMS, main as write
from benchmarks.spreadsheets import as_table


@pytest.mark.parametrize("form", FORMS)
def test_sheets_are_as_any_reader_sees_them(tmp_path: Path, form: str) -> None:
    """A header, and an email and a phone number in each row."""
    path = tmp_path / "people.xlsx"
    write(["--rows", "30", "--form", form, str(path)])
    header, *rows = openpyxl.load_workbook(path).active.values
    assert header == ("email", "phone")
    assert len(rows) == 29
    assert all(email.endswith(".example.com") and str(phone).lstrip("+").startswith("44") for email, phone in rows)
    assert isinstance(rows[0][1], int) == (form == "numbers")
    assert [run_reading(path, by_fastexcel=by)["rows"] for by in (False, True)] == [29, 29]


def test_a_line_a_form() -> None:
    """Ratios of the rounds; the largest memory."""
    figures = {"audiencekit": (2.0, 150e6), "fastexcel": (1.0, 300e6), "check": (4.0, 250e6)}
    runs = [
        Run(number, name, {"reading_cpu_seconds": seconds * number**extra, "peak_bytes": peak})
        for number in (1, 2, 3)
        for name, (seconds, peak) in figures.items()
        for extra in (name == "audiencekit",)
    ]
    line = as_table([("shared", Series(tuple(runs)))]).splitlines()[-1]
    assert line == "| shared | 4.00 (2.00 – 6.00) | 4.00, 1.00 | 150, 300, 250 |"
