"""Several state directories and one audience: only the one that changed it last goes on without a word.

STAMP_HISTORIES raises the number of histories (6) for a longer run, such as 500; STAMP_FIRST is the first seed.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.answers import Answer
from audiencekit.audiences.sync.stamp import STAMP
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.ads_session import mark_upload
from audiencekit.errors import AudiencekitError, RequestRefused, SnapshotRefused, TemporarilyUnavailable
from audiencekit.process.crash_points import SYNC_POINTS
from tests.audiences.sync.service import (
    ACCOUNT,
    AUDIENCE,
    FINE,
    LATE,
    LOST,
    NEVER,
    Entry,
    Killed,
    Owner,
    Person,
    Service,
    entries_of,
)
from tests.shortened import shortened
from tests.virtualtime import VirtualClock

FIRST, HISTORIES = int(os.environ.get("STAMP_FIRST", "0")), int(os.environ.get("STAMP_HISTORIES", "6"))
POLICY = RetryPolicy(clock=VirtualClock(), randomness=random.Random(1))
PEOPLE: list[Person] = [(str(number), "") for number in range(12)]


@dataclass
class Place:
    """One state directory. `version` is that of the audience when it was last its own; `strays` it cannot know of."""

    owner: Owner
    version: int | None = None
    strays: frozenset[Entry] = frozenset()
    is_under_sync: bool = False
    is_half_rebuilt: bool = False
    copied: tuple[Any, ...] | None = None


class Histories:
    """One history by its seed."""

    def __init__(self, seed: int, directory: Path) -> None:
        self._draw, self._service, self._version = random.Random(seed), Service(), 0
        self._uploaded: set[Entry] = set()
        self._places = [self._place(directory / name) for name in ("one", "two", "three")]

    def _place(self, directory: Path) -> Place:
        directory.mkdir()
        return Place(Owner(directory, self._service))

    async def live(self, steps: int) -> None:
        for _ in range(steps):
            place = self._draw.choice(self._places)
            await self._draw.choices((self._sync, self._upload, self._copy, self._restore), (10, 1, 2, 2))[0](place)
        for place in self._places:
            await self._sync(place, is_calm=True)

    async def _sync(self, place: Place, *, is_calm: bool = False) -> None:
        people = self._draw.sample(PEOPLE, self._draw.randint(1, len(PEOPLE)))
        rebuild = self._draw.random() < 0.15
        if not is_calm and self._draw.random() < 0.4:
            self._service.fates = self._draw.choices([FINE, LOST, NEVER, LATE], k=3)
        point = None if is_calm or self._draw.random() < 0.6 else self._draw.choice(SYNC_POINTS)
        if not await self._attempt(place, people, point, rebuild=rebuild) and is_calm:
            assert await self._attempt(place, people, None, rebuild=True), "a rebuild is the way on"

    async def _attempt(self, place: Place, people: list[Person], point: str | None, *, rebuild: bool) -> bool:
        before, was_last = self._state(), place.version == self._version
        is_whole = rebuild or not place.is_under_sync
        try:
            await place.owner.sync_until(point, people, rebuild=rebuild)
        except SnapshotRefused:
            assert not was_last or place.is_half_rebuilt, "it was refused although it was the last"
            assert self._state() == before, "it was refused after something had changed"
            return False
        except (AudiencekitError, Killed):
            self._heed(place, before, is_whole=is_whole, was_last=was_last)
            return True
        finally:
            self._service.fates = []
        wanted = entries_of(people)
        assert was_last or rebuild or place.version is None, "it went ahead although it was not the last"
        if is_whole:
            place.strays = frozenset(set(self._service.entries) - wanted)
            place.is_under_sync, place.is_half_rebuilt = True, False
        self._heed(place, before, is_whole=is_whole, was_last=was_last)
        assert wanted <= set(self._service.entries), "some who must be in are out"
        assert set(self._service.entries) - wanted <= place.strays | self._uploaded, "some who must be out are in"
        return True

    def _heed(self, place: Place, before: Any, *, is_whole: bool, was_last: bool) -> None:
        if self._state() == before:
            return
        self._version += 1
        if was_last or is_whole:
            place.version = self._version
        place.is_half_rebuilt = place.is_half_rebuilt or (is_whole and not was_last)

    async def _upload(self, _place: Place) -> None:
        """From elsewhere."""
        removes, people = self._draw.random() < 0.5, entries_of(self._draw.sample(PEOPLE, 2))
        await mark_upload(self._service, AUDIENCE, POLICY, self._places[0].owner.tell, removes=removes)  # type: ignore[arg-type]
        if removes:
            self._version += 1
            for entry in people:
                self._service.entries.pop(entry, None)
        else:
            self._uploaded |= people
            self._service.entries.update(dict.fromkeys(people, "2027-12-01T00:00:00Z"))

    async def _copy(self, place: Place) -> None:
        target = place.owner.directory.with_suffix(".copy")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(place.owner.directory, target)
        place.copied = (place.version, place.strays, place.is_under_sync, place.is_half_rebuilt)

    async def _restore(self, place: Place) -> None:
        """An older copy takes the place of it, or of another one."""
        if place.copied is not None:
            other = self._draw.choice(self._places)
            shutil.rmtree(other.owner.directory)
            shutil.copytree(place.owner.directory.with_suffix(".copy"), other.owner.directory)
            other.version, other.strays, other.is_under_sync, other.is_half_rebuilt = place.copied

    def _state(self) -> tuple[str | None, int]:
        return self._service.description, len(self._service.log)


@pytest.mark.parametrize("seed", shortened(range(FIRST, FIRST + HISTORIES), 1))
async def test_only_who_was_last_goes_on_without_a_word(tmp_path: Path, seed: int) -> None:
    """Through kills, lost answers, uploads from elsewhere, and older copies of state directories."""
    await Histories(seed, tmp_path).live(8)


@pytest.fixture
def owners(tmp_path: Path) -> tuple[Owner, Owner]:
    """Two machines and one audience, which neither has synced."""
    return _beside(Owner(_made(tmp_path / "one")), tmp_path)


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Owner:
    owner = Owner(tmp_path_factory.mktemp("synced"))
    asyncio.run(owner.sync(PEOPLE[:5]))
    return owner


@pytest.fixture
def one_has_synced(synced: Owner, tmp_path: Path) -> tuple[Owner, Owner]:
    """Two machines and an audience of five, by the first one."""
    return _beside(synced.copied(_made(tmp_path / "one")), tmp_path)


def _beside(first: Owner, directory: Path) -> tuple[Owner, Owner]:
    return first, Owner(_made(directory / "two"), first.service)


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


async def test_machines_by_turns(one_has_synced: tuple[Owner, Owner]) -> None:
    """The second one is refused, and so is the first after a rebuild by the second."""
    first, second = one_has_synced
    with pytest.raises(SnapshotRefused, match="another machine") as caught:
        await second.sync(PEOPLE[2:7])
    assert "`rebuild=True`" in caught.value.hint
    await second.sync(PEOPLE[2:7], rebuild=True)
    with pytest.raises(SnapshotRefused, match="another machine"):
        await first.sync(PEOPLE[3:8])
    await second.sync(PEOPLE[2:8])


async def test_the_text_that_people_wrote_stays(owners: tuple[Owner, Owner]) -> None:
    """The stamp stands behind it, and there is one."""
    owners[0].service.description = "Customers of the shop"
    for _ in range(2):
        await owners[0].sync(PEOPLE[:5])
    described = owners[0].service.description
    assert described.startswith("Customers of the shop [audiencekit sync 1a2b-")
    assert described.count("[") == 1


async def test_a_lost_stamp_is_told(one_has_synced: tuple[Owner, Owner]) -> None:
    """Another program has overwritten it; the sync goes on and stamps anew."""
    first, _ = one_has_synced
    first.service.description = "for the spring"
    report = await first.sync(PEOPLE[:6])
    assert any("does not bear the stamp" in note for note in report.notes)
    assert (first.service.description or "").startswith("for the spring [audiencekit sync ")


async def test_a_first_stamp_that_was_cut_short_is_told(owners: tuple[Owner, Owner]) -> None:
    """It may have been there, and another program may have overwritten it since."""
    first, second = owners
    with pytest.raises(Killed):
        await first.sync_until("after stamp", PEOPLE[:5])
    await second.sync(PEOPLE[2:7], rebuild=True)
    first.service.description = "for the spring"
    report = await first.sync(PEOPLE[:6])
    assert any("does not bear the stamp" in note for note in report.notes)


async def test_a_kill_hides_no_lost_stamp(one_has_synced: tuple[Owner, Owner]) -> None:
    """The next sync gives, once, the warning that a killed sync could not give."""
    first, _ = one_has_synced
    first.service.description = "for the spring"
    with pytest.raises(Killed):
        await first.sync_until("before changes", PEOPLE[:6])
    told = [
        any("does not bear the stamp" in note for note in (await first.sync(PEOPLE[:size])).notes) for size in (7, 8)
    ]
    assert told == [True, False]


async def test_an_upload_between_is_told(one_has_synced: tuple[Owner, Owner]) -> None:
    """The upload says so, and so does the next sync, which is refused when people were taken out."""
    first, second = one_has_synced
    await mark_upload(first.service, AUDIENCE, POLICY, second.tell, removes=False)  # type: ignore[arg-type]
    assert "stay until their entries expire" in second.told[-1]
    assert any("an upload has put people in" in note for note in (await first.sync(PEOPLE[:6])).notes)
    await mark_upload(first.service, AUDIENCE, POLICY, second.tell, removes=True)  # type: ignore[arg-type]
    assert "is refused until it is rebuilt" in second.told[-1]
    with pytest.raises(SnapshotRefused, match="an upload has taken people out"):
        await first.sync(PEOPLE[:7])


class Silent(Service):
    """Shows no description."""

    async def get_custom_audience(self, audience_id: str) -> Answer:
        return Answer(status=200, data={"id": audience_id})


class Without(Service):
    """Has no such call."""

    async def get_custom_audience(self, audience_id: str) -> Answer:
        raise TemporarilyUnavailable("not implemented", status=501)


class Closed(Service):
    """A service that lets no caller write a description."""

    async def update_custom_audience(self, audience_id: str, *, description: str) -> Answer:
        raise RequestRefused("refused", status=400)


class Forgetful(Service):
    """Takes a description, and keeps none."""

    async def update_custom_audience(self, audience_id: str, *, description: str) -> Answer:
        return Answer(status=200, data={"description": None})


class Elsewhere(Service):
    """The answer to the second change of a description is that of another request, and the change is not made."""

    changes = 0

    async def update_custom_audience(self, audience_id: str, *, description: str) -> Answer:
        self.changes += 1
        if self.changes == 2:
            return Answer(status=200, data={"success_count": 2, "total_count": 2})
        return await super().update_custom_audience(audience_id, description=description)


async def test_an_answer_without_the_stamp_ends_no_doubt_about_it(tmp_path: Path) -> None:
    """Either of the two may be there: the next sync of the same machine goes on."""
    owner = Owner(tmp_path, Elsewhere())
    for size in (5, 6, 7):
        await owner.sync(PEOPLE[:size])
        assert set(owner.service.entries) == entries_of(PEOPLE[:size])


@pytest.mark.parametrize(
    ("service", "word", "sizes"),
    [(Silent, "show", [5, 6]), (Without, "show", [5]), (Closed, "let us write", [5, 6]), (Forgetful, "keep what", [5])],
)
async def test_a_service_without_descriptions_keeps_no_sync_back(
    tmp_path: Path, service: type[Service], word: str, sizes: list[int]
) -> None:
    """It is told each time that another machine would not be noticed."""
    owner = Owner(tmp_path, service())
    for size in sizes:
        report = await owner.sync(PEOPLE[:size])
        assert [word in note for note in report.notes if "another machine" in note] == [True]
        assert set(owner.service.entries) == entries_of(PEOPLE[:size])


async def test_damaged_stamps_are_refused(one_has_synced: tuple[Owner, Owner]) -> None:
    """And a rebuild is the way on."""
    first, _ = one_has_synced
    path = first.directory / "state" / "snapshots" / f"{ACCOUNT}-{AUDIENCE}" / STAMP
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(SnapshotRefused):
        await first.sync(PEOPLE[:6])
    await first.sync(PEOPLE[:6], rebuild=True)
    await first.sync(PEOPLE[:7])
