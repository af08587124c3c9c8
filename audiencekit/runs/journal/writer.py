"""The journal for the uploader: intents and ends of requests, written by one thread, several in one commit."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from audiencekit.delivery.results import RequestResult
from audiencekit.errors import AudiencekitError, Bug, InputOutputFailed, ResumeRefused
from audiencekit.packed_request import PackedRequest
from audiencekit.personal import guarded, without_frames
from audiencekit.process.crash_points import pass_point
from audiencekit.process.event_loop import to_its_end
from audiencekit.runs.events import RunEvents
from audiencekit.runs.journal.digests import BODIES, KeyedDigest, Seals
from audiencekit.runs.journal.facts import Moment, this_moment
from audiencekit.runs.journal.file import Entry, JournalFile
from audiencekit.state.keys import SubKey

# An attempt that a crash cut short counts as one.
_INTEND = """
UPDATE requests
SET attempts = attempts + (state = 'intended'), state = 'intended', first_row = ?, last_row = ?, digest = ?,
    left_boot = ?, left_seconds = ?
WHERE number = ? AND state <> 'confirmed'
"""
_LEAVE = "UPDATE requests SET left_boot = ?, left_seconds = ? WHERE number = ?"
# An earlier attempt without a known end stays in doubt until a later one is confirmed.
_CONCLUDE = """
UPDATE requests
SET attempts = attempts + :attempts, rate_limited = rate_limited + :rate_limited,
    success_count = coalesce(:success_count, success_count), total_count = coalesce(:total_count, total_count),
    state = :state,
    left_boot = CASE WHEN :is_doubtful THEN left_boot END,
    left_seconds = CASE WHEN :is_doubtful THEN left_seconds END
