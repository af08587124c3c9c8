"""One process of one erasure, on virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.client import AdsClient
from audiencekit.audiences.erasure.erasing import Erasing
from audiencekit.audiences.erasure.erasuremeans import ErasureMeans
from audiencekit.audiences.erasure.erasurestore import ErasureStore
from audiencekit.audiences.erasure.keys import ErasureKeys, count_by_kind, to_records
from audiencekit.audiences.erasure.receipt import NO_AUDIENCE, NOT_LISTED, Receipt
from audiencekit.delivery.limiter import PacedLimiter
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, AudiencekitError, CredentialsRefused, InputOutputFailed, NotFinished
from audiencekit.identifiers.kinds import Kind
from audiencekit.machine.keys import StateKey
from audiencekit.profile import SPEC
from audiencekit.reporting.progress import NoProgress
from tests.audiences.erasure.account import ACCOUNT, Account, Keys as Entry
from tests.virtualtime import VirtualClock, run_virtually

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
        means = ErasureMeans(
            limiter=PacedLimiter(clock=self.clock),
            policy=RetryPolicy(clock=self.clock, randomness=random.Random(2)), lock=self._lock,
            doubts=lambda target: self.doubtful.get(target.id, 0.0) - self.clock.monotonic(), leave=self.leave,
            concurrency=2,
        )  # fmt: skip
        client = AdsClient(self, account_id=ACCOUNT)
        erasing = Erasing(receipt, records, client, means, profile=SPEC, store=self.store, progress=self)
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
    writes, keep = 0, world.store.keep

    def failing(receipt: Receipt) -> None:
        nonlocal writes
        writes += 1
        if writes == nth + 1:  # the first is that of its beginning
            raise InputOutputFailed("the receipt cannot be written: no space left")
        keep(receipt)

    monkeypatch.setattr(world.store, "keep", failing)
    with pytest.raises(InputOutputFailed) as failed:
        world.run()
    assert "audiencekit resume" in failed.value.hint
    assert failed.value.document is not None
    monkeypatch.setattr(world.store, "keep", keep)
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
