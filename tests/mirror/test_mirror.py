"""A state in a bucket: what was stored comes back, or is refused; one holder at a time, over kills and lost answers."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import random
import shutil
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from audiencekit.errors import AudienceBusy, AudiencekitError, InputOutputFailed, StateRefused
from audiencekit.mirror import mirror as mirror_module
from audiencekit.mirror.file_versions import TICK_SECONDS
from audiencekit.mirror.mirror import PATIENCE_SECONDS, StateMirror
from audiencekit.mirror.objects import Stored
from audiencekit.mirror.records import HEAD, MARKS, PIECES
from audiencekit.process.boot import boot_seconds
from audiencekit.state.files import replace_file
from audiencekit.state.keys import StateKey
from tests.mirror.stores import FakeClock, MemoryObjects
from tests.virtualtime import VirtualClock, run_virtually

KEY = StateKey(bytes(range(32)))
WORD = b"canary7q3zx"


def _mirror(objects: MemoryObjects, root: Path, *, key: StateKey = KEY) -> StateMirror:
    clock = FakeClock()
    return StateMirror(objects, key, root, monotonic=clock.monotonic, sleep=clock.sleep)


async def _begun(tmp_path: Path) -> MemoryObjects:
    objects = MemoryObjects()
    await _mirror(objects, tmp_path).begin()
    return objects


def _files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _write(mirror: StateMirror, path: str, content: bytes) -> None:
    target = mirror.root / path
    for parent in reversed(target.relative_to(mirror.root).parents):
        (mirror.root / parent).mkdir(mode=0o700, exist_ok=True)
    replace_file(target, content)
    mirror.note(target.parent)


async def _changed(objects: MemoryObjects, root: Path, change: Callable[[StateMirror], None]) -> None:
    mirror = _mirror(objects, root)
    await mirror.open(hold=True)
    change(mirror)
    await mirror.stored()
    await mirror.close()
    shutil.rmtree(root)


async def test_a_new_machine_has_what_the_last_one_stored(tmp_path: Path) -> None:
    """Content, times and rights; a file larger than a piece; nothing of what is of one machine."""
    objects = await _begun(tmp_path)
    big = random.Random(7).randbytes(3_000_000)
    kept = {"runs/20260101-a/report.json": b"{}", "forgotten": WORD, "snapshots/a-b/recent": big}
    own = {"key": b"k", "credentials.json": b"c", "locks/a.lock": b"", "runs/20260101-a/.report.json-01": b""}

    def change(mirror: StateMirror) -> None:
        for path, content in {**kept, **own}.items():
            _write(mirror, path, content)

    await _changed(objects, tmp_path / "first", change)
    assert not any(WORD in data or WORD in name.encode() for name, (data, _) in objects.objects.items())
    second = _mirror(objects, tmp_path / "second")
    await second.open(hold=True)
    assert _files(second.root) == kept
    assert second.root.stat().st_mode & 0o777 == 0o700
    assert (second.root / "forgotten").stat().st_mode & 0o777 == 0o600
    (second.root / "forgotten").unlink()
    await second.close()
    third = _mirror(objects, tmp_path / "third")
    await third.open(hold=False)
    assert set(_files(third.root)) == kept.keys() - {"forgotten"}


async def test_only_pieces_that_changed_are_written(tmp_path: Path) -> None:
    """A journal that grows is not written whole; what no list needs is removed."""
    objects = await _begun(tmp_path)
    content = bytearray(random.Random(1).randbytes(4_000_000))
    await _changed(objects, tmp_path / "a", lambda mirror: _write(mirror, "runs/x/journal.bin", bytes(content)))
    before = {name for name in objects.objects if name.startswith(PIECES)}
    content[-1] ^= 1
    await _changed(objects, tmp_path / "b", lambda mirror: _write(mirror, "runs/x/journal.bin", bytes(content)))
    after = {name for name in objects.objects if name.startswith(PIECES)}
    assert (len(before), len(before & after), len(after)) == (4, 3, 4)
    assert len([name for name in objects.objects if name.startswith(MARKS)]) == 1


def test_the_clock_of_a_holder_counts_the_sleep_of_its_machine() -> None:
    """Else a machine that was suspended would take its hold for fresh, and send."""
    assert inspect.signature(StateMirror).parameters["monotonic"].default is boot_seconds


async def test_a_second_holder_waits_for_a_dead_one_and_is_refused_by_a_living_one(tmp_path: Path) -> None:
    """A dead one is known by a head that does not change, on the clock of the one who waits."""
    objects = await _begun(tmp_path)
    first = _mirror(objects, tmp_path / "first")
    await first.open(hold=True)
    first._beating.cancel()  # type: ignore[union-attr]  # as a kill does
    heard: list[str] = []
    second = _mirror(objects, tmp_path / "second")
    await second.open(hold=True, notify=heard.append)
    assert second._monotonic() >= PATIENCE_SECONDS
    assert len(heard) == 1
    with pytest.raises(AudienceBusy, match="at work on this state"):
        await _mirror(objects, tmp_path / "third").open(hold=True)
    _write(first, "begun", b"late")
    for _ in range(2):
        with pytest.raises(AudienceBusy, match="has taken the state over"):
            await first.stored()
    await second.close()
    fourth = _mirror(objects, tmp_path / "fourth")
    await fourth.open(hold=True)
    assert _files(fourth.root) == {}
    await fourth.close()


async def test_a_holder_that_is_overtaken_while_it_reads_is_told_so(tmp_path: Path) -> None:
    """The next one removes what it reads: that is no sign of an adversary."""
    objects = await _begun(tmp_path)
    await _changed(objects, tmp_path / "a", lambda mirror: _write(mirror, "forgotten", b"x"))
    slow, reached, waiting = objects.clone(0, 1), asyncio.Event(), asyncio.Event()
    read = slow.read

    async def read_slowly(name: str) -> Stored | None:
        if name.startswith(PIECES):
            reached.set()
            await waiting.wait()
        return await read(name)

    slow.read = read_slowly  # type: ignore[method-assign]
    first = _mirror(slow, tmp_path / "first")
    opening = asyncio.create_task(first.open(hold=True))
    await reached.wait()
    first._beating.cancel()  # type: ignore[union-attr]  # as on a machine that is suspended
    await _changed(objects, tmp_path / "b", lambda mirror: _write(mirror, "forgotten", b"y"))
    waiting.set()
    with pytest.raises(AudienceBusy, match="has taken the state over"):
        await opening


async def test_a_holder_that_was_stopped_asks_before_it_sends(tmp_path: Path) -> None:
    """Also when it has nothing to store: another may hold the state by now."""
    objects = await _begun(tmp_path)
    first, second = (_mirror(objects, tmp_path / name) for name in "ab")
    await first.open(hold=True)
    await first.stored()
    first._beating.cancel()  # type: ignore[union-attr]
    await second.open(hold=True)
    first._monotonic = lambda: 1e6  # type: ignore[method-assign]  # it wakes up
    with pytest.raises(AudienceBusy):
        await first.stored()
    await second.close()


async def test_a_holder_gives_signs_of_life_while_it_stores_a_large_change(tmp_path: Path) -> None:
    """Writing it may take longer than others wait."""
    objects = await _begun(tmp_path)
    holder = _mirror(objects, tmp_path / "a")
    await holder.open(hold=True)
    write, waiting = objects.write, asyncio.Event()

    async def slow(name: str, data: bytes) -> None:
        await waiting.wait()
        await write(name, data)

    objects.write = slow  # type: ignore[method-assign]
    _write(holder, "forgotten", b"x")
    storing = asyncio.create_task(holder.stored())
    await _pass(1000)
    version = holder._version
    await _pass(1000)
    assert holder._version != version
    waiting.set()
    await storing
    await holder.close()


async def _pass(ticks: int) -> None:
    for _ in range(ticks):
        await asyncio.sleep(0)


async def _slow_marks(write: Callable[[str, bytes], Awaitable[None]], name: str, data: bytes) -> None:
    await _pass(100 if name.startswith(MARKS) else 0)
    await write(name, data)


async def test_a_change_outlives_the_caller_that_began_to_store_it(tmp_path: Path) -> None:
    """A cancelled request does not take the change with it: the next one waits until it is stored."""
    for ticks in range(30):
        objects = await _begun(tmp_path)
        holder = _mirror(objects, tmp_path / f"a{ticks}")
        await holder.open(hold=True)
        _write(holder, "forgotten", b"x")
        storing = asyncio.create_task(holder.stored())
        await _pass(ticks)
        storing.cancel()
        await asyncio.gather(storing, return_exceptions=True)
        await holder.stored()
        _kill(holder)
        looking = _mirror(objects, tmp_path / f"b{ticks}")
        await looking.open(hold=False)
        assert _files(looking.root) == {"forgotten": b"x"}


async def test_a_kill_between_two_changes_leaves_a_sound_state(tmp_path: Path) -> None:
    """Marks that were not written yet are no missing ones."""
    for ticks in range(20):
        objects = await _begun(tmp_path)
        holder = _mirror(objects, tmp_path / f"a{ticks}")
        await holder.open(hold=True)
        objects.write = partial(_slow_marks, objects.write)  # type: ignore[method-assign]
        for number in range(3):
            _write(holder, "forgotten", b"%d" % number)
            await holder.stored()
        await _pass(ticks)
        _kill(holder)
        looking = _mirror(objects, tmp_path / f"b{ticks}")
        await looking.open(hold=False)
        assert _files(looking.root) == {"forgotten": b"2"}


async def test_a_sign_of_life_whose_answer_was_lost_is_no_other_holder(tmp_path: Path) -> None:
    """The head is asked whose it is."""
    objects = await _begun(tmp_path)
    holder = _mirror(objects, tmp_path / "a")
    await holder.open(hold=True)
    before = holder._version
    await holder._renew(0)
    holder._version = before  # as if no attempt had had an answer
    _write(holder, "forgotten", b"x")
    await holder.stored()
    await holder.close()
    looking = _mirror(objects, tmp_path / "b")
    await looking.open(hold=False)
    assert _files(looking.root) == {"forgotten": b"x"}


async def test_a_file_that_is_removed_while_it_is_stored_is_no_error(tmp_path: Path) -> None:
    objects = await _begun(tmp_path)
    holder = _mirror(objects, tmp_path / "a")
    await holder.open(hold=True)
    _write(holder, "forgotten", b"x")
    found = mirror_module.mirrored_files
    with pytest.MonkeyPatch.context() as patch:
        gone = [("gone", tmp_path / "gone")]
        patch.setattr(mirror_module, "mirrored_files", lambda *given: [*found(*given), *gone])
        await holder.stored()
    await holder.close()
    looking = _mirror(objects, tmp_path / "b")
    await looking.open(hold=False)
    assert _files(looking.root) == {"forgotten": b"x"}


async def test_a_file_is_read_again_only_when_it_may_have_changed(tmp_path: Path) -> None:
    """Not one that was fetched, or stored, however often its directory changes; one that was edited in place."""
    objects = await _begun(tmp_path)
    await _changed(objects, tmp_path / "first", lambda mirror: _write(mirror, "snapshots/a/old", b"old"))
    holder = StateMirror(objects, KEY, tmp_path / "a")
    await holder.open(hold=True)
    found, read = mirror_module._pieces_of, list[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mirror_module, "_pieces_of", lambda path: read.append(path.name) or found(path))
        for name in ("new", "newer", "newest"):
            _write(holder, f"snapshots/a/{name}", name.encode())
            await asyncio.sleep(2 * TICK_SECONDS)
            await holder.stored()
        (holder.root / "snapshots/a/old").write_bytes(b"edited")
        await holder.close()
    assert read == ["new", "newer", "newest", "old"]
    looking = _mirror(objects, tmp_path / "b")
    await looking.open(hold=False)
    assert _files(looking.root)["snapshots/a/old"] == b"edited"


def test_no_more_than_five_round_trips_come_before_a_first_request(tmp_path: Path) -> None:
    """The head; the hold, beside the list of files; their pieces; the pieces of a change beside its list; the head."""

    async def round_trips() -> float:
        objects = await _begun(tmp_path)
        await _changed(objects, tmp_path / "a", lambda mirror: [_write(mirror, f"runs/{n}/f", b"x") for n in range(9)])
        objects.round_trip_seconds, clock = 1.0, VirtualClock()
        holder = StateMirror(objects, KEY, tmp_path / "b", monotonic=clock.monotonic, sleep=clock.sleep)
        begun = clock.monotonic()
        await holder.open(hold=True)
        _write(holder, "runs/new/f", b"x")
        await holder.stored()
        taken = clock.monotonic() - begun
        await holder.close()
        return taken

    assert round(run_virtually(round_trips()), 3) == 5 + TICK_SECONDS


async def test_no_state_is_no_empty_state(tmp_path: Path) -> None:
    """Nor is a second one begun over the first."""
    objects = MemoryObjects()
    with pytest.raises(InputOutputFailed, match="no state at this place"):
        await _mirror(objects, tmp_path / "a").open(hold=True)
    await _mirror(objects, tmp_path).begin()
    with pytest.raises(InputOutputFailed, match="there is a state"):
        await _mirror(objects, tmp_path).begin()


async def test_a_store_that_ignores_conditions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputOutputFailed, match="ignores the conditions"):
        await _mirror(MemoryObjects(heeds_conditions=False), tmp_path).begin()


async def test_every_change_by_an_adversary_is_noticed(tmp_path: Path) -> None:
    """500 times some edits, cuts, exchanges, removals, returns of earlier objects, and copies from another state.

    The next command is refused, or the change was of an object that no head needs, and all files are as they were.
    """
    states = []
    for name in ("own", "other"):
        objects = await _begun(tmp_path)
        history = []
        for number in range(4):
            await _changed(
                objects, tmp_path / name,
                lambda mirror, number=number: [_write(mirror, f"runs/{n}/f", b"%d %d" % (n, number)) for n in range(3)],
            )  # fmt: skip
            history.append(dict(objects.objects))
        states.append(history)
    own, other = states
    last = {f"runs/{n}/f": b"%d 3" % n for n in range(3)}
    chance, missed, refused = random.Random(48), [], 0
    for trial in range(500):
        now = dict(own[-1])
        while now == own[-1]:
            kinds = [_change_one(now, own, other[-1], chance) for _ in range(chance.choice([1, 1, 2, 4]))]
        opened = _mirror(MemoryObjects(dict(now)), tmp_path / f"next{trial}")
        try:
            await opened.open(hold=chance.random() < 0.5)
            if _files(opened.root) != last or HEAD in _different(now, own[-1]):
                missed.append(kinds)
            await opened.close()
        except (StateRefused, InputOutputFailed):
            refused += 1
    assert missed == []
    assert refused > 250


Bytes = dict[str, tuple[bytes, int]]


def _change_one(now: Bytes, own: list[Bytes], other: Bytes, chance: random.Random) -> tuple[str, str]:
    """Change an object as an adversary can, and return how."""
    name = chance.choice([HEAD, *now])
    data, number = now.get(name, (b"", 0))
    kind = chance.choice(["edit", "cut", "remove", "exchange", "earlier", "other", "other name"])
    if kind == "edit" and data:
        place = chance.randrange(len(data))
        now[name] = (data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :], number)
    elif kind == "cut" and data:
        now[name] = (data[: chance.randrange(len(data))], number)
    elif kind == "remove":
        now.pop(name, None)
    elif kind == "exchange":
        second = chance.choice(list(now))
        now[name], now[second] = now[second], now.get(name, now[second])
    elif kind == "earlier":
        past = chance.choice(own[:-1])
        name = chance.choice([HEAD, *past])
        now[name] = past[name]
    else:
        found = chance.choice(list(other))
        now[name if kind == "other" else found] = other[found]
    return kind, name


def _different(one: Bytes, two: Bytes) -> set[str]:
    return {name for name in one.keys() | two.keys() if one.get(name) != two.get(name)}


async def test_a_roll_back_of_everything_is_noticed_by_the_note_of_a_head(tmp_path: Path) -> None:
    objects = await _begun(tmp_path)
    early = dict(objects.objects)
    await _changed(objects, tmp_path / "a", lambda mirror: _write(mirror, "forgotten", b"x"))
    looking = _mirror(objects, tmp_path / "b")
    note = (await looking.open(hold=False)).note
    with pytest.raises(StateRefused, match="before the one that is known"):
        await _mirror(MemoryObjects(early), tmp_path / "c").open(hold=False, least=note)
    await _mirror(objects, tmp_path / "d").open(hold=False, least=note)


async def test_another_key_opens_nothing(tmp_path: Path) -> None:
    objects = await _begun(tmp_path)
    with pytest.raises(StateRefused):
        await _mirror(objects, tmp_path / "a", key=StateKey(bytes(32))).open(hold=True)


def _kill(mirror: StateMirror) -> None:
    for task in (mirror._beating, mirror._cleaning, *mirror._begun):
        if task is not None:
            task.cancel()


@pytest.mark.parametrize("seed", range(60))
async def test_a_stored_change_survives_kills_and_lost_answers(tmp_path: Path, seed: int) -> None:
    """Each new machine has all that `stored` returned for, and of the change after it all or nothing."""
    chance = random.Random(seed)
    base = await _begun(tmp_path)
    sure: dict[str, bytes] = {}
    maybe: dict[str, bytes] = {}
    for step in range(8):
        mirror = _mirror(base.clone(0.08, (seed, step)), tmp_path / f"m{step}")
        try:
            await mirror.open(hold=True)
        except InputOutputFailed:
            continue
        found = _files(mirror.root)
        assert found in (sure, maybe)
        sure = dict(found)
        maybe = dict(found)
        killed = False
        for number in range(chance.randrange(4)):
            maybe = {**sure, f"runs/r{chance.randrange(3)}/f": b"%d %d" % (step, number)}
            for path in maybe:
                _write(mirror, path, maybe[path])
            storing = asyncio.ensure_future(mirror.stored())
            if chance.random() < 0.4:
                for _ in range(chance.randrange(40)):
                    await asyncio.sleep(0)
                killed = True
                if not storing.done():
                    _kill(mirror)
            try:
                await storing
                sure = maybe
            except (asyncio.CancelledError, AudiencekitError):
                killed = True
            if killed:
                break
        if killed:
            _kill(mirror)
        if not killed:
            with contextlib.suppress(AudiencekitError):
                await mirror.close()


@pytest.mark.parametrize("seed", range(20))
async def test_racing_holders_change_the_state_one_after_the_other(tmp_path: Path, seed: int) -> None:
    """Of two to eight that begin at once each one that stored built on what the one before it had stored."""
    base = await _begun(tmp_path)
    chance = random.Random(seed)

    async def work(number: int) -> bool:
        mirror = _mirror(base.clone(0.03, (seed, number)), tmp_path / f"w{number}")
        try:
            await mirror.open(hold=True)
            before = (mirror.root / "count").read_bytes() if (mirror.root / "count").exists() else b""
            _write(mirror, "count", before + b"%d," % number)
            await mirror.stored()
            await mirror.close()
        except AudiencekitError:
            return False
        return True

    done = await asyncio.gather(*(work(number) for number in range(chance.randrange(2, 9))))
    last = _mirror(base, tmp_path / "last")
    await last.open(hold=False)
    counted = (last.root / "count").read_bytes().split(b",")[:-1] if (last.root / "count").exists() else []
    assert len(counted) == len(set(counted))
    assert {int(each) for each in counted} >= {number for number, is_done in enumerate(done) if is_done}
