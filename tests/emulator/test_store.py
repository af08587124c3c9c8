"""The accounts in the emulator's memory."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import Emulator, EmulatorOptions, StateError
from audiencekit.emulator.emulator_parts import Handlers
from audiencekit.emulator.endpoints.audience_members import Span
from audiencekit.emulator.store import Clock, StateFile, Store
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_line_item
from tests.emulator.world import World

# --- The accounts in the emulator's memory ---


def test_a_store_starts_with_one_ready_audience() -> None:
    """One account, one audience, both following from the seed."""
    store, again = Store(3, 1_000.0), Store(3, 2_000.0)
    audience = store.find_audience(store.audience_id)
    assert audience is not None
    assert (audience.created_at, audience.deleted) == (1_000.0, False)
    assert store.audience_id == again.audience_id
    assert list(store.accounts) == list(again.accounts)


def test_every_audience_has_an_id_of_its_own() -> None:
    """Ids are lower-case base-36, and differ."""
    store = Store(0, 0.0)
    account = store.accounts[store.origin.account_id]
    ids = [store.make_audience(account, f"n{number}", None, 0.0).id for number in range(500)]
    assert len({*ids, store.audience_id}) == 501
    assert all(id_.isalnum() and id_ == id_.lower() and id_.isascii() for id_ in ids)


def test_a_deleted_audience_keeps_its_name() -> None:
    """The name of a deleted audience is taken."""
    store = Store(0, 0.0)
    account = store.accounts[store.origin.account_id]
    store.make_audience(account, "Gone", None, 0.0).deleted = True
    assert account.has_name("Gone")
    assert not account.has_name("gone")
    assert store.find_audience("nothing") is None


def test_lost_members_are_gone_from_every_list() -> None:
    """The lists stay."""
    store = Store(0, 0.0)
    audience = store.find_audience(store.audience_id)
    assert audience is not None
    audience.members.update([b"\x02" + bytes(32)], Span(0.0, 10.0), 0.0)
    assert len(list(audience.members.members(1.0))) == 1
    store.lose_members()
    assert list(audience.members.members(1.0)) == []
    assert store.find_audience(store.audience_id) is audience


# --- The state that survives a restart ---

START = 1_800_000_000.25
H1, H2 = "a1" * 32, "b2" * 32


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A file that is not there yet."""
    return tmp_path / "emulator.state"


def _update(*users: dict[str, list[str]]) -> list[Any]:
    return [{"operation_type": "Update", "params": {"users": list(users)}}]


async def _fill(caller: Any) -> None:
    """A bit of everything, some of it refused, over some days."""
    await caller.upload(_update(*({"email": [f"{number:064x}"]} for number in range(300))))
    await caller.move_clock(advance=86_400)
    await caller.upload([{**_update({"email": [f"{5:064x}"]})[0], "operation_type": "Delete"}])
    await caller.upload(_update({"email": ["no hash"]}))
    dnr = (await caller.call("POST", caller.account + "/do_not_reach_lists")).body["data"]["id"]
    path = caller.account.replace("/12/", "/12/batch/")
    await caller.upload(_update({"phone_number": [H1]}), path=f"{path}/do_not_reach_lists/{dnr}/users")
    made = await caller.call("POST", "/12/accounts", base=caller.emulator.ads_sandbox_url)
    grant = {"granted_account_id": made.body["data"][0]["id"], "permission_level": "READ_ONLY"}
    audience_id = caller.emulator.audience_id
    await caller.call("POST", f"{caller.audiences}/{audience_id}/permissions", query=grant)
    campaign = (await make_campaign(caller)).body["data"]
    batch = [
        {
            "operation_type": "Create",
            "params": {
                "name": "b",
                "funding_instrument_id": campaign["funding_instrument_id"],
                "daily_budget_amount_local_micro": 5,
            },
        },
        {"operation_type": "Delete", "params": {"campaign_id": "nothing"}},
    ]
    assert (await caller.upload(batch, path=path + "/campaigns")).status == 400
    await make_line_item(caller, campaign["id"])
    leaf = {"custom_audience_id": audience_id, "negate": False, "child_segments": []}
    tree = {"boolean_operator": "AND", "child_segments": [leaf]}
    item = {"operation_type": "Create", "params": {"name": "f", "audience_type": "FLEXIBLE", "segments": tree}}
    assert (await caller.upload([item], path=path + "/custom_audiences")).status == 200
    await caller.move_clock(advance=3_600)


