"""A run that was begun is finished with the same bytes, and by one process at a time."""

from __future__ import annotations

import functools
import json
import shutil
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audiencekit.cli.output import spelled
from audiencekit.delivery.options import Waits
from audiencekit.delivery.retry import SystemClock
from audiencekit.destinations.ads_session import AudienceSession
from audiencekit.emulator import Emulator
from audiencekit.errors import AudienceBusy, AudiencekitError, CredentialsRefused, ResumeRefused
from audiencekit.personal import Secret
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.reporting.progress import NoProgress
from audiencekit.reporting.report import Report
from audiencekit.runs import second_pass
from audiencekit.runs.journal.facts import this_moment
from audiencekit.runs.reports import list_runs, read_report
from audiencekit.runs.uploads import find_remaining_async
from audiencekit.settings import Settings
from tests.runs.begun import ROWS, EndsAfter, begin, members, rewrite_journal, sent

pytestmark = pytest.mark.usefixtures("small_requests")


async def test_only_what_is_not_confirmed_is_sent(source: Path, emulator: Emulator, settings: Settings) -> None:
    """And the report is about the whole run, whose start is that of the first part."""
    run_id = await begin(source, emulator, settings)
    first = read_report(settings.state_dir, run_id)
    report = await resume_async(run_id, settings=settings)
    assert len(sent(emulator)) == report.requests_planned == report.requests_confirmed == report.attempts > 4
    assert members(emulator) == ROWS == report.rows.sent == report.records_sent == report.success_count
    assert (report.state, report.run_id, report.started_at) == ("complete", run_id, first["started_at"])
    assert report.expires_at == first["expires_at"]
    assert first["rows"]["sent"] + first["rows"]["pending"] == ROWS


