"""Several files are one source: rows run on, columns of one kind and name lie over each other."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import AudiencekitError, Bug, MappingRefused, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.records.batches import REJECTION_SCHEMA, ColumnUse
from audiencekit.sources.csv import csv_file as delimited
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from audiencekit.sources.table import SourcePart
from tests.canary.witnesses import package_frames_of
from tests.cases import each_case

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
    assert [(row["c0"], row["c1"]) for row in rows_of(_open(paths))] == [
        ("a@example.com", "b@example.com"),
        ("c@example.com", "d@example.com"),
    ]
    paths[0].write_bytes(b"a@example.com,b@example.com\n")
    paths[1].write_bytes(b"c@example.com,d@example.com\n")
    assert [(row["c0"], row["c1"]) for row in rows_of(_open(paths))] == [
        ("a@example.com", "b@example.com"),
        ("c@example.com", "d@example.com"),
    ]


def test_uses_of_columns_are_told_once_where_they_are_the_same(files: list[Path]) -> None:
    """Else with the name of the file."""
    assert ColumnUse("april.csv.gz: E-Mail", "email", "by name and content") in _open(files).uses
    same = _open([files[0], files[3]]).uses
    assert same.count(ColumnUse("email", "email", "by name and content")) == 1


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


OPEN_FILES = Path("/proc/self/fd")
Open = Callable[..., Source]
Write = Callable[..., Path]


def test_a_source_reads_more_than_once(open_bytes: Open, rows_of: Rows, people: bytes) -> None:
    """Each pass gives the same rows, and the facts of progress are of the last one."""
    source = open_bytes(people)
    assert (source.rows_read, source.bytes_total) == (0, len(people))
    first = rows_of(source)
    assert rows_of(source) == first
    assert (len(first), source.rows_read, source.bytes_read) == (2, 2, len(people))


def test_the_path_may_be_of_any_kind(write: Write, people: bytes) -> None:
    """Text and path objects."""
    path = write(people)
    assert open_source(str(path), SourceOptions()).name == open_source(path, SourceOptions()).name == "people.csv"


def test_batches_follow_the_contract(open_bytes: Open, people: bytes) -> None:
    """Raw cells are wrapped, faults are rejections."""
    (batch,) = open_bytes(people).batches()
    assert "ann" not in repr(batch)
    assert batch.faults.schema == REJECTION_SCHEMA


def test_a_source_without_identifiers_can_be_counted(open_bytes: Open, rows_of: Rows) -> None:
    """Its mapping is empty, its rows are numbered."""
    source = open_bytes(b"city\nBerlin\nParis\n")
    assert source.mapping.columns == ()
    assert rows_of(source) == [{"row": 1}, {"row": 2}]


@each_case("form", ["csv", "ndjson", "parquet", "prepared", "frame"])
def test_every_format_heeds_what_is_to_be_ignored(write: Write, form: str) -> None:
    """A prepared file is then one like any other."""
    table = pa.table({"email": ["ann@example.com"], "phone_number": ["+493012345601"]})
    source: Any = table
    if form == "csv":
        source = write(b"email,phone_number\nann@example.com,+493012345601\n")
    if form == "ndjson":
        source = write(b'{"email": "ann@example.com", "phone_number": "+493012345601"}\n', "people.ndjson")
    if form in ("parquet", "prepared"):
        source = write(b"", "people.parquet")
        more = {"row": pa.array([1]), "operation": pa.array(["Update"])} if form == "prepared" else {}
        pq.write_table(pa.table({**more, **dict(zip(table.schema.names, table.columns, strict=True))}), source)
    options = SourceOptions(ignore=("phone_number",))
    assert open_source(source, options).mapping.names_by_kind() == {"email": ["email"]}


@each_case("form", ["csv", "careful csv", "ndjson", "parquet", "frame", "two files"])
def test_cells_with_several_values_are_divided_in_every_format(write: Write, rows_of: Rows, form: str) -> None:
    """By what the sample shows, to the last row; a column that shows nothing stays text."""
    cells = ["a@example.com ::: b@example.com", *["c@example.com"] * 1_500, "d@example.com ::: e@example.com", None]
    table = pa.table({"email": cells, "phone": ["+493012345601"] * len(cells)})
    lines = [f"{cell or ''},+493012345601" for cell in cells]
    text = "\n".join(["email,phone", *lines]) + "\n"
    source: Any = write(text.encode())
    if form == "careful csv":
        source = write(text.replace("c@example.com", '"c@example.com"').encode())
    if form == "ndjson":
        objects = [json.dumps(row) for row in table.to_pylist()]
        source = write("\n".join([*objects, ""]).encode(), "people.ndjson")
    if form == "parquet":
        pq.write_table(table, source := write(b"", "people.parquet"))
    if form == "two files":
        source = [source, write(b"email,phone\nf@example.com,+493012345601\n", "more.csv")]
    opened = open_source(table if form == "frame" else source, SourceOptions())
    found = [(row["c0"], row["c1"]) for row in rows_of(opened)][: len(cells)]
    emails = [email for email, _ in found]
    assert emails[0] == ["a@example.com", "b@example.com"]
    assert emails[-2] == ["d@example.com", "e@example.com"]
    assert emails[1:-2] == [["c@example.com"]] * 1_500
    assert not emails[-1]
    assert {phone for _, phone in found} == {"+493012345601"}
    assert any("email: several values a cell, divided at ' ::: '" in note for note in opened.notes)


def test_nothing_is_divided_unasked_where_a_separator_is_given(write: Write, rows_of: Rows) -> None:
    """The user knows."""
    path = write(b"email\na@example.com;b@example.com\nc@example.com|d@example.com\n")
    opened = open_source(path, SourceOptions(split_cells="|"))
    assert [row["c0"] for row in rows_of(opened)] == [
        ["a@example.com;b@example.com"],
        ["c@example.com", "d@example.com"],
    ]
    assert not any("divided" in note for note in opened.notes)


@pytest.mark.parametrize("name", ["nothing", "directory", "pipe"])
def test_paths_that_are_no_files_are_refused(tmp_path: Path, name: str) -> None:
    """By name, and without waiting."""
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceRefused, match=f"^{name}: ") as caught:
        open_source(tmp_path / name, SourceOptions())
    assert caught.value.source == name


def test_refusals_say_where_and_how_far(open_bytes: Open, rows_of: Rows) -> None:
    """Source, row, rows read and something to do."""
    source = open_bytes(b'email\na@example.com\nb@example.com\n"c@example.com\n')
    with pytest.raises(SourceRefused, match=r"people\.csv: .*row 3") as caught:
        rows_of(source)
    assert (caught.value.source, caught.value.row, caught.value.rows_read) == ("people.csv", 3, 2)


def test_refusals_of_the_stream_say_how_far_it_was_read(
    write: Write, rows_of: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when they know nothing of rows themselves."""
    monkeypatch.setattr(delimited, "BATCH_ROWS", 10_000)
    path = write(b"email\n" + b"a@example.com\n" * 100_000)
    source = open_source(path, SourceOptions())
    batches = source.batches()
    next(batches)
    os.utime(path, ns=(1, 1))
    with pytest.raises(SourceRefused, match="changed") as caught:
        list(batches)
    assert caught.value.rows_read == source.rows_read > 0


