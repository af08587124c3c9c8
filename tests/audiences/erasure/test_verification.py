"""Whether an erased person still stands in a file; those that a kill leaves are in tests/crashes."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.keys import ErasureKeys, to_records
from audiencekit.audiences.erasure.verification import verify_erasures
from audiencekit.audiences.purging import PurgeOrder, purge
from audiencekit.audiences.synchronisation.sync import sync_async
from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished
from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.keys import find_state_key
from audiencekit.personal import HashedRecords
from audiencekit.pipeline import prepare, upload_async
from audiencekit.runs.purge.removal import ASIDE
from audiencekit.selection.forgotten.people import remember
from audiencekit.settings import Settings
from tests.runs.begun import EndsAfter

PEOPLE = [f"person{number}@example.org" for number in range(6)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("email\n" + "".join(f"{person}\n" for person in PEOPLE))
    return path


def _import(settings: Settings, *people: str) -> None:
    """Remember people as an import does: no audience and no snapshot is changed."""
    remember(settings.state_dir, find_state_key(settings.state_dir, settings.key), _records(people))


def _records(people: Iterable[str]) -> HashedRecords:
    return to_records(ErasureKeys(frozenset((Kind.EMAIL, hashlib.sha256(one.encode()).hexdigest()) for one in people)))


def _files(found: dict[str, Any]) -> list[tuple[str, int | None, int | None]]:
    return [(file["kind"], file["records"], file["erased"]) for file in found["files"]]


async def _verify(settings: Settings, *sources: Path) -> dict[str, Any]:
    return await asyncio.to_thread(verify_erasures, settings, [str(path) for path in sources])


async def test_nothing_was_erased(settings: Settings) -> None:
    found = await _verify(settings)
    assert (found["verified"], found["memory"]["state"], found["files"]) == (True, "none", [])


async def test_an_erasure_leaves_no_one(emulator: Emulator, settings: Settings, source: Path) -> None:
    await sync_async(source, audience_id=emulator.audience_id, settings=settings)
    await forget_async(PEOPLE[1:2], settings=settings)
    found = await _verify(settings)
    assert found["verified"]
    assert found["erasures"] == {"complete": 1, "unfinished": []}
    assert _files(found) == [("snapshot", 5, 0)]


async def test_a_snapshot_that_an_import_has_met(emulator: Emulator, settings: Settings, source: Path) -> None:
    """Until the next sync, which is what it says."""
    await sync_async(source, audience_id=emulator.audience_id, settings=settings)
    _import(settings, PEOPLE[1], PEOPLE[2])
    found = await _verify(settings)
    assert (found["verified"], _files(found)) == (False, [("snapshot", 6, 2)])
    assert found["files"][0]["why"] == "the next sync takes them out of the audience, a sync 7 days later of the file"
    await sync_async(source, audience_id=emulator.audience_id, allow_shrink=0.5, settings=settings)
    await forget_async(PEOPLE[3:4], settings=settings)  # writes the file anew: people who had gone leave it
    assert (await _verify(settings))["verified"]


async def test_people_who_have_gone_still_stand_in_the_file(
    emulator: Emulator, settings: Settings, source: Path
) -> None:
    await sync_async(source, audience_id=emulator.audience_id, settings=settings)
    source.write_text("".join(line for line in source.read_text().splitlines(True) if PEOPLE[1] not in line))
    await sync_async(source, audience_id=emulator.audience_id, settings=settings)
    _import(settings, PEOPLE[1])
    # The sixth stands in the file of all members, and as gone in that of the changes.
    assert _files(await _verify(settings)) == [("snapshot", 7, 1)]


async def test_a_prepared_directory(settings: Settings, source: Path, tmp_path: Path) -> None:
    await asyncio.to_thread(lambda: prepare(source, out=tmp_path / "prepared", settings=settings))
    _import(settings, PEOPLE[1])
    found = await _verify(settings, tmp_path / "prepared", source)
    assert (found["verified"], _files(found)) == (False, [("source", 6, 1), ("source", 6, 1)])
    await asyncio.to_thread(lambda: prepare(source, out=tmp_path / "prepared", settings=settings))
    assert (await _verify(settings, tmp_path / "prepared"))["verified"]


async def test_deletes_may_name_them(settings: Settings, source: Path, tmp_path: Path) -> None:
    await asyncio.to_thread(lambda: prepare(source, out=tmp_path / "gone", operation="delete", settings=settings))
    _import(settings, PEOPLE[1])
    assert _files(await _verify(settings, tmp_path / "gone")) == [("source", 6, 0)]


async def test_files_that_cannot_be_read(emulator: Emulator, settings: Settings, source: Path, tmp_path: Path) -> None:
    """Nothing is proved of them; each says what is wrong."""
    await sync_async(source, audience_id=emulator.audience_id, settings=settings)
    _import(settings, PEOPLE[1])
    (snapshot,) = (settings.state_dir / "snapshots").glob("*/snapshot")
    snapshot.write_bytes(snapshot.read_bytes()[:-1])
    found = await _verify(settings, tmp_path / "missing.csv")
    assert (found["verified"], _files(found)) == (False, [("snapshot", None, None), ("source", None, None)])
    assert all(file["why"] for file in found["files"])


async def test_a_memory_that_is_not_the_last(settings: Settings, source: Path) -> None:
    _import(settings, PEOPLE[1])
    (settings.state_dir / "forgotten").unlink()
    found = await _verify(settings, source)
    assert (found["verified"], found["memory"]["state"], found["files"]) == (False, "refused", [])


async def test_a_spool_that_a_killed_purge_has_left(emulator: Emulator, settings: Settings, source: Path) -> None:
    """It can be opened until its salt is destroyed, although no list shows the run; the next purge does that."""
    with pytest.raises(NotFinished) as ended:
        await upload_async(
            source, audience_id=emulator.audience_id, settings=settings, limiter=EndsAfter(0), keep_spool=True
        )
    assert ended.value.document is not None
    directory = settings.state_dir / "runs" / ended.value.document["run_id"]
    directory.rename(directory.with_name(ASIDE + directory.name))
    _import(settings, PEOPLE[1])
    found = await _verify(settings)
    assert (found["verified"], _files(found)) == (False, [("spool", 6, 1)])
    assert "audiencekit purge" in found["files"][0]["why"]
    await asyncio.to_thread(purge, PurgeOrder(older_than=timedelta(days=30)), settings, datetime.now(UTC))
    assert (await _verify(settings))["verified"]
