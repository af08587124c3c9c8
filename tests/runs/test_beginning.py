"""How a process comes to a run: a new one, or one that was begun before."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audiencekit.errors import AudienceBusy, NotFinished, ResumeRefused
from audiencekit.runs.beginning import hold_target, reopen_run
from audiencekit.runs.endings import complete, ended, fail
from audiencekit.runs.journal.facts import SYNC
from audiencekit.runs.purge import kind_of
from audiencekit.runs.reports import report_of, summary_of
from audiencekit.runs.run import settings_of
from audiencekit.runs.store import at_work
from audiencekit.settings import Settings
from tests.runs.started import ACCOUNT, AUDIENCE, offline, start

NOW = datetime(2026, 11, 21, 1, 30, tzinfo=UTC)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings that lead nowhere."""
    return offline(tmp_path)


def _abandon(settings: Settings, **more: object) -> str:
    """The id of a run whose process ended at once."""
    with ExitStack() as stack:
        return start(settings, stack, **more).facts.run_id


def test_a_new_run_is_in_its_journal_before_anything_is_read(settings: Settings) -> None:
    """With all that reads its source again; the file need not be there yet."""
    with ExitStack() as stack:
        run = start(settings, stack, keep_spool=True)
        facts = run.journal.facts()
    assert facts == run.facts
    assert (facts.account_id, facts.target, facts.operation, facts.keep_spool) == (ACCOUNT, AUDIENCE, "update", True)
    assert facts.sources == [os.path.abspath("list.csv")]
    assert run.rejections == run.directory / "rejections.csv"


def test_it_holds_its_target_until_the_stack_is_left(settings: Settings) -> None:
    """Another run, and a plan that is only shown, are told which one is at work; nothing is made for them."""
    with ExitStack() as stack:
        run = start(settings, stack)
        with pytest.raises(AudienceBusy, match=run.facts.run_id), ExitStack() as other:
            start(settings, other)
        with pytest.raises(AudienceBusy, match=run.facts.run_id), ExitStack() as other:
            hold_target(AUDIENCE, settings, other, NOW)
        assert run.store.ids() == [run.facts.run_id]
        assert at_work(settings.state_dir, run.store.ids()) == {run.facts.run_id}
    assert at_work(settings.state_dir, run.store.ids()) == set()
    with ExitStack() as other:
        hold_target(AUDIENCE, settings, other, NOW)
    assert run.store.ids() == [run.facts.run_id]


def test_two_runs_have_other_salts(settings: Settings) -> None:
    """An id that is given a second time makes another key."""
    salts = set()
    for run_id in ("the-first-list", "the-second-list"):
        with ExitStack() as stack:
            salts.add(start(settings, stack, run_id=run_id).facts.salt)
    assert len(salts) == 2


def test_a_run_past_the_retention_goes_before_the_next_begins(settings: Settings) -> None:
    """And the next one says so."""
    with ExitStack() as stack:
        run = start(settings, stack)
        fail(run, ResumeRefused("over", reason="refused"), report_of(run, None), run.earlier)
    os.utime(run.directory, (0, 0))
    with ExitStack() as stack:
        later = start(replace(settings, retention=timedelta(days=30)), stack)
        assert later.store.ids() == [later.facts.run_id]
        assert later.note.endswith("1 older run purged")


def test_a_run_is_opened_again_as_it_was_begun(settings: Settings) -> None:
    """With its keys, under its lock, for its own account and profile."""
    with ExitStack() as stack:
        run = start(settings, stack)
    with ExitStack() as stack:
        again = reopen_run(run.facts.run_id, settings, stack)
        assert (again.facts, again.items, again.plan) == (run.facts, tuple(run.facts.sources), None)
        assert (again.key.unwrap(), again.spool_key.unwrap()) == (run.key.unwrap(), run.spool_key.unwrap())
        assert at_work(settings.state_dir, run.store.ids()) == {run.facts.run_id}
    other = replace(settings, account_id="18ce5other")
    assert settings_of(again.facts, other).account_id == ACCOUNT


