"""A caller that is started again gives the same id, and nothing is sent twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.opening import open_client
from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.errors import (
    AudienceBusy,
    CredentialsRefused,
    MappingRefused,
    NotFinished,
    PlanRefused,
    Refused,
    ResumeRefused,
    SourceRefused,
    UsageError,
)
from audiencekit.pipeline import resume_async, upload, upload_async
from audiencekit.reporting.report import Report
from audiencekit.runs import first_pass
from audiencekit.runs.journal.file import JOURNAL
from audiencekit.runs.reports import list_runs, read_report
from audiencekit.runs.store import TargetLock
from audiencekit.runs.uploads import upload_to
from audiencekit.settings import Settings
from tests.destinations.jsonlines import JsonLines, registered
from tests.runs.begun import EndsAfter, Listener, requests_received

# --- A caller that is started again gives the same id, and nothing is sent twice ---

RUN = "20261121-000000-task"

# --- A run on a do-not-reach list is a run like any other: journalled, locked, resumed, reported ---

ROWS = 30


pytestmark = pytest.mark.usefixtures("small_requests")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    _write(path, "person")
    return path


def _write(path: Path, name: str) -> None:
    path.write_text("email\n" + "".join(f"{name}{number}@example.com\n" for number in range(ROWS)))


async def _upload(source: Path, emulator: Emulator, settings: Settings, **given: Any) -> Report:
    given = {"audience": emulator.audience_id, "run_id": RUN, **given}
    return await upload_async(source, settings=settings, **given)


async def _end_early(source: Path, emulator: Emulator, settings: Settings) -> None:
    with pytest.raises(NotFinished):
        await _upload(source, emulator, settings, limiter=EndsAfter(1))


def _states(settings: Settings) -> dict[str, str]:
    return {run["run_id"]: run["state"] for run in list_runs(settings.state_dir)}


async def test_the_first_call_begins_the_run(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Under the id that was given."""
    report = await _upload(source, emulator, settings)
    assert (report.run_id, report.state, report.rows.sent) == (RUN, "complete", ROWS)


