"""From PROCESSING to targetable, on the emulator's clock."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator.endpoints.audience_members import Span
from audiencekit.emulator.endpoints.custom_audiences import PROCESSING_SECONDS, Audience, Population, Processing
from tests.cases import each_case

# --- From PROCESSING to targetable, on the emulator's clock ---


def _update(first: int, count: int, **times: str) -> list[Any]:
    users = [{"email": [f"{number:064x}"]} for number in range(first, first + count)]
    return [{"operation_type": "Update", "params": {"users": users, **times}}]


def _delete(first: int, count: int) -> list[Any]:
    return [{**_update(first, count)[0], "operation_type": "Delete"}]


async def _state(caller: Any) -> tuple[bool, list[str], int | None]:
    record = (await caller.call("GET", f"{caller.audiences}/{caller.emulator.audience_id}")).body["data"]
    (listed,) = (await caller.call("GET", caller.audiences)).body["data"]
    assert listed == record
    return record["targetable"], record["reasons_not_targetable"], record["audience_size"]


BUSY = (False, ["PROCESSING", "TOO_SMALL"], None)
SMALL = (False, ["TOO_SMALL"], None)


async def test_an_audience_becomes_targetable_when_it_was_counted(open_emulator: Any) -> None:
    """Not a second before six hours are over."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 100))
        await caller.move_clock(advance=PROCESSING_SECONDS - 1)
        assert await _state(caller) == BUSY
        await caller.move_clock(advance=1)
        assert await _state(caller) == (True, [], 100)


async def test_counts_follow_each_other_as_soon_as_is_wished(open_emulator: Any) -> None:
    """On the clock that the client has, too: it need not be moved for hours."""
    async with open_emulator(match_rate=1.0, processing_seconds=5.0) as caller:
        await caller.upload(_update(0, 100))
        await caller.move_clock(advance=4)
        assert await _state(caller) == BUSY
        await caller.move_clock(advance=1)
        assert await _state(caller) == (True, [], 100)
        await caller.upload(_update(100, 1))
        await caller.move_clock(advance=5)
        assert await _state(caller) == (True, [], 101)


async def test_under_a_hundred_people_are_too_few(open_emulator: Any) -> None:
    """Counted, and not enough; a later upload is in process until the next count."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 99))
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == SMALL
        await caller.upload(_update(99, 1))
        assert await _state(caller) == BUSY
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == (True, [], 100)


async def test_sizes_lag_behind_membership(open_emulator: Any) -> None:
    """Between two counts an audience is what it was; each count sees the members of its own moment."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 150))
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == (True, [], 150)
        await caller.upload(_update(150, 50))
        assert await _state(caller) == (True, [], 150)
        # A count falls due here that no call asks for before the next change.
        await caller.move_clock(advance=PROCESSING_SECONDS)
        await caller.upload(_delete(0, 190))
        assert await _state(caller) == (True, [], 200)
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == SMALL


