"""Every rule of every member of a JSON body from both sides: the good is sent, the bad never is."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from audiencekit.api.catalogue import BY_NAME, ENDPOINTS, Endpoint
from audiencekit.api.catalogue.parameters import Level, Parameter, Type
from audiencekit.api.validation.calls import check_call
from audiencekit.errors import UsageError
from tests.api.validation.values import BODIES, CANARY, HASH, LEAF, NOW, check, complete


def _at(body: Any, level: Level) -> dict[str, Any]:
    """The object of `body` that has the members of `level`."""
    first = body[0] if isinstance(body, list) else body
    found: dict[str, Any]
    match level:
        case "top" | "item":
            found = first
        case "criterion":
            found = first["targeting_criteria"][0]
        case "params":
            found = first["params"]
        case "user":
            found = first["params"]["users"][0]
        case _:
            found = first["params"]["segments"]["child_segments"][1]
    return found


MEMBERS = [
    pytest.param(row, parameter, level, id=f"{row.name}-{level}-{parameter.name}")
    for row in ENDPOINTS
    for parameter in row.parameters
    for level in parameter.at
]
JSON_BAD: dict[Type, list[Any]] = {
    Type.STRING: [1, None, [], True],
    Type.BOOLEAN: ["true", 1, None],
    Type.INT: ["1", 1.0, True, None],
    Type.ENUM: [1, None, CANARY, ""],
    Type.DATETIME: [1_790_000_000, None, CANARY, ""],
    Type.ARRAY: [None, "[]", {}, 1, [None], [1]],
    Type.OBJECT: [None, "{}", [], 1],
}


def test_smallest_bodies_are_sent() -> None:
    """Each as it is, in UTF-8, and the same when it came as bytes."""
    for name, body in BODIES.items():
        checked = check(BY_NAME[name], complete(BY_NAME[name]), body)
        assert checked.body is not None
        sent = b"".join(checked.body.unwrap())
        assert json.loads(sent) == body
        again = check(BY_NAME[name], complete(BY_NAME[name]), sent)
        assert again.body == checked.body


@pytest.mark.parametrize(("endpoint", "parameter", "level"), MEMBERS)
def test_members_of_bodies_are_tried_from_both_sides(endpoint: Endpoint, parameter: Parameter, level: Level) -> None:
    """A wrong type, a choice that is none, a missing member: refused by name, wherever it stands."""
    bad = list(JSON_BAD[parameter.type])
    bad += [7] if parameter.values and parameter.type is Type.INT and 7 not in parameter.values else []
    bad += [[CANARY], [HASH.upper()]] if parameter.pattern else []
    bad += ["a" * (parameter.max_length + 1)] if parameter.max_length else []
    bad += [[]] if parameter.type is Type.ARRAY and parameter.required is True else []
    for value in bad:
        body = copy.deepcopy(BODIES[endpoint.name])
        _at(body, level)[parameter.name] = value
        with pytest.raises(UsageError) as caught:
            check(endpoint, complete(endpoint), body)
        assert parameter.name in str(caught.value), value
        assert CANARY not in str(caught.value)
    body = copy.deepcopy(BODIES[endpoint.name])
    if _at(body, level).pop(parameter.name, None) is not None and parameter.required is True:
        with pytest.raises(UsageError, match=f"{parameter.name}.* is required"):
            check(endpoint, complete(endpoint), body)


def _refused(name: str, body: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        check(BY_NAME[name], complete(BY_NAME[name]), body)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("name", [row.name for row in ENDPOINTS if row.operations])
def test_batches_have_one_to_so_many_operations(name: str) -> None:
    """The largest batch is sent; an empty one, one more, and what is no array of objects are refused."""
    most = BY_NAME[name].operations or 0
    check(BY_NAME[name], complete(BY_NAME[name]), BODIES[name][:1] * most)
    for body in ([], BODIES[name][:1] * (most + 1), {}, [1], [[]], "[]", b"", b"{", b'[{"a":1,"a":2}]', 7):
        _refused(name, body, "is not JSON" if isinstance(body, bytes) else f"array of 1 to {most} operations")


@pytest.mark.parametrize("name", ["estimate_audience", "create_card", "update_card"])
def test_other_bodies_are_objects(name: str) -> None:
    """Anything else is refused."""
    for body in ([], "{}", 1, b"[]"):
        _refused(name, body, "JSON object")


@pytest.mark.parametrize(("name", "level"), [
    ("add_custom_audience_users", "user"), ("add_custom_audience_users", "params"),
    ("add_custom_audience_users", "item"), ("batch_do_not_reach_users", "params"),
    ("batch_flexible_audiences", "segment"), ("create_card", "top"),
])  # fmt: skip
def test_unknown_members_are_refused(name: str, level: Level) -> None:
    """A misspelt name would be lost in silence; neither it nor what it holds is repeated."""
    body = copy.deepcopy(BODIES[name])
    _at(body, level)[CANARY] = CANARY
    _refused(name, body, "has a member that is none of")


def test_clear_text_never_passes_for_a_hash() -> None:
    """An address where a hash belongs is refused, without being shown."""
    body = copy.deepcopy(BODIES["add_custom_audience_users"])
    body[0]["params"]["users"][1] = {"email": [f"{CANARY}@example.com"]}
    _refused("add_custom_audience_users", body, "email of operation 1 must be .* SHA-256")


@pytest.mark.parametrize(("entry", "words"), [
    ({}, "an entry of users of operation 1 is empty"),
    ({"email": []}, "email of operation 1 must be a JSON array of texts, at least 1, each"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["add_custom_audience_users", "batch_do_not_reach_users"])
def test_an_entry_has_an_identifier(name: str, entry: Any, words: str) -> None:
    """And a value in each of its lists."""
    body = copy.deepcopy(BODIES[name])
    body[0]["params"]["users"] = [entry]
    _refused(name, body, words)


def test_do_not_reach_lists_take_no_effective_at() -> None:
    """It is always now (specification part 2, section 4.6)."""
    body = copy.deepcopy(BODIES["batch_do_not_reach_users"])
    body[0]["params"]["effective_at"] = "2026-11-20T00:00:00Z"
    _refused("batch_do_not_reach_users", body, "none of: users, expires_at")


@pytest.mark.parametrize(("name", "times", "words"), [
    ("add_custom_audience_users", {"expires_at": "2026-11-20T00:00:00Z"}, "expires_at is later than effective_at"),
    ("add_custom_audience_users", {"expires_at": "2026-11-19T00:00:00Z"}, "expires_at is later than effective_at"),
    ("batch_do_not_reach_users", {"expires_at": "2026-11-20T12:30:00Z"}, "expires_at is later than now"),
    ("batch_do_not_reach_users", {"expires_at": "2027-12-20T12:30:00Z"}, "under 13 months"),
    ("batch_do_not_reach_users", {"expires_at": "2028-01-01"}, "under 13 months"),
])  # fmt: skip
def test_times_of_uploads_follow_each_other(name: str, times: dict[str, str], words: str) -> None:
    """The first second that is wrong is refused; the last that is right stands in the smallest body."""
    body = copy.deepcopy(BODIES[name])
    body[0]["params"].update(times)
    _refused(name, body, words)


def _create(**params: Any) -> list[Any]:
    return [{"operation_type": "Create", "params": {"audience_type": "FLEXIBLE", "name": "n", **params}}]


def _tree(leaves: int) -> dict[str, Any]:
    return {"boolean_operator": "OR", "child_segments": [LEAF] * leaves}


def _joined(*segments: Any) -> dict[str, Any]:
    return {"boolean_operator": "AND", "child_segments": [*segments]}


def _deep(levels: int) -> dict[str, Any]:
    tree = dict(LEAF)
    for _ in range(levels - 1):
        tree = {"boolean_operator": "OR", "child_segments": [tree]}
    return tree


MOBILE = {"audience_type": "MOBILE_AUDIENCE", "name": "n", "child_segments": []}


def _item(operation: str, **params: Any) -> list[Any]:
    return [{"operation_type": operation, "params": params}]


@pytest.mark.parametrize("body", [
    _create(segments=_tree(10)), _create(**_tree(10)), _create(segments=_deep(20)),
    _create(segments=_tree(1), child_segments=[]),
    _item("Create", **MOBILE),
    _item("Update", **MOBILE, custom_audience_id="8"),
    _item("Update", audience_type="MOBILE_AUDIENCE", name="n", custom_audience_id="8"),
    _item("Delete", audience_type="FLEXIBLE", custom_audience_id="8"),
])  # fmt: skip
def test_trees_are_sent(body: Any) -> None:
    """Ten leaves, in segments or in the params themselves; twenty levels; mobile audiences, which have none."""
    check(BY_NAME["batch_flexible_audiences"], complete(BY_NAME["batch_flexible_audiences"]), body)


@pytest.mark.parametrize(("body", "words"), [
    (_create(segments=_tree(11)), "more than 10 custom audiences"),
    (_create(**_tree(11)), "more than 10 custom audiences"),
    (_create(segments=_deep(22)), "levels deep"),
    (_create(), "segments or child_segments is required in Create"),
    (_create(segments=_tree(1), name=None), "name"),
    (_create(child_segments=[LEAF]), "boolean_operator is required with child_segments"),
    (_create(segments={"child_segments": [LEAF]}), "boolean_operator is required with child_segments"),
    ([{"operation_type": "Create", "params": {"name": "n", "segments": _tree(1)}}], "audience_type of .* is required"),
    ([{"operation_type": "Create", "params": {"audience_type": "FLEXIBLE", "segments": _tree(1)}}], "name is required"),
    (_create(child_segments=[]), "child_segments of operation 1 has no segment"),
    (_create(segments=LEAF), "child_segments of operation 1 has no segment"),
    (_create(segments=_tree(1), **_tree(1)), "segments and child_segments do not go together"),
    (_create(segments=_tree(1), boolean_operator="OR"), "segments and boolean_operator do not go together"),
    (_create(segments=_tree(1), custom_audience_id="8"), "custom_audience_id does not go with Create"),
    (_create(segments=_tree(1), colour="red"), "member that is none of"),
    (_create(segments=_joined({"custom_audience_id": "8"})), "child_segments is required, even when it is empty"),
    (_create(segments=_joined({"child_segments": []})), "exactly one of custom_audience_id and child_segments"),
    (_create(segments=_joined({**_tree(1), "custom_audience_id": "8"})), "exactly one of custom_audience_id"),
    (_create(segments=_joined({**LEAF, "frequency": 0})), "frequency of operation 1 must be .* at least 1"),
    (_item("Delete", custom_audience_id="8"), "audience_type of operation 1 is required"),
    (_item("Delete", audience_type="FLEXIBLE"), "custom_audience_id is required in Delete"),
    (_item("Update", **MOBILE), "custom_audience_id is required in Update"),
    (_item("Update", audience_type="MOBILE_AUDIENCE", custom_audience_id="8"), "name is required in Update"),
    (_item("Update", audience_type="FLEXIBLE", name="n", custom_audience_id="8"), "FLEXIBLE does not go with Update"),
    (_item("Create", audience_type="MOBILE_AUDIENCE", name="n"), "child_segments is required in Create"),
    (_item("Create", **{**MOBILE, **_tree(1)}), "boolean_operator goes only with audience_type FLEXIBLE"),
    (_item("Create", **MOBILE, segments=_tree(1)), "segments goes only with audience_type FLEXIBLE"),
])  # fmt: skip
def test_trees_that_cannot_be_are_refused(body: Any, words: str) -> None:
    """Too large, too deep, without a name, a type, a tree, or the operator of a group."""
    _refused("batch_flexible_audiences", body, words)


@pytest.mark.parametrize(("operation", "params", "words"), [
    ("Create", {"name": "n"}, "funding_instrument_id of operation 1 is required"),
    ("Create", {"name": "n" * 256, "funding_instrument_id": "l"}, "name of operation 1 must be"),
    ("Create", {"name": "n", "funding_instrument_id": "l", "daily_budget_amount_local_micro": 1.5}, "whole number"),
    ("Create", {"name": "n", "funding_instrument_id": "l", "daily_budget_amount_local_micro": 2,
                "total_budget_amount_local_micro": 1}, "is at most total_budget"),
    ("Create", {"name": "n", "funding_instrument_id": "l", "total_budget_amount_local_micro": "1"}, "whole number"),
    ("Create", {"name": 5, "funding_instrument_id": "l"}, "name of operation 1 must be"),
    ("Update", {"name": "n"}, "campaign_id is required in Update"),
    ("Update", {"name": "n", "campaign_id": ""}, "campaign_id is required in Update"),
    ("Update", {"campaign_id": "8", "entity_status": "DRAFT"}, "entity_status of operation 1 must be"),
    ("Delete", {}, "campaign_id is required in Delete"),
])  # fmt: skip
def test_params_of_a_campaign_follow_the_rows_of_one(operation: str, params: dict[str, Any], words: str) -> None:
    """A batch refuses the parameters that a single call refuses."""
    _refused("batch_campaigns", [{"operation_type": operation, "params": params}], words)


MEDIA = {"type": "MEDIA", "media_key": "13_1"}


@pytest.mark.parametrize(("name", "given"), [
    ("create_card", {"name": "n"}),
    ("create_card", {"name": "n", "components": [MEDIA], "slides": [[MEDIA]]}),
    ("update_card", {"card_id": "1", "components": [MEDIA], "slides": [[MEDIA]]}),
])  # fmt: skip
def test_cards_have_components_or_slides(name: str, given: dict[str, Any]) -> None:
    """Exactly one for a new card, at most one for a change; the members may be given like parameters."""
    with pytest.raises(UsageError, match="components and slides"):
        check_call(BY_NAME[name], {"account_id": "a", **given}, now=NOW, wire_names={})
    given.pop("slides", None)
    given.setdefault("components", [MEDIA])
    checked = check_call(BY_NAME[name], {"account_id": "a", **given}, now=NOW, wire_names={})
    assert checked.body is not None
    assert json.loads(b"".join(checked.body.unwrap())) == {k: v for k, v in given.items() if k != "card_id"}


def test_members_and_a_body_do_not_go_together() -> None:
    """They could contradict each other."""
    with pytest.raises(UsageError, match="do not go together"):
        check(BY_NAME["create_card"], {"account_id": "a", "name": "n"}, BODIES["create_card"])
    with pytest.raises(UsageError, match="stands in the operations"):
        check(BY_NAME["batch_campaigns"], {"account_id": "a", "operation_type": "Create"})


def test_bodies_that_json_cannot_say_are_refused_unseen() -> None:
    """Infinity, objects of Python, and a tree without end, where the catalogue leaves the shape open."""
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    for criterion in ({"a": float("inf")}, {"a": object()}, {"a": b"x"}, loop):
        _refused("estimate_audience", {"targeting_criteria": [criterion]}, "cannot be written as JSON")


def test_size_of_an_upload_is_bounded() -> None:
    """5,000,000 bytes are sent, one more is refused (specification part 2, section 8)."""
    row = BY_NAME["add_custom_audience_users"]
    check_call(row, complete(row), ready_bytes=5_000_000, now=NOW, wire_names={})
    with pytest.raises(UsageError, match="longer than 5000000 bytes"):
        check_call(row, complete(row), ready_bytes=5_000_001, now=NOW, wire_names={})


def test_names_that_a_service_changed_are_sent_and_checked() -> None:
    """The wire has its names; values are held to the same rules."""
    row, names = BY_NAME["add_custom_audience_users"], {"platform_id": "twitter_id"}
    for entry, good in (
        ({"twitter_id": [HASH]}, True),
        ({"twitter_id": ["1"]}, False),
        ({"platform_id": [HASH]}, False),
    ):
        body = [{"operation_type": "Update", "params": {"users": [entry]}}]
        if good:
            check_call(row, complete(row), body, now=NOW, wire_names=names)
            continue
        with pytest.raises(UsageError):
            check_call(row, complete(row), body, now=NOW, wire_names=names)
    renamed = {"platform_auth_access_type": "x_auth_access_type"}
    given = {"oauth_callback": "oob", "platform_auth_access_type": "read"}
    checked = check_call(BY_NAME["oauth_request_token"], given, now=NOW, wire_names=renamed)
    assert (checked.query, checked.oauth) == ((("x_auth_access_type", "read"),), (("oauth_callback", "oob"),))
