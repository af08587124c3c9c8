"""Several files are one source: rows run on, columns of one kind and name lie over each other."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import MappingRefused, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source
from audiencekit.sources.sourceopening import open_source
from audiencekit.sources.table import SourcePart

Rows = Callable[[Source], list[dict[str, Any]]]
Faults = Callable[[Source], list[tuple[int, str | None, str]]]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """The same kinds in three formats, the columns in another order each."""
    paths = [tmp_path / name for name in ("march.csv", "april.csv.gz", "may.parquet", "june.jsonl")]
    paths[0].write_bytes(b"email,phone,country\na1@example.com,493012345601,DE\na2@example.com,493012345602,FR\n")
    paths[1].write_bytes(gzip.compress("Telefon;E-Mail\n493012345603;b1@example.com\n".encode("cp1252"), mtime=0))
    pq.write_table(
        pa.table({"email": [["c1@example.com", "c@example.com"], None], "phone": [493012345605, 493012345606]}),
        paths[2],
    )
    paths[3].write_bytes(b'{"phone":"493012345607","email":"d1@example.com"}\n')
    return paths


def _open(paths: list[Path], **options: Any) -> Source:
    return open_source(paths, SourceOptions(**options))


def test_rows_run_on_from_file_to_file(files: list[Path], rows_of: Rows) -> None:
    """In the order given; a column that a file lacks is null there, and lists stay lists."""
    source = _open(files)
    assert [(column.kind.value, column.name) for column in source.mapping.columns] == [
        ("email", "email"),
        ("phone_number", "phone"),
        ("phone_number", "Telefon"),
        ("email", "E-Mail"),
    ]
    assert rows_of(source) == [
        {"row": 1, "country": "DE", "c0": "a1@example.com", "c1": "493012345601", "c2": None, "c3": None},
        {"row": 2, "country": "FR", "c0": "a2@example.com", "c1": "493012345602", "c2": None, "c3": None},
        {"row": 3, "country": None, "c0": None, "c1": None, "c2": "493012345603", "c3": "b1@example.com"},
        {
            "row": 4,
            "country": None,
            "c0": ["c1@example.com", "c@example.com"],
            "c1": "493012345605",
            "c2": None,
            "c3": None,
        },
        {"row": 5, "country": None, "c0": None, "c1": "493012345606", "c2": None, "c3": None},
        {"row": 6, "country": None, "c0": "d1@example.com", "c1": "493012345607", "c2": None, "c3": None},
    ]
    assert [(part.name, part.first_row, part.rows) for part in source.parts] == [
        ("march.csv", 1, 2),
        ("april.csv.gz", 3, 1),
        ("may.parquet", 4, 2),
        ("june.jsonl", 6, 1),
    ]
    assert (source.name, source.rows_read) == ("4 files", 6)
    assert source.description == {"files": 4, "format": "delimited and parquet and ndjson"}
    assert source.bytes_read == source.bytes_total == sum(path.stat().st_size for path in files)


def test_a_second_pass_counts_from_the_beginning(files: list[Path], rows_of: Rows) -> None:
    """Parts and bytes are of the pass so far."""
    source = _open(files)
    first = rows_of(source)
    batches = source.batches()
    next(batches)
    assert [part.rows for part in source.parts] == [2, 0, 0, 0]
    del batches
    assert rows_of(source) == first


def test_one_file_has_one_part(files: list[Path], rows_of: Rows) -> None:
    """Given alone or as a list of one."""
    for source in (open_source(files[0], SourceOptions()), _open(files[:1])):
        rows_of(source)
        assert source.parts == (SourcePart("march.csv", True, 1, 2, source.description),)


def test_faults_have_the_numbers_of_the_whole(tmp_path: Path, faults_of: Faults) -> None:
    """While a refusal names the file and the row in it."""
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_bytes(b"email,name\na@example.com,x\n")
    two.write_bytes(b"email,name\nb@example.com,x\nc@example.com\n")
    assert faults_of(_open([one, two])) == [(3, None, "ragged")]
    two.write_bytes(b'email,name\nb@example.com,x\n"c@example.com,x\n')
    with pytest.raises(SourceRefused, match=r"^two\.csv: .* row 2") as caught:
        faults_of(_open([one, two]))
    assert (caught.value.source, caught.value.row, caught.value.rows_read) == ("two.csv", 2, 2)


def test_files_of_other_kinds_are_refused(tmp_path: Path, files: list[Path]) -> None:
    """By name, before anything is read: a wrong export is likelier than a wish."""
    other = tmp_path / "other.csv"
    other.write_bytes(b"email,city\na@example.com,Berlin\n")
    with pytest.raises(MappingRefused, match=r"other\.csv has columns of the kinds email, and march\.csv has"):
        _open([files[0], other])
    other.write_bytes(b"city\nBerlin\n")
    with pytest.raises(MappingRefused, match=r"other\.csv has no column of identifiers"):
        _open([files[0], other])


def test_columns_of_one_name_within_a_file_stay_apart(tmp_path: Path, rows_of: Rows) -> None:
    """The first lies over the first, the second over the second."""
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    paths[0].write_bytes(b"mail,mail\na@example.com,b@example.com\n")
    paths[1].write_bytes(b"x,mail,mail\n1,c@example.com,d@example.com\n")
    with pytest.raises(MappingRefused, match=r"one\.csv: column1 and column2 have the same name"):
        _open(paths)
    paths[0].write_bytes(b"a@example.com,b@example.com\n")
    paths[1].write_bytes(b"c@example.com,d@example.com\n")
    assert [(row["c0"], row["c1"]) for row in rows_of(_open(paths))] == [
        ("a@example.com", "b@example.com"),
        ("c@example.com", "d@example.com"),
    ]


def test_notes_are_told_once_where_they_are_the_same(files: list[Path]) -> None:
    """Else with the name of the file."""
    source = _open(files)
    assert "april.csv.gz: E-Mail: email, by name and content" in source.notes
    same = _open([files[0], files[3]]).notes
    assert same.count("email: email, by name and content") == 1


def test_findings_of_the_pass_over_a_file_are_told_with_its_name(tmp_path: Path, rows_of: Rows) -> None:
    """As of a workbook, or of NDJSON."""
    (tmp_path / "a.csv").write_text("email\na1@example.com\n")
    lines = [f'{{"email":"b{number}@example.com"}}' for number in range(1_500)]
    (tmp_path / "b.jsonl").write_text("\n".join([*lines, *('{"email":"c@example.com","id":1}',) * 100]))
    source = _open([tmp_path / "a.csv", tmp_path / "b.jsonl"])
    assert len(rows_of(source)) == 1_601
    assert [note for note in source.notes if note.startswith("b.jsonl: row 1,505 has a key")]


def test_an_operation_column_is_needed_in_every_file(tmp_path: Path, rows_of: Rows) -> None:
    """And is one column of the whole."""
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    paths[0].write_bytes(b"email,do\na@example.com,update\n")
    paths[1].write_bytes(b"do,email\ndelete,b@example.com\n")
    source = _open(paths, operation_column="do")
    assert [(row["operation"], row["c0"]) for row in rows_of(source)] == [
        ("update", "a@example.com"),
        ("delete", "b@example.com"),
    ]
    assert source.mapping.operation_name == "do"
    paths[1].write_bytes(b"email,city\nb@example.com,Berlin\n")
    with pytest.raises(MappingRefused, match=r"two\.csv: there is no column 'do'"):
        _open(paths, operation_column="do")


def test_hashed_columns_stay_hashed(tmp_path: Path) -> None:
    """In every file."""
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path in paths:
        path.write_bytes(b"email\n" + b"ab" * 32 + b"\n")
    source = _open(paths, hashed=frozenset({Kind.EMAIL}))
    assert [column.hashed for column in source.mapping.columns] == [True]


def test_a_guess_in_every_file_is_a_guess(tmp_path: Path) -> None:
    """Where the cells of one file say what a column is, they say it of all."""
    blank, blank_too, filled = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    blank.write_text("email,phone\na@example.com,\n")
    blank_too.write_text("email,phone\nb@example.com,\n")
    filled.write_text("email,phone\nc@example.com,+493012345601\n")
    assert [column.is_guess for column in _open([blank, blank_too]).mapping.columns] == [False, True]
    assert [column.is_guess for column in _open([blank, filled]).mapping.columns] == [False, False]
