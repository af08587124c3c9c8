"""Erased people leave the snapshot of an audience under sync."""

from __future__ import annotations

import asyncio
import contextlib
import json
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.snapshots import leave_snapshot
from audiencekit.audiences.synchronisation.preview import plan_sync
from audiencekit.audiences.synchronisation.renewal import renew_async
from audiencekit.audiences.synchronisation.sync import sync_async
from audiencekit.emulator import Emulator
from audiencekit.machine.keys import find_state_key
from audiencekit.selection.forgotten.people import read_forgotten
from audiencekit.settings import Settings
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.files import PARTS
from audiencekit.snapshots.store import RECENT, SNAPSHOT, SnapshotStore

PEOPLE = 6


async def _synced(settings: Settings, audience_id: str, tmp_path: Path) -> SnapshotStore:
    source = tmp_path / "people.csv"
    source.write_text("email\n" + "".join(f"person{number}@example.org\n" for number in range(PEOPLE)))
    await sync_async(source, audience_id=audience_id, settings=settings)
    key = find_state_key(settings.state_dir, settings.key)
    return SnapshotStore(settings.state_dir, settings.require_account(), audience_id, key)


def _facts(store: SnapshotStore) -> SnapshotFacts:
    with contextlib.closing(store.open()) as snapshot:
        return snapshot.facts


async def _members(emulator: Emulator) -> int:
    def ask() -> int:
        with urllib.request.urlopen(
            f"{emulator.env['AUDIENCEKIT_ADS_URL']}/__members/{emulator.audience_id}"
        ) as answer:
            return len(json.load(answer)["members"])

    return await asyncio.to_thread(ask)


async def test_a_renewal_does_not_bring_them_back(emulator: Emulator, settings: Settings, tmp_path: Path) -> None:
    """Neither the audience nor the snapshot has them any more."""
    store = await _synced(settings, emulator.audience_id, tmp_path)
    assert _facts(store).members == PEOPLE
    await forget_async(["person1@example.org", "handle=stranger"], settings=settings)
    assert _facts(store).members == PEOPLE - 1
    await renew_async(audience_id=emulator.audience_id, before="400d", ttl_days=395, settings=settings)
    assert await _members(emulator) == PEOPLE - 1


async def test_a_stale_source_does_not_bring_them_back(emulator: Emulator, settings: Settings, tmp_path: Path) -> None:
    """A sync of it leaves them out, and has nothing to send."""
    store = await _synced(settings, emulator.audience_id, tmp_path)
    await forget_async(["person1@example.org"], settings=settings)
    source, keywords = tmp_path / "people.csv", {"audience_id": emulator.audience_id, "settings": settings}
    plan = await asyncio.to_thread(plan_sync, source, **keywords)  # type: ignore[arg-type]
    assert (plan.rows.suppressed, plan.requests) == (1, 0)
    report = await sync_async(source, **keywords)  # type: ignore[arg-type]
    assert (report.rows.suppressed, report.requests_planned) == (1, 0)
    assert any("erased by `forget`" in note for note in report.notes)
    assert (_facts(store).members, await _members(emulator)) == (PEOPLE - 1, PEOPLE - 1)


async def test_others_leave_it_as_it_is(emulator: Emulator, settings: Settings, tmp_path: Path) -> None:
    """It is written anew only when a member in it was erased; without a snapshot none is made."""
    store = await _synced(settings, emulator.audience_id, tmp_path)
    serial = _facts(store).serial
    await forget_async(["stranger@example.org"], settings=settings)
    assert _facts(store).serial == serial


async def test_deleted_members_leave_the_files_as_well(emulator: Emulator, settings: Settings, tmp_path: Path) -> None:
    """A deleted person stays in the snapshot for some days, but not after an erasure."""
    store = await _synced(settings, emulator.audience_id, tmp_path)
    source = tmp_path / "people.csv"
    source.write_text("".join(line for line in source.read_text().splitlines(True) if "person1" not in line))
    await sync_async(source, audience_id=emulator.audience_id, settings=settings)
    assert (store.directory / RECENT).exists()
    assert _facts(store).members == PEOPLE - 1
    await forget_async(["person1@example.org"], settings=settings)
    assert not (store.directory / RECENT).exists()
    forgotten = read_forgotten(settings.state_dir, settings.key)
    assert forgotten is not None
    with contextlib.closing(store.open()) as snapshot:
        assert snapshot.facts.members == PEOPLE - 1
        stored = [batch for part in range(PARTS) for batch in snapshot.stored(part)]
    assert sum(batch.unwrap().num_rows for batch in stored) == PEOPLE - 1
    assert not any(forgotten.holds_any(batch).any() for batch in stored)


async def test_one_that_cannot_be_trusted_stays(emulator: Emulator, settings: Settings, tmp_path: Path) -> None:
    """Nothing is sent from it, and the erasure is complete all the same."""
    store = await _synced(settings, emulator.audience_id, tmp_path)
    path = store.directory / SNAPSHOT
    path.write_bytes(path.read_bytes()[:-9])
    receipt = await forget_async(["person1@example.org"], settings=settings)
    assert receipt.state == "complete"
    forgotten = read_forgotten(settings.state_dir, settings.key)
    assert forgotten is not None
    leave_snapshot(
        settings.state_dir, settings.require_account(), "zzz", key=find_state_key(settings.state_dir, settings.key),
        forgotten=forgotten, now=datetime.now(UTC),
    )  # fmt: skip
