"""One seed, one run: a source is planned, sent through faults, killed and resumed, until the service has it all."""

from __future__ import annotations

import asyncio
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from audiencekit.api.answers import Counts
from audiencekit.api.client import AdsClient
from audiencekit.api.exchange import Body
from audiencekit.delivery.limiter import PacedLimiter
from audiencekit.delivery.options import Earlier, Listener, Route, Waits
from audiencekit.delivery.results import Delivered, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.delivery.uploader import deliver
from audiencekit.destinations.requests.operations_body import OperationsBody
from audiencekit.errors import AudiencekitError, ExchangeError, InputOutputFailed
from audiencekit.limits import SETTLE_SECONDS
from audiencekit.packed_request import PackedRequest
from audiencekit.reporting.progress import LineProgress
from audiencekit.runs.failures import failure_of
from audiencekit.runs.journal.facts import Moment, Sums, seconds_in_the_past
from tests.simulator.faults import DISK, EFFECTS, PROCESS
from tests.simulator.service import Service
from tests.simulator.sources import SOURCES, Keys, Planned, planned_source
from tests.virtualtime import VirtualClock, run_virtually

MOST_FAULTS = 12
MOST_PROCESSES = 40
EXITS = frozenset({3, 69, 74, 75, 77})


@dataclass(frozen=True)
class Outcome:
    """The result of one simulated run: its differences to the reference, as sentences; none is as it should be."""

    differences: tuple[str, ...]
    met: tuple[int, ...]
    processes: int
    exchanges: int
    seconds: float
    whys: frozenset[str] = frozenset()


class Disk:
    """The files that survive a process: which requests were intended, and how each ended. Dead once its process is."""

    def __init__(self) -> None:
        self.intended: set[int] = set()
        self.results: dict[int, RequestResult] = {}
        self.departures: dict[int, Moment] = {}
        self.fails_next = False

    @property
    def confirmed(self) -> set[int]:
        return {number for number, result in self.results.items() if result.is_confirmed}


class DiskJournal:
    """The Journal of one process. Once a write has failed all others fail, as with the real one."""

    def __init__(self, disk: Disk, clock: VirtualClock) -> None:
        self._disk, self._clock = disk, clock
        self._has_failed = False
        self._doubtful = set(disk.intended) - disk.confirmed
        self.is_dead = False

    def now(self) -> Moment:
        """The machine is started once; its processes come and go."""
        return Moment("one start", self._clock.monotonic())

    async def intend(self, request: PackedRequest) -> None:
        if self._write():
            self._disk.intended.add(request.number)
            self._disk.departures[request.number] = self.now()
        await self._clock.sleep(0.001)

    async def intend_again(self, number: int) -> None:
        if self._write():
            assert number in self._disk.intended, "left again before it was intended"
            self._disk.departures[number] = self.now()
        await self._clock.sleep(0.001)

    async def conclude(self, result: RequestResult) -> None:
        if self._write():
            assert result.number in self._disk.intended, "concluded without intent"
            self._disk.results[result.number] = result
            if not result.is_doubtful and result.number not in self._doubtful:
                del self._disk.departures[result.number]
        await self._clock.sleep(0.001)

    def _write(self) -> bool:
        """Whether something may be written: a dead process writes nothing."""
        if self.is_dead:
            return False
        self._has_failed |= self._disk.fails_next
        self._disk.fails_next = False
        if self._has_failed:
            raise InputOutputFailed("no space left")
        return True


