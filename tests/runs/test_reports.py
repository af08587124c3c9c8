"""The reports of runs that ended early, or never got far."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.results import RefusedRow
from audiencekit.emulator import Emulator
from audiencekit.errors import InputOutputFailed
from audiencekit.pipeline import upload_async
from audiencekit.reporting.report import Report, RowCounts
from audiencekit.reporting.text import render_report
from audiencekit.runs import beginning, reports
from audiencekit.runs.journal.facts import Ending, Sums
from audiencekit.runs.journal.file import JOURNAL, JournalFile
from audiencekit.runs.reports import list_runs, read_report, summary_of, updated
from audiencekit.runs.store import RunStore
from audiencekit.settings import Settings
from audiencekit.state.keys import StateKey
from tests.runs.journal.conftest import FACTS, KEY, PLAN, RUN_ID, STATE_KEY, rewrite
from tests.runs.started import create_begun

# --- The reports of runs that ended early, or never got far ---

SUMS = Sums(confirmed=1, records_confirmed=10, success_count=10, total_count=10, attempts=2)
PLANNED: dict[str, Any] = Report(
    run_id=RUN_ID,
    state="incomplete",
    target=FACTS.target,
    operation="update",
    rows=RowCounts(read=40, rejected=8, duplicate=1, superseded=1, pending=30),
    rejections={"placeholder": 8},
    requests_planned=3,
    bytes=3_000,
    plan_time=FACTS.started_at,
    started_at=FACTS.started_at,
).to_json()
UNKNOWN: dict[str, Any] = {
    **PLANNED,
    "rows": {**PLANNED["rows"], "sent": None, "rejected": None, "pending": None},
    "requests": {**PLANNED["requests"], "confirmed": None, "attempts": None},
    "reconciliation": {"records_sent": None, "success_count": None, "total_count": None},
    "miscounted": None,
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
    """Confirmed and refused rows are not pending any more, however often it is done; nothing else changes."""
    once = updated(PLANNED, SUMS)
    assert once["rows"] == {**PLANNED["rows"], "sent": 10, "pending": 20}
    later = updated(once, replace(SUMS, refused=(RefusedRow(3, ("BAD",)), RefusedRow(9, ()))))
    assert later["rows"] == {**PLANNED["rows"], "sent": 10, "rejected": 10, "pending": 18}
    assert later["rejections"] == {"placeholder": 8, "refused_by_service": 2}
    assert updated(later, SUMS) == once
    assert once["requests"] == {**PLANNED["requests"], "confirmed": 1, "attempts": 2}
    assert once["reconciliation"] == {"records_sent": 10, "success_count": 10, "total_count": 10}
    assert updated(once, SUMS) == once
    assert PLANNED["rows"]["sent"] == 0


def test_a_killed_run_says_what_its_journal_says(tmp_path: Path, store: RunStore, journal: JournalFile) -> None:
    """And can be resumed."""
    journal.store_plan(PLAN, KEY)
    journal.close()
    _confirm_all(store)
    store.write(RUN_ID, PLANNED)
    assert read_report(tmp_path, "last", STATE_KEY)["rows"]["sent"] == 30
    (listed,) = list_runs(tmp_path, STATE_KEY)
    assert (listed["rows"]["sent"], listed["requests"]["confirmed"]) == (30, 3)
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
def test_an_ended_run_is_shown_as_it_was_stored(tmp_path: Path, store: RunStore, state: str) -> None:
    """The journal is not asked."""
    store.write(RUN_ID, {**PLANNED, "state": state})
    assert read_report(tmp_path, RUN_ID) == {**PLANNED, "state": state}
    assert not list_runs(tmp_path)[0]["resumable"]


def _confirm_all(store: RunStore) -> None:
    change = "UPDATE requests SET state = 'confirmed', attempts = 1, success_count = 10, total_count = 10"
    rewrite(store.directory(RUN_ID) / JOURNAL, KEY, change)


def _execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


DAMAGE: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "no journal at all": ("damaged", lambda path: path.write_bytes(b"rubbish" * 99)),
    "empty": ("damaged", lambda path: path.write_bytes(b"")),
    "cut off": ("damaged", lambda path: path.write_bytes(path.read_bytes()[:5_000])),
    "gone": ("damaged", lambda path: path.unlink()),
    "a count": ("damaged", lambda path: _execute(path, "UPDATE requests SET attempts = attempts | 32")),
    "of another schema": ("schema", lambda path: _execute(path, "PRAGMA user_version=7")),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_journal_shows_no_zeros(tmp_path: Path, store: RunStore, journal: JournalFile, name: str) -> None:
    """The plan is shown, and confirmed requests are not known: 74. The list says so; it and others are shown."""
    journal.store_plan(PLAN, KEY)
    journal.close()
    _confirm_all(store)
    store.write(RUN_ID, PLANNED)
    other = create_begun(store, "20261121-013000-ffffff00").name
    store.write(other, {**PLANNED, "run_id": other, "state": "complete"})
    reason, damage = DAMAGE[name]
    damage(store.directory(RUN_ID) / JOURNAL)
    with pytest.raises(InputOutputFailed, match="what was confirmed is not known") as caught:
        read_report(tmp_path, RUN_ID, STATE_KEY)
    assert caught.value.document == UNKNOWN
    assert caught.value.exit_code == 74
    assert f"`plan_time={FACTS.started_at!r}`" in caught.value.hint
    text = render_report(UNKNOWN, details=True)
    assert "confirmed   not known of 3 planned" in text
    assert "records sent not known" in text
    first, damaged = list_runs(tmp_path, STATE_KEY)
    assert (first["run_id"], first["state"]) == (other, "complete")
    assert (damaged["state"], damaged["journal"], damaged["resumable"]) == ("incomplete", reason, False)
    assert (damaged["rows"], damaged["requests"]) == (UNKNOWN["rows"], UNKNOWN["requests"])


def test_a_report_that_is_gone_is_made_of_the_journal(tmp_path: Path, store: RunStore, journal: JournalFile) -> None:
    """As far as that knows; what only the report knew is not shown as nothing."""
    journal.store_plan(PLAN, KEY)
    journal.close()
    _confirm_all(store)
    for content in (None, b"{"):
        if content is not None:
            (store.directory(RUN_ID) / "report.json").write_bytes(content)
        with pytest.raises(InputOutputFailed) as caught:
            read_report(tmp_path, RUN_ID, STATE_KEY)
        document = caught.value.document
        assert document is not None
        assert (document["state"], document["reconciliation"]["success_count"]) == ("incomplete", 30)
        assert document["rows"] == {
            "read": 40, "sent": 30, "rejected": 10, "duplicate": None, "superseded": None, "suppressed": None,
            "pending": 0,
        }  # fmt: skip
        assert render_report(document).splitlines()[-1] == "state: incomplete"
        (listed,) = list_runs(tmp_path, STATE_KEY)
        assert listed["resumable"]


def test_a_run_that_has_ended_is_not_incomplete_without_its_report(
    tmp_path: Path, store: RunStore, journal: JournalFile
) -> None:
    """Its journal says how it ended."""
    journal.store_plan(PLAN, KEY)
    journal.finish(Ending(state="complete", exit_code=0), KEY)
    journal.close()
    (listed,) = list_runs(tmp_path, STATE_KEY)
    assert (listed["state"], listed["resumable"]) == ("complete", False)
    with pytest.raises(InputOutputFailed, match="the report of the run is gone") as caught:
        read_report(tmp_path, RUN_ID)
    assert caught.value.document is not None
    assert caught.value.document["state"] == "complete"


@pytest.mark.parametrize("change", [{"rows": {"read": 1}}, {"rows": 1}, {"requests": {}}, {"alien": 1}])
def test_an_odd_report_is_no_bug(tmp_path: Path, store: RunStore, change: dict[str, Any]) -> None:
    """Whatever wrote it under a checksum: what is missing or does not close is told."""
    store.write(RUN_ID, {**PLANNED, "state": "complete", **change})
    with pytest.raises(InputOutputFailed, match="damaged"):
        read_report(tmp_path, RUN_ID)


def test_a_run_that_is_purged_meanwhile_is_not_listed(
    tmp_path: Path, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half gone it would be a run whose journal cannot be trusted."""
    store.create("the-one-that-goes")

    def and_purge(state_dir: Path, run_id: str, key: StateKey | None) -> dict[str, Any]:
        with contextlib.suppress(FileNotFoundError):
            store.directory("the-one-that-goes").rmdir()
        return summary_of(state_dir, run_id, key)

    monkeypatch.setattr("audiencekit.runs.reports.summary_of", and_purge)
    assert [run["run_id"] for run in list_runs(tmp_path)] == [RUN_ID]


# --- The report of a run as things stand ---


def _set_clock(monkeypatch: pytest.MonkeyPatch, module: Any, time: str) -> None:
    """Have `module` read this time for ever."""

    class Fixed(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.fromisoformat(time)

    monkeypatch.setattr(module, "datetime", Fixed)


async def test_a_run_never_ends_before_it_began(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock may be set back while it goes on."""
    _set_clock(monkeypatch, beginning, "2026-11-21T01:30:00Z")
    _set_clock(monkeypatch, reports, "2026-11-20T01:30:00Z")
    report = await upload_async(source, audience=emulator.audience_id, settings=settings)
    assert report.started_at == report.finished_at == "2026-11-21T01:30:00Z"
