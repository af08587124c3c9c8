"""The notices of watched runs that were told."""

from __future__ import annotations

import stat
from pathlib import Path

from audiencekit.runs.watched import TOLD, Told, read_told, says_of_run, watch, write_told


def test_a_run_is_watched_from_its_beginning(tmp_path: Path) -> None:
    """By an empty file of its owner: it says nothing of the run, which may never begin."""
    assert read_told(tmp_path) is None
    watch(tmp_path)
    assert read_told(tmp_path) == Told()
    status = (tmp_path / TOLD).stat()
    assert (status.st_size, stat.S_IMODE(status.st_mode)) == (0, 0o600)
    assert [says_of_run(name) for name in (TOLD, f".{TOLD}-0123", "report.json")] == [False, False, True]


def test_told_notices_stay_when_the_run_goes_on(tmp_path: Path) -> None:
    """But how it ends is to be told again."""
    before = tmp_path.stat().st_mtime_ns
    write_told(tmp_path, Told(ids=("a",), pending={"version": 1}, is_settled=True))
    assert tmp_path.stat().st_mtime_ns == before
    watch(tmp_path)
    assert read_told(tmp_path) == Told(ids=("a",), pending={"version": 1}, is_settled=False)


def test_a_damaged_file_says_that_nothing_was_told(tmp_path: Path) -> None:
    (tmp_path / TOLD).write_text('{"ids": ["a"]}')
    assert read_told(tmp_path) == Told()