async def _everything(caller: Any) -> list[Any]:
    """Return all that an emulator shows, but for its ports."""
    kinds = ("custom_audiences", "do_not_reach_lists", "campaigns", "funding_instruments", "line_items", "features")
    paths = ["/12/accounts", *(f"{caller.account}/{kind}" for kind in kinds)]
    paths.append(f"{caller.audiences}/{caller.emulator.audience_id}/permissions")
    seen = [(await caller.call("GET", path)).body["data"] for path in paths]
    lists = [record["id"] for documents in seen[1:3] for record in documents]
    members = [await caller.members(each) for each in lists]
    return [seen, members, await caller.log(), caller.emulator.env["AUDIENCEKIT_ACCESS_TOKEN"]]


async def test_an_emulator_continues_where_it_ended(open_emulator: Any, state: Path) -> None:
    """Accounts, lists with their members and sizes, permissions, campaigns, the logs and the clock."""
    async with open_emulator(state=state) as caller:
        await _fill(caller)
        before, now = await _everything(caller), caller.emulator.clock.now()
        requests = (await caller.send("GET", "/__requests")).body
    async with open_emulator(state=state) as caller:
        assert caller.emulator.clock.now() == now
        assert (await caller.send("GET", "/__requests")).body == requests
        assert await _everything(caller) == before
        made = (await caller.call("POST", caller.audiences, query={"name": "after"})).body["data"]["id"]
        ids = [record["id"] for documents in before[0] for record in documents if isinstance(record, dict)]
        assert made not in ids
        entries = (await caller.send("GET", "/__requests")).body
        assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))


async def test_it_continues_as_an_uninterrupted_one_does(open_emulator: Any, state: Path, tmp_path: Path) -> None:
    """A restart in between makes no difference to anything that comes after it."""
    ends = []
    for path, restart in ((state, True), (tmp_path / "other", False)):
        async with open_emulator(state=path) as caller:
            await _fill(caller)
            if not restart:
                ends.append(await _finish(caller))
        if restart:
            async with open_emulator(state=path) as caller:
                ends.append(await _finish(caller))
    assert ends[0] == ends[1]


async def _finish(caller: Any) -> list[Any]:
    await caller.upload(_update({"email": [H2]}))
    await caller.call("POST", caller.audiences, query={"name": "last"})
    await caller.move_clock(advance=86_400)
    return await _everything(caller)


async def test_one_of_everything_survives(open_emulator: Any, state: Path) -> None:
    """The records of every kind with what they were before, and the settings."""
    seen = []
    async with open_emulator(state=state) as caller:
        world = await World.make(caller)
        settings = {"tax_settings": {"tax_id": "1"}, f"user_settings/{world.values['user_id']}": {"contact_phone": "1"}}
        for path, query in settings.items():
            assert (await caller.call("PUT", f"{caller.account}/{path}", query=query)).status == 200
        await caller.move_clock(advance=2 * 86_400)
        await caller.call("GET", caller.account + "/scheduled_promoted_tweets")
        seen.append(_kept(caller))
    async with open_emulator(state=state) as caller:
        await caller.call("GET", caller.account + "/scheduled_promoted_tweets")
        seen.append(_kept(caller))
    assert seen[0] == seen[1]


def _kept(caller: Any) -> list[Any]:
    return [
        ({kind: found for kind, found in account.records.items() if found}, account.tax_settings, account.user_settings)
        for account in caller.emulator.store.accounts.values()
    ]


async def test_lost_members_stay_lost(open_emulator: Any, state: Path) -> None:
    """The fault of a restart without data is no call, and is kept all the same; the log is the witness."""
    async with open_emulator(state=state) as caller:
        await caller.upload(_update({"email": [H1]}))
    file, store = StateFile(state), Store(0, 0.0)
    Handlers(store, EmulatorOptions(), file).lose_members(START)
    file.close()
    async with open_emulator(state=state) as caller:
        assert await caller.members() == []
        assert len(await caller.log()) == 1


async def test_the_file_is_private(open_emulator: Any, state: Path) -> None:
    """It holds hashes, so only its owner may read it."""
    async with open_emulator(state=state):
        assert stat.S_IMODE(state.stat().st_mode) == 0o600


async def test_a_file_belongs_to_one_seed_and_profile(state: Path) -> None:
    """Another start would not find the same ids."""
    async with Emulator(EmulatorOptions(state=state, seed=3)):
        pass
    with pytest.raises(StateError, match="seed 3, not 0"):
        Emulator(EmulatorOptions(state=state))
    with pytest.raises(StateError, match="profile 'spec', not 'x'"):
        Emulator(EmulatorOptions(state=state, seed=3, profile="x"))
    async with Emulator(EmulatorOptions(state=state, seed=3)):
        pass


