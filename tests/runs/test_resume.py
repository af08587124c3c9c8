"""What was begun is finished with the same bytes, or refused with the reason and nothing sent."""

from __future__ import annotations

import functools
import io
import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.delivery.journal.moments import this_moment
from audiencekit.emulator import Emulator
from audiencekit.errors import AudienceBusy, AudiencekitError, CredentialsRefused, NotFinished, ResumeRefused
from audiencekit.personal import Secret
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.planning import planner
from audiencekit.reporting.report import Report
from audiencekit.runs import execution
from audiencekit.runs.kept import list_runs, read_report
from audiencekit.runs.resumption import KEPT
from audiencekit.settings import Settings

ROWS = 30
HEADER = "email,phone,note"
LINES = [f"person{number}@example.com,+1201555{number:04},n{number}" for number in range(ROWS)]


class EndsAfter:
    """A limiter that ends the run when it is asked for one place too many."""

    def __init__(self, places: int) -> None:
        self.left = places

    async def acquire(self) -> None:
        if not self.left:
            raise NotFinished("the test has seen enough")
        self.left -= 1


@pytest.fixture(autouse=True)
def _small_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "Packing", functools.partial(planner.Packing, max_body_bytes=1_500))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    path.write_text("\n".join([HEADER, *LINES]) + "\n")
    return path


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """One request after the other, so that it is known where a run ends."""
    return replace(settings, concurrency=1)


async def _begin(source: Path, emulator: Emulator, settings: Settings, *, places: int = 2, **keywords: Any) -> str:
    """A run that ends after `places` requests; its id."""
    with pytest.raises(NotFinished) as caught:
        await upload_async(
            source, audience_id=emulator.audience_id, settings=settings, limiter=EndsAfter(places), **keywords
        )
    assert caught.value.document is not None
    assert caught.value.document["requests"]["confirmed"] == places
    run_id: str = caught.value.document["run_id"]
    assert f"audiencekit resume {run_id}" in caught.value.hint
    return run_id


def _sent(emulator: Emulator) -> list[tuple[int, int]]:
    """Of each request to the users endpoint: bytes and status."""
    requests = emulator.store.requests.documents()
    return [(entry["bytes"], entry["status"]) for entry in requests if entry["path"].endswith("/users")]


def _members(emulator: Emulator) -> int:
    audience = emulator.store.find_audience(emulator.audience_id)
    assert audience is not None
    return len(list(audience.members.members(emulator.clock.now())))


async def test_only_what_is_not_confirmed_is_sent(source: Path, emulator: Emulator, settings: Settings) -> None:
    """And the report is about the whole run, whose start is that of the first part."""
    run_id = await _begin(source, emulator, settings)
    first = read_report(settings.state_dir, run_id)
    report = await resume_async(run_id, settings=settings)
    assert len(_sent(emulator)) == report.requests_planned == report.requests_confirmed == report.attempts > 4
    assert _members(emulator) == ROWS == report.rows.sent == report.records_sent == report.success_count
    assert (report.state, report.run_id, report.started_at) == ("complete", run_id, first["started_at"])
    assert report.expires_at == first["expires_at"]
    assert first["rows"]["sent"] + first["rows"]["pending"] == ROWS