async def test_a_complete_run_is_left_as_it_is(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Its report comes back, as it was kept."""
    done = await upload_async(source, audience=emulator.audience_id, settings=settings)
    source.unlink()
    told: list[str] = []

    class Listener:
        def step(self, *_: Any, **__: Any) -> None:
            raise AssertionError("there is nothing to do")

        tell = staticmethod(told.append)

    again = await resume_async(done.run_id, settings=settings, progress=Listener())
    assert again == done
    assert "nothing is left to send" in told[0]
    assert len(sent(emulator)) == done.requests_planned


async def test_a_refused_run_stays_refused(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Resuming says why it was."""
    path = tmp_path / "empty.csv"
    path.write_text("email\nnull\n")
    with pytest.raises(AudiencekitError) as refused:
        await upload_async(path, audience=emulator.audience_id, settings=settings)
    assert refused.value.document is not None
    with pytest.raises(ResumeRefused, match="the run was refused") as caught:
        await resume_async(refused.value.document["run_id"], settings=settings)
    assert (caught.value.reason, caught.value.exit_code) == ("refused", 3)
    assert str(refused.value) in str(caught.value)
    assert caught.value.document == refused.value.document


async def test_options_of_then_hold(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Kind, country, times and verb come from the journal; a relative path means the file of then."""
    source = tmp_path / "list.csv"
    source.write_text("who;number\n" + "".join(f"p{n}@example.com;020 7946 {n:04}\n" for n in range(ROWS)))
    keywords: dict[str, Any] = {
        "columns": {"email": "who", "phone_number": "number"}, "country": "GB", "delimiter": ";", "ttl_days": 3,
        "effective_at": "2996-11-22", "plan_time": "2996-11-21T00:00:00Z", "operation": "update", "hashed": (),
    }  # fmt: skip
    await begin(source, emulator, settings, **keywords)
    report = await resume_async("last", settings=replace(settings, account_id=None))
    assert report.columns == {"email": ["who"], "phone_number": ["number"]}
    assert (report.expires_at, report.effective_at) == ("2996-11-24T00:00:00Z", "2996-11-22T00:00:00Z")
    assert report.rows.sent == ROWS


async def test_columns_that_were_ignored_stay_so(source: Path, emulator: Emulator, settings: Settings) -> None:
    """A resumed run sends the records that were planned."""
    await begin(source, emulator, settings, ignore="phone")
    report = await resume_async("last", settings=settings)
    assert report.columns == {"email": ["email"]}
    assert report.rows.sent == ROWS


async def test_a_new_token_takes_up_where_the_old_one_was_revoked(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even when not one request had been taken: it was revoked while the source was read."""

    async def look(*_: Any, **__: Any) -> None:
        """By then it was good."""

    monkeypatch.setattr(AudienceSession, "look", look)
    wrong = replace(settings, secrets={**settings.secrets, "access_token_secret": Secret("invented")})
    with pytest.raises(CredentialsRefused) as caught:
        await upload_async(source, audience=emulator.audience_id, settings=wrong)
    assert caught.value.document is not None
    assert caught.value.document["state"] == "incomplete"
    assert "audiencekit resume" in caught.value.hint
    assert (await resume_async("last", settings=settings)).rows.sent == ROWS


async def test_two_runs_never_work_on_one_audience(source: Path, emulator: Emulator, settings: Settings) -> None:
    """The second is told who does, leaves no run behind, and the same holds for resuming the run that is at work."""
    seen: list[AudienceBusy] = []

    class Meanwhile:
        async def acquire(self) -> None:
            if seen:
                return
            for attempt in (
                upload_async(source, audience=emulator.audience_id, settings=settings),
                resume_async("last", settings=settings),
            ):
                with pytest.raises(AudienceBusy) as caught:
                    await attempt
                seen.append(caught.value)
            (listed,) = list_runs(settings.state_dir)
            assert (listed["state"], listed["running"], listed["resumable"]) == ("incomplete", True, False)

    report = await upload_async(source, audience=emulator.audience_id, settings=settings, limiter=Meanwhile())
    assert [busy.run_id for busy in seen] == [report.run_id, report.run_id]
    assert report.state == "complete"
    assert len(list_runs(settings.state_dir)) == 1


async def test_reports_come_back_from_json(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Whole."""
    report = await upload_async(source, audience=emulator.audience_id, settings=settings)
    assert Report.from_json(json.loads(json.dumps(report.to_json()))) == report


@pytest.mark.parametrize(("seconds_ago", "waits"), [(None, False), (0.0, True), (3_600.0, False)])
async def test_attempts_that_earlier_processes_left_on_their_way_are_waited_for(
    tmp_path: Path,
    emulator: Emulator,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    seconds_ago: float | None,
    waits: bool,
) -> None:
    """A Delete that overrules an Update of a process that is gone waits while that may be late; the report says so.

    Not when nothing was left on its way, or long ago.
    """
    people = [f"person{number}@example.com" for number in range(ROWS)]
    source = tmp_path / "list.csv"
    lines = [f"{person},h{number},update" for number, person in enumerate(people)]
    lines += [f"{person},,delete" for person in people[:3]]
    source.write_text("\n".join(["email,handle,what", *lines]) + "\n")
    monkeypatch.setattr(second_pass, "deliver", functools.partial(second_pass.deliver, waits=Waits(settle_seconds=1.0)))
    run_id = await begin(source, emulator, settings, operation_column="what")
    if seconds_ago is not None:
        moment = this_moment()
        left = (moment.boot, moment.seconds - seconds_ago)
        change = "UPDATE requests SET left_boot = ?, left_seconds = ? WHERE number = 1"
        rewrite_journal(settings, run_id, change, left)
    report = await resume_async(run_id, settings=settings, limiter=EndsAfter(100))
    assert any(note.startswith("waited ") for note in report.notes) is waits
    assert members(emulator) == ROWS - 3


@pytest.mark.parametrize("is_copy", [False, True])
async def test_a_state_directory_may_stand_elsewhere(
    source: Path, emulator: Emulator, settings: Settings, is_copy: bool
) -> None:
    """The rejections are written where the run is by now; into the original of a copy nothing is."""
    source.write_text(source.read_text() + "not an address,,x\n")
    run_id = await begin(source, emulator, settings)
    elsewhere = replace(settings, state_dir=settings.state_dir.with_name("elsewhere"))
    if is_copy:
        shutil.copytree(settings.state_dir, elsewhere.state_dir)
    else:
        settings.state_dir.rename(elsewhere.state_dir)
    kept = [state.state_dir / "runs" / run_id / "rejections.csv" for state in (settings, elsewhere)]
    before = kept[0].stat().st_mtime_ns if is_copy else None
    kept[1].unlink()
    assert (await resume_async(run_id, settings=elsewhere)).rows.sent == ROWS
    assert len(kept[1].read_text().splitlines()) == 2
    assert (kept[0].stat().st_mtime_ns if is_copy else None) == before
    assert is_copy or not settings.state_dir.exists()


FAR_AHEAD = datetime(2999, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("operation", ["update", "delete"])
async def test_entries_that_have_expired_are_not_sent(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    """They would add no one: the run is left as it is. To take people out is never too late."""
    run_id = await begin(source, emulator, settings, operation=operation)
    before = sent(emulator)
    with monkeypatch.context() as patch:
        patch.setattr(SystemClock, "now", lambda _: FAR_AHEAD)
        if operation == "delete":
            await resume_async(run_id, settings=settings)
            return
        with pytest.raises(ResumeRefused, match="expired on") as caught:
            await resume_async(run_id, settings=settings)
    assert (caught.value.reason, caught.value.exit_code) == ("expired", 3)
    assert caught.value.document is not None
    assert caught.value.document["requests"]["confirmed"] == 2
    assert sent(emulator) == before
    assert (await resume_async(run_id, settings=settings)).rows.sent == ROWS


async def test_a_confirmed_run_is_complete_though_its_entries_have_expired(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill came between the last answer and the end."""
    report = await upload_async(source, audience=emulator.audience_id, settings=settings)
    journal = sqlite3.connect(settings.state_dir / "runs" / report.run_id / "journal.sqlite")
    with journal:
        journal.execute("DELETE FROM documents WHERE name = 'ending'")
    journal.close()
    monkeypatch.setattr(SystemClock, "now", lambda _: FAR_AHEAD)
    assert (await resume_async(report.run_id, settings=settings)).state == "complete"


async def test_a_refusal_says_what_is_known(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Of a damaged run what was planned, and no word that nothing was sent."""
    run_id = await begin(source, emulator, settings)
    (settings.state_dir / "runs" / run_id / "journal.sqlite").write_bytes(b"")
    with pytest.raises(ResumeRefused, match="is empty, and the run had begun") as caught:
        await resume_async("last", settings=settings)
    document = caught.value.document
    assert document is not None
    assert caught.value.reason == "damaged"
    assert f"`plan_time={document['plan_time']!r}`" in caught.value.hint
    assert (document["state"], document["rows"]["sent"]) == ("incomplete", None)
    assert document["requests"]["planned"] > 4


async def test_a_lost_state_key_is_not_made_anew(source: Path, emulator: Emulator, settings: Settings) -> None:
    """A new one would fit no journal, and stand where the old one is to be put back."""
    run_id = await begin(source, emulator, settings)
    key = settings.state_dir / "key"
    content = key.read_bytes()
    key.unlink()
    with pytest.raises(ResumeRefused, match="is gone, or cannot be read") as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "key"
    assert not key.exists()
    key.write_bytes(content)
    key.chmod(0o600)
    assert (await resume_async(run_id, settings=settings)).rows.sent == ROWS


async def test_a_run_is_not_finished_at_another_address(source: Path, emulator: Emulator, settings: Settings) -> None:
    """A production run must not be complete at a sandbox: nothing leaves, unless it is said that the service moved."""
    run_id = await begin(source, emulator, settings)
    before = sent(emulator)
    moved = f"{settings.address}/"  # the same, as someone may write it
    elsewhere = settings.address.replace("127.0.0.1", "localhost")
    assert elsewhere != settings.address
    named = settings.named_addresses | {moved, elsewhere}
    at = functools.partial(replace, settings, named_addresses=named)
    with pytest.raises(ResumeRefused, match=f"was begun at {settings.address}") as caught:
        await resume_async(run_id, settings=at(ads_url=elsewhere))
    assert (caught.value.reason, caught.value.exit_code) == ("address", 3)
    assert caught.value.document is not None
    assert "new_address" in caught.value.hint
    with pytest.raises(ResumeRefused, match="was begun at"):
        await find_remaining_async(run_id, settings=at(ads_url=elsewhere), progress=NoProgress())
    assert sent(emulator) == before
    report = await resume_async(run_id, settings=at(ads_url=elsewhere), new_address=True)
    assert (report.state, report.rows.sent) == ("complete", ROWS)
    assert (await resume_async(run_id, settings=at(ads_url=moved))).state == "complete"


async def test_a_run_is_not_resumed_for_another_account(source: Path, emulator: Emulator, settings: Settings) -> None:
    """The settings name one, and it is not the account that the audience is of."""
    run_id = await begin(source, emulator, settings)
    before = sent(emulator)
    with pytest.raises(ResumeRefused, match="the settings name account other") as caught:
        await resume_async(run_id, settings=replace(settings, account_id="other"))
    assert caught.value.reason == "account"
    assert sent(emulator) == before
    assert spelled(caught.value.hint).endswith(f"--account {settings.account_id}")
    assert (await resume_async(run_id, settings=settings)).state == "complete"


async def test_an_upload_under_an_id_begins_anew_at_another_address(
    source: Path, emulator: Emulator, settings: Settings
) -> None:
    """The run of then is left as it is; the next one sends everything there."""
    run_id = await begin(source, emulator, settings, run_id="nightly-1128")
    elsewhere = settings.address.replace("127.0.0.1", "localhost")
    there = replace(settings, ads_url=elsewhere, named_addresses=settings.named_addresses | {elsewhere})
    report = await upload_async(source, audience=emulator.audience_id, settings=there, run_id=run_id)
    assert (report.run_id, report.requests_confirmed) == ("nightly-1128--2", report.requests_planned)
    assert read_report(settings.state_dir, run_id)["state"] == "incomplete"
