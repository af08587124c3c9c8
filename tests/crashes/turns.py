"""Some state directories that take turns at one audience, and what may come of each turn."""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from audiencekit.emulator import Emulator
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.process.crash_points import POINTS, SYNC_POINTS
from tests.crashes.killing import Driver, Ended
from tests.crashes.scenario import Entry, environment, log_of, members_of

KILLED: Final = -9
PEOPLE: Final = 40
_STAMP: Final = re.compile(r" ?\[audiencekit sync [^]]*\]")
_CALLS: Final = {"path": "*/custom_audiences/*"}
# Of a call that is no upload: lost before or after it was applied, refused for now, or applied late.
_TROUBLES: Final = (
    {"fault": 13, "where": "before_apply", "match": {"method": "PUT", **_CALLS}},
    {"fault": 13, "where": "after_apply", "match": {"method": "PUT", **_CALLS}},
    {"fault": 9, "status": 502, "match": {"method": "PUT", **_CALLS}},
    {"fault": 8, "status": 500, "match": {"method": "GET", **_CALLS}},
    {"fault": 13, "where": "after_apply", "match": {"method": "GET", **_CALLS}},
    {"fault": 16, "kind": "html", "match": {"method": "GET", **_CALLS}},
)


@dataclass
class Machine:
    """One state directory. `version` is that of the audience when it was last ours, None when it never was.

    `strays` are members that it cannot know of; not `is_sound` while it went ahead without knowing who else had changed
    the audience, which it said.
    """

    directory: Path
    version: int | None = None
    strays: frozenset[Entry] = frozenset()
    is_sound: bool = True
    has_to_tell: bool = False  # it stamped an audience whose stamp was gone, and was killed before it could say so
    copy: Any = None


