"""The items of a source: which they are, what they are called and kept as, and that each is looked at first."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import AudiencekitError, InputOutputFailed, MappingRefused, SourceRefused, UsageError
from audiencekit.sources.files import (
    AnySource,
    LookedAtFile,
    absolute_path,
    comes_once,
    is_path,
    items_of,
    look_at_files,
    names_of,
    naming,
    paths_among,
    paths_of,
    stored_path,
)
from audiencekit.sources.frames import Frame
from audiencekit.sources.options import SourceOptions
from tests.cases import each_case

TABLE = pa.table({"email": ["a@example.com"]})
SIGNED = "https://lists.example/march%20list.csv?signature=x"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Delimited text, and Parquet."""
    paths = [tmp_path / "march.csv", tmp_path / "may.parquet"]
    paths[0].write_text("email\na1@example.com\n")
    pq.write_table(TABLE, paths[1])
    return paths


def _look(items: list[Any], **options: Any) -> list[LookedAtFile]:
    return look_at_files(items_of(items), SourceOptions(**options))


@each_case(
    "source, items",
    [
        ("list.csv", ["list.csv"]),
        (Path("list.csv"), [Path("list.csv")]),
        (["one.csv", "-"], ["one.csv", "-"]),
        (TABLE, [Frame]),
        (["one.csv", TABLE, io.BytesIO(b"")], ["one.csv", Frame, Frame]),
        ([{"email": "a@example.com"}, {"email": "b@example.com"}], [Frame]),
    ],
)
def test_a_source_is_paths_and_rows(source: AnySource, items: list[Any]) -> None:
    """One, or several in a list; dicts are the rows of one."""
    found = items_of(source)
    assert [Frame if isinstance(item, Frame) else item for item in found] == items
    assert paths_among(source) == tuple(item for item in items if item is not Frame)


@each_case("source", [[], (), b"people.csv", 7, [7], ["one.csv", 7], {"email": "a@example.com"}])
def test_an_invalid_path_is_no_source(source: Any) -> None:
    """Nor is an empty list: it would be an empty upload."""
    with pytest.raises(UsageError, match="a path, rows, or a list of these"):
        items_of(source)


@each_case("name", ["list.xlsx", "list.XLSM", "list.parquet"])
@each_case("content", [b"hello\n", b'{"error": "not found"}', b"\0\1\2abc", b"email\0\nx@example.com\n"])
def test_a_file_that_is_a_workbook_only_by_its_name_is_no_list(name: str, content: bytes, tmp_path: Path) -> None:
    """An interrupted download, or a message in its place; a map of columns would not mend it."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceRefused, match=r"it is named as a .*, and its bytes are not those of one") as caught:
        _look([tmp_path / name])
    assert "Export it again" in (caught.value.hint or "")


@each_case(
    "content", [b"email\na@example.com\n", "email\na@example.com\n".encode("utf-16"), b"<table><tr><td>email</table>"]
)
def test_a_list_of_lines_may_be_named_as_a_workbook(content: bytes, tmp_path: Path) -> None:
    """Many shops and portals name CSV and tables of web pages so."""
    (tmp_path / "list.xlsx").write_bytes(content)
    assert _look([tmp_path / "list.xlsx"])


@each_case(
    "value",
    [
        "ada@larchpost.example",
        "@ada_larch",
        "+49 (151) 12345678",
        "015112345678",
        "ab" * 32,
        "8f0a4a0b-1d2c-3e4f-5061-728394a5b6c7",
        "email,page\nada,https://larchpost.example/ada\n",
    ],
)
def test_identifiers_in_the_place_of_paths_are_neither_shown_nor_kept(value: str) -> None:
    """A list of them is a likely mistake in Python."""
    for source, number in ((value, 1), ([value, value], 1), (["people.csv", value], 2)):
        with pytest.raises(UsageError, match=f"source {number} is no file, and looks like identifiers") as caught:
            items_of(source)
        assert value not in str(caught.value) + caught.value.hint


def test_a_file_may_have_the_name_of_an_identifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is there; and one in a directory, which a run may look for again."""
    (tmp_path / "20261126").write_text("email\n")
    monkeypatch.chdir(tmp_path)
    assert items_of(["20261126", str(tmp_path / "20261127"), "lists/a@b"])


def test_rows_are_refused_where_paths_are_needed() -> None:
    assert paths_of(["one.csv", Path("two.csv")]) == ("one.csv", Path("two.csv"))
    with pytest.raises(UsageError, match="rows that come once") as caught:
        paths_of(["one.csv", TABLE])
    assert "Parquet" in caught.value.hint


def _rows() -> Iterator[pa.RecordBatch]:
    yield from TABLE.to_batches()


@each_case(
    "source, once", [("list.csv", False), (Path("list.csv"), False), ("-", True), (TABLE, False), (_rows(), True)]
)
def test_some_items_come_once(source: AnySource, once: bool) -> None:
    """Standard input, and rows that are not in memory."""
    (item,) = items_of(source)
    assert comes_once(item) == once


