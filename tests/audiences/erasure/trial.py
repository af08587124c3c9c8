"""One seed, one erasure: people in random audiences under random keys; kills, faults and late answers, to the end.

`python -m tests.audiences.erasure.trial --count 100` makes many, `--seed N` replays one.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audiencekit.api.client import AdsClient
from audiencekit.api.exchange import ApiRequest, ApiResponse
from audiencekit.audiences.erasure.erasing import Erasing
from audiencekit.audiences.erasure.forms import count_by_kind, to_records
from audiencekit.audiences.erasure.people import Lines, read_identifier_lines
from audiencekit.audiences.erasure.receipt import ErasureStore, Receipt
from audiencekit.audiences.erasure.resources import ErasureResources
from audiencekit.delivery.limiter import PacedLimiter
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, AudiencekitError
from audiencekit.profile import SPEC
from audiencekit.records.plan_times import format_time
from audiencekit.reporting.progress import NoProgress
from audiencekit.state.keys import StateKey
from tests.audiences.erasure.account import ACCOUNT, Account, Audience, Key, Keys
from tests.simulator.faults import EFFECTS
from tests.virtualtime import EPOCH, VirtualClock, run_virtually

AUDIENCES, PEOPLE, BYSTANDERS = 50, 30, 20
MOST_FAULTS, MOST_PROCESSES = 15, 60
LATE_SECONDS = 890.0
SETTLED_SECONDS = 900.0


@dataclass(frozen=True)
class Person:
    """Invented; what a caller writes, and what the service may have been sent for it: never by the code under test."""

    lines: tuple[str, ...]
    written: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def draw(cls, number: int, chance: random.Random) -> Person:
        phone = f"+4915112{number:06}"
        device = str(hashlib.sha256(b"%d" % number).hexdigest())
        device = "-".join((device[:8], device[8:12], device[12:16], device[16:20], device[20:32]))
        forms = {
            "email": (f"person{number}@example.org",),
            "phone_number": (phone, phone[1:]),
            "device_id": (device, device.upper()),
            "handle": (f"person_{number}",),
            "platform_id": (str(70_000_000 + number),),
            "partner_user_id": (f"crm-{number}-{chance.randrange(10)}",),
        }
        lines = (
            chance.choice([f"Person{number}@Example.org", f"email= person{number}@EXAMPLE.org "]),
            chance.choice([f"+49 1511 2{number:06}", f"phone_number=01511 2{number:06}"]),
            chance.choice([device, f"{{{device.upper()}}}"]),
            chance.choice([f"@Person_{number}", f"handle=person_{number}"]),
            f"platform_id={70_000_000 + number}",
            f"partner_user_id={forms['partner_user_id'][0]}",
        )
        return cls(lines, tuple(forms.items()))

    def entry(self, chance: random.Random) -> Keys:
        """One record that an upload may have made of this person, under the switches of then."""
        kinds = chance.sample(self.written, chance.randint(1, len(self.written)))
        return frozenset(_key(kind, chance.choice(forms)) for kind, forms in kinds)

    @property
    def keys(self) -> Keys:
        return frozenset(_key(kind, form) for kind, forms in self.written for form in forms)


def _key(kind: str, form: str) -> Key:
    return kind, form if kind == "partner_user_id" else hashlib.sha256(form.encode()).hexdigest()


class Process:
    """One life of the program: after a kill, nothing that it still does has an effect."""

    def __init__(self, account: Account, state_dir: Path) -> None:
        self.account, self.is_dead = account, False
        self.store = _Disk(state_dir, self)

    async def exchange(self, request: ApiRequest) -> ApiResponse:
        if self.is_dead:
            raise asyncio.CancelledError
        return await self.account.exchange(request)

    def kill(self, task: asyncio.Future[Any]) -> None:
        if not task.done():
            self.is_dead = True
            task.cancel()
            asyncio.get_running_loop().call_soon(task.cancel)


class _Disk(ErasureStore):
    """The files that survive a process; a dead process writes none."""

    def __init__(self, state_dir: Path, process: Process) -> None:
        super().__init__(state_dir)
        self._process = process

    def store(self, receipt: Receipt) -> None:
        if self._process.is_dead:
            raise asyncio.CancelledError
        super().store(receipt)


class World:
    """Everything that outlives a process of one erasure. With `settling` False nothing is waited for: a mistake."""

    def __init__(self, seed: int, state_dir: Path, *, settling: bool = True) -> None:
        self.chance = chance = random.Random(f"erasure {seed}")
        self.clock, self.state_dir, self._settling = VirtualClock(), state_dir, settling
        self.people = [Person.draw(number, chance) for number in range(PEOPLE)]
        self.bystanders = [Person.draw(1_000 + number, chance) for number in range(BYSTANDERS)]
        exchanges = 3 * AUDIENCES
        places = chance.sample(range(1, exchanges), chance.randint(0, MOST_FAULTS))
        numbers = [number for number in EFFECTS if number not in (33, 34, 36)]
        self.account = Account(chance, self.clock, {place: chance.choice(numbers) for place in places})
        self.late: dict[str, float] = {}
        self.busy_until: dict[str, float] = {}
        self.kept: dict[str, set[Keys]] = {}
        self.processes = self.kills = 0
        self.exits: set[int] = set()
        self.receipt: Receipt | None = None

    # --- before the erasure ---

    def populate(self) -> None:
        """Put all people into random audiences; some Updates are still under way and were never confirmed."""
        for number in range(AUDIENCES):
            audience = self.account.add(f"a{number:02}")
            for person in self.chance.sample(self.people, self.chance.randint(0, PEOPLE)):
                self._put(audience, person.entry(self.chance))
            strangers = {one.entry(self.chance) for one in self.chance.sample(self.bystanders, 5)}
            audience.members |= strangers
            self.kept[audience.id] = strangers
            if self.chance.random() < 0.1:
                self.busy_until[audience.id] = self.chance.uniform(0, 60)
        self.account.add("flexible", type="FLEXIBLE")
        self.account.add("shared", owner="18ce5other")

    def _put(self, audience: Audience, entry: Keys) -> None:
        if self.chance.random() < 0.98:
            audience.members.add(entry)
            return
        users = [{kind: [value]} for kind, value in entry][:1]
        operation = {"operation_type": "Update", "params": {"users": users}}
        asyncio.get_running_loop().call_later(
            self.chance.uniform(1, LATE_SECONDS), self.account.apply, audience.id, [operation]
        )
        self.late[audience.id] = SETTLED_SECONDS

    # --- the erasure ---

    async def live(self) -> None:
        """Processes one after the other, until one comes to the end."""
        self.populate()
        first = Process(self.account, self.state_dir)
        lines = [line for person in self.people for line in person.lines]
        self.chance.shuffle(lines)
        records = to_records(read_identifier_lines(Lines(lines), country="DE").keys)
        begun = Receipt(
            erasure_id="forget-20261121-120000-abcdef00", account_id=ACCOUNT, profile="spec",
            started_at=format_time(_moment(EPOCH)), asked=len(lines), identifiers={}, forms=count_by_kind(records),
            rejected={}, do_not_reach_until="2027-11-01T00:00:00Z",
        )  # fmt: skip
        with first.store.locked():
            first.store.begin(begun, records, STATE_KEY)
        while self.processes < MOST_PROCESSES and self.receipt is None:
            self.processes += 1
            await self._process(begun.erasure_id)
            await self.clock.sleep(self.chance.choice([0.5, 5.0, 300.0]))
        await self.clock.sleep(7_200)  # whatever is late has arrived then

    async def _process(self, erasure_id: str) -> None:
        process = Process(self.account, self.state_dir)
        receipt = process.store.receipt(erasure_id)
        if not process.store.has_keys(erasure_id):
            process.store.complete(receipt, _moment(EPOCH))
            self.receipt = receipt
            return
        records = process.store.records(erasure_id, STATE_KEY)
        task = asyncio.ensure_future(self._erase(process, receipt, records))
        if self.chance.random() < 0.6:
            end = self.chance.choice([1, 3, 10, 60, 1000])
            asyncio.get_running_loop().call_later(self.chance.uniform(0, end), process.kill, task)
        try:
            self.receipt = await task
        except asyncio.CancelledError:
            self.kills += 1
        except AudiencekitError as error:
            self.kills += process.is_dead
            self.exits.add(error.exit_code)

    async def _erase(self, process: Process, receipt: Receipt, records: Any) -> Receipt:
        resources = ErasureResources(
            limiter=PacedLimiter(clock=self.clock),
            policy=RetryPolicy(clock=self.clock, randomness=random.Random(self.chance.random())),
            lock=self._lock, doubts=self._doubts, leave=_no_local_copy, concurrency=self.chance.randint(1, 16),
        )  # fmt: skip
        erasing = Erasing(
            receipt, records, AdsClient(process, account_id=ACCOUNT), resources, profile=SPEC, store=process.store,
            progress=NoProgress(),
        )  # fmt: skip
        return await erasing.run()

    @contextmanager
    def _lock(self, target: Target) -> Iterator[None]:
        if self.clock.monotonic() < self.busy_until.get(target.id, 0.0):
            raise AudienceBusy("busy", run_id=None, process_id=None)
        yield

    def _doubts(self, target: Target) -> float:
        return self.late.get(target.id, 0.0) - self.clock.monotonic() if self._settling else 0.0

    # --- after it ---

    def differences(self) -> list[str]:
        """Return the differences to the expected state, as sentences with counts only."""
        erased = frozenset(key for person in self.people for key in person.keys)
        audiences = [one for one in self.account.audiences.values() if one.id in self.kept]
        listed = self.account.do_not_reach.members if self.account.do_not_reach else set()
        reachable = sum(not any(key in entry for entry in listed) for key in self._listable())
        wrong = {
            "people left": sum(bool(entry & erased) for one in audiences for entry in one.members),
            "others lost": sum(len(self.kept[one.id] - one.members) for one in audiences),
            "forms that can be reached": reachable,
            "not complete": int(self.receipt is None or self.receipt.state != "complete"),
            "wrong exit codes": len(self.exits - {74, 75, 77}),
            "keys left on the disk": len(list(self.state_dir.rglob("keys.sealed"))),
        }
        return [f"{what}: {count}" for what, count in wrong.items() if count]

    def _listable(self) -> Iterator[Key]:
        kinds = {"email", "phone_number"}
        return (key for person in self.people for key in person.keys if key[0] in kinds)


async def _no_local_copy(target: Target) -> None:
    """No audience of a trial is under sync."""


STATE_KEY = StateKey(b"k" * 32)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def run_trial(seed: int, state_dir: Path, *, settling: bool = True) -> World:
    """The world of `seed` after its erasure."""
    world = World(seed, state_dir, settling=settling)
    run_virtually(world.live())
    return world


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.audiences.erasure.trial", description=__doc__)
    parser.add_argument("--seed", type=int, help="the one trial to replay")
    parser.add_argument("--first", type=int, default=0, help="first seed of many")
    parser.add_argument("--count", type=int, default=100, help="how many seeds")
    options = parser.parse_args()
    seeds = [options.seed] if options.seed is not None else range(options.first, options.first + options.count)
    met: Counter[int] = Counter()
    failed = processes = kills = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as directory:
            world = run_trial(seed, Path(directory))
        met.update(world.account.met)
        processes, kills = processes + world.processes, kills + world.kills
        if differences := world.differences():
            failed += 1
            print(f"--seed {seed}   # {'; '.join(differences)}", flush=True)  # noqa: T201
    told = f"{len(seeds)} erasures in {processes} processes, {kills} killed, {met.total()} faults of {len(met)} kinds"
    print(f"{told}: {failed} not exact")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
