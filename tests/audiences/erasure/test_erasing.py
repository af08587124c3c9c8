"""One pass of an erasure whose people take several requests for each audience, on virtual time."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from audiencekit.api.client import AdsClient
from audiencekit.audiences.erasure.erasing import Bodies, Erasing, Pass, list_account
from audiencekit.audiences.erasure.forms import ErasureKeys, as_updates, count_by_kind, to_records
from audiencekit.audiences.erasure.receipt import NO_AUDIENCE, NOT_LISTED, ErasureStore, Receipt, TargetReceipt
from audiencekit.audiences.erasure.resources import ErasureResources
from audiencekit.delivery.limiter import PacedLimiter, Unlimited
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.requests.operations import OperationsForm
from audiencekit.destinations.requests.operations_body import OperationsBody
from audiencekit.destinations.requests.request_plan import BodyLimits
from audiencekit.destinations.target import Target
from audiencekit.emulator.faults.replies import HOSTILE_IDS
from audiencekit.errors import (
    AudienceBusy,
    AudiencekitError,
    CountMismatch,
    CredentialsRefused,
    InputOutputFailed,
    MalformedAnswer,
    NotFinished,
    NotFound,
    Redirected,
    RequestRefused,
    TransportFailed,
    Unauthorized,
)
from audiencekit.identifiers.kinds import Kind
from audiencekit.profile import SPEC, X
from audiencekit.records.plan_times import pin_times
from audiencekit.reporting.progress import NoProgress
from audiencekit.state.keys import StateKey
from tests.audiences.erasure.account import ACCOUNT, PAGE, Account, Keys as Entry
from tests.cases import each_case
from tests.delivery.scripted import EXCHANGE_SECONDS, Counts, Packed, Step, lost
from tests.virtualtime import EPOCH, VirtualClock, run_virtually

# --- One pass of an erasure whose people take several requests for each audience, on virtual time ---

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
        resources = ErasureResources(
            limiter=Unlimited(), policy=RetryPolicy(clock=self.clock, randomness=random.Random(1)), lock=self._lock,
            doubts=lambda target: self.doubtful.get(target.id, 0.0), leave=self._leave, concurrency=self._concurrency,
        )  # fmt: skip
        going = Pass(Several(), targets, self._session, resources, save=self._save, notify=lambda message: None)

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

    def _save(self) -> None:
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


@each_case("nth", range(REQUESTS))
@each_case(
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


@each_case("concurrency", [1, 2, 16])
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


# --- The requests of an erasure ---

TIMES = pin_times(datetime(2026, 11, 21, tzinfo=UTC))
KEYS = ErasureKeys(frozenset((Kind.PLATFORM_ID, hashlib.sha256(b"%d" % number).hexdigest()) for number in range(7)))


def test_every_key_is_in_one_request_under_the_name_of_the_service() -> None:
    """As Deletes, numbered from where the caller says; made again they are the same bytes."""
    bodies = Bodies.plan(to_records(KEYS), OperationsForm(TIMES, X, BodyLimits(max_body_bytes=500)), X)
    packed = list(bodies.packed(11))
    assert [request.number for request in packed] == list(range(11, 11 + len(bodies)))
    assert len(bodies) > 1
    operations = [operation for request in packed for operation in orjson.loads(request.body.unwrap())]
    assert {operation["operation_type"] for operation in operations} == {"Delete"}
    users = [user for operation in operations for user in operation["params"]["users"]]
    assert {(Kind.PLATFORM_ID, user["twitter_id"][0]) for user in users} == KEYS.unwrap()
    assert [one.body for one in bodies.packed(1)] == [one.body for one in packed]


def test_nothing_makes_no_request() -> None:
    """Such as the emails of people who have none."""
    assert len(Bodies.plan(as_updates(to_records(KEYS), [Kind.EMAIL]), OperationsForm(TIMES, X), X)) == 0


# --- Listing the audiences of an account, with retries ---

CLOCK = VirtualClock()


def _policy() -> RetryPolicy:
    return RetryPolicy(clock=CLOCK, randomness=random.Random(1))


def _list(account: Account) -> Any:
    async def ask() -> Any:
        return await list_account(AdsClient(account, account_id=ACCOUNT), ACCOUNT, _policy())

    return run_virtually(ask())


def test_every_page_is_read() -> None:
    """Ours to be written; deleted ones are left out, the others have their reason."""
    account = Account(random.Random(1), CLOCK)
    for number in range(2 * PAGE + 1):
        account.add(f"a{number}")
    account.add("gone", deleted=True)
    account.add("flex", type="FLEXIBLE")
    account.add("theirs", owner="18ce5other")
    listed = _list(account)
    assert [one.id for one in listed.owned] == [f"a{number}" for number in range(2 * PAGE + 1)]
    assert {one.id for one in listed.skipped} == {"flex", "theirs"}


def test_a_page_that_is_lost_is_asked_for_again() -> None:
    """From the first on, and nothing is listed twice."""
    account = Account(random.Random(1), CLOCK, {2: 12, 5: 4})
    for number in range(2 * PAGE):
        account.add(f"a{number}")
    assert len(_list(account).owned) == 2 * PAGE


def test_an_audience_without_an_id_is_no_answer() -> None:
    """Nothing is guessed."""
    account = Account(random.Random(1), CLOCK)
    for given in HOSTILE_IDS:
        account.add("a1").id = given  # type: ignore[assignment]
        with pytest.raises(MalformedAnswer):
            _list(account)


# --- One process of one erasure, on virtual time ---

ID = "forget-20261121-120000-abcdef00"
EMAIL, OTHER = "e" * 64, "f" * 64
ADA: Entry = frozenset({("email", EMAIL), ("handle", "a" * 64)})
BO: Entry = frozenset({("email", OTHER)})


class World:
    """An account with three audiences that hold Ada and Bo, and the disk of a machine."""

    def __init__(self, tmp_path: Path) -> None:
        self.clock = VirtualClock()
        self.account = Account(random.Random(1), self.clock)
        for number in range(3):
            self.account.add(f"a{number}", members={ADA, BO})
        self.store = ErasureStore(tmp_path / "state")
        self.busy: set[str] = set()
        self.locked: list[str] = []
        self.doubtful: dict[str, float] = {}
        self.told: list[str] = []
        self.left_here: list[str] = []
        self.task: asyncio.Task[Any] | None = None
        self.before_send: Callable[[], None] = lambda: None

    def run(self, *, until: str | None = None, kinds: tuple[Kind, ...] = (Kind.EMAIL,)) -> Receipt:
        """An erasure of Ada from its beginning, or from where the last one ended."""
        records = to_records(ErasureKeys(frozenset((kind, EMAIL) for kind in kinds)))
        with self.store.locked():
            if not self.store.ids():
                self.store.begin(_receipt(count_by_kind(records), until), records, StateKey(b"k" * 32))
            receipt = self.store.receipt(ID)
            result: Receipt = run_virtually(self._erase(receipt, records))
            return result

    async def _erase(self, receipt: Receipt, records: Any) -> Receipt:
        self.task = asyncio.current_task()
        resources = ErasureResources(
            limiter=PacedLimiter(clock=self.clock),
            policy=RetryPolicy(clock=self.clock, randomness=random.Random(2)), lock=self._lock,
            doubts=lambda target: self.doubtful.get(target.id, 0.0) - self.clock.monotonic(), leave=self.leave,
            concurrency=2,
        )  # fmt: skip
        client = AdsClient(self, account_id=ACCOUNT)
        erasing = Erasing(receipt, records, client, resources, profile=SPEC, store=self.store, progress=self)
        return await erasing.run()

    async def exchange(self, request: Any) -> Any:
        if request.path.endswith("/users"):
            self.before_send()
        return await self.account.exchange(request)

    @contextmanager
    def _lock(self, target: Target) -> Iterator[None]:
        if target.id in self.busy:
            raise AudienceBusy("run 20261121 is at work", run_id=None, process_id=None)
        self.locked.append(target.id)
        yield
        self.locked.remove(target.id)

    async def leave(self, target: Target) -> None:
        self.left_here.append(target.id)

    def tell(self, message: str) -> None:
        self.told.append(message)

    step = NoProgress().step

    def left(self) -> list[str]:
        return [one.id for one in self.account.audiences.values() if ADA in one.members]


def _receipt(forms: dict[str, int], until: str | None) -> Receipt:
    return Receipt(
        erasure_id=ID, account_id=ACCOUNT, profile="spec", started_at="2026-11-21T12:00:00Z", asked=1,
        identifiers={"email": 1}, forms=forms, rejected={}, do_not_reach_until=until, fingerprint="f",
    )  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Nothing wrong yet."""
    return World(tmp_path)