async def test_a_file_in_another_format_is_refused_untouched(state: Path) -> None:
    """It may hold what this version would not apply."""
    async with Emulator(EmulatorOptions(state=state)):
        pass
    with sqlite3.connect(state) as database:
        database.execute("UPDATE facts SET value = 2 WHERE name = 'format'")
    database.close()
    content = state.read_bytes()
    with pytest.raises(StateError, match="made with format 2, not 1"):
        Emulator(EmulatorOptions(state=state))
    assert state.read_bytes() == content


async def test_a_file_belongs_to_one_emulator(state: Path) -> None:
    """A second one is refused while the first runs."""
    async with Emulator(EmulatorOptions(state=state)):
        with pytest.raises(StateError, match="in use"):
            Emulator(EmulatorOptions(state=state))
    async with Emulator(EmulatorOptions(state=state)):
        pass


async def test_a_file_with_calls_that_are_refused_now_is_refused(open_emulator: Any, state: Path) -> None:
    """Upper-case hashes were taken once and are not any more."""
    async with open_emulator(state=state, accept_upper_case=True) as caller:
        assert (await caller.upload(_update({"email": [H1.upper()]}))).status == 200
    for _ in range(2):
        with pytest.raises(StateError, match="other options"):
            Emulator(EmulatorOptions(state=state))
    async with open_emulator(state=state, accept_upper_case=True) as caller:
        assert len(await caller.members()) == 1


def test_other_files_are_refused(state: Path, tmp_path: Path) -> None:
    """No database, or a folder."""
    state.write_text(json.dumps({"seed": 0}) * 100)
    for path in (state, tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(StateError):
            StateFile(path)


def test_a_sink_has_no_state(state: Path) -> None:
    """It applies nothing."""
    with pytest.raises(ValueError, match="sink"):
        EmulatorOptions(state=state, sink=True)


async def test_only_calls_that_changed_something_are_kept(open_emulator: Any, state: Path) -> None:
    """Neither what was refused nor what was only read."""
    async with open_emulator(state=state) as caller:
        await caller.call("GET", caller.audiences)
        await caller.upload(b"[")
        await caller.upload(_update({"email": [H1]}))
    with sqlite3.connect(state) as database:
        assert database.execute("SELECT method, path FROM calls").fetchall() == [("POST", caller.users)]
        assert database.execute("SELECT count(*) FROM requests").fetchone() == (3,)
    database.close()


def test_an_emptied_file_is_not_a_new_one(state: Path) -> None:
    """The user is told that it had content, and the file stays as it is."""
    state.touch()
    with pytest.raises(StateError, match="is empty: what it held is lost; remove it"):
        StateFile(state)
    assert state.read_bytes() == b""
    state.unlink()
    StateFile(state).close()


async def test_a_file_that_was_cut_short_is_refused(open_emulator: Any, state: Path) -> None:
    """By a few bytes, by pages, or to its first bytes; and it stays as it is."""
    async with open_emulator(state=state) as caller:
        await _fill(caller)
    whole = state.read_bytes()
    assert len(whole) > 3 * 4096
    for size in (1, 100, 4096, len(whole) // 2, len(whole) - 4096, len(whole) - 10, len(whole) - 1):
        state.write_bytes(whole[:size])
        with pytest.raises(StateError, match="damaged, cut short"):
            Emulator(EmulatorOptions(state=state))
        assert state.read_bytes() == whole[:size]
    state.write_bytes(whole)
    async with open_emulator(state=state) as caller:
        assert len(await caller.members()) == 299


def test_another_database_is_left_alone(state: Path) -> None:
    """Its tables are not ours, and none are added."""
    with sqlite3.connect(state) as database:
        database.execute("CREATE TABLE runs (id)")
    database.close()
    before = state.read_bytes()
    with pytest.raises(StateError, match="no state file of an emulator"):
        StateFile(state)
    assert state.read_bytes() == before


# --- The clock that can be moved ---


def test_the_clock_goes_with_its_source() -> None:
    """An unmoved clock says what its source says."""
    moments = iter([10.0, 11.5])
    clock = Clock(lambda: next(moments))
    assert (clock.now(), clock.now()) == (10.0, 11.5)


def test_the_clock_goes_on_from_where_it_was_set() -> None:
    """After `set` the clock runs at the speed of its source."""
    moments = iter([10.0, 10.0, 12.5])
    clock = Clock(lambda: next(moments))
    clock.set(1_000.0)
    assert (clock.now(), clock.now()) == (1_000.0, 1_002.5)


def test_advances_add_up() -> None:
    """The clock can be advanced more than once, and back."""
    clock = Clock(lambda: 100.0)
    for seconds in (60.0, 5.5, -0.5):
        clock.advance(seconds)
    assert clock.now() == 165.0
