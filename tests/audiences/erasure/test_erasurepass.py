"""One pass of an erasure whose people take several requests for each audience, on virtual time."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from audiencekit.audiences.erasure.erasuremeans import ErasureMeans
from audiencekit.audiences.erasure.erasurepass import Pass
from audiencekit.audiences.erasure.receipt import TargetReceipt
from audiencekit.delivery.limiter import Unlimited
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.requests.operations_body import OperationsBody
from audiencekit.destinations.target import Target
from audiencekit.errors import (
    AudienceBusy,
    AudiencekitError,
    CountMismatch,
    InputOutputFailed,
    NotFinished,
    NotFound,
    Redirected,
    RequestRefused,
    TransportFailed,
    Unauthorized,
)
from tests.delivery.scripted import EXCHANGE_SECONDS, Counts, Packed, Step, lost
from tests.virtualtime import EPOCH, VirtualClock, run_virtually

REQUESTS, RECORDS = 3, 4  # of each audience; of each request
NAMES = ("a0", "a1", "a2")
FORBIDDEN = Unauthorized("this audience may not be written", status=403, codes=("FORBIDDEN",))
REVOKED = Unauthorized("the service refuses the credentials", status=401, codes=("UNAUTHORIZED_ACCESS",))
DISK_IS_FULL = InputOutputFailed("no space is left")


class Several:
    """The requests of one audience. Each has people of its own."""

    form = SimpleNamespace(open_body=lambda request: OperationsBody(request) if Machine.opens else None)

    def __len__(self) -> int:
        return REQUESTS

    def packed(self, first_number: int) -> Iterator[Packed]:
        for number in range(first_number, first_number + REQUESTS):
            yield Packed(number, wave=0, records=RECORDS)


class Machine:
    """The audiences by the service's script, and what is kept of them here."""

    opens = False

    def __init__(self, scripts: dict[str, list[Step]] | None = None, *, concurrency: int = 2) -> None:
        self.clock, self._concurrency = VirtualClock(), concurrency
        self.scripts = {name: list(script) for name, script in (scripts or {}).items()}
        self.receipts = {name: TargetReceipt(id=name, name=name.upper()) for name in NAMES}
        self.sent: dict[str, list[int]] = defaultdict(list)
        self.locked: set[str] = set()
        self.busy: set[str] = set()
        self.doubtful: dict[str, float] = {}
        self.events: list[tuple[str, str]] = []
        self.disk: Exception | None = None

    def run(self, *, cancel_at: float | None = None) -> Pass:
        """One pass, after which nothing is locked."""
        targets = [(Target.audience(name), receipt) for name, receipt in self.receipts.items()]
        means = ErasureMeans(
            limiter=Unlimited(), policy=RetryPolicy(clock=self.clock, randomness=random.Random(1)), lock=self._lock,
            doubts=lambda target: self.doubtful.get(target.id, 0.0), leave=self._leave, concurrency=self._concurrency,
        )  # fmt: skip
        going = Pass(Several(), targets, self._session, means, keep=self._keep, tell=lambda message: None)

        async def work() -> None:
            task = asyncio.current_task()
            if cancel_at is not None and task is not None:
                asyncio.get_running_loop().call_later(cancel_at, task.cancel)
            await going.run()

        run_virtually(work())
        assert not self.locked
        return going

    @property
    def states(self) -> dict[str, str]:
        return {name: receipt.state for name, receipt in self.receipts.items()}

    @contextmanager
    def _lock(self, target: Target) -> Iterator[None]:
        if target.id in self.busy:
            raise AudienceBusy(f"a run works on {target.id}")
        self.locked.add(target.id)
        yield
        self.locked.discard(target.id)
        self.events.append(("free", target.id))

    async def _leave(self, target: Target) -> None:
        assert target.id in self.locked
        if isinstance(self.disk, InputOutputFailed):
            raise self.disk
        self.events.append(("left here", target.id))

    def _keep(self) -> None:
        for name, receipt in self.receipts.items():
            if receipt.is_settled and ("kept", name) not in self.events:
                self.events.append(("kept", name))

    def _session(self, target: Target) -> Any:
        async def send(request: Packed) -> Counts:
            assert target.id in self.locked
            self.sent[target.id].append(request.number)
            await self.clock.sleep(EXCHANGE_SECONDS)
            script = self.scripts.get(target.id, [])
            step = script.pop(0) if script else None
            if isinstance(step, AudiencekitError):
                raise step
            return Counts(request.records, request.records)

        return SimpleNamespace(send=send)