WHERE number = :number
"""


_NO_EVENTS: Final = RunEvents()


class RunJournal:
    """Implements `delivery.options.Journal` over a JournalFile. As an async context manager it ends its thread.

    Once a write has failed nothing else is written: a resumed run starts from the content of the disk at that time.
    """

    def __init__(
        self,
        file: JournalFile,
        key: SubKey,
        *,
        moment: Callable[[], Moment] = this_moment,
        events: RunEvents = _NO_EVENTS,
    ) -> None:
        self._file, self._key, self._moment = file, key, moment
        self._thread = ThreadPoolExecutor(1, "audiencekit-journal")
        self._waiting: list[tuple[Entry, asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._failure: AudiencekitError | None = None
        self._seals = Seals(key)
        self._doubtful = set(file.digests())  # left earlier: only a confirmation settles them
        self._intended: set[int] = set()
        self._events = events
        self._facts = {each.number: each for each in file.requests()} if events.is_on else {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._flushing is not None:
            await to_its_end(self._flushing)
        self._thread.shutdown()

    async def intend(self, request: PackedRequest) -> None:
        """Note that the bytes of `request` are about to be sent.

        Raises ResumeRefused when they differ from those sent before.
        """
        pass_point("before intent")
        key, moment = self._key, self._moment()
        self._intended.add(request.number)  # who is cancelled in the middle has it written all the same
        await self._write_of(request.number, lambda connection: _intend(connection, request, key, moment))
        if self._events.is_on:
            facts = self._facts[request.number]
            self._events.request(replace(facts, state="intended", attempts=facts.attempts + 1))
        pass_point("after intent")

    async def intend_again(self, number: int) -> None:
        """Note that bytes of an intended request, or of a part of it, are about to be sent once more."""
        moment = self._moment()
        await self._write_of(number, lambda connection: _leave(connection, number, moment))

    async def conclude(self, result: RequestResult) -> None:
        """Note how the request ended. One that was never sent is as it was before."""
        if result.number not in self._intended:
            return
        pass_point("before acknowledgement")
        values = self._values(result)
        refused = [(result.number, each.row, " ".join(each.codes)) for each in result.refused]
        await self._write_of(result.number, lambda connection: _conclude(connection, values, refused))
        if self._events.is_on:
            self._tell(result, str(values["state"]))
        pass_point("after acknowledgement")

    def _values(self, result: RequestResult) -> dict[str, int | str | None]:
        was_doubtful = result.number in self._doubtful
        state = "planned" if result.outcome is None else result.outcome.value
        if state in ("planned", "refused") and was_doubtful:
            state = "unknown"
        return {
            "number": result.number,
            "state": state,
            "attempts": result.attempts,
            "rate_limited": result.rate_limited,
            **_counts(result),
            "is_doubtful": result.is_doubtful or was_doubtful,
        }

    def _tell(self, result: RequestResult, state: str) -> None:
        """Write the event of a request that has ended, with the counts that its line in the journal has now."""
        facts = self._facts[result.number]
        said = result if result.is_confirmed else result.miscount
        if said is not None:
            facts = replace(facts, success_count=said.success_count, total_count=said.total_count)
        self._facts[result.number] = facts = replace(
            facts,
            state=state,
            attempts=facts.attempts + result.attempts,
            rate_limited=facts.rate_limited + result.rate_limited,
            refused=facts.refused + result.refused,
        )
        self._events.request(facts, result.error)

    async def _write_of(self, number: int, entry: Entry) -> None:
        """Write `entry`, about the request with this number, and its new seal."""

        def sealed(connection: sqlite3.Connection) -> None:
            entry(connection)
            self._seals.renew(connection, number)

        await self._write(sealed)

    async def _write(self, entry: Entry) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, done))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        await done

    async def _flush(self) -> None:
        """Write all waiting entries, also those that come meanwhile, until there are none."""
        while self._waiting:
            group, self._waiting = self._waiting, []
            if self._failure is None:
                entries = [entry for entry, _ in group]
                try:
                    await asyncio.get_running_loop().run_in_executor(self._thread, self._file.write, entries)
                except Exception as error:
                    self._failure = without_frames(error)
            for _, done in group:
                if not done.done():
                    self._settle(done)

    def _settle(self, done: asyncio.Future[None]) -> None:
        if self._failure is None:
            done.set_result(None)
        else:
            done.set_exception(_another(self._failure))


def _counts(result: RequestResult) -> dict[str, int | None]:
    """The counts of the service."""
    said = result if result.is_confirmed else result.miscount
    return {
        "success_count": said.success_count if said else None,
        "total_count": said.total_count if said else None,
    }


def _another(failure: AudiencekitError) -> AudiencekitError:
    """Return a copy of `failure` for another caller: an exception raised twice shows the frames of both."""
    if isinstance(failure, ResumeRefused):
        return ResumeRefused(str(failure), reason=failure.reason, hint=failure.hint)
    return (type(failure) if isinstance(failure, InputOutputFailed) else Bug)(str(failure), hint=failure.hint)


def _intend(connection: sqlite3.Connection, request: PackedRequest, key: SubKey, moment: Moment) -> None:
    digest = body_digest(request, key)
    known = connection.execute("SELECT digest FROM requests WHERE number = ?", (request.number,)).fetchone()
    if known is None or known[0] not in (None, digest):
        raise other_bytes(request.number)
    first, last = int(request.rows.min()), int(request.rows.max())
    connection.execute(_INTEND, (first, last, digest, moment.boot, moment.seconds, request.number))


def _leave(connection: sqlite3.Connection, number: int, moment: Moment) -> None:
    connection.execute(_LEAVE, (moment.boot, moment.seconds, number))


def _conclude(
    connection: sqlite3.Connection, values: dict[str, int | str | None], refused: list[tuple[int, int, str]]
) -> None:
    connection.execute(_CONCLUDE, values)
    connection.executemany("INSERT INTO refused (number, row, codes) VALUES (?, ?, ?)", refused)


@guarded
def body_digest(request: PackedRequest, key: SubKey) -> bytes:
    """Return the keyed digest of the body of `request`."""
    digest = KeyedDigest(key, BODIES, request.number)
    digest.update(request.body.unwrap())
    return digest.finish()


def other_bytes(number: int) -> ResumeRefused:
    """Return the refusal of a body that differs from the one sent before."""
    return ResumeRefused(
        f"request {number} would not be the bytes that were sent before",
        reason="requests",
        hint="resume with the version of audiencekit that began the run",
    )
