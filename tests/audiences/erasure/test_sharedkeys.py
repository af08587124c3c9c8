"""Identifiers that stand for many members of an audience under sync erase no one before it is meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.synchronisation.sync import sync_async
from audiencekit.emulator import Emulator
from audiencekit.errors import PlanRefused
from audiencekit.machine.keys import find_state_key
from audiencekit.settings import Settings
from audiencekit.snapshots.store import SERIAL, SnapshotStore

OFFICE = "+493090182000"


async def _synced(settings: Settings, audience_id: str, tmp_path: Path, people: int) -> None:
    source = tmp_path / "people.csv"
    rows = [f"person{number}@example.org,{OFFICE}" for number in range(people)]
    source.write_text("\n".join(["email,phone", *rows, ""]))
    await sync_async(source, audience_id=audience_id, settings=settings, shared_values="keep", allow_shrink=1.0)


@pytest.mark.parametrize(("members", "most", "refused"), [(5, 5, False), (6, 5, True), (6, 6, False), (3, 2, True)])
async def test_members_are_counted(
    emulator: Emulator, settings: Settings, tmp_path: Path, members: int, most: int, refused: bool
) -> None:
    """In both files of the snapshot: the last of them comes with a second sync."""
    await _synced(settings, emulator.audience_id, tmp_path, members - 1)
    await _synced(settings, emulator.audience_id, tmp_path, members)
    if not refused:
        receipt = await forget_async([OFFICE], settings=settings, shared_values=most)
        assert receipt.state == "complete"
        return
    with pytest.raises(PlanRefused) as raised:
        await forget_async([OFFICE, "person1@example.org"], settings=settings, shared_values=most)
    assert f"more than {most} members of audience {emulator.audience_id}, the most for {members}:" in str(raised.value)
    assert "`shared_values='keep'`" in raised.value.hint
    assert OFFICE not in json.dumps([str(raised.value), raised.value.hint])


async def test_a_snapshot_that_cannot_be_trusted_is_not_asked(
    emulator: Emulator, settings: Settings, tmp_path: Path
) -> None:
    """People are erased all the same, and audiences of other accounts are none of ours."""
    await _synced(settings, emulator.audience_id, tmp_path, 9)
    account_id, key = settings.require_account(), find_state_key(settings.state_dir, settings.key)
    assert SnapshotStore.audiences(settings.state_dir, account_id) == [emulator.audience_id]
    assert SnapshotStore.audiences(settings.state_dir, account_id[:-1]) == []
    (SnapshotStore(settings.state_dir, account_id, emulator.audience_id, key).directory / SERIAL).write_bytes(b"x" * 50)
    assert (await forget_async([OFFICE], settings=settings)).state == "complete"