class World:
    """Everything that outlives a process of one run."""

    def __init__(
        self, seed: int, planned: Planned, faults: dict[int, int], *, with_bad: bool, settle_seconds: float
    ) -> None:
        self.chance = random.Random(f"world {seed}")
        self.clock = VirtualClock(skew_seconds=self.chance.choice([0, 0, -3600, 600, 86_400]))
        self.planned, self.disk, self._settle_seconds = planned, Disk(), settle_seconds
        self.bad_rows = self._draw_bad() if with_bad else frozenset()
        bad: frozenset[Keys] = frozenset(planned.rows[row].keys for row in self.bad_rows)
        names = self.chance.choice(["all", "all", "first", "beyond", "zero", "none"])
        self.service = Service(self.chance, faults, bad, names, self.clock)
        self.processes = self.silent_waits = 0
        self.whys: set[str] = set()  # of the waits of requests

    def _draw_bad(self) -> frozenset[int]:
        loners = self.planned.loners
        return frozenset(self.chance.sample(loners, min(len(loners), self.chance.randint(0, 3))))

    async def live(self) -> None:
        """Processes one after the other, until one comes to the end."""
        while self.processes < MOST_PROCESSES:
            self.processes += 1
            delivered = await self._process()
            if delivered is not None and delivered.is_complete:
                break
            await self.clock.sleep(self.chance.choice([0.5, 5.0, 300.0]))
        await self.clock.sleep(7200)  # whatever is late has arrived then

    async def _process(self) -> Delivered | None:
        """The facts of one process; None when it was killed."""
        journal, lines = DiskJournal(self.disk, self.clock), io.StringIO()
        process = asyncio.ensure_future(self._upload(journal, LineProgress(lines, self.clock.monotonic)))
        self.service.on_fault = lambda fault: self._strike(fault, process, journal)
        try:
            delivered = await process
        except asyncio.CancelledError:
            return None
        if journal.is_dead:
            return None
        has_waited = any(note.startswith("waited ") for note in delivered.notes)
        self.silent_waits += has_waited and "waiting " not in lines.getvalue()
        if not delivered.is_complete:
            error: AudiencekitError = failure_of(delivered, Sums().plus(delivered))
            assert error.exit_code in EXITS, error
            assert error.exit_code != 3 or not delivered.confirmed
        return delivered

    def _strike(self, fault: int, process: asyncio.Future[Delivered], journal: DiskJournal) -> None:
        if fault == DISK:
            self.disk.fails_next = True
        elif fault == PROCESS:
            loop, after = asyncio.get_running_loop(), self.chance.uniform(0, 2)
            if self.chance.random() < 0.3:  # Ctrl-C, which drains
                loop.call_later(after, process.cancel)
            else:
                loop.call_later(after, self._kill, process, journal)

    def _kill(self, process: asyncio.Future[Delivered], journal: DiskJournal) -> None:
        """SIGKILL: nothing that the process still does has an effect."""
        if not process.done():
            journal.is_dead = True
            process.cancel()
            asyncio.get_running_loop().call_soon(process.cancel)

    async def _upload(self, journal: DiskJournal, progress: LineProgress) -> Delivered:
        confirmed = self.disk.confirmed
        left = [request for request in self.planned.requests if request.number not in confirmed]
        clock = self.clock
        client = AdsClient(self.service, account_id="18ce54d4x5t")

        async def send(request: PackedRequest) -> Counts:
            if journal.is_dead:
                raise asyncio.CancelledError
            assert request.number in self.disk.intended, "sent without intent"
            try:
                return await client.send_users("1nmth", Body((request.body.unwrap(),)), records=request.records)
            except ExchangeError as error:
                progress.tell(f"request {request.number}: {error}")
                raise

        policy = RetryPolicy(clock=clock, randomness=random.Random(self.chance.random()))
        left_seconds_ago = seconds_in_the_past(self.disk.departures.values(), journal.now())
        return await deliver(
            left,
            Route(send, OperationsBody, PacedLimiter(clock=clock), policy, self.chance.randint(1, 8)),
            journal=journal,
            listener=Listener(notify=progress.tell, on_wait=lambda number, seconds, why: self.whys.add(why)),
            waits=Waits(settle_seconds=self._settle_seconds),
            earlier=Earlier(len(confirmed), left_seconds_ago) if self.processes > 1 else None,
        )

    def differences(self) -> list[str]:
        """Return the differences to the reference, without a value."""
        members, found = self.service.members, []
        expected = self.planned.expected(self.bad_rows)
        rows = {row.row - 1 for result in self.disk.results.values() for row in result.refused}
        records = sum(result.records for result in self.disk.results.values())
        planned = sum(request.records for request in self.planned.requests)
        wrong = {
            "lost": len(expected - members.keys()),
            "unexpected": len(members.keys() - expected),
            "changed meaning": sum(until != self.planned.expires_at for until in members.values()),
            "requests not confirmed": len({request.number for request in self.planned.requests} - self.disk.confirmed),
            "rows refused though good": len(rows - self.bad_rows),
            "bad rows not told": len(self._sent_bad() - rows),
            "records not accounted for": planned - records - len(rows),
            "waits of which nothing was told": self.silent_waits,
            "requests beyond the rate": _beyond_the_rate(self.service.arrivals),
        }
        found += [f"{what}: {count}" for what, count in wrong.items() if count]
        return found

    def _sent_bad(self) -> set[int]:
        sent = {int(row) - 1 for request in self.planned.requests for row in request.rows}
        return set(self.bad_rows) & sent


def _beyond_the_rate(arrivals: Sequence[float]) -> int:
    gaps = (later - earlier for earlier, later in pairwise(sorted(arrivals)))
    return sum(gap < 60 / 1_470 / 2 - 1e-6 for gap in gaps)


def simulate(
    seed: int,
    *,
    pair: tuple[int, int] | None = None,
    only: int | None = None,
    settle_seconds: float = SETTLE_SECONDS,
) -> Outcome:
    """The run of `seed`: 0 to 12 faults at places that the seed chooses, `only` of one number, or an ordered pair.

    Another `settle_seconds` is a mistake, made to see whether it shows.
    """
    chance = random.Random(seed)
    planned = planned_source(chance.randrange(SOURCES))
    exchanges = max(4, 2 * len(planned.requests))
    if pair is None:
        places = chance.sample(range(1, exchanges + MOST_FAULTS), chance.randint(0, MOST_FAULTS))
        faults = {place: only or chance.choice(list(EFFECTS)) for place in places}
    else:
        first = chance.randint(1, len(planned.requests))
        faults = {first: pair[0], first + chance.randint(1, 2): pair[1]}
    world = World(seed, planned, faults, with_bad=chance.random() < 0.5, settle_seconds=settle_seconds)
    clock = world.clock

    async def main() -> float:
        await world.live()
        return clock.monotonic()

    try:
        seconds = run_virtually(main())
        differences = world.differences()
    except (AssertionError, ExchangeError) as failure:
        seconds, differences = 0.0, [f"{type(failure).__name__}: {failure}"]
    service = world.service
    return Outcome(
        tuple(differences), tuple(service.met), world.processes, service.exchanges, seconds, frozenset(world.whys)
    )
