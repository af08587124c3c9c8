"""Stored runs whose destination is not installed: seen and kept, resumed only where it is."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audiencekit.audiences.key_rotation import count_sealed
from audiencekit.audiences.runs import PurgeOrder, purge
from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.errors import CredentialsRefused, ResumeRefused
from audiencekit.limits import SETTLE_SECONDS
from audiencekit.pipeline import resume_async
from audiencekit.reporting.progress import NoProgress
from audiencekit.reporting.text import render_report, render_runs
from audiencekit.runs.first_pass import PendingRequests
from audiencekit.runs.journal.facts import this_moment
from audiencekit.runs.reports import list_runs, read_report
from audiencekit.runs.store import TargetLock
from audiencekit.runs.uploads import find_remaining_async, upload_to
from audiencekit.settings import Settings, load_settings
from audiencekit.state.keys import existing_state_key
from tests.destinations.jsonlines import LOST, REVOKED, registered

ACCOUNT, ROWS, NAMED = "18ce54d4x5t", 1_500, "a-run-of-ours"
LATER = timedelta(days=40)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    given = {"AUDIENCEKIT_ACCOUNT_ID": ACCOUNT}
    return load_settings(given, directory=tmp_path, state_dir=tmp_path / "state", concurrency=1)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    path.write_text("email\n" + "".join(f"person{number}@example.com\n" for number in range(ROWS)))
    return path


async def _complete(source: Path, settings: Settings) -> str:
    with registered() as destination:
        return (await upload_to(Target(destination, "m1"), source, settings=settings, limiter=Unlimited())).run_id


async def _ended_early(source: Path, settings: Settings, *before: Exception | None) -> str:
    """A run of which the first request is confirmed, under an id that its caller chose."""
    with registered() as destination:
        destination.mailbox.script = [None, *before, *[REVOKED] * 16]
        with pytest.raises(CredentialsRefused):
            await upload_to(
                Target(destination, "m1"), source, settings=settings, limiter=Unlimited(), run_id=NAMED, keep_spool=True
            )
    return NAMED


async def test_runs_and_reports_name_the_destination(settings: Settings, source: Path) -> None:
    """With everything else that is known of them, whether their journals are checked or not."""
    complete, early = await _complete(source, settings), await _ended_early(source, settings)
    for key in (None, existing_state_key(settings.state_dir, settings.key)):
        newest, oldest = list_runs(settings.state_dir, key)
        assert [each["run_id"] for each in (newest, oldest)] == [early, complete]
        assert [each["state"] for each in (newest, oldest)] == ["incomplete", "complete"]
        assert [each["rows"]["sent"] for each in (newest, oldest)] == [1_000, ROWS]
        for each in (newest, oldest):
            assert (each["target"], each["audience_id"]) == ({"kind": "json_lines", "id": "m1"}, None)
            assert (each["unknown_destination"], each["resumable"]) == ("json_lines", False)
    for line in render_runs([newest, oldest]).splitlines()[1:]:
        assert "json_lines m1" in line
        assert line.endswith("the destination json_lines is not installed")
    for run_id in (complete, early):
        text = render_report(read_report(settings.state_dir, run_id))
        assert "update json_lines m1" in text
        assert "the destination json_lines is not installed" in text
    with registered():
        newest, oldest = list_runs(settings.state_dir)
        assert [each["resumable"] for each in (newest, oldest)] == [True, False]
        assert "unknown_destination" not in newest | oldest


async def test_a_run_that_ended_early_waits_for_its_destination(settings: Settings, source: Path) -> None:
    """Each door refuses it with its id, the destination and the way out; where that is installed, it is finished."""
    early = await _ended_early(source, settings)
    before = {path: path.read_bytes() for path in settings.state_dir.rglob("*") if path.is_file()}
    with registered(name="other_lines") as another:
        for attempt in (
            resume_async(early, settings=settings, limiter=Unlimited()),
            find_remaining_async(early, settings=settings, progress=NoProgress()),
            upload_to(Target(another, "m1"), source, settings=settings, limiter=Unlimited(), run_id=early),
        ):
            with pytest.raises(ResumeRefused, match=f"run {early} goes to the destination `json_lines`") as refused:
                await attempt
            assert (refused.value.reason, refused.value.exit_code) == ("destination", 3)
            assert "install the package" in refused.value.hint
            assert refused.value.document is not None
            assert (refused.value.document["state"], refused.value.document["requests"]["planned"]) == ("incomplete", 2)
    after = {path: path.read_bytes() for path in settings.state_dir.rglob("*") if path.is_file()}
    assert before == after
    with registered() as destination:
        report = await resume_async(early, settings=settings, limiter=Unlimited())
        assert (report.state, report.rows.sent, destination.mailbox.sizes) == ("complete", ROWS, [500])


async def test_a_complete_run_has_nothing_to_resume(settings: Settings, source: Path) -> None:
    """Its report comes back as for every complete run."""
    complete = await _complete(source, settings)
    report = await resume_async(complete, settings=settings)
    assert (report.state, report.rows.sent, str(report.target)) == ("complete", ROWS, "json_lines m1")


async def test_a_run_that_ended_early_is_not_purged_by_itself(settings: Settings, source: Path) -> None:
    """It could be resumed elsewhere. Asked for, it goes, but not while anything is at work: its lock has any name."""
    early = await _ended_early(source, settings)
    now = datetime.now(UTC) + LATER
    receipt = purge(PurgeOrder(older_than=timedelta(days=30)), settings, now)
    assert (receipt.removed.total(), receipt.kept["resumable"]) == (0, 1)
    order = PurgeOrder(older_than=timedelta(days=30), unfinished=True)
    with TargetLock(settings.state_dir, ACCOUNT, Target.audience("another"), "another-run"):
        receipt = purge(order, settings, now)
        assert (receipt.removed.total(), receipt.kept["running"]) == (0, 1)
    assert purge(order, settings, now).removed == {"resumable": 1}
    assert not (settings.state_dir / "runs" / early).exists()


async def test_its_requests_in_doubt_are_waited_for(settings: Settings, source: Path) -> None:
    """The destination may be another name of the same place: of a newer version, for one."""
    await _ended_early(source, settings, LOST)
    earlier = PendingRequests(settings.state_dir, ACCOUNT, now=time.time, moment=this_moment)
    with registered() as destination:
        assert earlier.seconds_left(Target.audience("1a2b")) == 0
        assert earlier.seconds_left(Target(destination, "m1")) > 0
    assert 0 < earlier.seconds_left(Target.audience("1a2b")) <= SETTLE_SECONDS


async def test_the_state_key_opens_its_journal(settings: Settings, source: Path) -> None:
    """Else `key rotate` would say that the key is another one."""
    await _ended_early(source, settings)
    key = existing_state_key(settings.state_dir, settings.key)
    assert key is not None
    assert count_sealed(settings.state_dir, key) == {
        "journals": {"opened": 1, "refused": 0},
        "spools": {"opened": 1, "refused": 0},
    }