def _states(receipt: Receipt) -> dict[str, str]:
    return {one.id: one.state for one in receipt.targets}


def test_all_people_asked_for_leave_every_audience(world: World) -> None:
    """People who share no key stay; nothing sealed is left, and no lock."""
    receipt = world.run()
    assert receipt.state == "complete"
    assert _states(receipt) == dict.fromkeys(("a0", "a1", "a2"), "confirmed")
    assert all((one.requests, one.records, one.success_count) == (1, 1, 1) for one in receipt.audiences)
    assert all(one.members == {BO} for one in world.account.audiences.values())
    assert not world.store.has_keys(ID)
    assert world.locked == []
    assert sorted(world.left_here) == ["a0", "a1", "a2"]


def test_an_audience_that_allows_no_deletes_is_explained(world: World) -> None:
    """Flexible audiences, those of others, those that the service fills; they keep no erasure from being complete."""
    world.account.add("flex", type="FLEXIBLE")
    world.account.add("web", type="WEB")
    world.account.add("shared", owner="18ce5other")
    receipt = world.run()
    whys = {one.id: one.why for one in receipt.skipped}
    assert receipt.state == "complete"
    assert whys.keys() == {"flex", "web", "shared"}
    assert "follows the audiences" in whys["flex"]
    assert "ask its owner" in whys["shared"]


