"""`audiencekit.audiences.do_not_reach`."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.answers import Answer
from audiencekit.api.opening import open_client
from audiencekit.audiences.do_not_reach import delete_list, do_not_reach_upload_async, ensure_list, find_list
from audiencekit.emulator import Emulator
from audiencekit.errors import (
    CredentialsRefused,
    ExchangeError,
    InputOutputFailed,
    MalformedAnswer,
    MappingRefused,
    NotFinished,
    NotFound,
    Outcome,
    PlanRefused,
    Refused,
    RequestRefused,
    TemporarilyUnavailable,
    TransportFailed,
    UsageError,
)
from audiencekit.limits import CREATION_LOOKUP_SECONDS, CREATION_LOOKUPS
from audiencekit.personal import Secret
from audiencekit.settings import Settings
from audiencekit.state.keys import StateKey
from tests.audiences.stepclock import StepClock
from tests.audit.edits import write_log
from tests.moments import PATIENCE_SECONDS

LOST = TransportFailed("the answer was lost", sent=True)
NEVER_SENT = TransportFailed("no server is there", sent=False)
SECOND = RequestRefused("there is one", status=400, codes=("INVALID",))
AWAY = TemporarilyUnavailable("away", status=503, outcome=Outcome.UNKNOWN)


class Service:
    """An account's lists. `failure` is raised in place of an answer, `applied` says whether it was done all the same.

    `appears` is the number of the look-up, counted after the creation, from which the list is shown; `away` are the
    numbers of those that fail.
    """

    def __init__(
        self,
        *ids: str,
        failure: ExchangeError | None = None,
        applied: bool = False,
        appears: int = 1,
        away: Sequence[int] = (),
    ) -> None:
        self.lists = [{"id": each, "deleted": False} for each in ids]
        self.created = self.looked = 0
        self._failure, self._applied, self._appears, self._away = failure, applied, appears, away

    async def list_do_not_reach_lists(self, *, with_deleted: bool | None = None) -> Answer:
        self.looked += bool(self.created)
        if self.created and self.looked in self._away:
            raise AWAY
        return Answer(status=200, data=self.lists if not self.created or self.looked >= self._appears else [])

    async def create_do_not_reach_list(self, *, description: str | None = None) -> Answer:
        self.created += 1
        if self._failure is None or self._applied:
            self.lists.append({"id": "new1", "deleted": False, "description": description})
        if self._failure is not None:
            raise self._failure
        return Answer(status=200, data=self.lists[-1])

    async def delete_do_not_reach_list(self, list_id: str) -> Answer:
        if self._failure is None or self._applied:
            self.lists = []
        if self._failure is not None:
            raise self._failure
        return Answer(status=200, data={"id": list_id, "deleted": True})


async def test_the_list_of_the_account_is_found() -> None:
    """One, or none; deleted ones are none."""
    found = await find_list(Service("abc1"))
    assert found is not None
    assert (found.id, found.state, str(found.target)) == ("abc1", "found", "do-not-reach list abc1")
    assert await find_list(Service()) is None
    gone = Service("abc1")
    gone.lists[0]["deleted"] = True
    assert await find_list(gone) is None


@pytest.mark.parametrize("lists", [[{"id": "a"}, {"id": "b"}], [{}], [{"id": 7}]])
async def test_an_account_that_cannot_be_is_no_answer(lists: list[dict[str, Any]]) -> None:
    """Which of two lists was meant must not be guessed."""
    service = Service()
    service.lists = lists
    with pytest.raises(MalformedAnswer):
        await find_list(service)


async def test_a_list_that_is_there_is_not_created_again() -> None:
    """It is looked up first."""
    service = Service("abc1")
    there = await ensure_list(service, clock=StepClock())
    assert (there.id, there.state, service.created) == ("abc1", "found", 0)


async def test_a_missing_list_is_created_once() -> None:
    """With its description."""
    service = Service()
    there = await ensure_list(service, clock=StepClock(), description="opted out")
    assert (there.id, there.state, service.created) == ("new1", "created", 1)
    assert there.shown["description"] == "opted out"


@pytest.mark.parametrize(
    ("failure", "faults", "lookups"),
    [
        (LOST, {}, 1),
        (LOST, {"appears": 3}, 3),
        (LOST, {"away": (1, 2)}, 3),
        (AWAY, {}, 1),
        (MalformedAnswer("cut off", status=200), {}, 1),
        (SECOND, {}, 1),
    ],
)
async def test_after_a_lost_answer_the_list_is_looked_up(
    failure: ExchangeError, faults: dict[str, Any], lookups: int
) -> None:
    """And not created again, likewise when another program created it first."""
    service, clock = Service(failure=failure, applied=True, **faults), StepClock()
    there = await ensure_list(service, clock=clock)
    assert (there.id, there.state, service.created, service.looked) == ("new1", "found", 1, lookups)
    assert clock.slept == [CREATION_LOOKUP_SECONDS] * (lookups - 1)


async def test_an_unknown_outcome_of_a_creation_is_said() -> None:
    """And what to do: the same again does no harm."""
    service = Service(failure=LOST)
    with pytest.raises(NotFinished, match="not known") as caught:
        await ensure_list(service, clock=StepClock())
    assert (service.created, service.looked) == (1, CREATION_LOOKUPS)
    assert "looked up first" in caught.value.hint


@pytest.mark.parametrize("failure", [NEVER_SENT, SECOND])
async def test_a_list_that_was_certainly_not_created_is_an_error(failure: ExchangeError) -> None:
    """The service's own."""
    with pytest.raises(type(failure)):
        await ensure_list(Service(failure=failure), clock=StepClock())