def test_an_audience_is_settled_when_its_last_request_is_confirmed() -> None:
    """Each is sent its own numbers; the receipt adds its requests up."""
    machine = Machine(concurrency=1)
    going = machine.run()
    assert (going.error, going.wait_seconds) == (None, 0.0)
    assert {name: sorted(numbers) for name, numbers in machine.sent.items()} == {
        "a0": [1, 2, 3],
        "a1": [4, 5, 6],
        "a2": [7, 8, 9],
    }
    for place, receipt in enumerate(machine.receipts.values(), start=1):
        counted = (receipt.state, receipt.requests, receipt.records, receipt.success_count, receipt.refused_records)
        assert counted == ("confirmed", 3, 12, 12, 0)
        at = datetime.fromtimestamp(EPOCH + place * REQUESTS * EXCHANGE_SECONDS, UTC)
        assert receipt.confirmed_at == f"{at:%Y-%m-%dT%H:%M:%SZ}"


def test_a_kept_snapshot_is_left_before_the_receipt_says_so_and_then_the_audience_is_free() -> None:
    """A process that is killed in between does it again; one that has said so would not."""
    machine = Machine(concurrency=1)
    machine.run()
    assert machine.events == [(event, name) for name in NAMES for event in ("left here", "kept", "free")]


@pytest.mark.parametrize("nth", range(REQUESTS))
@pytest.mark.parametrize(
    "refusal",
    [
        NotFound("gone", status=404),
        RequestRefused("refused", status=405, codes=("METHOD_NOT_ALLOWED",)),
        FORBIDDEN,
    ],
)
def test_an_audience_that_refuses_one_request_is_refused_and_the_others_are_done(
    refusal: AudiencekitError, nth: int
) -> None:
    """Whichever it is: two confirmed requests of three take out no one for good. Nothing confirmed is sent again."""
    machine = Machine({"a1": [*[None] * nth, refusal]}, concurrency=1)
    going = machine.run()
    assert going.error is None
    assert machine.states == {"a0": "confirmed", "a1": "refused", "a2": "confirmed"}
    refused = machine.receipts["a1"]
    assert (refused.why, refused.confirmed_at) == (str(refusal), None)
    assert ("left here", "a1") not in machine.events
    assert machine.sent["a0"] == [1, 2, 3]
    assert machine.sent["a2"] == [7, 8, 9]


@pytest.mark.parametrize("concurrency", [1, 2, 16])
def test_a_refusal_cuts_nothing_off_that_is_under_way(concurrency: int) -> None:
    """Confirmed requests count, and an audience of which a part was is sent it whole again."""
    machine = Machine({"a0": [NotFound("gone", status=404)]}, concurrency=concurrency)
    machine.run()
    assert machine.states == {"a0": "refused", "a1": "confirmed", "a2": "confirmed"}
    for name in ("a1", "a2"):
        assert machine.receipts[name].records == REQUESTS * RECORDS
        assert len(set(machine.sent[name])) == REQUESTS


def test_only_the_audience_that_refused_is_refused() -> None:
    """Not one of which a request was under way then, and lost its connection."""
    machine = Machine({"a0": [NotFound("gone", status=404)], "a1": [lost()]}, concurrency=16)
    machine.run()
    assert machine.states == {"a0": "refused", "a1": "confirmed", "a2": "confirmed"}


def test_counts_that_never_fit_are_of_one_audience() -> None:
    """It was sent again as often as that makes sense; the others are done."""
    mismatch = CountMismatch(sent=RECORDS, success_count=RECORDS - 1, total_count=RECORDS)
    machine = Machine({"a1": [mismatch] * 20}, concurrency=1)
    going = machine.run()
    assert going.error is None
    assert machine.states == {"a0": "confirmed", "a1": "refused", "a2": "confirmed"}
    assert len(machine.sent["a1"]) > 1