@each_case(
    "given, is_of_this_machine, absolute, stored, name",
    [
        ("/data/list.csv", True, "/data/list.csv", "/data/list.csv", "list.csv"),
        ("/data/../list.csv", True, "/list.csv", "/list.csv", "list.csv"),
        (Path("/data/list.csv"), True, "/data/list.csv", "/data/list.csv", "list.csv"),
        ("/data/lists/", True, "/data/lists", "/data/lists", "lists"),
        ("/", True, "/", "/", "/"),
        ("-", False, "-", "-", "standard input"),
        ("s3://bucket/a/list.csv", False, "s3://bucket/a/list.csv", "s3://bucket/a/list.csv", "list.csv"),
        (SIGNED, False, SIGNED, "https://lists.example/march%20list.csv?…", "march list.csv"),
    ],
)
def test_a_path_is_kept_and_named(
    given: str | Path, is_of_this_machine: bool, absolute: str, stored: str, name: str
) -> None:
    """Kept as it means the same file from everywhere, without what may be a signature; named without directories."""
    assert is_path(given) == is_of_this_machine
    assert absolute_path(given) == absolute
    assert stored_path(given) == stored
    assert names_of([given]) == (name,)


def test_rows_are_named_by_their_sort() -> None:
    assert names_of(items_of([TABLE, io.BytesIO(b"email\n")])) == ("data frame", "open file")


@pytest.mark.usefixtures("gone_directory")
def test_a_relative_path_means_nothing_in_a_directory_that_is_gone(tmp_path: Path) -> None:
    """An absolute one still does."""
    assert absolute_path(tmp_path / "list.csv") == str(tmp_path / "list.csv")
    with pytest.raises(InputOutputFailed, match=r"list\.csv: the working directory is gone"):
        absolute_path("list.csv")


def test_a_file_and_a_frame_are_looked_at(files: list[Path]) -> None:
    """A frame has no size that is known, and one identity for each object; frames after the first have a number."""
    file, first, second = _look([files[0], TABLE, pa.table({"email": ["b@example.com"]})])
    assert [each.name for each in (file, first, second)] == ["march.csv", "data frame", "data frame 2"]
    assert [each.size_bytes for each in (file, first, second)] == [files[0].stat().st_size, 0, 0]
    assert [each.repeatable for each in (file, first, second)] == [True, False, False]
    assert first.identity != second.identity


@pytest.mark.parametrize("link", [os.link, os.symlink, None])
def test_the_same_file_twice_is_refused(tmp_path: Path, files: list[Path], link: Any) -> None:
    """Under its own or another name: its rows would count as duplicates."""
    again = tmp_path / "again.csv" if link else files[0]
    if link:
        link(files[0], again)
    with pytest.raises(SourceRefused, match="this file is given twice"):
        _look([*files, again])


def test_all_files_are_looked_at_before_the_first_is_read(tmp_path: Path, files: list[Path]) -> None:
    """One that is missing, or that is a directory, is told at once, and by name."""
    with pytest.raises(SourceRefused, match=r"nowhere\.csv: there is no such file"):
        _look([files[0], tmp_path / "nowhere.csv"])
    with pytest.raises(SourceRefused, match="this is a directory") as caught:
        _look([files[0], tmp_path])
    assert "DIRECTORY/*.parquet" in caught.value.hint


def test_options_that_no_file_heeds_are_refused(files: list[Path]) -> None:
    """One file that does is enough."""
    with pytest.raises(UsageError, match="`encoding=` is for text, and the source is parquet"):
        _look(files[1:], encoding="cp1252")
    with pytest.raises(UsageError, match="`delimiter=` is for delimited text, and the source is parquet"):
        _look(files[1:], delimiter=";")
    assert len(_look(files, delimiter=",")) == 2


@each_case(
    "error, rows_read",
    [
        (SourceRefused("it broke", row=7, column="email", hint="mend it"), 70),
        (SourceRefused("it broke", rows_read=5, row=7, column="email", hint="mend it"), 5),
    ],
)
def test_a_refusal_says_which_source_it_is_about(error: SourceRefused, rows_read: int) -> None:
    """And how far that was read, where the refusal does not know it; its own frames, which hold values, are dropped."""
    with pytest.raises(SourceRefused) as caught, naming("list.csv", lambda: 70):
        raise error
    told = caught.value
    assert (str(told), told.source, told.row, told.column) == ("list.csv: it broke", "list.csv", 7, "email")
    assert (told.rows_read, told.hint) == (rows_read, "mend it")
    assert error.__traceback__ is None


@each_case("sort", [MappingRefused, InputOutputFailed])
def test_other_failures_name_their_source_and_stay_of_their_sort(sort: type[AudiencekitError]) -> None:
    error = sort("it broke", hint="mend it")
    with pytest.raises(sort, match=r"^list\.csv: it broke$") as caught, naming("list.csv"):
        raise error
    assert caught.value.hint == "mend it"
    assert error.__traceback__ is None


def test_a_wrong_option_names_no_source() -> None:
    """It is about none."""
    with pytest.raises(UsageError, match=r"^wrong$"), naming("list.csv"):
        raise UsageError("wrong")
