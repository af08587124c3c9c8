"""A run on a do-not-reach list is a run like any other: journalled, locked, resumed, reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.opening import open_client
from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.errors import AudienceBusy, MappingRefused, NotFinished, Refused, UsageError
from audiencekit.pipeline import resume_async, upload_async
from audiencekit.runs.locks import TargetLock
from audiencekit.runs.storedreports import list_runs, read_report
from audiencekit.runs.uploads import upload_to
from audiencekit.settings import Settings
from tests.destinations.jsonlines import JsonLines, registered
from tests.runs.begun import EndsAfter

ROWS = 30


@pytest.fixture
def source(tmp_path: Path) -> Path:
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
    source: Path, emulator: Emulator, settings: Settings, target: Target
) -> None:
    """By the list's own path; no audience changes."""
    report = await upload_to(target, source, settings=settings)
    assert (report.state, report.target, report.rows.sent, report.success_count) == ("complete", target, ROWS, ROWS)
    assert _members(emulator, target) == ROWS
    assert {entry["path"].rsplit("/", 3)[1] for entry in emulator.store.requests.documents()[1:]} == {
        "do_not_reach_lists"
    }
    document = report.to_json()
    assert (document["audience_id"], document["target"]) == (None, target.to_json())
    assert f"update do-not-reach list {target.id}" in str(report)
    await upload_to(target, source, settings=settings, operation="delete")
    assert _members(emulator, target) == 0


async def test_the_report_says_what_a_list_does_not_do(source: Path, settings: Settings, target: Target) -> None:
    """And not that a list of few people cannot be targeted."""
    told: list[str] = []

    class Listener:
        def step(self, stage: str, *_: Any, **__: Any) -> None:
            assert any("note: " in message for message in told) == (stage == "sending")

        tell = staticmethod(told.append)

    report = await upload_to(target, source, settings=settings, progress=Listener())
    (note,) = [note for note in report.notes if "takes no one out of an audience" in note]
    assert [message for message in told if "note: " in message] == [f"note: {note}"]
    assert not any("too few" in note for note in report.notes)


async def test_a_run_on_a_list_is_resumed(
    source: Path, emulator: Emulator, settings: Settings, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal knows what its target was."""
    monkeypatch.setattr(BodyLimits, "within", lambda _: BodyLimits(max_body_bytes=1_500))
    settings = replace(settings, concurrency=1)
    with pytest.raises(NotFinished):
        await upload_to(target, source, settings=settings, limiter=EndsAfter(2))
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
    source: Path, emulator: Emulator, settings: Settings, target: Target, sizes: dict[str, Any]
) -> None:
    """They are in its journal: the requests are cut as before, and the same bytes are left to send."""
    with pytest.raises(NotFinished) as caught:
        await upload_to(target, source, settings=replace(settings, concurrency=1), limiter=EndsAfter(2), **sizes)
    assert caught.value.document is not None
    planned = caught.value.document["requests"]["planned"]
    assert planned > 3
    report = await resume_async("last", settings=settings)
    assert (report.state, report.requests_planned) == ("complete", planned)
    assert _members(emulator, target) == ROWS == report.success_count


async def test_one_run_at_a_time_on_a_list(source: Path, settings: Settings, target: Target) -> None:
    """An audience of the same id is another thing."""
    with TargetLock(settings.state_dir, settings.require_account(), target, "other-run"):
        with pytest.raises(AudienceBusy, match="this do-not-reach list"):
            await upload_to(target, source, settings=settings)
        with pytest.raises(Refused, match="has no audience"):
            await upload_async(source, audience_id=target.id, settings=settings)


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
    source: Path, emulator: Emulator, settings: Settings
) -> None:
    """And where to look for the right one."""
    looked_up = {Target.audience("zzz99"): "audiences list", Target.do_not_reach_list("zzz99"): "do-not-reach show"}
    for target, command in looked_up.items():
        with pytest.raises(Refused) as caught:
            await upload_to(target, source, settings=settings)
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
