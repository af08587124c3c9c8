"""What is said of runs that ended early, or never got far."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.journal.facts import Sums
from audiencekit.delivery.journal.file import JournalFile
from audiencekit.delivery.journal.schema import JOURNAL
from audiencekit.delivery.results import RefusedRow
from audiencekit.delivery.runs import RunStore
from audiencekit.errors import InputOutputFailed
from audiencekit.reporting.text import render_report
from audiencekit.runs.kept import list_runs, read_report, updated
from tests.delivery.journal.conftest import FACTS, KEY, PLAN, RUN_ID

SUMS = Sums(confirmed=1, records_confirmed=10, success_count=10, total_count=10, attempts=2)
PLANNED: dict[str, Any] = {
    "run_id": RUN_ID,
    "state": "incomplete",
    "rows": {
        "read": 40,
        "sent": 0,
        "rejected": 8,
        "duplicate": 1,
        "superseded": 1,
        "suppressed": 0,
        "pending": 30,
    },
    "rejections": {"placeholder": 8},
    "requests": {"planned": 3, "confirmed": 0, "attempts": 0, "bytes": 3_000},
    "reconciliation": {"records_sent": 0, "success_count": 0, "total_count": 0},
}


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    store = RunStore(tmp_path)
    store.create(RUN_ID)
    return store


@pytest.fixture
def journal(store: RunStore) -> JournalFile:
    """A journal without a plan, closed by the test."""
    return JournalFile.begin(store.directory(RUN_ID) / JOURNAL, FACTS, KEY)


def test_a_report_is_brought_up_to_date() -> None:
    """What was confirmed or refused is not pending any more, however often it is done; nothing else changes."""
    once = updated(PLANNED, SUMS)
    assert once["rows"] == {**PLANNED["rows"], "sent": 10, "pending": 20}
    later = updated(once, replace(SUMS, refused=(RefusedRow(3, ("BAD",)), RefusedRow(9, ()))))
    assert later["rows"] == {**PLANNED["rows"], "sent": 10, "rejected": 10, "pending": 18}
    assert later["rejections"] == {"placeholder": 8, "refused_by_service": 2}
    assert updated(later, SUMS) == once
    assert once["requests"] == {"planned": 3, "confirmed": 1, "attempts": 2, "bytes": 3_000}
    assert once["reconciliation"] == {"records_sent": 10, "success_count": 10, "total_count": 10}
    assert updated(once, SUMS) == once
    assert PLANNED["rows"]["sent"] == 0


def test_a_killed_run_says_what_its_journal_says(tmp_path: Path, store: RunStore, journal: JournalFile) -> None:
    """And can be resumed."""
    journal.keep_plan(PLAN, KEY)
    journal.write([lambda connection: connection.execute("UPDATE requests SET state='confirmed', success_count=10")])
    journal.close()
    store.write_report(RUN_ID, PLANNED)
    assert read_report(tmp_path, "last")["rows"]["sent"] == 30
    (listed,) = list_runs(tmp_path)
    assert (listed["resumable"], listed["running"], listed["audience_id"]) == (True, False, FACTS.target.id)


def test_a_run_that_was_killed_while_it_read_has_a_report(tmp_path: Path, journal: JournalFile) -> None:
    """Nothing was sent; the text ends with the state as any other does."""
    journal.close()
    document = read_report(tmp_path, RUN_ID)
    assert (document["state"], document["rows"]["read"], document["started_at"]) == ("incomplete", 0, FACTS.started_at)
    assert render_report(document).splitlines()[-1] == "state: incomplete"
    assert list_runs(tmp_path)[0]["resumable"]


def test_a_run_without_a_journal_cannot_be_resumed(tmp_path: Path, store: RunStore) -> None:
    """It was killed before it began."""
    (listed,) = list_runs(tmp_path)
    assert (listed["state"], listed["resumable"], listed["running"]) == ("incomplete", False, False)
    with pytest.raises(InputOutputFailed):
        read_report(tmp_path, RUN_ID)


@pytest.mark.parametrize("state", ["complete", "refused"])
def test_what_has_ended_is_shown_as_it_was_kept(tmp_path: Path, store: RunStore, state: str) -> None:
    """The journal is not asked."""
    store.write_report(RUN_ID, {**PLANNED, "state": state})
    assert read_report(tmp_path, RUN_ID) == {**PLANNED, "state": state}
    assert not list_runs(tmp_path)[0]["resumable"]


def test_a_damaged_journal_hides_no_report(tmp_path: Path, store: RunStore, journal: JournalFile) -> None:
    """The report is shown as it was kept, and the run cannot be resumed."""
    journal.close()
    (store.directory(RUN_ID) / JOURNAL).write_bytes(b"rubbish" * 99)
    store.write_report(RUN_ID, PLANNED)
    assert read_report(tmp_path, RUN_ID) == PLANNED
    assert not list_runs(tmp_path)[0]["resumable"]