def test_a_run_at_work_is_not_opened(settings: Settings) -> None:
    """The facts of it are for the process that works on it."""
    with ExitStack() as stack, ExitStack() as other:
        run = start(settings, stack)
        with pytest.raises(AudienceBusy) as caught:
            reopen_run(run.facts.run_id, settings, other)
    assert caught.value.document == {
        "state": "incomplete", "continue_with": f"audiencekit resume {run.facts.run_id}",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("left", "reason", "has_document"),
    [
        ("no journal", "damaged", True),
        ("empty journal", "damaged", True),
        ("no journal, not listed", "no_journal", False),
        ("empty journal, not listed", "not_begun", False),
        ("damaged journal", "damaged", True),
        ("no key", "key", True),
        ("sync", "changes", True),
        ("standard input", "standard_input", True),
    ],
)
def test_a_run_that_cannot_go_on_says_why(settings: Settings, left: str, reason: str, has_document: bool) -> None:
    """With what is known of it, unless nothing of it can have been sent."""
    more = {"sync": {"operation": SYNC}, "standard input": {"source": "-"}}.get(left, {})
    run_id = _abandon(settings, **more)
    journal = settings.state_dir / "runs" / run_id / "journal.sqlite"
    if left.endswith("not listed"):  # as after a kill in the first transaction
        (settings.state_dir / "begun").unlink()
    if left.startswith("no journal"):
        journal.unlink()
    elif left.startswith("empty journal"):
        journal.write_bytes(b"")
    elif left == "damaged journal":
        journal.write_bytes(b"x" * 200)
    elif left == "no key":
        (settings.state_dir / "key").unlink()
    with pytest.raises(ResumeRefused) as caught, ExitStack() as stack:
        reopen_run(run_id, settings, stack)
    assert caught.value.reason == reason
    assert (caught.value.document is not None) == has_document
    assert at_work(settings.state_dir, {run_id}) == set()


def test_of_a_run_whose_files_are_gone_it_is_not_known_what_was_sent(settings: Settings) -> None:
    """The list of what was begun has it. The hint has the plan time that the id tells."""
    run_id = _abandon(settings)
    for path in (settings.state_dir / "runs" / run_id).iterdir():
        path.unlink()
    with (
        pytest.raises(ResumeRefused, match="not known whether anything was sent") as caught,
        ExitStack() as stack,
    ):
        reopen_run(run_id, settings, stack)
    assert "nothing was sent" not in str(caught.value)
    second = f"{run_id[:4]}-{run_id[4:6]}-{run_id[6:8]}T{run_id[9:11]}:{run_id[11:13]}:{run_id[13:15]}Z"
    assert f"`plan_time='{second}'`" in caught.value.hint
    assert kind_of(summary_of(settings.state_dir, run_id)) == "damaged"


def test_a_run_that_was_killed_before_it_was_listed_is_listed_when_it_goes_on(settings: Settings) -> None:
    """In its place by its time: from then on the list proves that it may have sent something."""
    first, second = _abandon(settings), None
    with ExitStack() as stack:
        second = start(settings, stack).facts.run_id
    (settings.state_dir / "begun").write_text(f"{second}\n")
    with ExitStack() as stack:
        reopen_run(first, settings, stack)
    assert (settings.state_dir / "begun").read_text().split() == [first, second]


def test_a_run_that_has_ended_is_opened_without_its_lock(settings: Settings) -> None:
    """To be shown, whatever is at work on its target now."""
    with ExitStack() as stack:
        run = start(settings, stack)
        complete(run, report_of(run, None, "complete"))
    with ExitStack() as stack:
        start(settings, stack)
        report = ended(reopen_run(run.facts.run_id, settings, stack))
    assert report is not None
    assert report.state == "complete"


def test_the_paces_of_the_parts_before_are_known(settings: Settings) -> None:
    """As the report of each kept them."""
    pace = {"began_at": "2026-11-21T01:30:00Z", "step_seconds": 1, "requests": [1]}
    with ExitStack() as stack:
        run = start(settings, stack)
        fail(run, NotFinished("over"), report_of(run, None, pace=pace), run.earlier)
    with ExitStack() as stack:
        assert reopen_run(run.facts.run_id, settings, stack).earlier_paces == (pace,)
