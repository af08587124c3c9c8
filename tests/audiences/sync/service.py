"""A model of the service: entries by key set, and a Delete that strikes every entry with any of its keys."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from audiencekit.api.answers import Answer
from audiencekit.api.exchange import Body
from audiencekit.audiences.sync.planner import SyncPlanner
from audiencekit.audiences.sync.run import open_snapshot_run
from audiencekit.delivery.limiter import Unlimited
from audiencekit.destinations.target import Target
from audiencekit.errors import Bug
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.process.crash_points import set_hook
from audiencekit.reporting.report import Report
from audiencekit.runs.beginning import start_run
from audiencekit.runs.journal.facts import SYNC, Moment
from audiencekit.runs.keywords import RunOptions
from audiencekit.runs.run import RunArguments, RunClock
from audiencekit.settings import Settings, load_settings

Entry = frozenset[tuple[str, str]]
Person = tuple[str, str]  # a number for the email and one for the handle; either may be missing

ACCOUNT, AUDIENCE = "18ce54d4x5t", "1a2b"
FINE, LOST, NEVER, LATE = "fine", "applied, answer lost", "never arrived", "applied late"


class Killed(BaseException):
    """Ends a run in the middle, without clean-up."""


@dataclass(frozen=True)
class Counts:
    success_count: int
    total_count: int


@dataclass
class Service:
    """Takes the place of the client. `fates` are those of the next requests; when there are none, all is fine."""

    fates: list[str] = field(default_factory=list)
    entries: dict[Entry, str] = field(default_factory=dict)
    log: list[tuple[str, frozenset[Entry]]] = field(default_factory=list)
    watch: Callable[[], None] = lambda: None
    description: str | None = None
    _late: list[Any] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def get_custom_audience(self, audience_id: str) -> Answer:
        assert audience_id == AUDIENCE
        return Answer(status=200, data={"description": self.description})

    async def update_custom_audience(self, audience_id: str, *, description: str) -> Answer:
        assert audience_id == AUDIENCE
        self.description = description
        return Answer(status=200, data={"description": description})

    async def send_users(self, audience_id: str, body: Body, *, records: int) -> Counts:
        assert audience_id == AUDIENCE
        operations = json.loads(b"".join(body.unwrap()))
        fate = self.fates.pop(0) if self.fates else FINE
        if fate in (FINE, LOST):
            self._apply(operations)
        elif fate == LATE:
            self._late.append(operations)
        if fate != FINE:
            raise Bug("the outcome is unknown")
        assert sum(len(operation["params"]["users"]) for operation in operations) == records
        return Counts(records, records)

    def arrive_late(self) -> None:
        """Apply the requests that were held back."""
        for operations in self._late:
            self._apply(operations)
        self._late.clear()

    def _apply(self, operations: list[dict[str, Any]]) -> None:
        for operation in operations:
            verb, params = operation["operation_type"], operation["params"]
            users = frozenset(_entry_of(user) for user in params["users"])
            self.log.append((verb, users))
            if verb == "Update":
                self.entries.update(dict.fromkeys(users, params["expires_at"]))
            else:
                keys = frozenset().union(*users)
                self.entries = {entry: until for entry, until in self.entries.items() if not entry & keys}
            self.watch()


@dataclass
class Clock:
    """Waits by moving on, while what the service held back arrives."""

    service: Service
    time: float = 1_795_000_000.0
    waited: float = 0.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.waited += seconds
        self.service.arrive_late()


@dataclass
class Owner:
    """The owner of the model's audience, who syncs it."""

    directory: Path
    service: Service = field(default_factory=Service)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = Clock(self.service)
        self.settings: Settings = load_settings({}, directory=self.directory, state_dir=self.directory / "state")
        self.settings = replace(self.settings, account_id=ACCOUNT, concurrency=1)

    def copied(self, directory: Path) -> Owner:
        """The same owner in another directory: what several tests begin with is synced once."""
        shutil.copytree(self.directory / "state", directory / "state")
        other = Owner(directory, copy.deepcopy(self.service))
        other.clock.time = self.clock.time
        return other

    def step(self, *_: Any, **__: Any) -> None:
        """Progress."""

    def tell(self, message: str) -> None:
        self.told.append(message)

    async def sync_until(self, point: str | None, people: Sequence[Person], *, rebuild: bool = False) -> None:
        """One run of `sync`, which is killed at this point."""

        def kill(passed: str) -> None:
            if passed == point:
                raise Killed

        set_hook(kill)
        try:
            await self.sync(people, rebuild=rebuild)
        finally:
            set_hook(None)

    async def sync(
        self, people: Sequence[Person], *, allow_shrink: float = 1.0, rebuild: bool = False, **keywords: Any
    ) -> Report:
        """One run of `sync`."""
        source = self.directory / "list.csv"
        source.write_text("email,handle\n" + "".join(f"{_email(mail)},{_handle(name)}\n" for mail, name in people))
        plain = plain_keywords(Keywords(columns={"email": "email", "handle": "handle"}, **keywords))
        with ExitStack() as stack:
            target = Target.audience(AUDIENCE)
            options = RunOptions(settings=self.settings, progress=self)
            arguments = RunArguments(source=source, target=target, keywords=plain, options=options, operation=SYNC)
            run = start_run(arguments, stack)
            time = RunClock(self.clock, lambda: Moment("one start", self.clock.time))
            opened = open_snapshot_run(run, self.service, stack, time=time, progress=self, rebuild=rebuild)  # type: ignore[arg-type]
            return await opened.carry_out(SyncPlanner(opened.snapshot, allow_shrink, rebuild), Unlimited())


def entries_of(people: Iterable[Person]) -> set[Entry]:
    """Return the entries of an audience that holds these people."""
    return {
        frozenset(
            (kind, hashlib.sha256(text.encode()).hexdigest())
            for kind, text in (("email", _email(mail)), ("handle", _handle(name)))
            if text
        )
        for mail, name in people
    }


def _email(mail: str) -> str:
    return f"person{mail}@example.com" if mail else ""


def _handle(name: str) -> str:
    return f"handle_{name}" if name else ""


def _entry_of(user: dict[str, list[str]]) -> Entry:
    return frozenset((kind, value) for kind, values in user.items() for value in values)
