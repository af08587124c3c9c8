"""What earlier runs may still do to an audience."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audiencekit.audiences.erasure import doubts
from audiencekit.audiences.erasure.doubts import doubts_of_runs
from audiencekit.delivery.journal.facts import PlanFacts, PlannedBody, RunFacts
from audiencekit.delivery.journal.file import JournalFile
from audiencekit.delivery.journal.moments import Moment
from audiencekit.delivery.runs import RunStore
from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS, SETTLE_SECONDS
from audiencekit.machine.keys import SubKey
from audiencekit.preparation.target import Target

ACCOUNT, TARGET, KEY = "18ce54d4x5t", Target.audience("1a2b"), SubKey(b"k" * 32)
RUN = "20261121-120000-abcdef"
NOW = 1_795_000_000.0
TIMEOUT = EXCHANGE_TIMEOUT_SECONDS


def _run(state_dir: Path, *, age: float, left: Moment | None) -> Path:
    directory = RunStore(state_dir).create(RUN)
    facts = RunFacts(
        run_id=RUN, account_id=ACCOUNT, target=TARGET, operation="update", profile="spec", sources=[], rejections="",
        keywords={}, started_at="2026-11-21T12:00:00Z", audiencekit="0",
    )  # fmt: skip
    journal = JournalFile.begin(directory / "journal.sqlite", facts, KEY)
    plan = PlanFacts(
        mapping={}, rules={}, found={}, rows_read=1, rows_rejected=0, records=1, fingerprint="", suppression="",
        requests=(PlannedBody(1, 0, 1, 100),),
    )  # fmt: skip
    journal.keep_plan(plan, KEY)
    change = "UPDATE requests SET state = 'unknown', attempts = 2, left_boot = ?, left_seconds = ?"
    boot, seconds = (None, None) if left is None else (left.boot, left.seconds)
    journal.write([lambda connection: connection.execute(change, (boot, seconds))])
    journal.close()
    path = directory / "journal.sqlite"
    os.utime(path, (NOW - age, NOW - age))
    return path


@pytest.mark.parametrize(
    ("left", "age", "expected"),
    [
        (None, 5, 0),  # every attempt was answered, though none was confirmed
        (Moment("here", 990), 10, SETTLE_SECONDS),
        (Moment("here", 1_000 - TIMEOUT - 300), 5, SETTLE_SECONDS - 300),  # a file that was touched changes nothing
        (Moment("here", 1_000 - TIMEOUT - SETTLE_SECONDS + 1), 10_000, 1),
        (Moment("another", 990), 5, SETTLE_SECONDS),
        (Moment("another", 990), TIMEOUT + 300, SETTLE_SECONDS - 300),
        (Moment("another", 990), 10_000, 0),
    ],
)
def test_what_may_still_be_applied_is_waited_for(
    left: Moment | None, age: float, expected: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From when bytes left last; of another start of the machine, from when the journal was written last."""
    monkeypatch.setattr(doubts, "this_moment", lambda: Moment("here", 1_000))
    _run(tmp_path, age=age, left=left)
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(TARGET) == expected


def test_other_audiences_and_accounts_wait_for_nothing(tmp_path: Path) -> None:
    """Nor does a state directory without runs."""
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(TARGET) == 0
    _run(tmp_path, age=5, left=Moment("another", 1))
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(Target.audience("9z")) == 0
    assert doubts_of_runs(tmp_path, "18ce5other", lambda: NOW)(TARGET) == 0


def test_a_journal_that_says_nothing_sound_may_hide_anything(tmp_path: Path) -> None:
    """So it is waited for; an empty one is of a run that never began."""
    path = _run(tmp_path, age=5, left=None)
    path.write_bytes(b"x" * 200)
    os.utime(path, (NOW - 5, NOW - 5))
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(TARGET) == SETTLE_SECONDS - 5
    path.write_bytes(b"")
    os.utime(path, (NOW - 5, NOW - 5))
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(TARGET) == 0
