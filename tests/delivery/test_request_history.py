"""Requests that are delivered in parts: what is told of them, in which order, and what the journal hears."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pytest

from audiencekit.delivery.options import Earlier
from audiencekit.delivery.request_history import RequestHistory
from audiencekit.delivery.results import Delivered, Miscount, RefusedRow, RequestResult
from audiencekit.delivery.retry import Clock, RetryPolicy
from audiencekit.errors import (
    AudiencekitError,
    Bug,
    CountMismatch,
    InputOutputFailed,
    Outcome,
    RateLimited,
    RequestRefused,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
)
from audiencekit.personal import Personal
from tests.delivery.scripted import Counts, Upload, lost

MARKER = "marker-of-a-person"


@dataclass(frozen=True, slots=True)
class Packed:
    """A request with a real body: two records an operation, named after the number of the request."""

    number: int
    records: int = 10
    wave: int = 0

    @property
    def operations(self) -> int:
        return -(-self.records // 2)

    @property
    def body(self) -> Personal[bytes]:
        users = [{"email": [f"{MARKER}-{self.number}-{place}"]} for place in range(self.records)]
        pairs = [users[start : start + 2] for start in range(0, len(users), 2)]
        return Personal(orjson.dumps([{"operation_type": "Update", "params": {"users": pair}} for pair in pairs]))

    @property
    def body_bytes(self) -> int:
        return len(self.body.unwrap())

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        return np.arange(self.records) + self.number * 100


@dataclass
class Picky:
    """Refuses `bad` records, given as (request, place), and names the operation; takes all others."""

    bad: set[tuple[int, int]]
    taken: list[str] = field(default_factory=list)
    exchanges: list[int] = field(default_factory=list)

    async def send(self, request: Any) -> Any:
        self.exchanges.append(request.number)
        operations = orjson.loads(request.body.unwrap())
        wrong = {f"{MARKER}-{number}-{place}" for number, place in self.bad}
        people = [[user["email"][0] for user in operation["params"]["users"]] for operation in operations]
        named = {place: ("INVALID_USER",) for place, one in enumerate(people) if wrong & set(one)}
        if named:
            raise RequestRefused("no", status=400, codes=("INVALID_USER",), operation_errors=named)
        self.taken += [person for one in people for person in one]
        return CountsOf(sum(map(len, people)))


@dataclass(frozen=True)
class CountsOf:
    success_count: int

    @property
    def total_count(self) -> int:
        return self.success_count


class Notebook:
    """A journal that notes what it hears; it fails at the `fails_at`-th call."""

    def __init__(self, fails_at: int = 0) -> None:
        self.heard: list[Any] = []
        self._fails_at = fails_at

    async def intend(self, request: Any) -> None:
        self._note(("intend", request.number))

    async def intend_again(self, number: int) -> None:
        self._note(("again", number))

    async def conclude(self, result: RequestResult) -> None:
        self._note(("conclude", result.number, result.outcome, len(result.refused)))

    def _note(self, what: Any) -> None:
        if len(self.heard) + 1 == self._fails_at:
            self._fails_at = 0
            raise InputOutputFailed("no space left")
        self.heard.append(what)


def run(virtually: Any, clock: Clock, requests: list[Any], send: Any, **options: Any) -> tuple[Delivered, Upload]:
    upload = Upload(clock, iter(requests), concurrency=options.pop("concurrency", 1), **options)
    return virtually(upload.run(send)), upload


def test_only_the_bad_records_are_lost(virtually: Any, clock: Clock) -> None:
    """Two bad records in different operations, one in another request: their rows are told, all others are taken."""
    picky = Picky({(1, 0), (1, 7), (2, 9)})
    delivered, upload = run(virtually, clock, [Packed(1), Packed(2), Packed(3)], picky.send)
    assert delivered.is_complete
    assert delivered.refused == tuple(RefusedRow(row, ("INVALID_USER",)) for row in (100, 107, 209))
    assert (delivered.confirmed, delivered.records_confirmed, delivered.success_count) == (3, 27, 27)
    assert len(set(picky.taken)) == len(picky.taken) == 27
    first = upload.progress[0]
    assert (first.records, first.outcome, first.error, len(first.refused)) == (8, Outcome.CONFIRMED, None, 2)
    assert delivered.attempts == len(picky.exchanges)
    assert first.attempts == picky.exchanges.count(1)


@dataclass(frozen=True)
class Said:
    """The counts are those of the service, not those that were sent."""

    success_count: int
    total_count: int


async def test_the_counts_are_those_of_the_service(clock: Clock) -> None:
    """Of the whole, or the sum over its parts; nothing is counted of a request that is not confirmed."""
    request: Any = Packed(1)
    whole, parted, halted = (RequestHistory(RetryPolicy(clock=clock, randomness=random.Random(1))) for _ in range(3))
    whole.whole.record(Said(9, 11))
    for history in (parted, halted):
        history.whole.record(RequestRefused("no", status=400))
        for said in (Said(3, 4), Said(5, 6)):
            history.begin_part().record(said)
    parted.end_isolation((RefusedRow(100, ()),), None)
    counts = [history.result(request) for history in (whole, parted, halted)]
    assert [(each.success_count, each.total_count) for each in counts] == [(9, 11), (8, 10), (0, 0)]


async def test_other_counts_are_those_of_the_whole(clock: Clock) -> None:
    """The last ones, when it is not confirmed; a confirmed request has none."""
    request: Any = Packed(1)
    history = RequestHistory(RetryPolicy(clock=clock, randomness=random.Random(1)))
    assert history.result(request).miscount is None
    for counted in (8, 9):
        history.whole.record(CountMismatch(sent=10, success_count=counted, total_count=10))
    history.whole.record(TransportFailed("lost", sent=True))
    history.begin_part().record(CountMismatch(sent=5, success_count=4, total_count=5))
    assert history.result(request).miscount == Miscount(1, 10, 9, 10)
    history.end_isolation((), None)
    assert history.result(request).miscount is None


def test_everything_refused_halts(virtually: Any, clock: Clock) -> None:
    """A request of which nothing is taken ends the run: refused, with no row blamed."""
    delivered, _ = run(virtually, clock, [Packed(1)], Picky({(1, place) for place in range(10)}).send)
    assert isinstance(delivered.error, RequestRefused)
    assert delivered.refused == ()
    assert delivered.pending[0].outcome is Outcome.REFUSED
    assert delivered.pending[0].records == 10


@pytest.mark.parametrize(("before", "complete"), [(None, False), (0, False), (1, True)])
def test_last_request_of_a_resumed_run(virtually: Any, clock: Clock, before: int | None, complete: bool) -> None:
    """Requests that earlier processes had confirmed tell a bad row from a mistake of ours."""
    delivered, _ = run(
        virtually, clock, [Packed(1, 1)], Picky({(1, 0)}).send, earlier=None if before is None else Earlier(before)
    )
    assert delivered.is_complete is complete


def test_parts_are_tried_again_as_requests_are(virtually: Any, clock: Clock) -> None:
    """A lost answer to a part is sent again; an error that cannot be retried ends the request, unknown."""
    picky = Picky({(1, 4)})
    script = [None, lost(), None, None, Unauthorized("revoked", status=401, codes=("89",))]

    async def send(request: Any) -> Any:
        if (step := script.pop(0) if script else None) is not None:
            raise step
        return await picky.send(request)

    delivered, _ = run(virtually, clock, [Packed(1)], send)
    assert isinstance(delivered.error, Unauthorized)
    [pending] = delivered.pending
    assert (pending.outcome, pending.attempts, pending.refused, pending.records) == (Outcome.UNKNOWN, 5, (), 10)
    assert (delivered.records_confirmed, delivered.refused) == (0, ())


@pytest.mark.parametrize("still_wrong", [False, True])
def test_counts_that_stay_wrong_are_halved_once(virtually: Any, clock: Clock, still_wrong: bool) -> None:
    """Fault 17: three re-sends, two halves, then unconfirmed."""
    sizes: list[int] = []

    async def send(request: Any) -> Any:
        sizes.append(request.records)
        if request.records == 10 or still_wrong:
            raise CountMismatch(sent=request.records, success_count=1, total_count=2)
        return CountsOf(request.records)

    delivered, _ = run(virtually, clock, [Packed(1)], send)
    assert delivered.is_complete is not still_wrong
    assert sizes == ([10] * 4 + [5] * 4 if still_wrong else [10] * 4 + [5] * 2)
    if still_wrong:
        assert delivered.pending[0].outcome is Outcome.UNKNOWN
        assert delivered.pending[0].error == "CountMismatch"


def test_wave_waits_for_the_parts(virtually: Any, clock: Clock) -> None:
    """The next wave begins after the last part of the one before."""
    picky = Picky({(1, 3)})
    run(virtually, clock, [Packed(1), Packed(2, wave=1)], picky.send, concurrency=2)
    assert picky.exchanges == sorted(picky.exchanges)


def test_body_that_cannot_be_opened_shows_nothing(virtually: Any, clock: Clock) -> None:
    """A refused request whose body is not ours is a bug, without a value."""

    class Odd(Packed):
        @property
        def body(self) -> Personal[bytes]:
            return Personal(MARKER.encode())

    async def send(request: Any) -> Any:
        raise RequestRefused("no", status=400)

    delivered, upload = run(virtually, clock, [Odd(1)], send)
    assert isinstance(delivered.error, Bug)
    assert MARKER not in str(delivered.error) + repr(delivered) + repr(upload.progress)
    assert delivered.error.__traceback__ is None


# --- the journal ---


def test_journal_hears_intent_before_the_first_byte(virtually: Any, clock: Clock) -> None:
    """One intent and one conclusion a request, a word for each part and re-send; the word comes before the bytes."""
    journal, picky = Notebook(), Picky({(2, 1)})

    left: set[int] = set()

    async def send(request: Any) -> Any:
        assert journal.heard[-1] == ("again" if request.number in left else "intend", request.number)
        left.add(request.number)
        assert not [one for one in journal.heard if one[:2] == ("conclude", request.number)]
        return await picky.send(request)

    delivered, _ = run(virtually, clock, [Packed(1), Packed(2)], send, journal=journal)
    assert delivered.is_complete
    assert [one for one in journal.heard if one != ("again", 2)] == [
        ("intend", 1),
        ("conclude", 1, Outcome.CONFIRMED, 0),
        ("intend", 2),
        ("conclude", 2, Outcome.CONFIRMED, 1),
    ]


@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_journal_that_fails_stops_before_the_next_request(virtually: Any, clock: Clock, fails_at: int) -> None:
    """Fault 33: nothing leaves without a written intent, and nothing follows an end that was not written."""
    picky = Picky(set())
    delivered, _ = run(
        virtually, clock, [Packed(number) for number in (1, 2, 3)], picky.send, journal=Notebook(fails_at)
    )
    assert isinstance(delivered.error, InputOutputFailed)
    assert not delivered.is_complete
    assert picky.exchanges == list(range(1, fails_at // 2 + 1))


def test_disk_that_fails_before_a_re_send_is_why_the_run_ends(virtually: Any, clock: Clock) -> None:
    """Not the lost answer before it; and nothing leaves again."""
    journal, sent = Notebook(fails_at=2), []

    async def send(request: Any) -> Any:
        sent.append(request.number)
        raise TransportFailed("no answer", sent=True)

    delivered, _ = run(virtually, clock, [Packed(1)], send, journal=journal)
    assert isinstance(delivered.error, InputOutputFailed)
    assert sent == [1]
    assert [(pending.outcome, pending.is_doubtful) for pending in delivered.pending] == [(Outcome.UNKNOWN, True)]


def test_request_that_never_left_is_not_concluded(virtually: Any, clock: Clock) -> None:
    """The journal hears nothing of a request that only waited for its wave."""
    journal = Notebook()

    async def send(request: Any) -> Any:
        raise Unauthorized("revoked", status=401)

    delivered, _ = run(virtually, clock, [Packed(1), Packed(2, wave=1)], send, journal=journal, concurrency=2)
    assert [pending.outcome for pending in delivered.pending] == [Outcome.REFUSED, None]
    assert journal.heard == [("intend", 1), ("conclude", 1, Outcome.REFUSED, 0)]


# --- settle ---


def settled(virtually: Any, clock: Clock, error: Exception, *, waves: tuple[int, ...], **options: Any) -> Any:
    sent: list[tuple[int, float]] = []
    script = [error]
    told: list[str] = []

    async def send(request: Any) -> Any:
        sent.append((request.number, clock.monotonic()))
        await clock.sleep(0.5)
        if script:
            raise script.pop()
        return CountsOf(request.records)

    requests = [Packed(number, wave=wave) for number, wave in enumerate(waves, start=1)]
    delivered, _ = run(virtually, clock, requests, send, notify=told.append, **options)
    assert delivered.is_complete
    return delivered, [round(at) for _, at in sent], told


@pytest.mark.parametrize(
    "error",
    [
        CountMismatch(sent=10, success_count=13, total_count=13),  # the counts of another request
        CountMismatch(sent=10, success_count=0, total_count=0),
        RequestRefused("a page", status=400, outcome=Outcome.UNKNOWN, is_of_service=False),
        RateLimited("a page", status=429, outcome=Outcome.UNKNOWN, is_of_service=False),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_answer_that_proves_nothing_leaves_a_doubt(virtually: Any, clock: Clock, error: AudiencekitError) -> None:
    """It may be the answer to another request, or of a gateway: its own request may still be applied."""
    delivered, moments, _ = settled(virtually, clock, error, waves=(0, 0, 1))
    assert moments[-1] >= 900
    assert len(delivered.notes) == 1


def test_a_request_that_overrules_waits_until_a_lost_attempt_has_settled(virtually: Any, clock: Clock) -> None:
    """P7: 15 minutes from the end of the lost attempt; the wait is told, and stands in the notes."""
    delivered, moments, told = settled(virtually, clock, lost(), waves=(0, 0, 1, 1, 2))
    assert moments == [0, 0, 1, 900, 901, 902]  # and no second wait
    assert told == [f"waiting 899 s before requests that overrule earlier ones: {told[0].partition(': ')[2]}"]
    assert delivered.notes == (f"waited 899 s: {told[0].partition(': ')[2]}",)


@pytest.mark.parametrize(
    ("error", "waves"),
    [
        (lost(), (0, 0, 0)),  # nothing is overruled
        (TransportFailed("refused", sent=False), (0, 1)),  # cannot be applied
        (TemporarilyUnavailable("busy", status=503, codes=("OVER_CAPACITY",), outcome=Outcome.UNKNOWN), (0, 1)),
    ],
)
def test_no_request_waits_without_need(virtually: Any, clock: Clock, error: Exception, waves: tuple[int, ...]) -> None:
    """Only where an attempt may be applied late, and something later says the opposite."""
    delivered, moments, told = settled(virtually, clock, error, waves=waves)
    assert max(moments) <= 3
    assert (told, delivered.notes) == ([], ())


def test_resumed_run_settles_what_was_left_behind(virtually: Any, clock: Clock) -> None:
    """Attempts of a process before this one may be applied late as well; the first wave does not wait."""
    _, moments, _ = settled(virtually, clock, TransportFailed("no", sent=False), waves=(0, 1), earlier=Earlier(3))
    assert moments == [0, 0, 900]


@pytest.mark.parametrize(("left_seconds_ago", "waits"), [(0.0, 900.0), (600.0, 300.0), (2_000.0, 0.0), (math.inf, 0.0)])
def test_attempts_of_earlier_processes_are_waited_for_while_they_may_be_late(
    virtually: Any, clock: Clock, left_seconds_ago: float, waits: float
) -> None:
    """The wait of the second wave is what is left of the settle time since its bytes left."""
    sent: list[tuple[int, float]] = []

    async def send(request: Any) -> Any:
        sent.append((request.number, clock.monotonic()))
        return Counts(request.records, request.records)

    requests = [Packed(1), Packed(2, wave=1)]
    delivered, _ = run(virtually, clock, requests, send, earlier=Earlier(3, left_seconds_ago))
    assert delivered.is_complete
    assert sent[1][1] - sent[0][1] == pytest.approx(waits, abs=1.0)
    assert bool(delivered.notes) == bool(waits)
