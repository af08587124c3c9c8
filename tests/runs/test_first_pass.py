"""The changes that earlier runs may still make to an audience."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audiencekit.destinations.target import Target
from audiencekit.limits import EXCHANGE_TIMEOUT_SECONDS, SETTLE_SECONDS
from audiencekit.runs.first_pass import PendingRequests
from audiencekit.runs.journal.facts import Moment, PlanFacts, PlannedBody, RunFacts
from audiencekit.runs.journal.file import JournalFile
from audiencekit.runs.store import RunStore
from audiencekit.state.keys import SubKey

ACCOUNT, TARGET, KEY = "18ce54d4x5t", Target.audience("1a2b"), SubKey(b"k" * 32)
RUN = "20261121-120000-abcdef00"
NOW = 1_795_000_000.0
TIMEOUT = EXCHANGE_TIMEOUT_SECONDS
YEAR, MONTH = "2027-11-21T00:00:00Z", "2026-12-21T00:00:00Z"


def _plan(*verbs: str, until: str = YEAR) -> PlanFacts:
    return PlanFacts(
        mapping={}, rules={"expires_at": until}, found={}, rows_read=1, rows_rejected=0, records=1, fingerprint="",
        suppression="", verbs=verbs,
        requests=tuple(PlannedBody(number, 0, 1, 100) for number in range(1, max(1, len(verbs)) + 1)),
    )  # fmt: skip


def _run(state_dir: Path, *, age: float, left: Moment | None, plan: PlanFacts | None = None, number: int = 1) -> Path:
    """A run of which request `number` left then and is in doubt."""
    directory = RunStore(state_dir).create(RUN)
    facts = RunFacts(
        run_id=RUN, account_id=ACCOUNT, target=TARGET, operation="update", profile="spec", sources=[], rejections="",
        keywords={}, started_at="2026-11-21T12:00:00Z", audiencekit="0", salt="00",
    )  # fmt: skip
    journal = JournalFile.begin(directory / "journal.sqlite", facts, KEY)
    journal.store_plan(plan or _plan(), KEY)
    change = "UPDATE requests SET state = 'unknown', attempts = 2, left_boot = ?, left_seconds = ? WHERE number = ?"
    boot, seconds = (None, None) if left is None else (left.boot, left.seconds)
    journal.write([lambda connection: connection.execute(change, (boot, seconds, number))])
    journal.close()
    path = directory / "journal.sqlite"
    os.utime(path, (NOW - age, NOW - age))
    return path


def _earlier(state_dir: Path, account: str = ACCOUNT, except_run: str | None = None) -> PendingRequests:
    return PendingRequests(
        state_dir, account, now=lambda: NOW, moment=lambda: Moment("here", 1_000), except_run=except_run
    )


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
        (Moment("here", 990), 8 * 86_400, 0),  # not opened
    ],
)
def test_an_attempt_that_may_still_be_applied_is_waited_for(
    left: Moment | None, age: float, expected: float, tmp_path: Path
) -> None:
    """From when bytes left last; of another start of the machine, from when the journal was written last."""
    _run(tmp_path, age=age, left=left)
    assert _earlier(tmp_path).seconds_left(TARGET) == expected


@pytest.mark.parametrize(
    ("earlier", "number", "now", "is_waited_for"),
    [
        (_plan("U"), 1, _plan("U"), False),  # the same once more
        (_plan("D"), 1, _plan("D"), False),
        (_plan("U"), 1, _plan("D"), True),
        (_plan("D"), 1, _plan("U"), True),
        (_plan("U", "D"), 1, _plan("U", "U"), False),  # its Delete is not in doubt
        (_plan("U", "D"), 2, _plan("U", "U"), True),
        (_plan("UD"), 1, _plan("U"), True),
        (_plan("U"), 1, _plan("U", "D"), True),
        (_plan("U", until=MONTH), 1, _plan("U"), True),  # people would expire too soon
        (_plan("U"), 1, _plan("U", until=MONTH), False),
        (_plan("D", until=MONTH), 1, _plan("D"), False),
        (_plan(), 1, _plan("U"), True),  # damaged: it does not say the verbs
    ],
)
def test_only_what_would_be_undone_is_waited_for(
    earlier: PlanFacts, number: int, now: PlanFacts, is_waited_for: bool, tmp_path: Path
) -> None:
    """A repeated Update or Delete changes nothing, the opposite does, and so does an Update with an earlier end."""
    _run(tmp_path, age=5, left=Moment("here", 990), plan=earlier, number=number)
    assert bool(_earlier(tmp_path).seconds_left(TARGET, now)) is is_waited_for


def test_other_audiences_accounts_and_the_run_itself_wait_for_nothing(tmp_path: Path) -> None:
    """Nor does a state directory without runs."""
    assert _earlier(tmp_path).seconds_left(TARGET) == 0
    _run(tmp_path, age=5, left=Moment("another", 1))
    assert _earlier(tmp_path).seconds_left(TARGET) > 0
    assert _earlier(tmp_path).seconds_left(Target.audience("9z")) == 0
    assert _earlier(tmp_path, "18ce5other").seconds_left(TARGET) == 0
    assert _earlier(tmp_path, except_run=RUN).seconds_left(TARGET) == 0


def test_a_journal_that_says_nothing_sound_may_hide_anything(tmp_path: Path) -> None:
    """So it is waited for; an empty one is of a run that never began."""
    path = _run(tmp_path, age=5, left=None)
    path.write_bytes(b"x" * 200)
    os.utime(path, (NOW - 5, NOW - 5))
    assert _earlier(tmp_path).seconds_left(TARGET) == SETTLE_SECONDS - 5
    path.write_bytes(b"")
    os.utime(path, (NOW - 5, NOW - 5))
    assert _earlier(tmp_path).seconds_left(TARGET) == 0


def test_a_time_in_the_future_counts_as_just_now(tmp_path: Path) -> None:
    """Nothing is waited for longer than a request may be late."""
    path = _run(tmp_path, age=5, left=None)
    path.write_bytes(b"x" * 200)
    os.utime(path, (NOW + 30 * 86_400, NOW + 30 * 86_400))
    assert _earlier(tmp_path).seconds_left(TARGET) == SETTLE_SECONDS


def test_a_foreign_directory_hides_no_run(tmp_path: Path) -> None:
    """As what file managers leave in directories."""
    store = RunStore(tmp_path)
    store.create(RUN)
    (tmp_path / "runs" / ".DS_Store").write_bytes(b"x")
    os.utime(tmp_path / "runs" / ".DS_Store", (NOW, NOW))
    assert _earlier(tmp_path).seconds_left(TARGET) == 0


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_journal_that_was_emptied_or_removed_may_hide_anything(tmp_path: Path, is_gone: bool) -> None:
    """A report beside it says that the run had begun. How old it is, the directory tells when the file is gone."""
    path = _run(tmp_path, age=5, left=None)
    (path.parent / "report.json").write_text("{}")
    path.unlink() if is_gone else path.write_bytes(b"")
    os.utime(path.parent if is_gone else path, (NOW - 5, NOW - 5))
    assert _earlier(tmp_path).seconds_left(TARGET) == SETTLE_SECONDS - 5
