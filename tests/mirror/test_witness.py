"""The note of a head at another place: a return of everything is noticed, and no kill looks like one."""

from __future__ import annotations

import asyncio
import contextlib
import random
from pathlib import Path

import pytest

from audiencekit.errors import AudienceBusy, InputOutputFailed, StateRefused
from audiencekit.mirror.mirror import StateMirror
from audiencekit.mirror.objects import Overtaken
from audiencekit.mirror.witness import NOTE, FileObjects
from audiencekit.state.files import replace_file
from audiencekit.state.keys import StateKey
from tests.mirror.stores import FakeClock, MemoryObjects

KEY = StateKey(bytes(range(32)))


class Place:
    """A state with a witness, and its machines."""

    def __init__(self, directory: Path, witness: MemoryObjects | FileObjects | None = None) -> None:
        self._directory, self._machines = directory, 0
        self.objects, self.witness = MemoryObjects(), witness or MemoryObjects()

    def mirror(self, objects: MemoryObjects | None = None, witness: MemoryObjects | None = None) -> StateMirror:
        self._machines += 1
        clock, root = FakeClock(), self._directory / f"machine{self._machines}"
        return StateMirror(
            objects or self.objects, KEY, root, witness=witness or self.witness, monotonic=clock.monotonic,
            sleep=clock.sleep,
        )  # fmt: skip

    async def change(self, content: bytes, mirror: StateMirror | None = None) -> None:
        """One command that writes a file, from its start to its end."""
        mirror = mirror or self.mirror()
        await mirror.open(hold=True)
        replace_file(mirror.root / "forgotten", content)
        mirror.note(mirror.root)
        await mirror.stored()
        await mirror.close()

    async def look(self) -> bytes:
        mirror = self.mirror()
        await mirror.open(hold=False)
        return (mirror.root / "forgotten").read_bytes()


@pytest.fixture
async def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    await made.mirror().begin()
    return made


async def test_a_return_of_everything_is_refused(place: Place) -> None:
    """To every earlier moment, by a command that changes something and by one that looks; until it is accepted."""
    moments = []
    for number in range(4):
        await place.change(b"%d" % number)
        moments.append(dict(place.objects.objects))
    last = moments.pop()
    for moment in moments:
        place.objects.objects = moment
        for hold in (True, False):
            with pytest.raises(StateRefused, match="its witness saw change 5: it was rolled back"):
                await place.mirror().open(hold=hold)
    place.objects.objects = last
    assert await place.look() == b"3"
    place.objects.objects = moments[1]
    await place.mirror().accept()
    assert await place.look() == b"1"
    await place.change(b"x")


async def test_another_state_is_refused(place: Place, tmp_path: Path) -> None:
    """Also a later one under the same key; and a second state gets another witness."""
    (tmp_path / "other").mkdir()
    other = Place(tmp_path / "other")
    await other.mirror().begin()
    for number in range(3):
        await other.change(b"%d" % number)
    with pytest.raises(StateRefused, match="its witness saw another state"):
        await place.mirror(other.objects).open(hold=False)
    free = MemoryObjects()
    with pytest.raises(InputOutputFailed, match="there is a witness of a state at this place"):
        await place.mirror(free).begin()
    assert free.objects == {}


async def test_a_witness_that_knows_nothing_or_is_away_refuses_at_the_start(place: Place) -> None:
    """A mistyped address is no witness; a state that gets one is accepted once."""
    for witness, message in (
        (MemoryObjects(), "the witness knows nothing of this state"),
        (MemoryObjects(losses=1.0), "the witness of the state cannot be used: lost"),
    ):
        for hold in (True, False):
            with pytest.raises(InputOutputFailed, match=message):
                await place.mirror(witness=witness).open(hold=hold)
    new = MemoryObjects()
    await place.mirror(witness=new).accept()
    await place.change(b"x", place.mirror(witness=new))


async def test_nothing_is_stored_without_the_witness(place: Place) -> None:
    """So no request leaves; the next command writes the note of the head that has none."""
    early = dict(place.objects.objects)
    witness = MemoryObjects(place.witness.objects)  # type: ignore[union-attr]
    mirror = place.mirror(witness=witness)
    await mirror.open(hold=True)
    witness.losses = 1.0
    replace_file(mirror.root / "forgotten", b"x")
    mirror.note(mirror.root)
    with pytest.raises(InputOutputFailed, match="the witness of the state cannot be used"):
        await mirror.stored()
    with pytest.raises(InputOutputFailed):
        await mirror.close()
    assert await place.look() == b"x"
    following = place.mirror()
    await following.open(hold=True)
    place.objects.objects = early
    with pytest.raises(StateRefused, match="saw change 2"):
        await place.look()


@pytest.mark.parametrize("seed", range(60))
async def test_no_kill_and_no_fault_is_taken_for_a_return(tmp_path: Path, seed: int) -> None:
    """Of commands one after the other, with a store and a witness that lose, delay and double calls."""
    place, chance = Place(tmp_path), random.Random(seed)
    await place.mirror().begin()
    faults = {"late": 0.05, "doubled": 0.05}
    last = [b""]
    for step in range(8):
        mirror = place.mirror(
            place.objects.clone(0.05, (seed, step), **faults),
            place.witness.clone(0.05, (seed, -step - 1), **faults),  # type: ignore[union-attr]
        )
        task = asyncio.create_task(place.change(b"%d" % step, mirror))
        if chance.random() < 0.5:
            for _ in range(chance.randrange(600)):
                await asyncio.sleep(0)
            _kill(mirror, task)
        last.append(b"%d" % step)
        with contextlib.suppress(InputOutputFailed, AudienceBusy, asyncio.CancelledError):
            await task
            last = last[-1:]
        _kill(mirror, task)
    with contextlib.suppress(FileNotFoundError):
        assert await place.look() in last


def _kill(mirror: StateMirror, task: asyncio.Task[None]) -> None:
    for each in (mirror._beating, mirror._cleaning, *mirror._begun, task):
        if each is not None:
            each.cancel()


async def test_a_late_note_puts_no_earlier_one_back(place: Place) -> None:
    """Of a holder that was overtaken."""
    slow = place.mirror()
    await slow.open(hold=True)
    slow._beating.cancel()  # type: ignore[union-attr]  # as on a machine that is suspended
    for number in range(3):
        await place.change(b"%d" % number)
    note = place.witness.objects[NOTE]  # type: ignore[union-attr]
    with pytest.raises(Overtaken):
        await slow._witness.note(slow._sealer, slow._head.__class__(3, "lists/3", "00"))  # type: ignore[union-attr]
    assert place.witness.objects[NOTE] == note  # type: ignore[union-attr]


async def test_a_directory_is_a_witness(tmp_path: Path) -> None:
    """One that is not there is none; the note is for its owner alone, and no reader learns the change."""
    with pytest.raises(InputOutputFailed, match="the witness of the state cannot be read"):
        await FileObjects(tmp_path / "none").read(NOTE)
    (tmp_path / "disk").mkdir()
    place = Place(tmp_path, FileObjects(tmp_path / "disk"))
    await place.mirror().begin()
    early = dict(place.objects.objects)
    for number in range(3):
        await place.change(b"%d" % number)
    assert await place.look() == b"2"
    note = tmp_path / "disk" / NOTE
    head = await place.mirror().open(hold=False)
    assert (note.stat().st_mode & 0o077, head.digest.encode() in note.read_bytes()) == (0, False)
    with pytest.raises(Overtaken):
        await FileObjects(tmp_path / "disk").swap(NOTE, b"x", None)
    place.objects.objects = early
    with pytest.raises(StateRefused):
        await place.look()
