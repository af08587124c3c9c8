"""What earlier runs may still do to an audience."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audiencekit.audiences.erasure.doubts import doubts_of_runs
from audiencekit.delivery.journal.facts import PlanFacts, PlannedBody, RunFacts
from audiencekit.delivery.journal.file import JournalFile
from audiencekit.delivery.runs import RunStore
from audiencekit.limits import OUTAGE_PATIENCE_SECONDS, SETTLE_SECONDS
from audiencekit.machine.keys import SubKey
from audiencekit.preparation.target import Target

ACCOUNT, TARGET, KEY = "18ce54d4x5t", Target.audience("1a2b"), SubKey(b"k" * 32)
RUN = "20261121-120000-abcdef"
NOW = 1_795_000_000.0


def _run(state_dir: Path, *, age: float, attempts: int = 1, rate_limited: int = 0, state: str = "confirmed") -> Path:
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
    change = "UPDATE requests SET state = ?, attempts = ?, rate_limited = ?"
    journal.write([lambda connection: connection.execute(change, (state, attempts, rate_limited))])
    journal.close()
    path = directory / "journal.sqlite"
    os.utime(path, (NOW - age, NOW - age))
    return path


@pytest.mark.parametrize(
    ("facts", "age", "expected"),
    [
        ({}, 5, 0),
        ({"attempts": 2}, 5, SETTLE_SECONDS - 5),
        ({"attempts": 2, "rate_limited": 1}, 5, 0),
        ({"attempts": 2}, SETTLE_SECONDS, 0),
        ({"state": "unknown"}, 5, SETTLE_SECONDS + OUTAGE_PATIENCE_SECONDS - 5),
        ({"state": "intended", "attempts": 0}, 1_000, SETTLE_SECONDS + OUTAGE_PATIENCE_SECONDS - 1_000),
        ({"state": "intended", "attempts": 0}, 10_000, 0),
        ({"state": "planned", "attempts": 0}, 5, 0),
    ],
)
def test_an_attempt_that_was_not_confirmed_is_waited_for(
    facts: dict[str, object], age: float, expected: float, tmp_path: Path
) -> None:
    """From the last word of its journal; longer when nobody lived to say how it ended."""
    _run(tmp_path, age=age, **facts)  # type: ignore[arg-type]
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(TARGET) == expected


def test_other_audiences_and_accounts_wait_for_nothing(tmp_path: Path) -> None:
    """Nor does a state directory without runs."""
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(TARGET) == 0
    _run(tmp_path, age=5, state="unknown")
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(Target.audience("9z")) == 0
    assert doubts_of_runs(tmp_path, "18ce5other", lambda: NOW)(TARGET) == 0


def test_a_journal_that_says_nothing_sound_may_hide_anything(tmp_path: Path) -> None:
    """So it is waited for; an empty one is of a run that never began."""
    path = _run(tmp_path, age=5)
    path.write_bytes(b"x" * 200)
    os.utime(path, (NOW - 5, NOW - 5))
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(TARGET) == SETTLE_SECONDS - 5
    path.write_bytes(b"")
    os.utime(path, (NOW - 5, NOW - 5))
    assert doubts_of_runs(tmp_path, ACCOUNT, lambda: NOW)(TARGET) == 0