def test_an_account_without_audiences_has_nothing_to_erase(world: World) -> None:
    """And says so."""
    world.account.audiences.clear()
    receipt = world.run()
    assert (receipt.state, receipt.notes) == ("complete", (NO_AUDIENCE,))


def test_an_audience_that_came_meanwhile_is_erased_too(world: World) -> None:
    """It may have been filled before this machine remembered the people."""

    def add() -> None:
        if "late" not in world.account.audiences:
            world.account.add("late", members={ADA})

    world.before_send = add
    assert _states(world.run())["late"] == "confirmed"
    assert world.left() == []


def test_an_audience_that_is_deleted_meanwhile_is_gone(world: World) -> None:
    """Nothing is left to do for it, and the others are done."""

    def delete() -> None:
        world.account.audiences["a1"].deleted = True

    world.before_send = delete
    receipt = world.run()
    assert (receipt.state, _states(receipt)["a1"]) == ("complete", "gone")


def test_a_busy_audience_keeps_the_others_going(world: World) -> None:
    """It is not finished then; once it is free, the same erasure does the rest and nothing twice."""
    world.busy = {"a1"}
    with pytest.raises(NotFinished, match=r"2 of 3 audiences confirmed: 'audience a1': run 20261121") as unfinished:
        world.run()
    assert f"audiencekit resume {ID}" in unfinished.value.hint
    assert unfinished.value.document is not None
    assert unfinished.value.document["state"] == "incomplete"
    assert world.left() == ["a1"]
    world.busy, world.account.sent = set(), []
    assert world.run().state == "complete"
    assert [audience for audience, _ in world.account.sent] == ["a1"]


def test_requests_that_may_be_applied_late_are_waited_for(world: World) -> None:
    """The other audiences do not wait, and the wait is told."""
    times = []
    world.doubtful = {"a0": 600.0}
    world.before_send = lambda: times.append(world.clock.monotonic())
    assert world.run().state == "complete"
    assert [time > 600 for time in times] == [False, False, True]
    assert any(one.startswith("waiting 600 s") for one in world.told)


