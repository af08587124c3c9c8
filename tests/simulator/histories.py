"""One seed, one history of an audience: runs one after another, and nothing but answers that are lost on the way.

Uploads of all kinds and erasures, or syncs; some are stopped in the middle, and finished or left. Journals, locks and
snapshots are the real ones, in a directory; time is virtual. A broken connection's request is applied never, soon or
late; so is one to which a proxy answers that the service failed.
`python -m tests.simulator.histories --count 200` makes many.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from unittest import mock

from audiencekit.api.client import AdsClient
from audiencekit.audiences.erasure.erasing import Erasing
from audiencekit.audiences.erasure.forms import count_by_kind, to_records
from audiencekit.audiences.erasure.people import Lines, read_identifier_lines
from audiencekit.audiences.erasure.receipt import ErasureStore, Receipt
from audiencekit.audiences.erasure.resources import ErasureResources
from audiencekit.audiences.sync.planner import SyncPlanner
from audiencekit.audiences.sync.run import open_snapshot_run
from audiencekit.delivery.limiter import PacedLimiter
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.ads_session import AudienceSession
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.destinations.target import Target
from audiencekit.errors import AudiencekitError
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.profile import SPEC
from audiencekit.records.plan_times import format_time
from audiencekit.reporting.progress import NoProgress
from audiencekit.runs.beginning import reopen_run, start_run
from audiencekit.runs.execution import execute
from audiencekit.runs.first_pass import PendingRequests
from audiencekit.runs.journal.facts import SYNC, Moment
from audiencekit.runs.keywords import RunOptions
from audiencekit.runs.run import Run, RunArguments, RunClock
from audiencekit.runs.store import TargetLock
from audiencekit.settings import load_settings
from audiencekit.state.keys import StateKey
from tests.audiences.erasure.account import ACCOUNT, Account, Keys
from tests.virtualtime import VirtualClock, VirtualLoop, leaving_nothing_behind

AUDIENCE, PEOPLE = "1a2b", 9
PASSED_ON, UNAVAILABLE, BROKEN, MISCOUNTED = 8, 10, 13, 17
STATE_KEY: Final = StateKey(b"k" * 32)
Row = tuple[str, str, str]  # verb, email, handle; one of the last two may be missing


class InlineLoop(VirtualLoop):
    """Threads do their work at once: no time passes meanwhile."""

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


class Reference:
    """The members of the audience, as far as completed runs say; None for entries that a run left in between."""

    def __init__(self) -> None:
        self.entries: dict[Keys, bool | None] = {}

    def upload(self, rows: list[Row], *, is_complete: bool) -> None:
        for place, (verb, *person) in enumerate(rows):
            keys = keys_of(*person)
            if verb == "delete":
                # The last word on a key set is sent, and no other: it does not say who else goes by one of the keys.
                is_last = ("update", *person) not in rows[place:]
                self.delete(keys, is_complete=is_complete and is_last)
            elif is_complete or not self.entries.get(keys, False):
                self.entries[keys] = True if is_complete else None

    def delete(self, keys: Keys, *, is_complete: bool) -> None:
        for entry in self.entries:
            if entry & keys:
                self.entries[entry] = False if is_complete else self.entries[entry] and None

    def sync(self, rows: list[Row], *, is_complete: bool) -> None:
        wanted = {keys_of(*person) for _, *person in rows}
        for entry in wanted | self.entries.keys():
            if is_complete:
                self.entries[entry] = entry in wanted
            elif self.entries.get(entry, False) is not (entry in wanted):
                self.entries[entry] = None


class History:
    """The life of one audience on one machine. With `waits` False no earlier run is waited for: a mistake."""

    def __init__(self, seed: int, directory: Path, *, waits: bool = True) -> None:
        self.chance = random.Random(f"history {seed}")
        self.clock, self.directory, self._waits = VirtualClock(), directory, waits
        share = self.chance.choice([0.1, 0.3, 0.5])
        faults = {place: self._fault() for place in range(1, 2_000) if self.chance.random() < share}
        self.account = Account(self.chance, self.clock, faults)
        self.account.add(AUDIENCE)
        settings = load_settings({}, directory=directory, state_dir=directory / "state")
        self.settings = replace(settings, account_id=ACCOUNT, concurrency=self.chance.randint(1, 6))
        self.client = AdsClient(self.account, account_id=ACCOUNT)
        self.reference = Reference()
        self.is_synced = self.chance.random() < 0.4
        self.files = 0
        self.forgotten: Keys = frozenset()

    async def live(self) -> None:
        for _ in range(self.chance.randint(2, 6)):
            await (self._sync() if self.is_synced else self._upload_or_forget())
            await self.clock.sleep(self.chance.choice([0.5, 5.0, 300.0]))
        await self.clock.sleep(7_200)  # whatever is late has arrived then

    def _fault(self) -> int:
        return self.chance.choice([BROKEN, BROKEN, PASSED_ON, UNAVAILABLE, MISCOUNTED])

    # --- steps: one run each, stopped or not ---

    async def _upload_or_forget(self) -> None:
        if self.chance.random() < 0.3:
            await self._forget()
            return
        verbs = self.chance.choice([["update"], ["delete"], ["update", "delete"]])
        rows = self._rows(verbs)
        source = self._write(rows)
        keywords = plain_keywords(Keywords(operation_column="verb", columns={"email": "email", "handle": "handle"}))
        with ExitStack() as stack:
            target = Target.audience(AUDIENCE)
            options = RunOptions(settings=self.settings, progress=NoProgress())
            run = start_run(RunArguments(source=source, target=target, keywords=keywords, options=options), stack)
            is_complete = await self._went_well(self._execute(run))
        if not is_complete and self.chance.random() < 0.5:
            with ExitStack() as stack:
                run = reopen_run(run.facts.run_id, self.settings, stack)
                is_complete = await self._went_well(self._execute(run), may_stop=False)
        self.reference.upload(rows, is_complete=is_complete)

    async def _execute(self, run: Run, **more: Any) -> Any:
        return await execute(
            run, AudienceSession(self.client, "acc", AUDIENCE), limiter=PacedLimiter(clock=self.clock),
            progress=NoProgress(), time=RunClock(self.clock, self.moment), **more,
        )  # fmt: skip

    async def _sync(self) -> None:
        rows = self._rows(["update"])
        source = self._write(rows)
        keywords = plain_keywords(Keywords(columns={"email": "email", "handle": "handle"}))
        with ExitStack() as stack:
            target = Target.audience(AUDIENCE)
            options = RunOptions(settings=self.settings, progress=NoProgress())
            arguments = RunArguments(source=source, target=target, keywords=keywords, options=options, operation=SYNC)
            run = start_run(arguments, stack)
            time = RunClock(self.clock, self.moment)
            opened = open_snapshot_run(run, self.client, stack, time=time, progress=NoProgress())
            going = opened.carry_out(SyncPlanner(opened.snapshot, 1.0), PacedLimiter(clock=self.clock))
            is_complete = await self._went_well(going)
        self.reference.sync(rows, is_complete=is_complete)

    async def _forget(self) -> None:
        people = [self._person() for _ in range(self.chance.randint(1, 3))]
        lines = [text for mail, name in people for text in (mail, f"handle={name}" if name else "") if text]
        records = to_records(read_identifier_lines(Lines(lines), country=None).keys)
        now = datetime.fromtimestamp(self.clock.now(), UTC)
        self.files += 1
        receipt = Receipt(
            erasure_id=f"forget-20261121-12{self.files:04}-abcdef", account_id=ACCOUNT, profile="spec",
            started_at=format_time(now), asked=len(lines), identifiers={}, forms=count_by_kind(records), rejected={},
            do_not_reach_until=None,
        )  # fmt: skip
        store = ErasureStore(self.settings.state_dir)
        with store.locked():
            store.begin(receipt, records, STATE_KEY)
        resources = ErasureResources(
            limiter=PacedLimiter(clock=self.clock),
            policy=RetryPolicy(clock=self.clock, randomness=random.Random(self.chance.random())),
            lock=self._lock, doubts=self._earlier().seconds_left, leave=_no_local_copy,
            concurrency=self.settings.concurrency,
        )  # fmt: skip
        erasing = Erasing(receipt, records, self.client, resources, profile=SPEC, store=store, progress=NoProgress())
        is_complete = await self._went_well(erasing.run())
        for person in people:
            self.forgotten |= keys_of(*person)
            self.reference.delete(keys_of(*person), is_complete=is_complete)

    async def _went_well(self, going: Coroutine[Any, Any, Any], *, may_stop: bool = True) -> bool:
        """Whether it completed. Some are stopped twice: requests on their way are left to themselves."""
        task = asyncio.ensure_future(going)
        if may_stop and self.chance.random() < 0.4:
            loop, after = asyncio.get_running_loop(), self.chance.uniform(0, 1)
            loop.call_later(after, task.cancel)
            loop.call_later(after + 0.001, task.cancel)
        try:
            await task
        except (AudiencekitError, asyncio.CancelledError):
            return False
        return True

    # --- what they are made of ---

    def moment(self) -> Moment:
        """The machine is started once."""
        return Moment("one start", self.clock.monotonic())

    def _earlier(self) -> PendingRequests:
        return PendingRequests(self.settings.state_dir, ACCOUNT, now=self.clock.now, moment=self.moment)

    def _lock(self, target: Target) -> TargetLock:
        return TargetLock(self.settings.state_dir, ACCOUNT, target, "forget")

    def _person(self) -> tuple[str, str]:
        number = self.chance.randrange(PEOPLE)
        forms = [(f"person{number}@example.com", ""), (f"person{number}@example.com", f"handle_{number}")]
        return self.chance.choice([*forms, ("", f"handle_{number}")])

    def _rows(self, verbs: list[str]) -> list[Row]:
        rows = [(self.chance.choice(verbs), *self._person()) for _ in range(self.chance.randint(3, 20))]
        # The memory of erasures holds them back.
        kept = [row for row in rows if not keys_of(*row[1:]) & self.forgotten]
        return kept or [(verbs[0], "stranger@example.com", "")]

    def _write(self, rows: list[Row]) -> Path:
        self.files += 1
        path = self.directory / f"list{self.files}.csv"
        path.write_text("\n".join(["verb,email,handle", *(",".join(row) for row in rows)]) + "\n")
        return path

    def differences(self) -> list[str]:
        """Counts of entries that are not as the completed runs say."""
        members = self.account.audiences[AUDIENCE].members
        lost = sum(stays is True and entry not in members for entry, stays in self.reference.entries.items())
        back = sum(stays is False and entry in members for entry, stays in self.reference.entries.items())
        strangers = sum(entry not in self.reference.entries for entry in members)
        wrong = {"lost": lost, "back in": back, "strangers": strangers}
        return [f"{what}: {count}" for what, count in wrong.items() if count]


async def _no_local_copy(target: Target) -> None:
    """No audience that people are erased from is under sync here."""


def keys_of(mail: str, name: str) -> Keys:
    """Return the keys by which the service knows the person; computed without any code of the library."""
    texts = (("email", mail), ("handle", name))
    return frozenset((kind, hashlib.sha256(text.encode()).hexdigest()) for kind, text in texts if text)


@contextmanager
def small_requests(chance: random.Random, *, waits: bool) -> Iterator[None]:
    limits = BodyLimits(max_operations=chance.randint(2, 6), max_body_bytes=900)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(BodyLimits, "within", return_value=limits))
        if not waits:
            stack.enter_context(mock.patch.object(PendingRequests, "seconds_left", return_value=0.0))
        yield


def relive(seed: int, *, waits: bool = True) -> History:
    """The history of `seed`, at its end."""
    with tempfile.TemporaryDirectory() as directory:
        history = History(seed, Path(directory), waits=waits)
        with small_requests(history.chance, waits=waits), asyncio.Runner(loop_factory=InlineLoop) as runner:
            runner.run(leaving_nothing_behind(history.live()))
        return history


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator.histories", description=__doc__)
    parser.add_argument("--seed", type=int, help="the one history to replay")
    parser.add_argument("--first", type=int, default=0, help="first seed of many")
    parser.add_argument("--count", type=int, default=200, help="how many seeds")
    options = parser.parse_args()
    seeds = [options.seed] if options.seed is not None else range(options.first, options.first + options.count)
    failed = broken = 0
    for seed in seeds:
        history = relive(seed)
        broken += len(history.account.met)
        if differences := history.differences():
            failed += 1
            print(f"--seed {seed}   # {'; '.join(differences)}", flush=True)  # noqa: T201
    print(f"{len(seeds)} histories with {broken} connections that broke: {failed} not exact")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