@pytest.mark.parametrize("failure", [REVOKED, Redirected("elsewhere", status=307)])
def test_a_failure_that_every_audience_would_meet_ends_the_pass(failure: AudiencekitError) -> None:
    """Nothing else is sent. What was confirmed stays so, and the rest is for the next time."""
    machine = Machine({"a1": [None, failure]}, concurrency=1)
    going = machine.run()
    assert type(going.error) is type(failure)
    assert machine.states == {"a0": "confirmed", "a1": "pending", "a2": "pending"}
    assert "a2" not in machine.sent


def test_a_service_that_is_away_for_good_ends_the_pass() -> None:
    """No audience is called refused for it."""
    machine = Machine({"a1": [lost()] * 10_000}, concurrency=1)
    going = machine.run()
    assert isinstance(going.error, TransportFailed)
    assert machine.states == {"a0": "confirmed", "a1": "pending", "a2": "pending"}


def test_a_disk_that_fails_when_an_audience_is_left_ends_the_pass() -> None:
    """The audience is not said to be done: what is kept here still names its people."""
    machine = Machine(concurrency=1)
    machine.disk = DISK_IS_FULL
    going = machine.run()
    assert str(going.error) == str(DISK_IS_FULL)
    assert set(machine.states.values()) == {"pending"}
    assert machine.sent == {"a0": [1, 2, 3]}


def test_an_interruption_ends_the_pass_after_what_is_under_way() -> None:
    """An audience of which one request is left is begun again the next time, with all of them."""
    machine = Machine(concurrency=1)
    going = machine.run(cancel_at=4.5 * EXCHANGE_SECONDS)
    assert (type(going.error), str(going.error)) == (NotFinished, "interrupted")  # it is no upload
    assert machine.states == {"a0": "confirmed", "a1": "pending", "a2": "pending"}
    assert machine.sent == {"a0": [1, 2, 3], "a1": [4, 5]}
    assert machine.run().error is None
    assert machine.sent == {"a0": [1, 2, 3], "a1": [4, 5, 4, 5, 6], "a2": [7, 8, 9]}


def test_an_audience_with_earlier_requests_under_way_waits_unlocked() -> None:
    """The longest wait of all is told. The others are done."""
    machine = Machine()
    machine.doubtful = {"a0": 700.0, "a2": 20.0}
    going = machine.run()
    assert (going.error, going.wait_seconds) == (None, 700.0)
    assert machine.states == {"a0": "pending", "a1": "confirmed", "a2": "pending"}
    assert list(machine.sent) == ["a1"]
    machine.doubtful = {}
    assert machine.run().wait_seconds == 0.0
    assert set(machine.states.values()) == {"confirmed"}
    assert machine.sent["a1"] == [4, 5, 6]


def test_a_busy_audience_is_tried_again_and_a_settled_one_is_not() -> None:
    """Of those that are settled one was refused by the service, and one was deleted."""
    machine = Machine()
    machine.busy = {"a0"}
    machine.receipts["a1"].state = "refused"
    machine.receipts["a2"].state = "gone"
    assert machine.run().error is None
    assert (machine.receipts["a0"].state, machine.receipts["a0"].why) == ("busy", "a run works on a0")
    assert not machine.sent
    machine.busy = set()
    machine.scripts["a0"] = [REVOKED]
    assert isinstance(machine.run().error, Unauthorized)
    assert (machine.receipts["a0"].state, machine.receipts["a0"].why) == ("pending", "")
    machine.run()
    assert machine.receipts["a0"].state == "confirmed"
    assert list(machine.sent) == ["a0"]


def test_forms_that_the_service_does_not_take_leave_the_audience_unconfirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The receipt counts them, names no time, and says why: someone may still be in there."""
    monkeypatch.setattr(Machine, "opens", True)
    bad = RequestRefused("refused", status=400, codes=("INVALID",), operation_errors={0: ("INVALID",)})
    refusals: list[Step] = [None, bad, bad, bad, bad]
    machine = Machine({"a1": refusals}, concurrency=1)
    machine.run()
    receipt = machine.receipts["a1"]
    assert machine.states == {"a0": "confirmed", "a1": "refused", "a2": "confirmed"}
    assert receipt.refused_records > 0
    assert receipt.confirmed_at is None
    assert receipt.why == f"the service did not take {receipt.refused_records} forms"
