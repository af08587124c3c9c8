"""The notices of watched runs that were told."""

from __future__ import annotations

import stat
from pathlib import Path

from audiencekit.runs.watched import TOLD, Told, left_to_tell, read_told, says_of_run, watch, write_told
from audiencekit.settings import Watch

NIGHT = Watch(receiver="night", rules=("fewer=0.2",))


def test_a_run_is_watched_from_its_beginning(tmp_path: Path) -> None:
    """By a file of its owner, which names the receiver, and nothing of the run: it may never begin."""
    assert read_told(tmp_path) is None
    watch(tmp_path, NIGHT)
    assert read_told(tmp_path) == Told(watch=NIGHT)
    assert stat.S_IMODE((tmp_path / TOLD).stat().st_mode) == 0o600
    assert [says_of_run(name) for name in (TOLD, f".{TOLD}-0123", "report.json")] == [False, False, True]


def test_told_notices_stay_when_the_run_goes_on(tmp_path: Path) -> None:
    """But how it ends is to be told again, to the receiver of the command by which it goes on."""
    before = tmp_path.stat().st_mtime_ns
    write_told(tmp_path, Told(ids=("a",), pending={"version": 1}, is_settled=True))
    assert tmp_path.stat().st_mtime_ns == before
    for watched, was_cut_short in ((NIGHT, False), (Watch(receiver="env"), True)):
        watch(tmp_path, watched)
        expected = Told(watch=watched, ids=("a",), pending={"version": 1}, was_cut_short=was_cut_short)
        assert read_told(tmp_path) == expected


def test_notices_that_are_left_to_tell(tmp_path: Path) -> None:
    """Of a run whose process was killed before it wrote anything, too; not of one that is not watched, or settled."""
    assert left_to_tell(tmp_path) == Told()
    (tmp_path / f".{TOLD}-0123").touch()  # that process was killed while it wrote
    assert left_to_tell(tmp_path) == Told()
    (tmp_path / "journal.sqlite").touch()
    assert left_to_tell(tmp_path) is None
    for told, is_left in (
        (Told(watch=NIGHT), True),
        (Told(watch=NIGHT, is_settled=True), False),
        (Told(watch=NIGHT, is_settled=True, pending={"version": 1}), True),
    ):
        write_told(tmp_path, told)
        assert left_to_tell(tmp_path) == (told if is_left else None)


def test_a_damaged_file_says_that_nothing_was_told(tmp_path: Path) -> None:
    (tmp_path / TOLD).write_text('{"ids": ["a"]}')
    assert read_told(tmp_path) == Told()