async def test_expired_people_are_not_counted(open_emulator: Any) -> None:
    """An audience without renewals expires by itself."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 120, expires_at="2027-01-20T00:00:00Z"))
        await caller.move_clock(advance=PROCESSING_SECONDS)
        assert await _state(caller) == (True, [], 120)
        await caller.move_clock(advance=5 * 86_400)
        assert await _state(caller) == SMALL


@each_case("seed", [0, 1])
async def test_the_match_rate_decides_the_size(open_emulator: Any, seed: int) -> None:
    """About six in ten by default, the same at each start, others with another seed."""
    sizes = []
    for _ in range(2):
        async with open_emulator(seed=seed) as caller:
            await caller.upload(_update(0, 2_000))
            await caller.move_clock(advance=PROCESSING_SECONDS)
            sizes.append((await _state(caller))[2])
    assert sizes[0] == sizes[1]
    assert 1_100 < sizes[0] < 1_300


async def test_a_deleted_audience_is_not_counted(open_emulator: Any) -> None:
    """A targetable audience that is deleted has no size."""
    async with open_emulator(match_rate=1.0) as caller:
        await caller.upload(_update(0, 120))
        await caller.move_clock(advance=PROCESSING_SECONDS)
        record = (await caller.call("DELETE", f"{caller.audiences}/{caller.emulator.audience_id}")).body["data"]
        assert (record["targetable"], record["reasons_not_targetable"], record["audience_size"]) == SMALL


def test_a_count_is_made_once() -> None:
    """However often one looks; also after the clock was moved back."""
    counts: list[float] = []
    processing = Processing(1_000.0)

    def count(moment: float) -> int:
        counts.append(moment)
        return 100

    for now in (1_000.0, 22_599.0, 22_600.0, 30_000.0, 900.0, 22_700.0, 90_000.0):
        processing.catch_up(now, count)
    assert counts == [22_600.0, 87_400.0]
    assert (processing.size, processing.is_targetable) == (100, True)


def test_more_identifiers_are_found_more_often() -> None:
    """One of several keys is enough; none at a rate of 0, all at 1."""
    span = Span(0.0, 1.0)
    emails = [(b"\x02" + bytes(31) + bytes([number]), span) for number in range(256)]
    pairs = [(email + b"\x06" + bytes(31) + bytes([number]), span) for number, (email, _) in enumerate(emails)]
    half = Population(7, 0.5)
    assert half.count(pairs) > half.count(emails) > 90
    assert Population(7, 0.0).count(pairs) == 0
    assert Population(7, 1.0).count(emails) == 256


# --- The record of an audience, against recorded answers ---

FIXTURES = Path(__file__).resolve().parents[3].parent / "shared" / "corpora" / "hash" / "x_sdk_response_fixtures.json"


def test_a_record_has_the_recorded_fields() -> None:
    """Every field of the recorded custom audiences but the one that was dropped (`list_type`)."""
    if not FIXTURES.exists():
        pytest.skip("the shared fixtures are not there")
    cases = json.loads(FIXTURES.read_text("utf-8"))["cases"]
    recorded = [
        record
        for case in cases
        if case["id"].endswith("custom_audiences_all")
        for record in case["body"]["data"]
        if record["audience_type"] == "CRM"
    ]
    shown = Audience("a", "b", "c", None, created_at=0.0, updated_at=0.0).document()
    assert recorded
    for record in recorded:
        assert record.keys() - {"list_type"} <= shown.keys()
        for name in ("audience_type", "targetable_types", "partner_source"):
            assert shown[name] == record[name]


# --- Custom audiences, over the wire ---


async def _create(caller: Any, name: str, **more: str) -> Any:
    return await caller.call("POST", caller.audiences, query={"name": name, **more})


async def test_a_new_audience_is_empty_and_not_targetable(caller: Any) -> None:
    """The record at creation, and its echo."""
    reply = await _create(caller, "Été 2027", description="a list")
    record = reply.body["data"]
    assert reply.status == 200
    assert reply.body["request"]["params"] == {
        "account_id": caller.emulator.account_id,
        "name": "Été 2027",
        "description": "a list",
    }
    assert record.pop("id") != caller.emulator.audience_id
    assert record == {
        "targetable": False,
        "name": "Été 2027",
        "targetable_types": ["CRM", "EXCLUDED_CRM"],
        "audience_type": "CRM",
        "description": "a list",
        "permission_level": "READ_WRITE",
        "owner_account_id": caller.emulator.account_id,
        "is_owner": True,
        "reasons_not_targetable": ["PROCESSING", "TOO_SMALL"],
        "created_at": "2027-01-15T08:00:00Z",
        "updated_at": "2027-01-15T08:00:00Z",
        "partner_source": "OTHER",
        "deleted": False,
        "audience_size": None,
    }


async def test_a_created_audience_can_be_shown(caller: Any) -> None:
    """The list shows the audience that was created."""
    record = (await _create(caller, "one")).body["data"]
    shown = await caller.call("GET", f"{caller.audiences}/{record['id']}")
    assert shown.body == {
        "request": {"params": {"account_id": caller.emulator.account_id, "custom_audience_id": record["id"]}},
        "data": record,
    }


async def test_a_name_is_required_and_unique_for_good(caller: Any) -> None:
    """No name, an empty one, one that exists, one that was deleted."""
    assert (await caller.call("POST", caller.audiences)).codes == ["MISSING_PARAMETER"]
    assert (await _create(caller, "")).codes == ["INVALID_PARAMETER"]
    made = (await _create(caller, "once")).body["data"]
    assert (await _create(caller, "once")).status == 400
    await caller.call("DELETE", f"{caller.audiences}/{made['id']}")
    refused = await _create(caller, "once")
    assert (refused.status, refused.body["errors"][0]["parameter"]) == (400, "name")
    assert (await _create(caller, "Once")).status == 200


async def test_a_deleted_audience_is_gone_unless_asked_for(caller: Any) -> None:
    """404 afterwards, for every verb; with `with_deleted` it is shown as deleted."""
    path = f"{caller.audiences}/{caller.emulator.audience_id}"
    await caller.move_clock(advance=60)
    deleted = (await caller.call("DELETE", path)).body["data"]
    assert (deleted["deleted"], deleted["reasons_not_targetable"]) == (True, ["TOO_SMALL"])
    assert (deleted["updated_at"], deleted["audience_size"]) == ("2027-01-15T08:01:00Z", None)
    for method in ("GET", "PUT", "DELETE"):
        reply = await caller.call(method, path)
        assert (reply.status, reply.codes) == (404, ["NOT_FOUND"])
        assert reply.body["errors"][0]["parameter"] == "custom_audience_id"
    assert (await caller.upload([{}])).status == 404
    assert (await caller.call("GET", path, query={"with_deleted": "true"})).body["data"] == deleted
    assert (await caller.call("GET", path, query={"with_deleted": "false"})).status == 404
    assert (await caller.call("GET", caller.audiences)).body["data"] == []
    listed = await caller.call("GET", caller.audiences, query={"with_deleted": "true"})
    assert listed.body["data"] == [deleted]


async def test_an_unknown_audience_is_not_found(caller: Any) -> None:
    """404 that names the audience and the account."""
    reply = await caller.call("GET", f"{caller.audiences}/nothing")
    assert reply.status == 404
    message = f"Custom Audience nothing was not found for Account {caller.emulator.account_id}"
    assert reply.body["errors"] == [{"code": "NOT_FOUND", "message": message, "parameter": "custom_audience_id"}]


async def test_name_and_description_can_be_changed(caller: Any) -> None:
    """Each by itself; an empty description takes the old one away; an empty name is refused."""
    path = f"{caller.audiences}/{caller.emulator.audience_id}"
    await caller.move_clock(advance=1)
    for query, name, description in (
        ({"name": "new"}, "new", None),
        ({"description": "words"}, "new", "words"),
        ({"name": "new", "description": ""}, "new", None),
        ({}, "new", None),
    ):
        record = (await caller.call("PUT", path, query=query)).body["data"]
        assert (record["name"], record["description"]) == (name, description)
    assert (record["created_at"], record["updated_at"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:00:01Z")
    await _create(caller, "taken")
    assert (await caller.call("PUT", path, query={"name": ""})).status == 400
    assert (await caller.call("PUT", path, query={"name": "taken", "description": "x"})).status == 400
    unchanged = (await caller.call("GET", path)).body["data"]
    assert (unchanged["name"], unchanged["description"]) == ("new", None)


@each_case(
    "query, names",
    [
        ({"q": "sum"}, ["Summer", "summit"]),
        ({"q": "SUMMER"}, ["Summer"]),
        ({"q": "mit"}, []),
        ({"permission_scope": "OWNER", "q": "w"}, ["winter"]),
        ({"permission_scope": "SHARED"}, []),
    ],
)
async def test_lists_can_be_narrowed(caller: Any, query: dict[str, str], names: list[str]) -> None:
    """By the beginning of the name, in any case, and by ownership."""
    for name in ("Summer", "winter", "summit"):
        await _create(caller, name)
    reply = await caller.call("GET", caller.audiences, query=query)
    assert [record["name"] for record in reply.body["data"]] == names
    assert reply.body["request"]["params"] == {"account_id": caller.emulator.account_id, **query}


async def test_lists_can_be_narrowed_by_ids(caller: Any) -> None:
    """The order is that of the list; ids that are not there are passed over."""
    ids = [(await _create(caller, name)).body["data"]["id"] for name in "abc"]
    wanted = f"{ids[2]},nothing,{ids[0]}"
    reply = await caller.call("GET", caller.audiences, query={"custom_audience_ids": wanted})
    assert [record["id"] for record in reply.body["data"]] == [ids[0], ids[2]]
    assert reply.body["request"]["params"]["custom_audience_ids"] == wanted.split(",")


# --- Permissions on audiences, by both of their names, over the wire ---


H1 = "a1" * 32
BODY = [{"operation_type": "Update", "params": {"users": [{"email": [H1]}]}}]
NAMES = pytest.mark.parametrize("noun", ["custom_audience", "tailored_audience"])


def _path(caller: Any, noun: str, account_id: str = "") -> str:
    version = "12" if noun == "custom_audience" else "5"
    account = account_id or caller.emulator.account_id
    return f"/{version}/accounts/{account}/{noun}s/{caller.emulator.audience_id}/permissions"


async def _account(caller: Any) -> str:
    """Another account of the same business."""
    reply = await caller.call("POST", "/12/accounts", base=caller.emulator.ads_sandbox_url)
    return str(reply.body["data"][0]["id"])


async def _grant(caller: Any, account_id: str, level: str, noun: str = "custom_audience") -> Any:
    query = {"granted_account_id": account_id, "permission_level": level}
    return await caller.call("POST", _path(caller, noun), query=query)


@NAMES
async def test_a_grant_is_shown_and_listed(caller: Any, noun: str) -> None:
    """The record, with the id of the audience under the name of the endpoint."""
    other = await _account(caller)
    reply = await _grant(caller, other, "READ_ONLY", noun)
    record = reply.body["data"]
    ids = {"account_id": caller.emulator.account_id, f"{noun}_id": caller.emulator.audience_id}
    assert reply.body["request"]["params"] == {**ids, "granted_account_id": other, "permission_level": "READ_ONLY"}
    assert record == {
        f"{noun}_id": caller.emulator.audience_id,
        "permission_level": "READ_ONLY",
        "id": record["id"],
        "created_at": "2027-01-15T08:00:00Z",
        "granted_account_id": other,
        "updated_at": "2027-01-15T08:00:00Z",
        "deleted": False,
    }
    listed = await caller.call("GET", _path(caller, noun), query={"with_total_count": "true"})
    assert (listed.body["data"], listed.body["total_count"], listed.body["next_cursor"]) == ([record], 1, None)


@NAMES
async def test_lists_of_permissions_can_be_narrowed(caller: Any, noun: str) -> None:
    """By the granted accounts and by the ids of permissions; `with_deleted` is no parameter here."""
    accounts = [await _account(caller) for _ in range(2)]
    ids = [(await _grant(caller, each, "READ_ONLY", noun)).body["data"]["id"] for each in accounts]
    for query, expected in (
        ({"granted_account_ids": accounts[1]}, [ids[1]]),
        ({f"{noun}_permission_ids": f"{ids[0]},nothing"}, [ids[0]]),
        ({"sort_by": "created_at-desc", "count": 1}, [ids[0]]),
    ):
        reply = await caller.call("GET", _path(caller, noun), query=query)
        assert [record["id"] for record in reply.body["data"]] == expected
    assert (await caller.call("GET", _path(caller, noun), query={"with_deleted": "true"})).status == 400


@NAMES
async def test_a_revoked_permission_is_gone(caller: Any, noun: str) -> None:
    """Once; the audience is then shared no more."""
    other = await _account(caller)
    permission_id = (await _grant(caller, other, "READ_WRITE", noun)).body["data"]["id"]
    path = f"{_path(caller, noun)}/{permission_id}"
    revoked = await caller.call("DELETE", path)
    assert revoked.body["data"]["deleted"] is True
    assert revoked.body["request"]["params"][f"{noun}_permission_id"] == permission_id
    again = await caller.call("DELETE", path)
    assert (again.status, again.body["errors"][0]["parameter"]) == (404, f"{noun}_permission_id")
    assert (await caller.call("GET", _path(caller, noun))).body["data"] == []
    assert (
        await caller.call("GET", f"/12/accounts/{other}/custom_audiences/{caller.emulator.audience_id}")
    ).status == 404


async def test_a_second_grant_changes_the_level(caller: Any) -> None:
    """One permission for each account; both names of an audience lead to it."""
    other = await _account(caller)
    first = (await _grant(caller, other, "READ_ONLY")).body["data"]
    await caller.move_clock(advance=60)
    second = (await _grant(caller, other, "READ_WRITE", "tailored_audience")).body["data"]
    assert (second["id"], second["permission_level"]) == (first["id"], "READ_WRITE")
    assert (second["created_at"], second["updated_at"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:01:00Z")
    assert len((await caller.call("GET", _path(caller, "custom_audience"))).body["data"]) == 1


@each_case("level, status", [("READ_ONLY", 403), ("READ_WRITE", 200)])
async def test_a_shared_audience_can_be_read_or_written(caller: Any, level: str, status: int) -> None:
    """It is in the list of shared ones; only the owner deletes it and sees its permissions."""
    other = await _account(caller)
    await _grant(caller, other, level)
    audiences = f"/12/accounts/{other}/custom_audiences"
    path = f"{audiences}/{caller.emulator.audience_id}"
    (record,) = (await caller.call("GET", audiences, query={"permission_scope": "SHARED"})).body["data"]
    assert (record["permission_level"], record["is_owner"]) == (level, False)
    assert record["owner_account_id"] == caller.emulator.account_id
    assert (await caller.call("GET", audiences)).body["data"] == []
    assert (await caller.call("GET", path)).body["data"] == record
    assert (await caller.upload(BODY, path=path + "/users")).status == status
    assert len(await caller.members()) == (status == 200)
    assert (await caller.call("PUT", path, query={"description": "x"})).status == status
    for method, rest in (("DELETE", ""), ("GET", "/permissions")):
        refused = await caller.call(method, path + rest)
        assert (refused.status, refused.codes) == (403, ["ACTION_NOT_ALLOWED"])
    query = {"granted_account_id": other, "permission_level": "READ_ONLY"}
    assert (await caller.call("POST", path + "/permissions", query=query)).codes == ["ACTION_NOT_ALLOWED"]


@each_case(
    "query, code, parameter",
    [
        ({"granted_account_id": "nothing", "permission_level": "READ_ONLY"}, "INVALID_PARAMETER", "granted_account_id"),
        ({"granted_account_id": "OWN", "permission_level": "READ_ONLY"}, "INVALID_PARAMETER", "granted_account_id"),
    ],
)
async def test_faulty_grants_are_refused(caller: Any, query: dict[str, str], code: str, parameter: str) -> None:
    """Both parameters are required; an owner cannot be granted its own audience."""
    words = {"OTHER": await _account(caller), "OWN": caller.emulator.account_id}
    query = {name: words.get(text, text) for name, text in query.items()}
    refused = await caller.call("POST", _path(caller, "custom_audience"), query=query)
    assert (refused.status, refused.codes) == (400, [code])
    assert refused.body["errors"][0]["parameter"] == parameter


async def test_sharing_outside_of_the_business_needs_a_feature(caller: Any) -> None:
    """An account of another business, without and with the feature, which the API cannot give."""
    store = caller.emulator.store
    foreign = store.origin.foreign_account_id
    assert (await _grant(caller, foreign, "READ_ONLY")).codes == ["FEATURE_NOT_AVAILABLE"]
    store.accounts[caller.emulator.account_id].features.add("SHARE_AUDIENCE_OUTSIDE_BUSINESS")
    assert (await _grant(caller, foreign, "READ_ONLY")).status == 200


async def test_other_paths_of_version_five_are_refused(caller: Any) -> None:
    """Only what the specification has at that version is there."""
    path = f"/5/accounts/{caller.emulator.account_id}/custom_audiences"
    assert (await caller.call("GET", path)).codes == ["INVALID"]
