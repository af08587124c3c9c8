"""A purge of runs and erasures together."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import audiencekit
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.receipt import ErasureStore, Receipt
from audiencekit.audiences.runs import PurgeOrder, plan_purge, purge, resume_async
from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.errors import AudienceBusy, InputOutputFailed, NotFinished, PlanRefused, ResumeRefused, UsageError
from audiencekit.pipeline import resume_async as resume_run_async, upload_async
from audiencekit.reporting.report import Report
from audiencekit.runs.purge import PURGES
from audiencekit.runs.store import TargetLock
from audiencekit.selection.erased_people import RECEIPT
from audiencekit.settings import Settings, load_settings
from audiencekit.state.keys import StateKey
from tests.audiences.erasure.test_receipt import ID, RECORDS, _receipt
from tests.runs.begun import EndsAfter
from tests.runs.state import NOW, make_run, set_age

# --- A purge of runs and erasures together ---

OLD = timedelta(days=40)
ORDER = PurgeOrder(older_than=timedelta(days=30))


@pytest.fixture
def old_settings(tmp_path: Path) -> Settings:
    """Of a state directory with an old run, and an old erasure that was never begun, its keys sealed."""
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path / "state")
    make_run(settings.state_dir, "complete")
    store = ErasureStore(settings.state_dir)
    with store.locked():
        store.begin(_receipt(), RECORDS, StateKey(b"k" * 32))
    (store.directory(ID) / RECEIPT).unlink()
    set_age(store.directory(ID), OLD)
    return settings


def _tree(state_dir: Path) -> list[str]:
    return sorted(os.path.relpath(path, state_dir) for path in state_dir.rglob("*"))


def test_a_plan_changes_nothing(old_settings: Settings) -> None:
    """And says what the purge then does."""
    before = _tree(old_settings.state_dir)
    planned = plan_purge(ORDER, old_settings, NOW)
    assert _tree(old_settings.state_dir) == before
    receipt = purge(ORDER, old_settings, NOW)
    assert planned.expired == receipt.expired == receipt.removed == {"complete": 1, "erasure_files": 1}
    assert receipt.to_json()["before"] == "2026-10-22T12:00:00Z"
    assert not list(old_settings.state_dir.glob("erasures/forget-*"))
    assert not list(old_settings.state_dir.glob("runs/*"))


@pytest.mark.parametrize(
    ("older_than", "left"), [(10, ["a-young-run.age"]), (90, ["a-young-run.age", "an-older-run.age"])], ids=str
)
def test_sealed_rejections_go_after_thirty_days(tmp_path: Path, older_than: int, left: list[str]) -> None:
    """Or after the age of the purge, when that is shorter; also those that a kill has left. Their keys go first."""
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path / "state")
    place = settings.state_dir / "rejections"
    place.mkdir(parents=True, mode=0o700)
    settings.state_dir.chmod(0o700)
    kept = tmp_path / "kept"
    for name, age in [("a-young-run", 5), ("an-older-run", 20), ("an-old-run", 31), (".a-killed-run", 31)]:
        path = place / f"{name}.age{'.1.partial' if name.startswith('.') else ''}"
        path.write_bytes(b"sealed")
        os.utime(path, ((NOW - timedelta(days=age)).timestamp(),) * 2)
    os.link(place / "an-old-run.age", kept)
    order = PurgeOrder(older_than=timedelta(days=older_than))
    assert plan_purge(order, settings, NOW).expired == {"sealed_rejections": 4 - len(left)}
    assert purge(order, settings, NOW).removed == {"sealed_rejections": 4 - len(left)}
    assert sorted(path.name for path in place.iterdir()) == left
    assert kept.read_bytes() == bytes(6)


def test_while_an_erasure_is_at_work_its_files_stay(old_settings: Settings) -> None:
    """Files that look left over may be its newest ones; runs are purged all the same."""
    store = ErasureStore(old_settings.state_dir)
    with store.locked():
        receipt = purge(ORDER, old_settings, NOW)
    assert (receipt.state, dict(receipt.removed), receipt.kept["running"]) == ("incomplete", {"complete": 1}, 1)
    assert store.has_keys(ID)
    assert purge(ORDER, old_settings, NOW).removed == {"erasure_files": 1}


def test_where_others_may_write_nothing_is_purged(old_settings: Settings) -> None:
    """They could have put there what is to go."""
    old_settings.state_dir.chmod(0o777)
    with pytest.raises(InputOutputFailed, match="others may write"):
        purge(ORDER, old_settings, NOW)
    old_settings.state_dir.chmod(0o700)
    assert len(list(old_settings.state_dir.glob("runs/*"))) == 1
    assert not (old_settings.state_dir / PURGES).exists()


# --- One function finishes whatever was begun ---


async def _erase_in_vain(emulator: Emulator, settings: Settings) -> str:
    """An erasure that an audience at work has kept from its end."""
    target = Target.audience(emulator.audience_id)
    with TargetLock(settings.state_dir, settings.require_account(), target, "20261121-1"), pytest.raises(NotFinished):
        await forget_async(["ada@example.org"], settings=settings)
    store = ErasureStore(settings.state_dir)
    (erasure_id,) = store.ids()
    return erasure_id


async def _upload(directory: Path, emulator: Emulator, settings: Settings) -> Report:
    source = directory / "people.csv"
    source.write_text("email\nbob@example.org\n")
    return await upload_async(source, audience=emulator.audience_id, settings=settings)


async def _cut_short(directory: Path, emulator: Emulator, settings: Settings, name: str) -> str:
    """An upload that ended before its first request; its id."""
    source = directory / f"{name}.csv"
    source.write_text("email\nbob@example.org\n")
    with pytest.raises(NotFinished) as caught:
        await upload_async(source, audience=emulator.audience_id, settings=settings, limiter=EndsAfter(0))
    assert caught.value.document is not None
    run_id = str(caught.value.document["run_id"])
    assert caught.value.document["continue_with"] == f"audiencekit resume {run_id}"
    return run_id


async def test_last_is_what_can_be_resumed_and_not_what_is_newest(
    tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """The run of another job that is complete is left alone, also by the function that knows runs only."""
    first = await _cut_short(tmp_path, emulator, settings, "one")
    other = await _upload(tmp_path, emulator, settings)
    finished = await resume_async("last", settings=settings)
    assert isinstance(finished, Report)
    assert (finished.run_id, finished.state) == (first, "complete")
    second = await _cut_short(tmp_path, emulator, settings, "two")
    (tmp_path / "none.csv").write_text("email\nnull\n")
    with pytest.raises(PlanRefused):
        await upload_async(tmp_path / "none.csv", audience=emulator.audience_id, settings=settings)
    assert (await resume_run_async("last", settings=settings)).run_id == second
    assert other.state == "complete"


async def test_last_is_an_erasure_where_that_alone_can_be_resumed(
    tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """It gives its receipt; a newer run that is complete changes nothing."""
    erasure_id = await _erase_in_vain(emulator, settings)
    await _upload(tmp_path, emulator, settings)
    finished = await resume_async("last", settings=settings)
    assert isinstance(finished, Receipt)
    assert (finished.erasure_id, finished.state) == (erasure_id, "complete")


async def test_of_several_that_can_be_resumed_last_is_none(
    tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """All are listed, and nothing is sent."""
    ids = [await _cut_short(tmp_path, emulator, settings, name) for name in ("one", "two")]
    ids.append(await _erase_in_vain(emulator, settings))
    before = len(emulator.store.requests.documents())
    with pytest.raises(UsageError) as caught:
        await resume_async("last", settings=settings)
    assert "3 runs can be resumed" in str(caught.value)
    assert all(run_id in str(caught.value) for run_id in ids)
    assert len(emulator.store.requests.documents()) == before


async def test_where_all_is_complete_last_is_none(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """The complete run of someone is not shown as if it were the one that was asked for."""
    report = await _upload(tmp_path, emulator, settings)
    with pytest.raises(UsageError, match=f"no run can be resumed: the newest, {report.run_id}, is complete"):
        await resume_async("last", settings=settings)


async def test_a_run_at_work_is_not_resumed(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """It is waited for: 75, with its id."""
    run_id = await _cut_short(tmp_path, emulator, settings, "one")
    target = Target.audience(emulator.audience_id)
    with (
        TargetLock(settings.state_dir, settings.require_account(), target, run_id),
        pytest.raises(AudienceBusy, match=f"run {run_id} is at work") as caught,
    ):
        await resume_async("last", settings=settings)
    assert caught.value.run_id == run_id


async def test_the_only_run_that_cannot_be_resumed_says_why(
    tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """Where it is the newest, and nothing else is left."""
    run_id = await _cut_short(tmp_path, emulator, settings, "one")
    (settings.state_dir / "runs" / run_id / "journal.sqlite").write_bytes(b"junk" * 100)
    with pytest.raises(ResumeRefused, match="the journal is damaged"):
        await resume_async("last", settings=settings)


async def test_an_id_says_what_it_is(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Or the beginning of one."""
    report = await _upload(tmp_path, emulator, settings)
    await _erase_in_vain(emulator, settings)
    assert isinstance(await resume_async("forget-", settings=settings), Receipt)
    assert isinstance(await resume_async(report.run_id, settings=settings), Report)