async def test_a_run_that_was_ended_early_is_finished(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Confirmed requests are not sent again, and the report is that of the whole."""
    await _end_early(source, emulator, settings)
    listener = Listener()
    report = await _upload(source, emulator, settings, progress=listener)
    assert (report.run_id, report.state, report.rows.sent) == (RUN, "complete", ROWS)
    assert requests_received(emulator) == report.attempts == report.requests_planned > 1
    assert f"run {RUN} goes on: 1 requests are confirmed" in listener.told


async def test_a_complete_run_gives_back_its_report(source: Path, emulator: Emulator, settings: Settings) -> None:
    """The source is read, and nothing is sent; the rejections stay as they were written."""
    first = await _upload(source, emulator, settings)
    sent, listener = requests_received(emulator), Listener()
    rejections = settings.state_dir / "runs" / RUN / "rejections.csv"
    rejections.write_text("row,column,reason\n1,,refused_by_service\n")
    assert await _upload(source, emulator, settings, progress=listener) == first
    assert requests_received(emulator) == sent
    assert "nothing is left to send" in listener.told[-1]
    assert "refused_by_service" in rejections.read_text()


@pytest.mark.parametrize("ended_early", [True, False])
async def test_another_source_begins_the_next_run(
    source: Path, emulator: Emulator, settings: Settings, ended_early: bool
) -> None:
    """The old one stays as it was, whether it had ended or not; what follows is that of the new one."""
    if ended_early:
        await _end_early(source, emulator, settings)
    else:
        await _upload(source, emulator, settings)
    _write(source, "someone")
    report = await _upload(source, emulator, settings)
    assert (report.run_id, report.rows.sent) == (f"{RUN}--2", ROWS)
    assert _states(settings) == {RUN: "incomplete" if ended_early else "complete", f"{RUN}--2": "complete"}
    assert await _upload(source, emulator, settings) == report
    _write(source, "third")
    assert (await _upload(source, emulator, settings)).run_id == f"{RUN}--3"


@pytest.mark.parametrize("ended_early", [True, False])
@pytest.mark.parametrize("change", ["keywords", "source path"])
async def test_other_arguments_begin_the_next_run(
    source: Path, emulator: Emulator, settings: Settings, ended_early: bool, change: str
) -> None:
    """The options of then are not taken for the options of now."""
    if ended_early:
        await _end_early(source, emulator, settings)
    else:
        await _upload(source, emulator, settings)
    if change == "keywords":
        report = await _upload(source, emulator, settings, ttl_days=20)
    else:
        report = await _upload(source.rename(source.with_name("other.csv")), emulator, settings)
    assert (report.run_id, report.rows.sent) == (f"{RUN}--2", ROWS)


async def test_another_account_gets_nothing_of_the_run(source: Path, emulator: Emulator, settings: Settings) -> None:
    """The run that was begun for the first account is not taken for its own."""
    first = await _upload(source, emulator, settings)
    with pytest.raises(CredentialsRefused):
        await _upload(source, emulator, replace(settings, account_id="nobodys"))
    assert _states(settings) == {RUN: first.state}


async def test_a_refused_run_holds_nothing_up(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Nothing of it was sent: when the source is mended, the next run begins."""
    source.write_text("email\nnull\nnull\n")
    with pytest.raises(PlanRefused):
        await _upload(source, emulator, settings)
    _write(source, "person")
    assert (await _upload(source, emulator, settings)).run_id == f"{RUN}--2"
    assert _states(settings) == {RUN: "refused", f"{RUN}--2": "complete"}


async def test_a_source_that_was_away_for_a_while_is_gone_on_with(
    source: Path, emulator: Emulator, settings: Settings
) -> None:
    """A call in between is refused, and does not hide the run that was begun."""
    await _end_early(source, emulator, settings)
    away = source.rename(source.with_name("away.csv"))
    with pytest.raises(SourceRefused):
        await _upload(source, emulator, settings)
    away.rename(source)
    report = await _upload(source, emulator, settings)
    assert (report.run_id, report.attempts) == (RUN, report.requests_planned)


async def test_a_run_that_never_began_holds_nothing_up(source: Path, emulator: Emulator, settings: Settings) -> None:
    """A kill between the directory and the journal leaves a directory behind, and nothing was sent."""
    (settings.state_dir / "runs" / RUN).mkdir(parents=True, mode=0o700)
    assert (await _upload(source, emulator, settings)).run_id == f"{RUN}--2"


async def test_a_damaged_journal_is_not_passed_over(source: Path, emulator: Emulator, settings: Settings) -> None:
    """It may have sent anything: a person has to look."""
    await _end_early(source, emulator, settings)
    (settings.state_dir / "runs" / RUN / JOURNAL).write_bytes(b"no journal")
    with pytest.raises(ResumeRefused) as caught:
        await _upload(source, emulator, settings)
    assert caught.value.reason == "damaged"


async def test_two_at_once_are_one_run(source: Path, emulator: Emulator, settings: Settings) -> None:
    """The second is told that the first is at work."""
    results = await asyncio.gather(*(_upload(source, emulator, settings) for _ in range(2)), return_exceptions=True)
    assert sum(isinstance(result, Report) for result in results) == 1
    assert sum(isinstance(result, AudienceBusy) for result in results) == 1
    assert _states(settings) == {RUN: "complete"}


async def test_an_id_that_begins_like_another_is_not_it(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Only what follows two hyphens stands in the same line."""
    await _upload(source, emulator, settings, run_id=f"{RUN}-2")
    assert (await _upload(source, emulator, settings)).run_id == RUN


@pytest.mark.parametrize(
    "run_id", ["", "short", "UPPER-CASE", "with space", "two--hyphens", "ends-here-", "x" * 37, "../../etc"]
)
async def test_ids_that_cannot_be(source: Path, emulator: Emulator, settings: Settings, run_id: str) -> None:
    """Are refused before anything is read."""
    with pytest.raises(UsageError, match="not a valid run id"):
        await _upload(source, emulator, settings, run_id=run_id)
    assert _states(settings) == {}


def test_the_door_without_an_event_loop_takes_it_too(tmp_path: Path) -> None:
    """As `upload_async`."""
    with pytest.raises(UsageError, match="not a valid run id"):
        upload(tmp_path / "list.csv", audience="1", run_id="--")


async def test_entries_that_have_expired_begin_the_next_run(
    source: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that asks again under the id wants people to be in from now on."""
    await _end_early(source, emulator, settings)
    refused: list[str] = []
    refuse = first_pass.refuse_expired

    def once(*given: Any) -> None:
        if not refused:
            refused.append("expired")
            given = (*given[:2], datetime.max.replace(tzinfo=UTC))
        refuse(*given)

    monkeypatch.setattr(first_pass, "refuse_expired", once)
    listener = Listener()
    report = await _upload(source, emulator, settings, progress=listener)
    assert (report.run_id, report.state) == (f"{RUN}--2", "complete")
    assert any("would send entries that have expired" in told for told in listener.told)


@pytest.fixture
def uploads_source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    lines = [f"person{number}@example.com,+1201555{number:04}" for number in range(ROWS)]
    path.write_text("\n".join(["email,phone", *lines]) + "\n")
    return path


@pytest.fixture
async def target(emulator: Emulator, settings: Settings) -> Target:
    """The do-not-reach list of the account."""
    async with open_client(settings) as client:
        return Target.do_not_reach_list((await client.create_do_not_reach_list()).data["id"])


def _members(emulator: Emulator, target: Target) -> int:
    found = emulator.store.find_list(target.id)
    assert found is not None
    return len(list(found.members.members(emulator.clock.now())))


async def test_people_are_put_on_the_list_and_taken_off(
    uploads_source: Path, emulator: Emulator, settings: Settings, target: Target
) -> None:
    """By the list's own path; no audience changes."""
    report = await upload_to(target, uploads_source, settings=settings)
    assert (report.state, report.target, report.rows.sent, report.success_count) == ("complete", target, ROWS, ROWS)
    assert _members(emulator, target) == ROWS
    assert {entry["path"].rsplit("/", 3)[1] for entry in emulator.store.requests.documents()[1:]} == {
        "do_not_reach_lists"
    }
    document = report.to_json()
    assert (document["audience_id"], document["target"]) == (None, target.to_json())
    assert f"update do-not-reach list {target.id}" in str(report)
    await upload_to(target, uploads_source, settings=settings, operation="delete")
    assert _members(emulator, target) == 0


async def test_the_report_says_what_a_list_does_not_do(
    uploads_source: Path, settings: Settings, target: Target
) -> None:
    """And not that a list of few people cannot be targeted."""
    told: list[str] = []

    class Listener:
        def step(self, stage: str, *_: Any, **__: Any) -> None:
            assert any("note: " in message for message in told) == (stage == "sending")

        tell = staticmethod(told.append)

    report = await upload_to(target, uploads_source, settings=settings, progress=Listener())
    (note,) = [note for note in report.notes if "takes no one out of an audience" in note]
    assert [message for message in told if "note: " in message] == [f"note: {note}"]
    assert not any("too few" in note for note in report.notes)


async def test_a_run_on_a_list_is_resumed(
    uploads_source: Path, emulator: Emulator, settings: Settings, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal knows what its target was."""
    monkeypatch.setattr(BodyLimits, "within", lambda _: BodyLimits(max_body_bytes=1_500))
    settings = replace(settings, concurrency=1)
    with pytest.raises(NotFinished):
        await upload_to(target, uploads_source, settings=settings, limiter=EndsAfter(2))
    (listed,) = list_runs(settings.state_dir)
    assert (listed["target"], listed["audience_id"], listed["resumable"]) == (target.to_json(), None, True)
    assert read_report(settings.state_dir, "last")["target"] == target.to_json()
    report = await resume_async("last", settings=settings)
    assert (report.state, report.target) == ("complete", target)
    parts = [*report.earlier_paces, report.pace]
    assert [sum(pace["requests"]) for pace in parts] == [2, report.requests_planned - 2]
    assert read_report(settings.state_dir, "last")["earlier_paces"] == list(report.earlier_paces)
    assert _members(emulator, target) == ROWS == report.success_count


@pytest.mark.parametrize("sizes", [{"max_records_per_request": 4}, {"max_body_bytes": 2_000}], ids=str)
async def test_a_resumed_run_keeps_the_sizes_of_its_requests(
    uploads_source: Path, emulator: Emulator, settings: Settings, target: Target, sizes: dict[str, Any]
) -> None:
    """They are in its journal: the requests are cut as before, and the same bytes are left to send."""
    with pytest.raises(NotFinished) as caught:
        await upload_to(
            target, uploads_source, settings=replace(settings, concurrency=1), limiter=EndsAfter(2), **sizes
        )
    assert caught.value.document is not None
    planned = caught.value.document["requests"]["planned"]
    assert planned > 3
    report = await resume_async("last", settings=settings)
    assert (report.state, report.requests_planned) == ("complete", planned)
    assert _members(emulator, target) == ROWS == report.success_count


async def test_one_run_at_a_time_on_a_list(uploads_source: Path, settings: Settings, target: Target) -> None:
    """An audience of the same id is another thing."""
    with TargetLock(settings.state_dir, settings.require_account(), target, "other-run"):
        with pytest.raises(AudienceBusy, match="this do-not-reach list"):
            await upload_to(target, uploads_source, settings=settings)
        with pytest.raises(Refused, match="has no audience"):
            await upload_async(uploads_source, audience=target.id, settings=settings)


@pytest.mark.parametrize("keywords", [{}, {"columns": {"email": "email", "handle": "handle"}}])
async def test_other_kinds_are_refused_by_name(
    tmp_path: Path, emulator: Emulator, settings: Settings, target: Target, keywords: dict[str, Any]
) -> None:
    """Whether they were recognised or mapped; nothing is sent."""
    path = tmp_path / "list.csv"
    path.write_text("email,handle\nada@example.com,ada_l\nbob@example.com,bob_b\ncyd@example.com,cyd_c\n")
    before = len(emulator.store.requests.documents())
    with pytest.raises(MappingRefused, match=r"handle \(handle\)") as caught:
        await upload_to(target, path, settings=settings, **keywords)
    assert "`columns={'email': 'COLUMN', " in caught.value.hint
    assert len(emulator.store.requests.documents()) == before
    await upload_to(target, path, settings=settings, columns={"email": "email"})
    assert _members(emulator, target) == 3


async def test_a_target_that_is_not_there_is_told_with_its_account(
    uploads_source: Path, emulator: Emulator, settings: Settings
) -> None:
    """And where to look for the right one."""
    looked_up = {Target.audience("zzz99"): "audiences list", Target.do_not_reach_list("zzz99"): "do-not-reach show"}
    for target, command in looked_up.items():
        with pytest.raises(Refused) as caught:
            await upload_to(target, uploads_source, settings=settings)
        assert f"account {settings.account_id} has no {target}" in f"{caught.value}; {caught.value.hint}"
        assert f"`audiencekit {command}`" in caught.value.hint


@pytest.mark.parametrize("given", [{}, {"run_id": "a-run-of-ours"}, {"keep_spool": True}], ids=str)
async def test_a_destination_that_is_not_registered_is_refused_at_once(
    tmp_path: Path, settings: Settings, given: dict[str, Any]
) -> None:
    """Its runs could not be resumed. Nothing is read or written, also where another destination has its name."""
    settings = replace(settings, state_dir=tmp_path / "state-of-none")
    with registered():
        for name in ("other_lines", "json_lines"):
            destination = JsonLines()
            destination.name = name
            with pytest.raises(UsageError, match=f"this installation has no destination `{name}`") as refused:
                await upload_to(
                    Target(destination, "m1"), tmp_path / "none.csv", settings=settings, limiter=Unlimited(), **given
                )
            assert "add it to `DESTINATIONS`" in refused.value.hint
            assert destination.mailbox.said == []
    assert not settings.state_dir.exists()