async def test_a_complete_run_is_left_as_it_is(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Its report comes back, as it was kept."""
    done = await upload_async(source, audience_id=emulator.audience_id, settings=settings)
    source.unlink()
    told: list[str] = []

    class Listener:
        def step(self, *_: Any, **__: Any) -> None:
            raise AssertionError("there is nothing to do")

        tell = staticmethod(told.append)

    again = await resume_async("last", settings=settings, progress=Listener())
    assert again == done
    assert "nothing is left to send" in told[0]
    assert len(_sent(emulator)) == done.requests_planned


async def test_a_refused_run_stays_refused(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Resuming says why it was."""
    path = tmp_path / "empty.csv"
    path.write_text("email\nnull\n")
    with pytest.raises(AudiencekitError) as refused:
        await upload_async(path, audience_id=emulator.audience_id, settings=settings)
    with pytest.raises(ResumeRefused, match="the run was refused") as caught:
        await resume_async("last", settings=settings)
    assert (caught.value.reason, caught.value.exit_code) == ("refused", 3)
    assert str(refused.value) in str(caught.value)
    assert caught.value.document == refused.value.document


def _edit(number: int, old: str, new: str) -> Callable[[list[str]], list[str]]:
    return lambda lines: [*lines[:number], lines[number].replace(old, new), *lines[number + 1 :]]


CHANGES: dict[str, tuple[str, Callable[[list[str]], list[str]]]] = {
    "an email": ("source", _edit(20, "person19", "person99")),
    "a phone number": ("source", _edit(20, "0019", "0099")),
    "an email that was sent": ("source", _edit(1, "person0", "person98")),
    "an email of the last row": ("source", _edit(ROWS, "person", "someone")),
    "an email that is none now": ("source", _edit(5, "@", " at ")),
    "a row that is rejected now": ("source", _edit(5, "person4@example.com,+12015550004", "null,null")),
    "a row more": ("source", lambda lines: [*lines, "late@example.com,,x"]),
    "a rejected row more": ("source", lambda lines: [*lines, "null,,x"]),
    "a duplicate more": ("source", lambda lines: [*lines, lines[1]]),
    "a row fewer": ("source", lambda lines: lines[:-1]),
    "the first row gone": ("source", lambda lines: [lines[0], *lines[2:]]),
    "half of it": ("source", lambda lines: lines[: ROWS // 2]),
    "two rows swapped": ("source", lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]]),
    "the order turned": ("source", lambda lines: [lines[0], *reversed(lines[1:])]),
    "two phone numbers swapped": ("source", lambda lines: _edit(2, "0001", "0000")(_edit(1, "0000", "0001")(lines))),
    "another list": ("source", lambda lines: [lines[0], *(line.replace("person", "other") for line in lines[1:])]),
    "no row": ("source", lambda lines: lines[:1]),
    "nothing": ("source", lambda lines: []),
    "a line cut off": ("source", lambda lines: [*lines[:-1], '"person']),
    "a column renamed": ("mapping", _edit(0, "phone", "telephone")),
    "a column gone": ("mapping", lambda lines: [line.split(",")[0] + ",x" for line in lines]),
    "columns turned": ("mapping", lambda lines: [",".join(reversed(line.split(","))) for line in lines]),
    "a column more": ("mapping", lambda lines: [f"{line},{'mobile' if line == HEADER else ''}" for line in lines]),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_source_that_has_changed_is_refused(
    source: Path, emulator: Emulator, settings: Settings, change: str
) -> None:
    """Nothing is sent, the run stays as it was, and goes on when the source is what it was."""
    run_id = await _begin(source, emulator, settings)
    kept = (settings.state_dir / "runs" / run_id / "report.json").read_bytes()
    before = _sent(emulator)
    reason, changed = CHANGES[change]
    original = source.read_text()
    source.write_text("".join(f"{line}\n" for line in changed([HEADER, *LINES])))
    with pytest.raises(ResumeRefused) as caught:
        await resume_async(run_id, settings=settings)
    assert (caught.value.reason, caught.value.exit_code) == (reason, 3)
    assert "nothing was sent" in str(caught.value)
    assert caught.value.document is not None
    assert caught.value.document["state"] == "incomplete"
    assert _sent(emulator) == before
    assert (settings.state_dir / "runs" / run_id / "report.json").read_bytes() == kept
    source.write_text(original)
    assert (await resume_async(run_id, settings=settings)).rows.sent == ROWS


@pytest.mark.parametrize(
    "changed",
    [lambda lines: [f"{line}z" for line in lines[:1]] + [f"{line}!" for line in lines[1:]], lambda lines: [*lines, ""]],
    ids=["a column that is not read", "a blank line more"],
)
async def test_changes_that_change_no_request_are_none(
    source: Path, emulator: Emulator, settings: Settings, changed: Callable[[list[str]], list[str]]
) -> None:
    """The rows and their identifiers are the same, so the bytes are."""
    run_id = await _begin(source, emulator, settings)
    source.write_text("".join(f"{line}\n" for line in changed([HEADER, *LINES])))
    assert (await resume_async(run_id, settings=settings)).state == "complete"
    assert _members(emulator) == ROWS


async def test_a_source_that_is_gone_is_refused(source: Path, emulator: Emulator, settings: Settings) -> None:
    """With its name and the way out."""
    run_id = await _begin(source, emulator, settings)
    source.unlink()
    with pytest.raises(ResumeRefused, match=r"list\.csv.*no such file") as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "source"


async def test_other_rules_are_refused(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile that would write the same people in another way."""
    run_id = await _begin(source, emulator, settings)
    other = replace(settings.profile, phone_form="digits")
    monkeypatch.setattr("audiencekit.runs.run.find_profile", lambda name: other)
    with pytest.raises(ResumeRefused, match="phone_form") as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "options"


async def test_a_version_that_cuts_otherwise_is_refused(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same records in other requests are not the same requests."""
    run_id = await _begin(source, emulator, settings)
    monkeypatch.setattr(planner, "Packing", functools.partial(planner.Packing, max_body_bytes=1_400))
    with pytest.raises(ResumeRefused) as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "requests"


async def test_a_body_that_left_must_be_the_same_bytes(source: Path, emulator: Emulator, settings: Settings) -> None:
    """It is compared, by its keyed digest, before the first request is sent again."""
    run_id = await _begin(source, emulator, settings)
    journal = sqlite3.connect(settings.state_dir / "runs" / run_id / "journal.sqlite")
    journal.execute("UPDATE requests SET state = 'intended', digest = zeroblob(16) WHERE number = 4")
    journal.commit()
    journal.close()
    before = _sent(emulator)
    with pytest.raises(ResumeRefused, match="request 4 would not be the bytes") as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "requests"
    assert _sent(emulator) == before


async def test_options_of_then_hold(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Kind, country, times and verb come from the journal; a relative path means the file of then."""
    source = tmp_path / "list.csv"
    source.write_text("who;number\n" + "".join(f"p{n}@example.com;020 7946 {n:04}\n" for n in range(ROWS)))
    keywords: dict[str, Any] = {
        "columns": {"email": "who", "phone_number": "number"}, "country": "GB", "delimiter": ";", "ttl_days": 3,
        "effective_at": "2026-11-22", "plan_time": "2026-11-21T00:00:00Z", "operation": "update", "hashed": (),
    }  # fmt: skip
    await _begin(source, emulator, settings, **keywords)
    report = await resume_async("last", settings=replace(settings, account_id="other"))
    assert report.columns == {"email": ["who"], "phone_number": ["number"]}
    assert (report.expires_at, report.effective_at) == ("2026-11-24T00:00:00Z", "2026-11-22T00:00:00Z")
    assert report.rows.sent == ROWS


async def test_a_new_token_takes_up_where_the_old_one_was_revoked(
    source: Path, emulator: Emulator, settings: Settings
) -> None:
    """Even when not one request had been taken."""
    wrong = replace(settings, secrets={**settings.secrets, "access_token_secret": Secret("invented")})
    with pytest.raises(CredentialsRefused) as caught:
        await upload_async(source, audience_id=emulator.audience_id, settings=wrong)
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
                upload_async(source, audience_id=emulator.audience_id, settings=settings),
                resume_async("last", settings=settings),
            ):
                with pytest.raises(AudienceBusy) as caught:
                    await attempt
                seen.append(caught.value)
            (listed,) = list_runs(settings.state_dir)
            assert (listed["state"], listed["running"], listed["resumable"]) == ("incomplete", True, False)

    report = await upload_async(source, audience_id=emulator.audience_id, settings=settings, limiter=Meanwhile())
    assert [busy.run_id for busy in seen] == [report.run_id, report.run_id]
    assert report.state == "complete"
    assert len(list_runs(settings.state_dir)) == 1


async def test_another_key_is_refused(source: Path, emulator: Emulator, settings: Settings) -> None:
    """What was written under one cannot be compared under another."""
    run_id = await _begin(source, emulator, settings)
    with pytest.raises(ResumeRefused, match="another state key") as caught:
        await resume_async(run_id, settings=replace(settings, key=Secret("ab" * 32)))
    assert caught.value.reason == "key"


async def test_reports_come_back_from_json(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Whole."""
    report = await upload_async(source, audience_id=emulator.audience_id, settings=settings)
    assert Report.from_json(json.loads(json.dumps(report.to_json()))) == report


@pytest.mark.parametrize(("seconds_ago", "waits"), [(None, False), (0.0, True), (3_600.0, False)])
async def test_what_earlier_processes_left_on_its_way_is_waited_for(
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
    monkeypatch.setattr(execution, "deliver", functools.partial(execution.deliver, settle_seconds=1.0))
    run_id = await _begin(source, emulator, settings, operation_column="what")
    if seconds_ago is not None:
        moment = this_moment()
        journal = sqlite3.connect(settings.state_dir / "runs" / run_id / "journal.sqlite")
        left = (moment.boot, moment.seconds - seconds_ago)
        journal.execute("UPDATE requests SET left_boot = ?, left_seconds = ? WHERE number = 1", left)
        journal.commit()
        journal.close()
    report = await resume_async(run_id, settings=settings, limiter=EndsAfter(100))
    assert any(note.startswith("waited ") for note in report.notes) is waits
    assert _members(emulator) == ROWS - 3


async def test_a_kept_spool_stands_for_the_source(source: Path, emulator: Emulator, settings: Settings) -> None:
    """The file may be gone; the rejections are written as before, and the spool is gone with the end of the run."""
    text = source.read_text()
    source.write_text(text + "not an address,,x\n")
    run_id = await _begin(source, emulator, settings, keep_spool=True)
    directory = settings.state_dir / "runs" / run_id
    rejections = (directory / "rejections.csv").read_text()
    source.unlink()
    (directory / "rejections.csv").unlink()
    report = await resume_async(run_id, settings=settings)
    assert (report.rows.read, report.rows.sent, report.rows.rejected) == (ROWS + 1, ROWS, 1)
    assert _members(emulator) == ROWS
    assert (directory / "rejections.csv").read_text() == rejections
    assert not (directory / KEPT).exists()


async def test_a_refused_run_keeps_no_spool(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Nothing of it could ever be sent."""
    path = tmp_path / "empty.csv"
    path.write_text("email\nnull\n")
    with pytest.raises(AudiencekitError):
        await upload_async(path, audience_id=emulator.audience_id, settings=settings, keep_spool=True)
    assert not list(settings.state_dir.rglob(KEPT))


async def test_a_removed_spool_lets_the_source_be_read_again(
    source: Path, emulator: Emulator, settings: Settings
) -> None:
    """Only what comes once depends on it."""
    run_id = await _begin(source, emulator, settings, keep_spool=True)
    (settings.state_dir / "runs" / run_id / KEPT).unlink()
    assert (await resume_async(run_id, settings=settings)).rows.sent == ROWS


@pytest.mark.parametrize("keep_spool", [True, False])
async def test_the_list_of_runs_knows_what_standard_input_left(
    emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch, keep_spool: bool
) -> None:
    """Resumable with a kept spool; otherwise the refusal says what would have helped."""
    text = "\n".join([HEADER, *LINES]) + "\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    told: list[str] = []

    class Listener:
        def step(self, *_: Any, **__: Any) -> None:
            pass

        tell = staticmethod(told.append)

    run_id = await _begin(Path("-"), emulator, settings, keep_spool=keep_spool, progress=Listener())
    (listed,) = list_runs(settings.state_dir)
    assert listed["resumable"] is keep_spool
    if keep_spool:
        assert any("what was read is kept" in message for message in told)
        assert (await resume_async(run_id, settings=settings)).rows.sent == ROWS
        return
    assert any("give --keep-spool" in message for message in told)
    with pytest.raises(ResumeRefused, match="cannot be read again") as caught:
        await resume_async(run_id, settings=settings)
    assert caught.value.reason == "standard_input"
    assert "--keep-spool" in caught.value.hint
