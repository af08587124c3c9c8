"""One seed, one history in this process: workers that race on one state in a bucket, each command on a new machine.

Commands are killed anywhere; the store and the service lose, delay and double calls. Time is virtual. All is real but
the socket, the bucket and the service. `python -m tests.mirror.campaign --count 900` makes many.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import audiencekit
from audiencekit.api import opening
from audiencekit.api.exchange import ApiRequest, ApiResponse
from audiencekit.api.transport import HttpTransport
from audiencekit.delivery.limiter import PacedLimiter
from audiencekit.delivery.retry import SystemClock
from audiencekit.errors import AudiencekitError, ResumeRefused
from audiencekit.mirror import mirror
from audiencekit.mirror.mirror import StateMirror
from audiencekit.mirror.records import HEAD
from audiencekit.process.crash_points import set_hook
from audiencekit.reporting.progress import NoProgress
from audiencekit.runs.journal import facts
from audiencekit.settings import Settings, load_settings
from audiencekit.state.durability import mirrored
from audiencekit.state.keys import StateKey
from tests.audiences.erasure.account import ACCOUNT, Account, Answer, Key, Keys
from tests.mirror.servers import KEY
from tests.mirror.stores import MemoryObjects
from tests.simulator.histories import BROKEN, MISCOUNTED, PASSED_ON, UNAVAILABLE, InlineLoop, keys_of, small_requests
from tests.virtualtime import EPOCH, VirtualClock, leaving_nothing_behind

UPLOADED, SYNCED = "1a2b", "3c4d"
STATE_KEY = StateKey(bytes.fromhex(KEY))
PEOPLE = 12
MOST_TRIES, MOST_KILLED = 40, 3
PATIENT = frozenset({69, 74, 75})  # exit codes after which a scheduler runs the same command again
ENVIRONMENT = {
    "AUDIENCEKIT_KEY": KEY, "AUDIENCEKIT_ADS_URL": "http://127.0.0.1:9", "AUDIENCEKIT_CONSUMER_KEY": "invented",
    "AUDIENCEKIT_CONSUMER_SECRET": "invented", "AUDIENCEKIT_ACCESS_TOKEN": "invented",
    "AUDIENCEKIT_ACCESS_TOKEN_SECRET": "invented", "AUDIENCEKIT_RETENTION": "never",
}  # fmt: skip
Row = tuple[str, str]  # email, handle
AUDIENCE_PATH = re.compile(r".*/custom_audiences/(\w+)")


class Killed(BaseException):
    """Ends a command in the middle. Nothing that it still does has an effect."""


_MACHINE: ContextVar[Machine | None] = ContextVar("_MACHINE", default=None)


class Connection(MemoryObjects):
    """That of one machine, which is killed at a call of it, or before."""

    machine: Machine

    @classmethod
    def of(cls, machine: Machine, objects: MemoryObjects) -> Connection:
        made = cls(objects.objects, random.Random(machine.world.chance.random()), under_way=objects.under_way)
        made.machine, made.round_trip_seconds = machine, 0.02
        for name, value in machine.world.faults.items():
            setattr(made, name, value)
        return made

    async def _arrive(self) -> None:
        self.machine.step("store")
        await super()._arrive()
        self.machine.step("arrived")

    async def _answer(self) -> None:
        await super()._answer()
        self.machine.step("answered")

    def _put(self, name: str, data: bytes) -> int:
        if name == HEAD:
            self.machine.world.writer = self.machine
        return super()._put(name, data)


@dataclass
class Machine:
    """A new machine for one command; it dies at the `nth` step of `kind`, or after so many seconds."""

    world: World
    root: Path
    kind: str = ""
    nth: int = 0
    epoch: int = 0  # the number of its hold; 0 before it
    is_dead: bool = False
    dying: asyncio.Event = field(default_factory=asyncio.Event)

    def step(self, kind: str) -> None:
        """Note a step. Raises Killed when it is the last, and for all that come after it."""
        if not self.is_dead and kind == self.kind:
            self.nth -= 1
            if self.nth <= 0:
                self.kill()
        if self.is_dead:
            raise Killed

    def kill(self) -> None:
        self.is_dead = True
        self.dying.set()


class Mirrored:
    """The mirror of one machine; the others in this process have theirs."""

    def __init__(self, mirror: StateMirror, machine: Machine) -> None:
        self.root, self.address, self._mirror, self._machine = mirror.root, str(mirror.root), mirror, machine

    def note(self, directory: Path, content: tuple[str, bytes] | None = None) -> None:
        self._mirror.note(directory, content)

    def when_stored(self, action: Callable[[], None]) -> None:
        self._mirror.when_stored(action)

    async def stored(self) -> None:
        if _MACHINE.get() is self._machine:
            await self._mirror.stored()


class Service(Account):
    """The account, with descriptions, which compares each request with the holder of the state and the erased people.

    `stale` counts requests that left a machine after another one had taken the state over, `reversed` those that came
    late, and undid one of a later holder.
    """

    def __init__(self, world: World, *given: Any) -> None:
        super().__init__(*given)
        self._world = world
        self.descriptions: dict[str, str] = {}
        self.last: dict[tuple[str, Key], tuple[int, str]] = {}
        self.stale = self.reversed = self.erased_sent = 0

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        machine = _machine()
        machine.step("service")
        if request.method != "GET":
            self.stale += self._world.writer is not machine
        if request.path.endswith("/users"):
            self.erased_sent += self._world.has_erased(request)
        answer = await super().exchange(request)
        machine.step("served")
        return answer

    def apply(self, audience_id: str, operations: list[dict[str, Any]]) -> Answer:
        before = set(self.audiences[audience_id].members)
        answer = super().apply(audience_id, operations)
        changed = {key for entry in before ^ self.audiences[audience_id].members for key in entry}
        epoch = _machine().epoch
        for operation in operations:
            verb = operation["operation_type"]
            for key in {key for user in operation["params"]["users"] for key in _keys(user)}:
                last = self.last.get((audience_id, key), (0, verb))
                if last[0] > epoch:
                    self.reversed += last[1] != verb and key in changed
                else:
                    self.last[audience_id, key] = epoch, verb
        return answer

    def _list(self, request: ApiRequest) -> Answer:
        found = AUDIENCE_PATH.fullmatch(request.path)
        if found is None or found[1] not in self.audiences:
            return super()._list(request)
        if request.method == "PUT":
            self.descriptions[found[1]] = dict((*request.form, *request.query))["description"]
        document = self.audiences[found[1]].document() | {"description": self.descriptions.get(found[1])}
        return 200, {}, {"data": document}


def _keys(user: dict[str, list[str]]) -> Keys:
    return frozenset((kind, value) for kind, values in user.items() for value in values)


def _machine() -> Machine:
    machine = _MACHINE.get()
    assert machine is not None, "nothing leaves outside of a command"
    return machine


class Wire(HttpTransport):
    """The transport up to the socket."""

    async def __aenter__(self) -> Wire:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is open."""

    async def _attempt(self, request: ApiRequest, *_: object) -> ApiResponse:
        return await _machine().world.service.exchange(request)


