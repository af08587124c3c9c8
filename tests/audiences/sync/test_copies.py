"""A copy of a state directory that was made while a sync was at work, and is put back when the sync has ended."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path

import pytest

from audiencekit.errors import SnapshotRefused
from audiencekit.process.crash_points import POINTS, SYNC_POINTS, set_hook
from tests.audiences.sync.service import Owner, Person, Service, entries_of

OLD, NEW, NEXT = (range(10), range(5, 15), range(8))


@pytest.mark.slow
async def test_no_copy_of_a_run_at_work_goes_on_in_silence(tmp_path: Path) -> None:
    """At whatever point it was made: it is refused before anything is sent, or knows all that the run has done."""
    owner = Owner(tmp_path)
    await owner.sync(_people(OLD))
    copies = await _sync_with_copies(owner, _people(NEW))
    refused = 0
    for kept in copies:
        shutil.rmtree(owner.settings.state_dir)
        shutil.copytree(kept, owner.settings.state_dir)
        service = copy.deepcopy(owner.service)
        other = Owner(tmp_path, service)
        try:
            await other.sync(_people(NEXT))
        except SnapshotRefused:
            refused += 1
            assert _state(service) == _state(owner.service), kept.name
        else:
            assert set(service.entries) == entries_of(_people(NEXT)), kept.name
    assert 0 < refused < len(copies)


async def _sync_with_copies(owner: Owner, people: list[Person]) -> list[Path]:
    """One for each time that a point is passed, while `people` are synced."""
    copies: list[Path] = []

    def keep(point: str) -> None:
        copies.append(owner.directory / f"{len(copies)} {point}")
        shutil.copytree(owner.settings.state_dir, copies[-1])

    set_hook(keep)
    try:
        await owner.sync(people)
    finally:
        set_hook(None)
    # The file of changes alone is left as it was, for so few of them.
    assert {*SYNC_POINTS, *POINTS} - {kept.name.partition(" ")[2] for kept in copies} <= {
        "before recent",
        "after recent",
    }
    return copies


def _people(numbers: range) -> list[Person]:
    return [(str(number), "") for number in numbers]


def _state(service: Service) -> tuple[str | None, int]:
    return service.description, len(service.log)
