"""The batch of flexible audiences, over the wire."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.emulator.endpoints.flexible_audiences import Joining, Segment, count_visits, is_often_enough
from tests.cases import each_case

# --- The batch of flexible audiences, over the wire ---

H = [f"{number:064x}" for number in range(400)]
SIX_HOURS = 6 * 3_600


def _leaf(audience_id: str, **more: Any) -> dict[str, Any]:
    return {"custom_audience_id": audience_id, "lookback_window": 30, "negate": False, "child_segments": [], **more}


def _tree(operator: str, *children: Any, **more: Any) -> dict[str, Any]:
    return {"boolean_operator": operator, "negate": False, "child_segments": list(children), **more}


def _create(name: str, tree: Any, **more: Any) -> dict[str, Any]:
    return {
        "operation_type": "Create",
        "params": {"name": name, "audience_type": "FLEXIBLE", "segments": tree, **more},
    }


async def _batch(caller: Any, *items: Any) -> Any:
    return await caller.upload(list(items), path=caller.audiences.replace("/12/", "/12/batch/"))


async def _audience(caller: Any, name: str, hashes: list[str]) -> str:
    audience_id = (await caller.call("POST", caller.audiences, query={"name": name})).body["data"]["id"]
    users = [{"email": [each]} for each in hashes]
    body = [{"operation_type": "Update", "params": {"users": users}}]
    await caller.upload(body, path=f"{caller.audiences}/{audience_id}/users")
    return str(audience_id)


async def test_a_created_audience_is_shown_with_its_tree(caller: Any) -> None:
    """The record, defaults filled in, ids in lower case; the echo as it was sent."""
    audience_id = caller.emulator.audience_id
    item = _create("flex", {"boolean_operator": "AND", "child_segments": [_leaf(audience_id.upper(), frequency=2)]})
    reply = await _batch(caller, item)
    assert reply.status == 200
    (record,) = reply.body["data"]
    assert record["targetable_types"] == ["FLEXIBLE", "EXCLUDED_FLEXIBLE"]
    assert (record["audience_type"], record["reasons_not_targetable"]) == ("FLEXIBLE", ["PROCESSING", "TOO_SMALL"])
    leaf = {**_leaf(audience_id), "frequency": 2, "frequency_comparator": "NUM_GTE"}
    assert record.pop("metadata") == [
        {
            "custom_audience_id": record["id"],
            "account_id": caller.emulator.account_id,
            "name": "flex",
            "audience_source": "FLEXIBLE_AUDIENCE",
            "upload_status": "UPLOADED",
            "segments": {**_tree("AND", leaf), "frequency": 1, "frequency_comparator": "NUM_GTE"},
        }
    ]
    assert reply.body["request"] == [
        {**item, "params": {**item["params"], "account_id": caller.emulator.account_id}},
    ]
    assert (await caller.call("GET", f"{caller.audiences}/{record['id']}")).body["data"] == record


@each_case("profile, negated", [("spec", True), ("x", False)])
async def test_the_default_of_negate_is_the_profiles(open_emulator: Any, profile: str, negated: bool) -> None:
    """Every segment but the root."""
    async with open_emulator(profile=profile) as caller:
        leaf = {"custom_audience_id": caller.emulator.audience_id, "child_segments": []}
        inner = {"boolean_operator": "OR", "child_segments": [leaf]}
        reply = await _batch(caller, _create("flex", {"boolean_operator": "AND", "child_segments": [leaf, inner]}))
        root = reply.body["data"][0]["metadata"][0]["segments"]
        assert root["negate"] is False
        first, second = root["child_segments"]
        assert [first["negate"], second["negate"], second["child_segments"][0]["negate"]] == [negated] * 3


async def test_the_tree_can_stand_in_params(caller: Any) -> None:
    """Its two members in place of `segments`; not both, but an empty list may stand beside it."""
    tree = {"boolean_operator": "OR", "child_segments": [_leaf(caller.emulator.audience_id)]}
    item = {"operation_type": "Create", "params": {"name": "flat", "audience_type": "FLEXIBLE", **tree}}
    assert (await _batch(caller, item)).status == 200
    both = await _batch(caller, _create("both", tree, **tree))
    assert both.body["operation_errors"][0][0]["code"] == "EXCLUSIVE_PARAMETERS"
    assert (await _batch(caller, _create("beside", tree, child_segments=[]))).status == 200


GOOD = _leaf("ID")


@each_case(
    "tree, parameter",
    [
        (None, "child_segments"),
        ([], "child_segments"),
        ({}, "child_segments"),
        (_tree("AND"), "child_segments"),
        ({"boolean_operator": "AND"}, "child_segments"),
        ({"child_segments": [GOOD]}, "boolean_operator"),
        (_tree("XOR", GOOD), "boolean_operator"),
        (_tree("and", GOOD), "boolean_operator"),
        (_tree("AND", GOOD, custom_audience_id="ID"), "custom_audience_id"),
        (_tree("AND", GOOD, names=[]), "child_segments"),
        (_tree("AND", None), "child_segments"),
        (_tree("AND", {"custom_audience_id": "ID"}), "child_segments"),
        (_tree("AND", {"child_segments": []}), "custom_audience_id"),
        (_tree("AND", _leaf("nothing")), "custom_audience_id"),
        (_tree("AND", _leaf("")), "custom_audience_id"),
        (_tree("AND", {**GOOD, "custom_audience_id": 5}), "custom_audience_id"),
        (_tree("AND", {**GOOD, "lookback_window": 2}), "lookback_window"),
        (_tree("AND", {**GOOD, "lookback_window": True}), "lookback_window"),
        (_tree("AND", {**GOOD, "lookback_window": "7"}), "lookback_window"),
        (_tree("AND", {**GOOD, "frequency": 0}), "frequency"),
        (_tree("AND", {**GOOD, "frequency": 1.0}), "frequency"),
        (_tree("AND", {**GOOD, "frequency_comparator": "GTE"}), "frequency_comparator"),
        (_tree("AND", {**GOOD, "negate": "false"}), "negate"),
        (_tree("OR", *[GOOD] * 11), "child_segments"),
    ],
)
async def test_a_faulty_tree_refuses_the_batch(caller: Any, tree: Any, parameter: str) -> None:
    """The fault stands at the place of its item, and the good item beside it makes no audience."""
    tree = _fill(tree, caller.emulator.audience_id)
    good = _create("good", _tree("AND", _leaf(caller.emulator.audience_id)))
    reply = await _batch(caller, good, _create("bad", tree))
    assert reply.status == 400
    first, second = reply.body["operation_errors"]
    assert (first, {problem["parameter"] for problem in second}) == ([], {parameter})
    assert len((await caller.call("GET", caller.audiences)).body["data"]) == 1


def _fill(document: Any, audience_id: str) -> Any:
    if isinstance(document, dict):
        return {name: _fill(value, audience_id) for name, value in document.items()}
    if isinstance(document, list):
        return [_fill(value, audience_id) for value in document]
    return audience_id if document == "ID" else document


async def test_ten_leaves_are_allowed_at_any_depth(caller: Any) -> None:
    """Ten in all, however they are grouped; a tree that is nested endlessly is refused."""
    leaf = _leaf(caller.emulator.audience_id)
    tree = _tree("OR", *[leaf] * 4, _tree("AND", *[leaf] * 5, _tree("OR", leaf)))
    assert (await _batch(caller, _create("ten", tree))).status == 200
    tree = _tree("OR", *[leaf] * 5, _tree("AND", *[leaf] * 5, _tree("OR", leaf)))
    assert (await _batch(caller, _create("eleven", tree))).body["operation_errors"][0][0][
        "code"
    ] == "REQUEST_TOO_COMPLEX"
    for _ in range(200):
        leaf = _tree("AND", leaf)
    assert (await _batch(caller, _create("deep", leaf))).status == 400


MOBILE = {"audience_type": "MOBILE_AUDIENCE"}


@each_case(
    "item, parameter",
    [
        (5, "operation"),
        ({"params": {}}, "operation_type"),
        ({"operation_type": "Create"}, "params"),
        ({"operation_type": "Insert", "params": {}}, "operation_type"),
        ({"operation_type": "Create", "params": {"name": "n"}}, "audience_type"),
        ({"operation_type": "Create", "params": {"name": "n", "audience_type": "CRM"}}, "audience_type"),
        ({"operation_type": "Create", "params": {**MOBILE, "child_segments": []}}, "name"),
        ({"operation_type": "Create", "params": {**MOBILE, "child_segments": [], "name": ""}}, "name"),
        ({"operation_type": "Create", "params": {**MOBILE, "child_segments": [], "name": "n", "x": 1}}, "params"),
        ({"operation_type": "Create", "params": {**MOBILE, "name": "n"}}, "child_segments"),
        ({"operation_type": "Create", "params": {**MOBILE, "name": "n", "child_segments": [GOOD]}}, "child_segments"),
        ({"operation_type": "Delete", "params": {"custom_audience_id": "n"}}, "audience_type"),
        ({"operation_type": "Delete", "params": {"audience_type": "FLEXIBLE"}}, "custom_audience_id"),
        (
            {"operation_type": "Delete", "params": {"audience_type": "FLEXIBLE", "custom_audience_id": "n"}},
            "custom_audience_id",
        ),
        (
            {"operation_type": "Update", "params": {"audience_type": "FLEXIBLE", "custom_audience_id": "n"}},
            "operation_type",
        ),
    ],
)
async def test_a_faulty_item_refuses_the_batch(caller: Any, item: Any, parameter: str) -> None:
    """One problem, at the place of the item."""
    reply = await _batch(caller, item)
    assert (reply.status, len(reply.body["request"])) == (400, 1)
    assert [[problem["parameter"] for problem in found] for found in reply.body["operation_errors"]] == [[parameter]]


@pytest.mark.parametrize(
    ("lists", "beside", "status"),
    [((9, 1), 0, 200), ((9,), 1, 200), ((10,), 1, 400), ((5, 5), 1, 400), ((10,), 0, 200)],
)
async def test_the_leaves_of_flexible_leaves_count(
    caller: Any, lists: tuple[int, ...], beside: int, status: int
) -> None:
    """Flexible audiences of so many lists, and lists beside them: ten in all; also one level higher."""
    leaf = _leaf(caller.emulator.audience_id)
    made = [_create(f"inner {place}", _tree("OR", *[leaf] * number)) for place, number in enumerate(lists)]
    inner = [_leaf(record["id"]) for record in (await _batch(caller, *made)).body["data"]]
    reply = await _batch(caller, _create("outer", _tree("AND", *inner, *[leaf] * beside)))
    assert reply.status == status
    if status == 200:
        outer = _leaf(reply.body["data"][0]["id"])
        assert (await _batch(caller, _create("same", _tree("OR", outer)))).status == 200
        reply = await _batch(caller, _create("above", _tree("OR", outer, leaf)))
    assert reply.body["operation_errors"][0][0]["code"] == "REQUEST_TOO_COMPLEX"


async def test_a_batch_has_one_to_ten_items(caller: Any) -> None:
    """Ten are taken; eleven, none and no list are problems of the request."""
    tree = _tree("OR", _leaf(caller.emulator.audience_id))
    assert (await _batch(caller, *[_create(f"n{each}", tree) for each in range(10)])).status == 200
    eleven = await _batch(caller, *[_create(f"m{each}", tree) for each in range(11)])
    assert (eleven.status, eleven.codes) == (400, ["REQUEST_TOO_COMPLEX"])
    assert (await _batch(caller)).codes == ["INVALID_PARAMETER"]


async def test_names_are_unique(caller: Any) -> None:
    """Against the account, deleted audiences and the items before."""
    tree = _tree("OR", _leaf(caller.emulator.audience_id))
    assert (await _batch(caller, _create("twice", tree), _create("twice", tree))).body["operation_errors"][0] == []
    made = (await _batch(caller, _create("once", tree))).body["data"][0]["id"]
    delete = {"operation_type": "Delete", "params": {"audience_type": "FLEXIBLE", "custom_audience_id": made}}
    assert (await _batch(caller, delete)).body["data"][0]["deleted"] is True
    assert (await _batch(caller, delete)).body["operation_errors"][0][0]["code"] == "NOT_FOUND"
    refused = (await _batch(caller, _create("once", tree))).body["operation_errors"]
    assert refused[0][0]["parameter"] == "name"


async def test_a_flexible_audience_is_immutable(caller: Any) -> None:
    """No change, no users; it can be deleted, but not twice in one batch."""
    tree = _tree("OR", _leaf(caller.emulator.audience_id))
    made = (await _batch(caller, _create("flex", tree))).body["data"][0]["id"]
    path = f"{caller.audiences}/{made}"
    assert (await caller.call("PUT", path, query={"name": "other"})).status == 400
    body = [{"operation_type": "Update", "params": {"users": [{"email": [H[0]]}]}}]
    assert (await caller.upload(body, path=path + "/users")).status == 400
    delete = {"operation_type": "Delete", "params": {"audience_type": "FLEXIBLE", "custom_audience_id": made}}
    assert (await _batch(caller, delete, delete)).body["operation_errors"][0] == []
    assert (await caller.call("GET", path)).body["data"]["name"] == "flex"
    assert (await caller.call("DELETE", path)).status == 200


async def test_a_leaf_is_an_audience_of_the_account(caller: Any) -> None:
    """Neither a deleted one nor one that is shared."""
    await caller.call("DELETE", f"{caller.audiences}/{caller.emulator.audience_id}")
    refused = await _batch(caller, _create("flex", _tree("OR", _leaf(caller.emulator.audience_id))))
    assert refused.body["operation_errors"][0][0]["code"] == "NOT_FOUND"


async def test_mobile_audiences_can_be_made_renamed_and_deleted(caller: Any) -> None:
    """Each named by its id; the type must be right."""
    create = {
        "operation_type": "Create",
        "params": {"audience_type": "MOBILE_AUDIENCE", "name": "app", "child_segments": []},
    }
    record = (await _batch(caller, create)).body["data"][0]
    assert (record["audience_type"], "metadata" in record) == ("MOBILE", False)
    target = {"audience_type": "MOBILE_AUDIENCE", "custom_audience_id": record["id"]}
    renamed = await _batch(caller, {"operation_type": "Update", "params": {**target, "name": "app two"}})
    assert renamed.body["data"][0]["name"] == "app two"
    whole = {"operation_type": "Update", "params": {**target, "name": "app three", "child_segments": []}}
    assert (await _batch(caller, whole)).body["data"][0]["name"] == "app three"
    wrong = {"operation_type": "Delete", "params": {**target, "audience_type": "FLEXIBLE"}}
    assert (await _batch(caller, wrong)).status == 400
    assert (await _batch(caller, {"operation_type": "Delete", "params": target})).body["data"][0]["deleted"] is True


@each_case(
    "tree, size",
    [
        (lambda a, b: _tree("AND", _leaf(a), _leaf(b)), 100),
        (lambda a, b: _tree("OR", _leaf(a), _leaf(b)), 400),
        (lambda a, b: _tree("AND", _leaf(a), _leaf(b, negate=True)), 150),
        (lambda a, b: _tree("OR", _leaf(a, negate=True), _tree("AND", _leaf(a), _leaf(b))), 250),
        (lambda a, b: _tree("AND", _leaf(a), _tree("OR", _leaf(a), _leaf(b), negate=True)), None),
    ],
)
async def test_the_size_follows_from_the_tree(open_emulator: Any, tree: Any, size: int | None) -> None:
    """The people of the leaves, joined and negated; counted six hours later."""
    async with open_emulator(match_rate=1.0) as caller:
        one, two = await _audience(caller, "one", H[:250]), await _audience(caller, "two", H[150:])
        made = (await _batch(caller, _create("flex", tree(one, two)))).body["data"][0]
        assert made["audience_size"] is None
        await caller.move_clock(advance=SIX_HOURS)
        record = (await caller.call("GET", f"{caller.audiences}/{made['id']}")).body["data"]
        assert (record["audience_size"], record["targetable"]) == (size, size is not None)


async def test_a_flexible_audience_can_be_a_leaf(open_emulator: Any) -> None:
    """Its people are those of its own tree; a deleted leaf has none."""
    async with open_emulator(match_rate=1.0) as caller:
        one, two = await _audience(caller, "one", H[:250]), await _audience(caller, "two", H[100:])
        inner = (await _batch(caller, _create("inner", _tree("AND", _leaf(one), _leaf(two))))).body["data"][0]["id"]
        outer = (await _batch(caller, _create("outer", _tree("OR", _leaf(inner))))).body["data"][0]["id"]
        await caller.move_clock(advance=SIX_HOURS)
        assert (await caller.call("GET", f"{caller.audiences}/{outer}")).body["data"]["audience_size"] == 150
        await caller.call("DELETE", f"{caller.audiences}/{inner}")
        await caller.move_clock(advance=SIX_HOURS)
        record = (await caller.call("GET", f"{caller.audiences}/{outer}")).body["data"]
        assert (record["audience_size"], record["reasons_not_targetable"]) == (None, ["TOO_SMALL"])


# --- Visits that lookback and frequency count, against a list of their moments ---

DAY = 86_400.0
START = 1_800_000_000.25
VISITOR = [f"{number:064x}" for number in range(600)]


def _leaf_of(frequency: int, comparator: str) -> Segment:
    return Segment(
        boolean_operator=None, child_segments=(), custom_audience_id="a", lookback_window=None, frequency=frequency,
        frequency_comparator=comparator, negate=False,
    )  # fmt: skip


@each_case(
    "comparator, enough",
    [("NUM_GTE", [2, 3]), ("NUM_GT", [3]), ("NUM_EQ", [2]), ("NUM_LTE", [0, 1, 2]), ("NUM_LT", [0, 1])],
)
def test_a_comparator_is_what_its_name_says(comparator: str, enough: list[int]) -> None:
    """Visits compared with the frequency."""
    leaf = _leaf_of(2, comparator)
    assert [visits for visits in range(4) if is_often_enough(leaf, visits)] == enough


@given(st.binary(min_size=1, max_size=40), st.floats(0, 400), st.sampled_from([None, 1, 7, 14, 30]))
def test_visits_are_as_many_as_their_moments(key_set: bytes, days: float, window: int | None) -> None:
    """One at the entry, and others at even distances; a longer window never has fewer, and none has all."""
    joined = Joining("a", START)
    counts = {each: count_visits(key_set, [joined], 7, START + days * DAY, each) for each in (None, 1, 7, 14, 30)}
    assert 0 <= counts[1] <= counts[7] <= counts[14] <= counts[30] <= (counts[None] or 0)
    assert counts[None] >= 1
    assert counts[30] <= 31
    assert counts[window] == count_visits(key_set, [joined], 7, START + days * DAY, window)
    assert count_visits(key_set, [joined, joined], 7, START + days * DAY, window) == 2 * counts[window]


def test_the_entry_is_a_visit_in_every_window() -> None:
    """At its moment, and for as long as the window."""
    for number in range(200):
        key_set = str(number).encode()
        for window in (1, 7, 14, 30):
            assert count_visits(key_set, [Joining("a", START)], 0, START, window) >= 1


async def _size(caller: Any, name: str, audience: str, **rule: Any) -> int | None:
    leaf = {**_leaf(audience), "negate": False, **rule}
    made = (await _batch(caller, _create(name, _tree("AND", leaf)))).body["data"][0]
    await caller.move_clock(advance=6 * 3_600)
    record = (await caller.call("GET", f"{caller.audiences}/{made['id']}")).body["data"]
    size: int | None = record["audience_size"]
    return size


async def test_the_size_follows_the_rule(open_emulator: Any) -> None:
    """Every member came once; fewer came often, or of late; the two sides of a rule add up."""
    async with open_emulator(match_rate=1.0) as caller:
        audience = await _audience(caller, "one", VISITOR)
        assert await _size(caller, "all", audience) == 600
        assert await _size(caller, "a day", audience, lookback_window=1) == 600  # they joined today
        await caller.move_clock(advance=2 * DAY)
        day = await _size(caller, "of late", audience, lookback_window=1) or 0
        week = await _size(caller, "this week", audience, lookback_window=7) or 0
        assert 0 < day < week == 600
        often = await _size(caller, "often", audience, frequency=3, lookback_window=30) or 0
        seldom = await _size(caller, "seldom", audience, frequency=3, lookback_window=30, frequency_comparator="NUM_LT")
        assert (0 < often < 600, often + (seldom or 0)) == (True, 600)