@dataclass
class Step:
    """A command that is tried until it is complete."""

    name: str
    number: int
    rows: list[Row]
    source: Path
    is_begun: bool = False


class World:
    """All that outlives a command: the bucket, the service, and the members that complete commands say."""

    def __init__(self, seed: int, directory: Path) -> None:
        self.chance = chance = random.Random(f"campaign {seed}")
        self.directory, self.clock = directory, VirtualClock(time.time() - EPOCH)  # run ids are of the real time
        share = chance.choice([0.0, 0.1, 0.3])
        kinds = [BROKEN, BROKEN, PASSED_ON, UNAVAILABLE, MISCOUNTED]
        faults = {place: chance.choice(kinds) for place in range(1, 5_000) if chance.random() < share}
        self.service = Service(self, chance, self.clock, faults)
        for audience_id in (UPLOADED, SYNCED):
            self.service.add(audience_id)
        names = ("losses", "late", "doubled")
        self.faults = {name: chance.choice([0.0, 0.01, 0.04]) for name in names}
        self.faults["tick_seconds"] = chance.choice([0.1, 2.0])
        self.objects, self.witness = MemoryObjects(), MemoryObjects() if chance.random() < 0.5 else None
        self.has_home = chance.random() < 0.3  # one that lasts, for all machines: it has notes of the erased people
        self.writer: Machine | None = None
        self.epochs = self.machines = self.steps = 0
        self.tasks: list[asyncio.Task[Any]] = []
        self.uploaded: set[Keys] = set()
        self.synced: set[Keys] | None = None
        self.erased: set[Key] = set()
        self.half_erased: set[Key] = set()  # a command that was cut short may keep them out already
        self.half_synced: set[int] = set()  # steps that may have changed the audience under sync, and are not complete
        self.wrong: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()

    # --- the life of all ---

    async def live(self) -> None:
        await StateMirror(self.objects, STATE_KEY, self.directory, witness=self.witness).begin()
        await asyncio.gather(*(self._work() for _ in range(self.chance.randint(2, 8))))
        await self.clock.sleep(7_200)  # all that is late has come then
        while left := [task for task in self.tasks if not task.done()]:
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=1)
        for objects in filter(None, (self.objects, self.witness)):
            await objects.settled()
        self._compare("at the end", is_last=True)

    async def _work(self) -> None:
        for _ in range(self.chance.randint(1, 2)):
            await self.clock.sleep(self.chance.choice([0.0, 0.0, 1.0, 100.0]))
            step = self._draw()
            for number in range(MOST_TRIES):
                if await self._try(step, may_be_killed=number < MOST_KILLED):
                    break
                await self.clock.sleep(self.chance.uniform(1, 1_000))
            else:
                self.wrong[f"{step.name} does not end"] += 1

    def _draw(self) -> Step:
        self.steps += 1
        name = self.chance.choice(["upload", "upload", "resume", "sync", "sync", "renew", "forget"])
        source = self.directory / f"list{self.steps}.csv"
        people = self.chance.sample(range(PEOPLE), self.chance.randint(1, PEOPLE if name != "forget" else 2))
        rows = [(f"person{one}@example.com", self.chance.choice(["", f"handle_{one}"])) for one in people]
        if name in ("upload", "resume"):
            rows = [(mail, "") for mail, _ in rows]
        rows.append((f"stranger{self.steps}@example.com", ""))  # so that no list is empty without the erased people
        source.write_text("email,handle\n" + "".join(f"{mail},{handle}\n" for mail, handle in rows))
        return Step(name, self.steps, rows, source)

    async def _try(self, step: Step, *, may_be_killed: bool) -> bool:
        """Whether the command was complete, on a machine that was never used before."""
        self.machines += 1
        machine = Machine(self, self.directory / f"machine{self.machines}")
        after = None
        if may_be_killed and self.chance.random() < 0.7:
            machine.kind = self.chance.choice(["store", "arrived", "answered", "service", "served", "point", "time"])
            machine.nth = self.chance.randint(1, self.chance.choice([10, 60]))
            if machine.kind == "time":
                after = self.chance.uniform(0, self.chance.choice([1, 30, 1_000]))
        _MACHINE.set(machine)
        task = asyncio.create_task(self._command(step, machine))
        dying = asyncio.create_task(machine.dying.wait())
        if after is not None:
            asyncio.get_running_loop().call_later(after, machine.kill)
        await asyncio.wait({task, dying}, return_when=asyncio.FIRST_COMPLETED)
        if machine.is_dead:
            self.ends["killed"] += 1
            return self._bury(task)
        dying.cancel()
        shutil.rmtree(machine.root, ignore_errors=True)
        if (error := task.exception()) is None:
            return True
        if not isinstance(error, AudiencekitError):
            raise error
        self.ends[type(error).__name__] += 1
        if error.exit_code not in PATIENT:
            self.wrong[f"{step.name}: {type(error).__name__}: {error}"] += 1
            return True
        return False

    def _bury(self, task: asyncio.Task[None]) -> bool:
        for each in self.tasks:
            if each.machine.is_dead:  # type: ignore[attr-defined]
                each.cancel()
        task.cancel()
        return False

    # --- one command ---

    async def _command(self, step: Step, machine: Machine) -> None:
        held = StateMirror(
            Connection.of(machine, self.objects), STATE_KEY, machine.root,
            witness=Connection.of(machine, self.witness) if self.witness else None,
            monotonic=self.clock.monotonic, sleep=self.clock.sleep,
        )  # fmt: skip
        await held.open(hold=True)
        self.epochs += 1
        machine.epoch = self.epochs
        settings = load_settings(
            ENVIRONMENT, directory=self.directory, state_dir=machine.root, user_file=False, account_id=ACCOUNT
        )
        settings = dataclasses.replace(settings, concurrency=random.Random(step.number).randint(1, 4))
        try:
            with mirrored(Mirrored(held, machine)):
                await self._carry_out(step, settings)
                machine.step("complete")
                self._heed(step)
        finally:
            machine.step("closing")
            await held.close()

    async def _carry_out(self, step: Step, settings: Settings) -> None:
        given: dict[str, Any] = {
            "settings": settings, "progress": NoProgress(), "limiter": PacedLimiter(clock=self.clock)
        }  # fmt: skip
        if step.name == "sync":
            self.half_synced.add(step.number)
            await audiencekit.sync_async(step.source, audience=SYNCED, replace=True, **given)
        elif step.name == "renew":
            if self.synced is None or self.half_synced:
                return
            await audiencekit.renew_async(audience=SYNCED, before="400d", ttl_days=300, **given)
        elif step.name == "forget":
            self.half_erased |= {key for row in step.rows for key in keys_of(*row)} - self.erased
            await audiencekit.forget_async(source=step.source, **given)
        else:
            run_id = f"step-{step.number:04}"
            if step.name == "resume" and step.is_begun:
                with contextlib.suppress(ResumeRefused, audiencekit.UsageError):
                    await audiencekit.resume_async(run_id, **given)
                    return
            step.is_begun = True
            await audiencekit.upload_async(step.source, audience=UPLOADED, run_id=run_id, **given)

    # --- the model ---

    def _heed(self, step: Step) -> None:
        """The command is complete, and its machine holds the state still."""
        people = {keys for row in step.rows if not (keys := keys_of(*row)) & self.erased}
        if step.name == "sync":
            self.synced = people
            self.half_synced.discard(step.number)
        elif step.name == "forget":
            gone = {key for row in step.rows for key in keys_of(*row)}
            self.erased |= gone
            self.half_erased -= gone
            self.uploaded = {entry for entry in self.uploaded if not entry & gone}
            self.synced = None if self.synced is None else {entry for entry in self.synced if not entry & gone}
        elif step.name != "renew":
            self.uploaded |= people
        self._compare(f"after {step.name}", is_last=False)

    def _compare(self, moment: str, *, is_last: bool) -> None:
        def known(entries: set[Keys]) -> set[Keys]:
            return {entry for entry in entries if not entry & self.half_erased}

        found = {name: known(self.service.audiences[name].members) for name in (UPLOADED, SYNCED)}
        uploaded, synced = known(self.uploaded), known(self.synced or set())
        wrong = {
            "lost of the uploaded": len(uploaded - found[UPLOADED]),
            "erased people": sum(bool(entry & self.erased) for entries in found.values() for entry in entries),
        }
        if is_last:
            wrong["too many of the uploaded"] = len(found[UPLOADED] - uploaded)
        if not self.half_synced:
            mails = Counter(key for entry in found[SYNCED] for key in entry if key[0] == "email")
            wrong["lost of the synced"] = len(synced - found[SYNCED])
            wrong["too many of the synced"] = len(found[SYNCED] - synced)
            wrong["twice in the synced"] = sum(count > 1 for count in mails.values())
        self.wrong.update({f"{what}, {moment}": count for what, count in wrong.items()})

    def has_erased(self, request: ApiRequest) -> bool:
        """Whether a request puts in people who were erased."""
        assert request.body is not None
        operations = json.loads(b"".join(bytes(piece) for piece in request.body.slices(1 << 20)))
        return any(
            operation["operation_type"] == "Update"
            and any(_keys(user) & self.erased for user in operation["params"]["users"])
            for operation in operations
        )

    def note_failure(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Count failures that no task awaits, but those of machines that were killed."""
        if not isinstance(error := context.get("exception"), Killed | BaseExceptionGroup):
            self.wrong[f"unseen: {error!r}"] += 1

    def differences(self) -> dict[str, int]:
        service = self.service
        self.wrong["stale requests sent"] += service.stale
        self.wrong["stale requests that undid later ones"] += service.reversed
        self.wrong["requests with erased people"] += service.erased_sent
        return {what: count for what, count in self.wrong.items() if count}


@contextlib.contextmanager
def _in_this_process(world: World) -> Iterator[None]:
    def pass_point(_: str) -> None:
        if (machine := _MACHINE.get()) is not None:
            machine.step("point")

    def boot() -> str:
        return _machine().root.name

    home = {"XDG_DATA_HOME": str(world.directory / "home") if world.has_home else ""}
    now, files = world.clock.monotonic, SimpleNamespace(time_ns=lambda: int(world.clock.now() * 1e9))
    with (
        mock.patch.dict(os.environ, home),
        mock.patch.object(opening, "HttpTransport", Wire),
        mock.patch.object(SystemClock, "monotonic", staticmethod(now)),
        mock.patch.object(SystemClock, "now", staticmethod(world.clock.now)),
        mock.patch.object(mirror, "time", files),
        mock.patch.object(facts, "boot_id", boot),
        mock.patch.object(facts, "boot_seconds", now),
        small_requests(world.chance, waits=True),
    ):
        set_hook(pass_point)
        try:
            yield
        finally:
            set_hook(None)


def relive(seed: int) -> World:
    """The world of `seed`, at its end."""
    with tempfile.TemporaryDirectory() as directory:
        world = World(seed, Path(directory))
        with _in_this_process(world), asyncio.Runner(loop_factory=InlineLoop) as runner:
            loop = runner.get_loop()

            def make(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **more: Any) -> asyncio.Task[Any]:
                task = _Task(work, loop=loop, **more)
                if task.machine is not None:
                    world.tasks.append(task)
                return task

            loop.set_task_factory(make)  # type: ignore[arg-type]
            loop.set_exception_handler(world.note_failure)
            runner.run(leaving_nothing_behind(world.live()))
        return world


class _Task(asyncio.Task):  # type: ignore[type-arg]
    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.machine = _MACHINE.get()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mirror.campaign", description=__doc__)
    parser.add_argument("--seed", type=int, help="the one history to replay")
    parser.add_argument("--first", type=int, default=0, help="first seed of many")
    parser.add_argument("--count", type=int, default=100, help="how many seeds")
    options = parser.parse_args()
    seeds = [options.seed] if options.seed is not None else range(options.first, options.first + options.count)
    failed, ends, machines = 0, Counter[str](), 0
    for seed in seeds:
        world = relive(seed)
        ends.update(world.ends)
        machines += world.machines
        if differences := world.differences():
            failed += 1
            print(f"--seed {seed}   # {differences}", flush=True)  # noqa: T201
    print(f"{len(seeds)} histories, {machines} commands, {dict(ends)}: {failed} not exact")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