def test_mapping_refusals_name_the_source(open_bytes: Open, people: bytes) -> None:
    """Since a run may have several."""
    with pytest.raises(MappingRefused, match=r"^people\.csv: "):
        open_bytes(people, columns=((Kind.EMAIL, "nowhere"),))


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="open files are named there")
def test_an_abandoned_pass_closes_its_file(write: Write) -> None:
    """The file is not left open until the generator is collected."""
    path = write(b"email\n" + b"a@example.com\n" * 100_000)
    batches = open_source(path, SourceOptions()).batches()
    next(batches)
    assert _is_open(path)
    del batches
    assert not _is_open(path)


def _is_open(path: Path) -> bool:
    """In this process; what other tests have left may be closed meanwhile."""
    names = []
    for each in OPEN_FILES.iterdir():
        with contextlib.suppress(OSError):  # that of the listing itself
            names.append(os.readlink(each))
    return str(path) in names


def test_the_limit_of_csv_is_left_alone(open_bytes: Open, rows_of: Rows, people: bytes) -> None:
    """It belongs to the process: between batches it is what it was."""
    before = csv.field_size_limit(77)
    try:
        for _ in open_bytes(people).batches():
            assert csv.field_size_limit() == 77
        assert csv.field_size_limit() == 77
    finally:
        csv.field_size_limit(before)


MARKERS = ("markerson", "Markerova", "+4930987")
TROUBLE: list[tuple[bytes, dict[str, Any]]] = [
    (b'email,Markerova\nmarkerson@example.com,x\n"markerson"@example.com,x\n', {}),
    (b'Markerova,markerson@example.com\n"markerson@example.com,+4930987\n', {}),
    (b"email,Markerova\n" + b"markerson@example.com\n" * 20, {}),
    (b"email,Markerova\n" + b"markerson@example.com,\xff\n" * 20, {}),
    (b"email,Markerova\xff\nmarkerson@example.com,x\n", {}),
    (b"Markerova,markerson\n+4930987,x\n", {"columns": ((Kind.EMAIL, "email"),)}),
    (b"Markerova,markerova\n+4930987,x\n", {"columns": ((Kind.EMAIL, "column9"),)}),
    (b"markerson@example.com;Markerova,+4930987;x\n", {}),
    (b"markerson;Markerova,x\n", {}),
    (b"email,markerson@example.com,Markerova", {}),
    (b"email\n" + b"markerson" * 200_000 + b"\n", {}),
    ("email\nmarkerson@example.com\n".encode("utf-16")[:-1], {}),
]


@each_case("data, options", TROUBLE)
def test_no_refusal_shows_a_cell(open_bytes: Open, rows_of: Rows, data: bytes, options: dict[str, Any]) -> None:
    """Neither in words nor in what a traceback with local variables would print."""
    try:
        source = open_bytes(data, **options)
        rows_of(source)
        shown = repr((source, source.notes, source.mapping, source.description))
    except AudiencekitError as error:
        assert not isinstance(error, Bug)  # noqa: PT017
        shown = "\n".join([str(error), error.hint, repr(vars(error)), package_frames_of(error)])
        assert error.__cause__ is None  # noqa: PT017
        assert error.__context__ is None  # noqa: PT017
    assert [marker for marker in MARKERS if marker in shown] == []


def test_a_bug_shows_no_cell(open_bytes: Open, rows_of: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected exception on the way says its type and place only."""

    def stumble(*_: object) -> None:
        raise ValueError("markerson@example.com")

    source = open_bytes(b"email\nmarkerson@example.com\n")
    monkeypatch.setattr(delimited, "text_columns", stumble)
    with pytest.raises(Bug) as caught:
        rows_of(source)
    assert "markerson" not in str(caught.value)
    assert caught.value.__context__ is None


def test_parquet_is_loaded_when_it_is_needed() -> None:
    """Arrow's Parquet reader is heavy, and most sources are text."""
    code = "import sys, audiencekit.sources.source; sys.exit('pyarrow.parquet' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
