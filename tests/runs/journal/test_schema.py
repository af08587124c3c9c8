"""The file of a journal, before anything of it is believed."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from audiencekit.errors import ResumeRefused
from audiencekit.runs.journal.schema import connect, connect_new


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        ((), "no_journal"),
        (("journal.sqlite",), "not_begun"),
        (("journal.sqlite", "journal.sqlite-journal"), "not_begun"),  # killed in the first transaction
        (("journal.sqlite-journal",), "no_journal"),
        (("report.json",), "damaged"),
        (("journal.sqlite", "report.json"), "damaged"),
        (("journal.sqlite", "journal.sqlite-journal", "spool.sealed"), "damaged"),
        (("rejections.csv", "journal.sqlite-journal"), "damaged"),
    ],
)
def test_the_files_beside_an_empty_journal_say_whether_the_run_had_begun(
    left: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    """Only where nothing else is there was nothing sent. No file is made."""
    for name in left:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(ResumeRefused) as caught:
        connect(tmp_path / "journal.sqlite")
    assert caught.value.reason == reason
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(left)


def test_a_journal_that_was_changed_runs_nothing(tmp_path: Path) -> None:
    """A view or a trigger in it calls no function with effects."""
    path = tmp_path / "journal.sqlite"
    with contextlib.closing(connect_new(path)) as connection:
        connection.execute("COMMIT")
    with contextlib.closing(connect(path)) as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
