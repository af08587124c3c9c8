"""A directory is its Parquet files, when it is nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.errors import SourceRefused
from audiencekit.sources.parquet.partfiles import part_files


def _touch(directory: Path, *names: str) -> Path:
    for name in names:
        (directory / name).touch()
    return directory


def test_parts_come_by_name(tmp_path: Path) -> None:
    """Markers and hidden files are no parts."""
    parts = ("part-00001-a.snappy.parquet", "part-00000-a.snappy.parquet")
    _touch(tmp_path, *parts, "_SUCCESS", "._SUCCESS.crc", ".part-00000-a.snappy.parquet.crc")
    assert [path.name for path in part_files(tmp_path)] == sorted(parts)


def test_a_prepared_directory_is_its_records(tmp_path: Path) -> None:
    """Its other files are about them."""
    _touch(tmp_path, "records.parquet", "manifest.json", "rejections.csv")
    (tmp_path / "requests").mkdir()
    assert [path.name for path in part_files(tmp_path)] == ["records.parquet"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "a directory without Parquet files"),
        (("_SUCCESS",), "a directory without Parquet files"),
        (("people.csv", "more.csv"), "a directory without Parquet files"),
        (("part-0.parquet", "people.csv", "x"), "beside Parquet files it holds 2 other entries"),
        (("part-0.parquet", "people.csv"), "beside Parquet files it holds 1 other entry"),
        (("part-0.parquet", "_temporary"), "has not finished"),
    ],
)
def test_other_directories_are_refused(tmp_path: Path, names: tuple[str, ...], message: str) -> None:
    """Otherwise rows would be left out without a message."""
    with pytest.raises(SourceRefused, match=message):
        part_files(_touch(tmp_path, *names))


def test_folders_of_a_partitioned_table_are_given_one_by_one(tmp_path: Path) -> None:
    """The names of folders hold values that are in no file, so nothing is read from below."""
    with pytest.raises(SourceRefused) as caught:
        part_files(_touch(tmp_path, "day=2026-01-01", "_SUCCESS"))
    assert "DIRECTORY/*/*.parquet" in caught.value.hint