@dataclass
class Turns:
    """One history by its seed. `version` counts who had the audience last."""

    seed: int
    directory: Path
    emulator: Emulator
    drivers: tuple[Driver, Driver]
    version: int = 0
    text: str = ""
    told: list[str] = field(default_factory=list)
    uploaded: set[Entry] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.machines = [self._machine(f"m{number}") for number in range(self.draw.choice((2, 2, 3)))]
        self.elsewhere = self._machine("elsewhere")
        self.text = self.draw.choice(("", "Customers of the shop", "näh: 100 % [sync me] & more"))
        self._audience.description = self.text or None

    def _machine(self, name: str) -> Machine:
        (self.directory / name).mkdir()
        return Machine(self.directory / name)

    @property
    def _audience(self) -> Any:
        return self.emulator.store.find_audience(self.emulator.audience_id)

    @property
    def live(self) -> set[Entry]:
        return members_of(log_of(self.emulator))

    async def live_through(self, steps: int) -> None:
        for _ in range(steps):
            machine = self.draw.choice(self.machines)
            step = self.draw.choices(
                (self.sync, self.upload, self.edit, self.copy, self.restore, self.race), (12, 2, 1, 2, 2, 1)
            )[0]
            self.told.append(f"{step.__name__} {machine.directory.name}")
            await step(machine)
            assert _STAMP.sub("", self._audience.description or "") == self.text, self.told
        for machine in self.machines:  # whatever has happened, this is the way on
            self.told.append(f"last {machine.directory.name}")
            await self.sync(machine, is_calm=True)

    # --- turns ---

    async def sync(self, machine: Machine, *, is_calm: bool = False) -> None:
        people = self._people()
        rebuild, kill = self.draw.random() < 0.1, None
        if not is_calm and self.draw.random() < 0.35:
            kill = self._kill()
        if not is_calm and self.draw.random() < 0.2:
            self.emulator.faults.replace(read_faults([self.draw.choice(_TROUBLES)]))
        ended = await self._sync(machine, people, kill, rebuild=rebuild)
        self.emulator.faults.replace(())
        if ended.code == 3 and (is_calm or self.draw.random() < 0.5):
            self.told.append("rebuild")
            await self._sync(machine, people, None, rebuild=True)

    async def _sync(self, machine: Machine, people: set[int], kill: Any, *, rebuild: bool) -> Ended:
        before = self._state()
        was_last, was_new = machine.version == self.version, machine.version is None
        was_bare = _STAMP.search(self._audience.description or "") is None
        ended = await self._run(machine, people, "sync", *(["--rebuild"] if rebuild else []), kill=kill)
        self.told.append(f"  {sorted(people)} {kill} {rebuild=} -> {ended.code} {ended.err[-300:]!r}")
        assert ended.code in (0, 3, KILLED), self.told
        if ended.code == 3:
            assert self._state() == before, ("it was refused after something was sent", self.told)
            assert not rebuild, self.told
            assert not was_last or not machine.is_sound, ("it was refused although it was the last", self.told)
            assert "--rebuild" in ended.err
            return ended
        told = "does not bear the stamp" in ended.err
        unsure = told or (was_bare and not was_new and ended.code == KILLED)  # to a new one there never was a stamp
        if ended.code == 0:
            assert told or rebuild or not machine.has_to_tell, ("it never said that it does not know", self.told)
        machine.has_to_tell = unsure and not told if ended.code == KILLED else False
        self._heed(machine, before, ended, is_whole=rebuild or was_new, was_last=was_last or unsure)
        if not was_last and not rebuild and not was_new:
            assert unsure or self._state() == before, ("it went ahead although it was not the last", self.told)
            assert unsure or ended.code == KILLED, ("it was not refused although it was not the last", self.told)
            machine.is_sound &= self._state() == before
        if ended.code == 0:
            self._check(machine, entries_of(people), is_whole=rebuild or was_new)
        return ended

    def _heed(self, machine: Machine, before: Any, ended: Ended, *, is_whole: bool, was_last: bool) -> None:
        """Whose the audience is now."""
        if self._state() == before:
            return
        self.version += 1
        if was_last or is_whole:
            machine.version = self.version
        if is_whole and ended.code != 0:
            machine.is_sound = False  # until a rebuild comes to its end; it says so

    def _check(self, machine: Machine, wanted: set[Entry], *, is_whole: bool) -> None:
        live = self.live
        if is_whole:
            machine.strays, machine.is_sound, machine.version = frozenset(live - wanted), True, self.version
        if machine.is_sound:
            assert wanted <= live, ("some who must be in are out", self.told)
            assert live - wanted <= machine.strays | self.uploaded, ("some who must be out are in", self.told)

    async def upload(self, _machine: Machine) -> None:
        verb, people = self.draw.choice(("update", "delete")), self._people()
        ended = await self._run(self.elsewhere, people, "upload", "--operation", verb)
        assert ended.code == 0, ended.err
        self.version += verb == "delete"
        self.uploaded |= entries_of(people) if verb == "update" else set()

    async def edit(self, _machine: Machine) -> None:
        """A person writes something else into the description, with or without the stamp."""
        shown = self._audience.description or ""
        stamp = _STAMP.search(shown)
        self.text = self.draw.choice(("", "Customers, spring", "for the campaign: do not touch!"))
        kept = stamp[0] if stamp and self.draw.random() < 0.5 else ""
        self._audience.description = (self.text + kept).strip() or None

    async def copy(self, machine: Machine) -> None:
        target = machine.directory.with_suffix(".copy")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(machine.directory, target)
        machine.copy = (machine.version, machine.strays, machine.is_sound, machine.has_to_tell)

    async def restore(self, machine: Machine) -> None:
        """An older copy of the state directory takes its place, or that of another machine."""
        if machine.copy is not None:
            other = self.draw.choice(self.machines)
            shutil.rmtree(other.directory)
            shutil.copytree(machine.directory.with_suffix(".copy"), other.directory)
            other.version, other.strays, other.is_sound, other.has_to_tell = machine.copy

    async def race(self, _machine: Machine) -> None:
        """Two machines, or one and its copy, at the same moment: one of them is told, now or the next time."""
        first, second = self.draw.sample(self.machines, 2)
        if self.draw.random() < 0.7:
            shutil.rmtree(second.directory)
            shutil.copytree(first.directory, second.directory)
            second.version, second.strays, second.is_sound = first.version, first.strays, first.is_sound
            second.has_to_tell = first.has_to_tell
        lists, before = (self._people(), self._people()), self._state()
        both = [self._run(*each, driver=driver) for each, driver in zip(
            ((first, lists[0], "sync"), (second, lists[1], "sync")), self.drivers, strict=True
        )]  # fmt: skip
        ended = await asyncio.gather(*both)
        self.told.append(f"  {[(each.code, each.err[-300:]) for each in ended]}")
        assert {each.code for each in ended} <= {0, 3}, self.told
        self.version += self._state() != before
        again = [
            (await self._run(machine, people, "sync")).code
            for machine, people in zip((first, second), lists, strict=True)
        ]
        self.told.append(f"  {again}")
        assert 3 in again or 3 in [each.code for each in ended], ("no machine was told", self.told)
        for machine, people in zip((first, second), lists, strict=True):
            await self._sync(machine, people, None, rebuild=True)

    # --- means ---

    def _people(self) -> set[int]:
        return set(self.draw.sample(range(PEOPLE), self.draw.randint(3, 30)))

    def _kill(self) -> dict[str, Any]:
        if self.draw.random() < 0.2:
            return {"seconds": self.draw.uniform(0.02, 0.5)}
        points = SYNC_POINTS if self.draw.random() < 0.7 else POINTS
        return {"point": self.draw.choice(points), "nth": self.draw.randint(1, 3)}

    def _state(self) -> tuple[str | None, int]:
        return self._audience.description, len(log_of(self.emulator))

    async def _run(
        self,
        machine: Machine,
        people: set[int],
        command: str,
        *more: str,
        kill: Any = None,
        driver: Driver | None = None,
    ) -> Ended:
        source = machine.directory.with_suffix(".csv")
        source.write_text("email\n" + "".join(f"p{number}@example.com\n" for number in sorted(people)))
        env = environment(self.emulator, machine.directory)
        work = machine.directory.with_suffix(".work")
        work.mkdir(exist_ok=True)
        given = (command, str(source), "--audience", self.emulator.audience_id, *more)
        if command == "sync":
            given += ("--allow-shrink", "1")
        return await (driver or self.drivers[0]).run(work, env, *given, kill=kill)


def entries_of(people: set[int]) -> set[Entry]:
    """Those of these people in the audience."""
    return {frozenset({("email", hashlib.sha256(f"p{number}@example.com".encode()).hexdigest())}) for number in people}