async def test_a_lost_deletion_is_looked_after() -> None:
    """Gone is gone; what is still there may have to be deleted again."""
    await delete_list(Service("abc1"), "abc1")
    await delete_list(Service("abc1", failure=LOST, applied=True), "abc1")
    with pytest.raises(NotFinished, match="not known"):
        await delete_list(Service("abc1", failure=LOST), "abc1")
    with pytest.raises(NotFound):
        await delete_list(Service(failure=NotFound("none", status=404)), "abc1")


async def test_the_client_fits(emulator: Emulator, settings: Settings) -> None:
    """The emulator refuses a second list, and a deleted one can be followed by another."""
    async with open_client(settings) as client:
        first = await ensure_list(client, clock=StepClock())
        assert (await ensure_list(client, clock=StepClock())).id == first.id
        with pytest.raises(RequestRefused):
            await client.create_do_not_reach_list()
        await delete_list(client, first.id)
        assert await find_list(client) is None
        second = await ensure_list(client, clock=StepClock())
    assert (second.state, second.id == first.id) == ("created", False)


# --- `audiencekit.audiences.do_not_reach`, on the emulator ---


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "optouts.csv"
    path.write_text("email,phone\nada@example.com,+12015550101\nbob@example.com,\n,+12015550103\n")
    return path


def _lists(emulator: Emulator) -> list[Any]:
    return list(emulator.store.accounts[emulator.account_id].do_not_reach_lists.values())


async def test_the_first_upload_creates_the_list(source: Path, emulator: Emulator, settings: Settings) -> None:
    """The second finds it."""
    first = await do_not_reach_upload_async(source, settings=settings)
    second = await do_not_reach_upload_async(source, settings=settings, operation="delete")
    (made,) = _lists(emulator)
    assert (first.target.id, first.rows.sent, second.target) == (made.id, 3, first.target)
    assert list(made.members.members(emulator.clock.now())) == []


async def test_every_entry_says_when_it_expires(source: Path, emulator: Emulator, settings: Settings) -> None:
    """Under 13 months, which the emulator checks; and it takes effect at once."""
    report = await do_not_reach_upload_async(source, settings=settings, plan_time="2026-01-31T10:00:00Z")
    assert (report.expires_at, report.effective_at) == ("2027-02-27T10:00:00Z", None)
    (made,) = _lists(emulator)
    assert len(list(made.members.members(emulator.clock.now()))) == 3


