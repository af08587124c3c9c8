"""Audiences of a setup, carried out on the emulator."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import audiencekit
from audiencekit.audiences.setups.document import read_setup
from audiencekit.audiences.setups.one_audience import EXIT_CODES
from audiencekit.audiences.setups.running import carry_out, run_setup_async
from audiencekit.delivery.limiter.pacing import JointLimiter
from audiencekit.emulator import Emulator
from audiencekit.errors import CredentialsRefused, PlanRefused, Refused
from audiencekit.personal import Secret
from audiencekit.reporting.progress import NoProgress
from audiencekit.settings import SECRET_NAMES, Settings
from tests.audiences.members import members_of

AUDIENCES = ("north", "south", "east", "west", "leavers")


class _Two:
    """Two accounts of one service with five audiences, and a setup of them."""

    def __init__(self, emulator: Emulator, directory: Path) -> None:
        self._emulator, self.path = emulator, directory / "audiencekit.toml"
        store, now = emulator.store, emulator.clock.now()
        other = store.make_account(now)
        self.accounts = {"first": emulator.account_id, "second": other.id}
        accounts = dict(zip(AUDIENCES, ("first", "first", "second", "second", "second"), strict=True))
        self.ids = {
            name: store.make_audience(store.accounts[self.accounts[account]], name.title(), None, now).id
            for name, account in accounts.items()
        }
        self.sections = {
            name: f'[audiences.{name}]\nlist = "{name}"\naudience = "{self.ids[name]}"\naccount = "{account}"\n'
            for name, account in accounts.items()
        }
        self.sections["south"] = self.sections["south"].replace(self.ids["south"], "South")
        self.sections["leavers"] += 'command = "upload"\n'
        for number, name in enumerate(AUDIENCES):
            rows = [person(name, at) for at in range(100 + number)]
            (directory / f"{name}.csv").write_text("\n".join(["email", *rows]) + "\n")
        self.write()

    def write(self) -> None:
        """The setup, as its sections are now."""
        accounts = [f'[accounts.{name}]\naccount_id = "{one}"\n' for name, one in self.accounts.items()]
        lists = [f'[lists.{name}]\nsource = "{name}.csv"\n' for name in AUDIENCES]
        self.path.write_text("".join([*accounts, *lists, *self.sections.values()]))

    def add_objections(self, account: str, count: int, *, more: str = "") -> None:
        """Another section: people for the do-not-reach list of the account."""
        rows = [person("objections", at) for at in range(count)]
        (self.path.parent / "objections.csv").write_text("\n".join(["email", *rows]) + "\n")
        section = '[audiences.objections]\nsource = "objections.csv"\ncommand = "do-not-reach"\n'
        self.sections["objections"] = f'{section}account = "{account}"\n{more}'
        self.write()

    async def not_reached(self) -> dict[str, list[set[str]]]:
        """By account the hashes of the emails on each do-not-reach list, as the service has them."""
        accounts = {name: self._emulator.store.accounts[account] for name, account in self.accounts.items()}
        return {
            name: [await self._emails(one) for one in account.do_not_reach_lists] for name, account in accounts.items()
        }

    async def members(self, name: str) -> set[str]:
        """The hashes of the emails in an audience, as the service has them."""
        return await self._emails(self.ids[name])

    async def _emails(self, list_id: str) -> set[str]:
        return {email for member in await members_of(self._emulator, list_id) for email in member["keys"]["email"]}


def person(name: str, number: int) -> str:
    """The email of an invented person."""
    return f"{name}{number}@example.com"


def hashes(name: str, numbers: Iterable[int]) -> set[str]:
    """The hashes of invented people, computed by hand."""
    return {hashlib.sha256(person(name, number).encode()).hexdigest() for number in numbers}


def people(name: str) -> set[str]:
    """The hashes that the audience is to hold."""
    return hashes(name, range(100 + AUDIENCES.index(name)))


@pytest.fixture
def two(emulator: Emulator, tmp_path: Path) -> _Two:
    return _Two(emulator, tmp_path)


async def test_five_audiences_of_two_accounts_hold_exactly_their_lists(two: _Two, settings: Settings) -> None:
    """One of them is named in place of its id, and one is an upload. A second time nothing is sent but that."""
    report = await run_setup_async(two.path, settings=settings)
    assert [(result.setup.name, result.state) for result in report.results] == [(one, "complete") for one in AUDIENCES]
    assert [result.account_id for result in report.results] == [
        two.accounts[account] for account in ("first", "first", "second", "second", "second")
    ]
    for name in AUDIENCES:
        assert await two.members(name) == people(name), name
    again = await run_setup_async(two.path, ["north", "west"], settings=settings)
    assert [result.document["changes"]["unchanged"] for result in again.results] == [100, 103]
    assert [result.document["requests"]["planned"] for result in again.results] == [0, 0]


async def test_the_do_not_reach_list_holds_exactly_its_people(two: _Two, settings: Settings) -> None:
    """That of the account which is named; the first run creates it, and others put on it or take off."""
    two.add_objections("second", 20)
    first = await run_setup_async(two.path, ["objections"], settings=settings)
    (result,) = first.results
    assert (result.state, result.audience_id, result.account_id) == ("complete", "", two.accounts["second"])
    document = result.to_json()
    assert (document["command"], document["operation"], document["audience_id"]) == ("do-not-reach", "update", None)
    assert document["report"]["rows"]["sent"] == 20
    assert await two.not_reached() == {"first": [], "second": [hashes("objections", range(20))]}
    two.add_objections("second", 5, more='operation = "delete"\n')
    await run_setup_async(two.path, ["objections"], settings=settings)
    assert await two.not_reached() == {"first": [], "second": [hashes("objections", range(5, 20))]}


async def test_a_delete_where_there_is_no_do_not_reach_list_is_refused(two: _Two, settings: Settings) -> None:
    """None is created for it, and the others are done."""
    two.add_objections("first", 20, more='operation = "delete"\n')
    with pytest.raises(Refused, match="has no do-not-reach list") as caught:
        await run_setup_async(two.path, ["north", "objections"], settings=settings)
    document = caught.value.document
    assert document is not None
    codes = {each["name"]: (each["state"], each["exit_code"]) for each in document["audiences"]}
    assert codes == {"north": ("complete", 0), "objections": ("refused", 3)}
    assert await two.members("north") == people("north")
    assert await two.not_reached() == {"first": [], "second": []}


async def test_each_account_has_its_own_credentials(two: _Two, settings: Settings) -> None:
    """Those of one that are worth nothing leave the other done."""
    wrong = {name: Secret("local-wrong") for name in SECRET_NAMES}
    settings = replace(settings, named_secrets={"FIRST": settings.secrets, "SECOND": wrong}, secrets={})
    with pytest.raises(CredentialsRefused) as caught:
        await run_setup_async(two.path, ["north", "east", "leavers"], settings=settings)
    assert caught.value.document is not None
    codes = {each["name"]: each["exit_code"] for each in caught.value.document["audiences"]}
    assert codes == {"north": 0, "east": 77, "leavers": 77}


async def test_a_failure_in_one_leaves_the_others_done(two: _Two, settings: Settings) -> None:
    """And is raised at the end, with what became of each; the worst is the one that is told."""
    two.sections["south"] = two.sections["south"].replace('"South"', '"h0n3"')  # is not there
    two.sections["east"] += 'country = "DE"\nsource = "gone.csv"\n'
    two.write()
    with pytest.raises(PlanRefused, match="has no audience h0n3") as caught:
        await run_setup_async(two.path, settings=settings)
    document = caught.value.document
    assert document is not None
    states = {each["name"]: (each["state"], each["exit_code"]) for each in document["audiences"]}
    complete = ("complete", 0)
    assert states == dict(zip(AUDIENCES, (complete, ("refused", 3), ("refused", 3), complete, complete), strict=True))
    assert document["exit_code"] == 3
    for name in ("north", "west", "leavers"):
        assert await two.members(name) == people(name), name


async def test_a_setup_that_breaks_a_rule_sends_nothing(two: _Two, settings: Settings, emulator: Emulator) -> None:
    """Even when the rule is about the last of its audiences."""
    with pytest.raises(audiencekit.UsageError, match="no audience 'noth'") as caught:
        await run_setup_async(two.path, ["noth"], settings=settings)
    assert caught.value.hint == "perhaps north"
    two.sections["leavers"] += 'contry = "DE"\n'
    two.write()
    with pytest.raises(audiencekit.DefinitionRefused, match=r"audiences.leavers.contry: .* perhaps country$"):
        await run_setup_async(two.path, settings=settings)
    assert emulator.store.requests.documents() == []


async def test_a_run_that_ends_in_good_order_still_leaves_the_rest(
    two: _Two, settings: Settings, emulator: Emulator
) -> None:
    """It takes the cancellation back, since it says itself how far it came: the next is not begun all the same."""

    class _Cancelling(NoProgress):
        def step(self, stage: str, done: int, total: int, *, unit: str, also: object = None) -> None:
            if stage == "north: sending" and not done:
                running.cancel()

    running = asyncio.ensure_future(carry_out(read_setup(two.path), None, settings, _Cancelling()))
    report = await running
    first, *rest = report.results
    assert {result.state for result in rest} == {"not begun"}
    assert first.state in ("complete", "incomplete")
    told = str(report).splitlines()[0]
    assert ("put in" in told) == (first.state == "complete"), "what was only planned is not told as done"
    assert report.exit_code == 75


async def test_a_cancelled_run_leaves_the_rest_for_the_next_time(two: _Two, settings: Settings) -> None:
    """Audiences that were not begun are not begun; the code says that something is left to do."""

    class _Cancelling(NoProgress):
        def tell(self, message: str) -> None:
            if message.startswith("south: sync of"):
                running.cancel()

    running = asyncio.ensure_future(carry_out(read_setup(two.path), None, settings, _Cancelling()))
    report = await running
    assert [result.state for result in report.results] == ["complete", "incomplete", *["not begun"] * 3]
    assert (report.exit_code, report.state) == (75, "incomplete")


async def test_a_do_not_reach_list_that_was_cut_short_goes_on(two: _Two, settings: Settings) -> None:
    """By the newest run of the list; its requests that are confirmed are not sent again."""
    two.add_objections("second", 20, more="max_records_per_request = 5\n")
    setup, settings = read_setup(two.path), replace(settings, concurrency=1)

    class _CuttingShort(NoProgress):
        def step(self, stage: str, done: int, total: int, *, unit: str, also: Mapping[str, int] | None = None) -> None:
            if stage == "objections: sending" and 0 < done < total:
                running.cancel()

    running = asyncio.ensure_future(carry_out(setup, ["objections"], settings, _CuttingShort()))
    (first,) = (await running).results
    requests = first.document["requests"]
    assert (first.exit_code, requests["planned"], 0 < requests["confirmed"] < 4) == (75, 4, True)
    (second,) = (await carry_out(setup, ["objections"], settings, NoProgress())).results
    assert second.document["run_id"] == first.document["run_id"]
    assert (second.state, second.document["requests"]["attempts"]) == ("complete", 4)
    assert (await two.not_reached())["second"] == [hashes("objections", range(20))]
    (third,) = (await carry_out(setup, ["objections"], settings, NoProgress())).results
    assert third.document["run_id"] != first.document["run_id"]


def test_the_worst_code_is_that_which_no_second_try_cures() -> None:
    """All that there are, and 0 is the best."""
    codes = {
        found.exit_code for found in vars(audiencekit.errors).values()
        if isinstance(found, type) and issubclass(found, audiencekit.AudiencekitError)
    }  # fmt: skip
    assert codes | {0} == set(EXIT_CODES)
    assert EXIT_CODES.index(75) == len(EXIT_CODES) - 2


class _Noting:
    """A limiter that notes what it is asked."""

    is_quota_shared = True

    def __init__(self, name: str, asked: list[str]) -> None:
        self._name, self._asked = name, asked

    async def acquire(self) -> None:
        self._asked.append(f"{self._name} acquire")

    async def pause(self, seconds: float) -> None:
        self._asked.append(f"{self._name} pause {seconds}")


async def test_all_accounts_keep_one_pace_and_each_its_own() -> None:
    """Every request asks both, and a 429 holds back both."""
    asked: list[str] = []
    joint = JointLimiter(_Noting("own", asked), _Noting("common", asked))
    await joint.acquire()
    await joint.pause(3.0)
    assert asked == ["common acquire", "own acquire", "own pause 3.0", "common pause 3.0"]
    assert joint.is_quota_shared


async def test_the_pace_of_a_run_is_shared_by_its_accounts(
    two: _Two, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every request of both accounts has its place in the common line, that to a do-not-reach list as well."""
    two.add_objections("first", 20)
    asked: dict[str, int] = {}

    class _Counting:
        def __init__(self, account_id: str) -> None:
            self._account_id = account_id

        async def acquire(self) -> None:
            asked[self._account_id] = asked.get(self._account_id, 0) + 1

    class _Opened:
        def __init__(self, given: Settings, quota: str, **_: Any) -> None:
            self._limiter = _Counting(given.account_id or "")

        async def __aenter__(self) -> _Counting:
            return self._limiter

        async def __aexit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr("audiencekit.audiences.setups.one_audience.open_limiter", _Opened)
    names = ["north", "east", "leavers", "objections"]
    await run_setup_async(two.path, names, settings=replace(settings, requests_per_minute=900))
    assert asked == {two.accounts["first"]: 2, two.accounts["second"]: 2, "all accounts": 4}