def test_without_an_event_loop_it_is_the_promised_name(settings: Settings) -> None:
    """Which refuses what there is not, before anything is asked of the service."""
    with pytest.raises(UsageError, match="no run can be resumed: there is none"):
        audiencekit.resume("last", settings=settings)
    with pytest.raises(UsageError, match="there is no such erasure"):
        audiencekit.resume("forget-x", settings=settings)


@pytest.mark.parametrize(
    ("change", "reason"), [({"ads_url": "http://localhost:1"}, "address"), ({"account_id": "x1"}, "account")]
)
async def test_an_erasure_is_not_finished_elsewhere(
    emulator: Emulator, settings: Settings, change: dict[str, str], reason: str
) -> None:
    """A receipt that says `confirmed` of a sandbox would be wrong; the same people there are another erasure."""
    erasure_id = await _erase_in_vain(emulator, settings)
    other = replace(settings, **change)
    with pytest.raises(ResumeRefused) as caught:
        await resume_async(erasure_id, settings=other)
    assert caught.value.reason == reason
    store = ErasureStore(settings.state_dir)
    receipt = store.receipt(erasure_id)
    assert (receipt.state, receipt.address) == ("incomplete", settings.address)
    found = store.unfinished(receipt.fingerprint, other.account_id or "", other.address, do_not_reach=False)
    assert found is None
    assert isinstance(await resume_async(erasure_id, settings=settings), Receipt)