@pytest.mark.parametrize(
    ("text", "keywords", "error"),
    [
        ("email,handle\nada@example.com,ada_l\nbob@example.com,bob_b\n", {}, MappingRefused),
        ("email\n", {}, PlanRefused),
        ("email\nada@example.com\n", {"operation": "delete"}, Refused),
        ("email\nada@example.com\n", {"effective_at": "2026-12-01"}, UsageError),
        ("email\nada@example.com\n", {"ttl_days": 400}, UsageError),
        ("email\nada@example.com\n", {"no_such": 1}, UsageError),
    ],
)
async def test_a_refused_source_creates_no_list(
    tmp_path: Path, emulator: Emulator, settings: Settings, text: str, keywords: dict[str, Any], error: type[Exception]
) -> None:
    """It is checked before."""
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(error):
        await do_not_reach_upload_async(path, settings=settings, **keywords)
    assert _lists(emulator) == []


@pytest.mark.parametrize(
    ("changes", "run_id", "error"),
    [
        ({}, "x", UsageError),
        ({"events": "optouts.csv"}, None, UsageError),
        ({"events": "missing/events.jsonl"}, None, InputOutputFailed),
        ({"purpose": "call +49 171 1234567"}, None, UsageError),
        ({"require": frozenset({"purpose"})}, None, UsageError),
        ({"key_place": "apart"}, None, CredentialsRefused),
        ({"key": Secret("08" * 32)}, None, CredentialsRefused),
    ],
    ids=["run id", "events", "no place for events", "purpose", "required", "place of the key", "audit log"],
)
async def test_settings_that_refuse_a_run_create_no_list(
    source: Path,
    emulator: Emulator,
    settings: Settings,
    changes: dict[str, Any],
    run_id: str | None,
    error: type[Exception],
) -> None:
    """Nor is the service asked whether there is one."""
    if "key" in changes:
        write_log(settings.state_dir, 1, StateKey(b"\x07" * 32))
    if "events" in changes:
        changes = {"events": source.parent / changes["events"]}
    before = len(emulator.store.requests.documents())
    with pytest.raises(error):
        await do_not_reach_upload_async(source, settings=replace(settings, **changes), run_id=run_id)
    assert (_lists(emulator), len(emulator.store.requests.documents())) == ([], before)


async def test_a_query_under_an_id_creates_no_list(source: Path, emulator: Emulator, settings: Settings) -> None:
    """It may have other rows the next time, and the options say so before the source is asked."""
    with pytest.raises(UsageError, match="can be read again"):
        await do_not_reach_upload_async([{"email": "ada@example.com"}], settings=settings, run_id="objections-1")
    assert _lists(emulator) == []


async def test_a_refusal_after_the_creation_says_that_the_list_is_there(
    emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard input is read after it."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"email\nno address\n")))
    with pytest.raises(PlanRefused) as refused:
        await do_not_reach_upload_async("-", settings=settings)
    (made,) = _lists(emulator)
    assert f"the do-not-reach list {made.id} was created" in str(refused.value)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"email\nno address\n")))
    with pytest.raises(PlanRefused) as again:
        await do_not_reach_upload_async("-", settings=settings)
    assert "was created" not in str(again.value)


async def test_standard_input_is_read_once(
    emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch, source: Path
) -> None:
    """So the list comes first there."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(source.read_bytes())))
    report = await do_not_reach_upload_async("-", settings=settings)
    assert (report.rows.sent, len(_lists(emulator))) == (3, 1)


async def test_an_interruption_before_the_run_is_not_finished(
    source: Path, emulator: Emulator, settings: Settings
) -> None:
    """While the source is checked for a list that is not there yet; the same again does no harm."""
    loop = asyncio.get_running_loop()

    class Impatient:
        def step(self, *_: Any, **__: Any) -> None:
            loop.call_soon_threadsafe(cancel)
            assert cancelled.wait(PATIENCE_SECONDS)

        def tell(self, message: str) -> None:
            raise AssertionError(message)

    def cancel() -> None:
        uploading.cancel()
        cancelled.set()

    cancelled = threading.Event()
    uploading = asyncio.create_task(do_not_reach_upload_async(source, settings=settings, progress=Impatient()))
    with pytest.raises(asyncio.CancelledError) as caught:
        await uploading
    why = caught.value.__cause__
    assert isinstance(why, NotFinished)
    assert "before people were put on" in str(why)
    assert why.document == {"state": "incomplete"}
    assert _lists(emulator) == []
