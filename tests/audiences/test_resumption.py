"""One function finishes whatever was begun."""

from __future__ import annotations

from pathlib import Path

import pytest

import audiencekit
from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.receipt import Receipt
from audiencekit.audiences.resumption import resume_async
from audiencekit.destinations.target import Target
from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished, UsageError
from audiencekit.pipeline import upload_async
from audiencekit.reporting.report import Report
from audiencekit.runs.locks import TargetLock
from audiencekit.settings import Settings


async def _erase_in_vain(emulator: Emulator, settings: Settings) -> str:
    """An erasure that an audience at work has kept from its end."""
    target = Target.audience(emulator.audience_id)
    with TargetLock(settings.state_dir, settings.require_account(), target, "20261121-1"), pytest.raises(NotFinished):
        await forget_async(["ada@example.org"], settings=settings)
    store = ErasureStore(settings.state_dir)
    (erasure_id,) = store.ids()
    return erasure_id


def _begun_at(settings: Settings, erasure_id: str, started_at: str) -> None:
    store = ErasureStore(settings.state_dir)
    receipt = store.receipt(erasure_id)
    receipt.started_at = started_at
    store.keep(receipt)


async def _upload(directory: Path, emulator: Emulator, settings: Settings) -> Report:
    source = directory / "people.csv"
    source.write_text("email\nbob@example.org\n")
    return await upload_async(source, audience_id=emulator.audience_id, settings=settings)


async def test_last_is_the_newest_of_both(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """A newer erasure is finished and gives its receipt; a newer run its report, whatever the clock of then said."""
    await _upload(tmp_path, emulator, settings)
    erasure_id = await _erase_in_vain(emulator, settings)
    finished = await resume_async("last", settings=settings)
    assert isinstance(finished, Receipt)
    assert (finished.erasure_id, finished.state) == (erasure_id, "complete")
    _begun_at(settings, erasure_id, "2099-01-01T00:00:00Z")
    report = await _upload(tmp_path, emulator, settings)
    found = await resume_async("last", settings=settings)
    assert isinstance(found, Report)
    assert (found.run_id, found.state) == (report.run_id, "complete")


async def test_an_id_says_what_it_is(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """Or the beginning of one."""
    report = await _upload(tmp_path, emulator, settings)
    await _erase_in_vain(emulator, settings)
    assert isinstance(await resume_async("forget-", settings=settings), Receipt)
    assert isinstance(await resume_async(report.run_id, settings=settings), Report)


def test_without_an_event_loop_it_is_the_promised_name(settings: Settings) -> None:
    """Which refuses what there is not, before anything is asked of the service."""
    with pytest.raises(UsageError, match="there is no such run"):
        audiencekit.resume("last", settings=settings)
    with pytest.raises(UsageError, match="there is no such erasure"):
        audiencekit.resume("forget-x", settings=settings)
