"""Whether an erased person still stands in a file; those that a kill leaves are in tests/crashes."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.forms import ErasureKeys, to_records
from audiencekit.audiences.erasure.verification import remove_from_snapshot, verify_erasures
from audiencekit.audiences.runs import PurgeOrder, purge
from audiencekit.audiences.sync.sync import plan_sync, renew_async, sync_async
from audiencekit.emulator import Emulator
from audiencekit.errors import NotFinished
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.pipeline import prepare, upload_async
from audiencekit.runs.purge import ASIDE
from audiencekit.selection.erased_people import read_forgotten, remember
from audiencekit.settings import Settings
from audiencekit.snapshots.facts import SnapshotFacts
from audiencekit.snapshots.files import PARTS
from audiencekit.snapshots.store import RECENT, SNAPSHOT, SnapshotStore
from audiencekit.state.keys import find_state_key
from tests.audiences.members import members_of
from tests.cases import each_case
from tests.runs.begun import EndsAfter

# --- Whether an erased person still stands in a file; those that a kill leaves are in tests/crashes ---

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


async def test_where_no_one_was_erased_nothing_is_proved(settings: Settings, source: Path) -> None:
    """The name of the state directory may be mistyped."""
    found = await _verify(settings, source)
    assert (found["verified"], found["memory"]["state"], found["files"]) == (False, "none", [])


@each_case(
    "cells",
    [
        ["email", *(hashlib.sha256(person.encode()).hexdigest() for person in PEOPLE)],
        ["email", "other@example.org", hashlib.sha256(PEOPLE[1].encode()).hexdigest()],
        ["email,phone", "other@example.org,030 123456"],
        ["name,city", "Ada,Rome"],
        ["email"],
    ],
)
async def test_values_that_were_not_looked_for_prove_nothing(
    settings: Settings, tmp_path: Path, cells: list[str]
) -> None:
    """Digests, numbers without a country; no column, and no row."""
    _import(settings, PEOPLE[1])
    (tmp_path / "list.csv").write_text("".join(f"{line}\n" for line in cells))
    found = await _verify(settings, tmp_path / "list.csv")
    assert (found["verified"], _files(found)) == (False, [("source", None, None)])
    assert found["files"][0]["why"]


async def test_cells_that_name_no_one_are_read(settings: Settings, tmp_path: Path) -> None:
    """Blanks, placeholders, and an address that receives no mail."""
    _import(settings, PEOPLE[1])
    (tmp_path / "list.csv").write_text("email,phone\nother@example.org,\nn/a,n/a\na@shop.test,+49301234567\n")
    found = await _verify(settings, tmp_path / "list.csv")
    assert (found["verified"], _files(found)) == (True, [("source", 3, 0)])


async def test_a_snapshot_that_an_import_has_met(emulator: Emulator, settings: Settings, source: Path) -> None:
    """Until the next sync, which is what it says."""
    await sync_async(source, audience=emulator.audience_id, settings=settings)
    _import(settings, PEOPLE[1], PEOPLE[2])
    found = await _verify(settings)
    assert (found["verified"], _files(found)) == (False, [("snapshot", 6, 2)])
    assert found["files"][0]["why"] == "the next sync takes them out of the audience, a sync 7 days later of the file"
    await sync_async(source, audience=emulator.audience_id, allow_shrink=0.5, settings=settings)
    await forget_async(PEOPLE[3:4], settings=settings)  # writes the file anew: people who had gone leave it
    assert (await _verify(settings))["verified"]


async def test_people_who_have_gone_still_stand_in_the_file(
    emulator: Emulator, settings: Settings, source: Path
) -> None:
    await sync_async(source, audience=emulator.audience_id, settings=settings)
    source.write_text("".join(line for line in source.read_text().splitlines(True) if PEOPLE[1] not in line))
    await sync_async(source, audience=emulator.audience_id, settings=settings)
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
    await sync_async(source, audience=emulator.audience_id, settings=settings)
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
            source, audience=emulator.audience_id, settings=settings, limiter=EndsAfter(0), keep_spool=True
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


# --- Erased people leave the snapshot of an audience under sync ---


@pytest.fixture
async def store(emulator: Emulator, settings: Settings, source: Path) -> SnapshotStore:
    """Of the audience, which was synced."""
    await sync_async(source, audience=emulator.audience_id, settings=settings)
    key = find_state_key(settings.state_dir, settings.key)
    return SnapshotStore(settings.state_dir, settings.require_account(), emulator.audience_id, key)


def _facts(store: SnapshotStore) -> SnapshotFacts:
    with contextlib.closing(store.open()) as snapshot:
        return snapshot.facts


async def test_a_renewal_does_not_bring_them_back(emulator: Emulator, settings: Settings, store: SnapshotStore) -> None:
    """Neither the audience nor the snapshot has them any more; an erasure of others leaves it as it is."""
    before = _facts(store)
    await forget_async(["handle=stranger"], settings=settings)
    assert (_facts(store).serial, before.members) == (before.serial, len(PEOPLE))
    await forget_async(["person1@example.org", "handle=stranger"], settings=settings)
    assert _facts(store).members == len(PEOPLE) - 1
    found = await _verify(settings)
    assert (found["verified"], found["erasures"]["complete"]) == (True, 2)
    assert _files(found) == [("snapshot", len(PEOPLE) - 1, 0)]
    await renew_async(audience=emulator.audience_id, before="400d", ttl_days=395, settings=settings)
    assert len(await members_of(emulator, emulator.audience_id)) == len(PEOPLE) - 1


async def test_a_stale_source_does_not_bring_them_back(
    emulator: Emulator, settings: Settings, source: Path, store: SnapshotStore
) -> None:
    """A sync of it leaves them out, and has nothing to send."""
    await forget_async(["person1@example.org"], settings=settings)
    keywords = {"audience": emulator.audience_id, "settings": settings}
    plan = await asyncio.to_thread(plan_sync, source, **keywords)  # type: ignore[arg-type]
    assert (plan.rows.suppressed, plan.requests) == (1, 0)
    report = await sync_async(source, **keywords)  # type: ignore[arg-type]
    assert (report.rows.suppressed, report.requests_planned) == (1, 0)
    assert any("erased with `forget`" in note for note in report.notes)
    assert _facts(store).members == len(await members_of(emulator, emulator.audience_id)) == len(PEOPLE) - 1


async def test_deleted_members_leave_the_files_as_well(
    emulator: Emulator, settings: Settings, source: Path, store: SnapshotStore
) -> None:
    """A deleted person stays in the snapshot for some days, but not after an erasure."""
    source.write_text("".join(line for line in source.read_text().splitlines(True) if "person1" not in line))
    await sync_async(source, audience=emulator.audience_id, settings=settings)
    assert (store.directory / RECENT).exists()
    assert _facts(store).members == len(PEOPLE) - 1
    await forget_async(["person1@example.org"], settings=settings)
    assert not (store.directory / RECENT).exists()
    forgotten = read_forgotten(settings.state_dir, settings.key)
    assert forgotten is not None
    with contextlib.closing(store.open()) as snapshot:
        assert snapshot.facts.members == len(PEOPLE) - 1
        stored = [batch for part in range(PARTS) for batch in snapshot.stored(part)]
    assert sum(batch.unwrap().num_rows for batch in stored) == len(PEOPLE) - 1
    assert not any(forgotten.holds_any(batch).any() for batch in stored)


async def test_one_that_cannot_be_trusted_stays(settings: Settings, store: SnapshotStore) -> None:
    """Nothing is sent from it, and the erasure is complete all the same."""
    path = store.directory / SNAPSHOT
    path.write_bytes(path.read_bytes()[:-9])
    receipt = await forget_async(["person1@example.org"], settings=settings)
    assert receipt.state == "complete"
    forgotten = read_forgotten(settings.state_dir, settings.key)
    assert forgotten is not None
    remove_from_snapshot(
        settings.state_dir, settings.require_account(), "zzz", key=find_state_key(settings.state_dir, settings.key),
        forgotten=forgotten, now=datetime.now(UTC),
    )  # fmt: skip
