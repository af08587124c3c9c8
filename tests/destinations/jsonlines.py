"""A destination of tests: JSON lines, at most 1,000 people a request, entries that never expire."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from typing import IO, Any
from unittest import mock

import numpy as np

from audiencekit.api.answers import Counts
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.destination import DestinationWords, TimeOptions
from audiencekit.destinations.requests.entries import Chosen, Octets
from audiencekit.destinations.requests.packing import ENTRY_LOOPS, EncodedUsers, measure_users
from audiencekit.destinations.requests.request_plan import BodyOptions, PlannedRequest, Sizes, SizesOf
from audiencekit.destinations.target import DESTINATIONS
from audiencekit.errors import Outcome, RequestRefused, TransportFailed, Unauthorized, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.packed_request import PackedRequest
from audiencekit.personal import HashedRecords
from audiencekit.process.crash_points import pass_point
from audiencekit.profile import Profile
from audiencekit.records.plan_times import PlanTimes
from audiencekit.settings import Settings
from audiencekit.text import option

MOST_PEOPLE = 1_000


@dataclass
class Mailbox:
    """The service: a file that it appends to, a line a person, and behind those of a request one that names it.

    A request whose line is there is not written again; people without such a line were cut off by a crash, and go.
    `script` are the errors of its next exchanges, None for none, and `lost` those that come once the lines are written.
    """

    file: IO[bytes] = field(default_factory=BytesIO)
    said: list[str] = field(default_factory=list)
    script: list[Exception | None] = field(default_factory=list)
    lost: list[Exception] = field(default_factory=list)
    is_unfinished: bool = False

    @property
    def people(self) -> list[dict[str, Any]]:
        return [each for each in self._lines() if "request" not in each]

    @property
    def sizes(self) -> list[int]:
        return [each["people"] for each in self._lines() if "request" in each]

    def write(self, run: str, request: int, people: bytes) -> None:
        whole = 0
        for place, each in enumerate(lines := self._lines(), 1):
            if each.get("request") == request and each["run"] == run:
                return
            whole = place if "request" in each else whole
        self.file.seek(0)
        for _ in lines[:whole]:
            self.file.readline()
        self.file.truncate(self.file.tell())
        self.file.write(people)
        self.file.flush()
        pass_point("between lines")
        named = {"run": run, "request": request, "people": people.count(b"\n")}
        self.file.write(json.dumps(named).encode() + b"\n")
        self.file.flush()

    def _lines(self) -> list[dict[str, Any]]:
        self.file.seek(0)
        return [json.loads(line) for line in self.file]


@dataclass(frozen=True)
class Lines:
    """Its RequestForm: a line a person. It leaves out Deletes; a form that people use refuses them in `plan`."""

    profile: Profile

    def measure(self, records: HashedRecords) -> Sizes:
        return measure_users(records, self.profile)

    def plan(self, waves: Iterable[int], sizes_of: SizesOf) -> list[PlannedRequest]:
        planned: list[PlannedRequest] = []
        for wave in waves:
            sizes = np.concatenate([np.zeros(0, dtype=np.int64), *sizes_of(wave, False)])
            for first in range(0, len(sizes), MOST_PEOPLE):
                part = sizes[first : first + MOST_PEOPLE]
                planned.append(
                    PlannedRequest(
                        number=len(planned) + 1, wave=wave, first_update=first, first_delete=0, updates=len(part),
                        deletes=0, update_operations=0, delete_operations=0, body_bytes=int(part.sum()) + len(part),
                    )
                )  # fmt: skip
        return planned

    def write(self, request: PlannedRequest, updates: EncodedUsers, deletes: EncodedUsers, body: Octets) -> int:
        joined = np.empty(len(body) + 1, dtype=np.uint8)  # each entry with a comma, and one more
        parts = [Chosen(each.batch, each.places[at : at + 1], each.profile)
                 for each in updates.entries.unwrap() for at in range(len(each.places))]  # fmt: skip
        end = 0
        for part in parts:
            end += ENTRY_LOOPS.write_operations(joined[end:], b"", b"", 1, [part])
            joined[end - 1] = ord("\n")
        body[:] = joined[:end]
        return end

    def open_body(self, request: PackedRequest) -> None:
        return None


class JsonLines:
    """Its Destination."""

    name, words = "json_lines", DestinationWords(noun="mailbox")
    max_body_bytes = requests_per_minute = None
    kinds = frozenset({Kind.EMAIL})
    quota = "lines"
    suppresses = True
    can_sync = False

    def __init__(self, mailbox: Mailbox | None = None) -> None:
        self.mailbox = mailbox or Mailbox()

    def lock_name(self, place_id: str) -> str:
        return f"lines-{place_id}"

    def pin(self, plan_time: datetime, now: datetime, wanted: TimeOptions) -> PlanTimes:
        if given := [option(name) for name in ("expires_at", "ttl_days", "effective_at") if getattr(wanted, name)]:
            raise UsageError(f"a mailbox keeps its people for good, from now on: {given[0]} has no meaning for it")
        return PlanTimes(plan_time=plan_time.replace(microsecond=0))

    def form(self, times: PlanTimes, profile: Profile, wanted: BodyOptions | None = None) -> Lines:
        return Lines(profile)

    def notes(self, *, updates: int, deletes: int, suppressing: bool) -> tuple[str, ...]:
        return ("a mailbox keeps all people",)

    def connect(self, place_id: str, settings: Settings) -> Posting:
        return Posting(self.mailbox)


class Posting:
    """Its Session."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox, self._run = mailbox, ""

    async def __aenter__(self) -> Posting:
        self._mailbox.said.append("connected")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._mailbox.said.append("gone")

    async def look(self, *, policy: RetryPolicy, notify: Callable[[str], None]) -> None:
        self._mailbox.said.append("look")

    def identify(self, idempotency_key: str) -> None:
        self._run = idempotency_key

    async def begin(self, *, removes: bool, policy: RetryPolicy, notify: Callable[[str], None]) -> None:
        self._mailbox.said.append("begin")

    async def send(self, request: PackedRequest) -> Counts:
        error = self._mailbox.script.pop(0) if self._mailbox.script else None
        if error is not None:
            raise error
        self._mailbox.write(self._run, request.number, bytes(request.body.unwrap()))
        if self._mailbox.lost:
            raise self._mailbox.lost.pop(0)
        return Counts(request.records, request.records)

    async def finish(self) -> None:
        self._mailbox.said.append("finish")
        if self._mailbox.is_unfinished:
            raise TransportFailed("the connection broke", sent=True)


@contextmanager
def registered(mailbox: Mailbox | None = None, name: str = JsonLines.name) -> Iterator[JsonLines]:
    """The destination, known by its name for as long as the block lasts."""
    destination = JsonLines(mailbox)
    destination.name = name
    with mock.patch.dict(DESTINATIONS, {destination.name: destination}):
        yield destination


REVOKED = Unauthorized("no", status=401, codes=("89",), outcome=Outcome.REFUSED)
LOST = TransportFailed("the connection broke", sent=True)
REFUSED = RequestRefused("no", status=400, outcome=Outcome.REFUSED)