def test_an_audience_that_refuses_is_told_and_the_others_are_done(world: World) -> None:
    """404 for an audience that is still listed."""
    world.account.audiences["a0"].type = "CRM"
    world.account._faults = {3: 25}
    with pytest.raises(AudiencekitError) as refused:
        world.run()
    assert refused.value.exit_code == 75
    assert len(world.left()) == 1
    assert world.run().state == "complete"


@pytest.mark.parametrize("times", [1, 2])
def test_an_interruption_ends_it_in_good_order(times: int, world: World) -> None:
    """While it sends: what is under way may finish, and the rest is for later; twice stops at once."""

    def interrupt() -> None:
        assert world.task is not None
        for _ in range(times):
            asyncio.get_running_loop().call_soon(world.task.cancel)
        world.before_send = lambda: None

    world.before_send = interrupt
    with pytest.raises(NotFinished, match=r"of 3 audiences confirmed: interrupted"):
        world.run()
    assert world.locked == []
    assert world.store.has_keys(ID)
    assert world.run().state == "complete"


def test_an_interruption_while_it_waits_ends_it_in_good_order(world: World) -> None:
    """For what may be applied late."""

    def interrupt() -> None:
        assert world.task is not None
        asyncio.get_running_loop().call_later(60, world.task.cancel)

    world.doubtful, world.before_send = {"a0": 600.0}, interrupt
    with pytest.raises(NotFinished, match="2 of 3 audiences confirmed: interrupted"):
        world.run()


def test_credentials_that_are_refused_end_it_at_once(world: World) -> None:
    """401: with 77, and what to do."""
    world.account._faults = {3: 22}
    with pytest.raises(CredentialsRefused):
        world.run()
    assert world.run().state == "complete"


@pytest.mark.parametrize("nth", [1, 2, 3, 4, 5, 6])
def test_a_disk_that_fails_ends_it_and_loses_nothing(nth: int, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever write it is: 74, and the same erasure goes on once there is space."""
    writes, save = 0, world.store.store

    def failing(receipt: Receipt) -> None:
        nonlocal writes
        writes += 1
        if writes == nth + 1:  # the first is that of its beginning
            raise InputOutputFailed("the receipt cannot be written: no space left")
        save(receipt)

    monkeypatch.setattr(world.store, "store", failing)
    with pytest.raises(InputOutputFailed) as failed:
        world.run()
    assert "audiencekit resume" in failed.value.hint
    assert failed.value.document is not None
    monkeypatch.setattr(world.store, "store", save)
    receipt = world.store.receipt(ID)
    if world.store.has_keys(ID):
        receipt = world.run()
    else:  # it was the last one: everything had confirmed
        world.store.complete(receipt, datetime.now(UTC))
    assert (receipt.state, world.left()) == ("complete", [])


def test_the_do_not_reach_list_is_made_and_filled(world: World) -> None:
    """With emails and phone numbers, until the time that was pinned when the erasure began."""
    until = "2027-12-20T12:00:00Z"
    receipt = world.run(until=until, kinds=(Kind.EMAIL, Kind.HANDLE))
    assert receipt.do_not_reach is not None
    assert receipt.do_not_reach.state == "confirmed"
    assert world.account.do_not_reach is not None
    assert world.account.do_not_reach.members == {frozenset({("email", EMAIL)})}
    (operations,) = [sent for audience, sent in world.account.sent if audience == "dnr1"]
    assert {one["params"]["expires_at"] for one in operations} == {until}


def test_a_list_that_cannot_be_had_keeps_no_audience_back(world: World) -> None:
    """They are done first; the list follows when the service gives it."""
    world.account._faults = dict.fromkeys(range(6, 40), 12)
    with pytest.raises(NotFinished, match="3 of 3 audiences confirmed: "):
        world.run(until="2027-12-20T12:00:00Z")
    assert world.left() == []
    world.account._faults = {}
    assert world.run().state == "complete"


def test_only_people_with_email_or_phone_number_are_put_on_the_list(world: World) -> None:
    """None is made for them, and the receipt says so."""
    receipt = world.run(until="2027-12-20T12:00:00Z", kinds=(Kind.HANDLE,))
    assert (receipt.do_not_reach, world.account.do_not_reach) == (None, None)
    assert NOT_LISTED in receipt.notes
