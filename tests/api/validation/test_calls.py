"""Every rule of every member of a JSON body from both sides: the good is sent, the bad never is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from audiencekit.api.catalogue import BY_NAME, ENDPOINTS, Endpoint
from audiencekit.api.catalogue.cards import COMPONENTS, Shape
from audiencekit.api.catalogue.endpoint import expectation
from audiencekit.api.catalogue.parameters import Level, Parameter, Type
from audiencekit.api.catalogue.rules import (
    DaysBetween,
    ExactlyOneOf,
    ItemsTogether,
    LaterThan,
    MediaTogether,
    NotAbove,
    NotIn,
    NotTogether,
    OnlyIf,
    Present,
    RequiredIf,
    RequiredIn,
    RequiredUnless,
    Rule,
    UnderMonthsAhead,
)
from audiencekit.api.validation.calls import check_call
from audiencekit.errors import UsageError
from tests.api.validation.values import (
    BODIES,
    CANARY,
    HASH,
    LEAF,
    NOW,
    bad_values,
    check,
    complete,
    good_values,
    outside,
)
from tests.cases import each_case

# --- Every rule of every member of a JSON body from both sides: the good is sent, the bad never is ---


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


MEMBERS = [(row, parameter, level) for row in ENDPOINTS for parameter in row.parameters for level in parameter.at]
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


@each_case("endpoint, parameter, level", MEMBERS)
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


@each_case("name", [row.name for row in ENDPOINTS if row.operations])
def test_batches_have_one_to_so_many_operations(name: str) -> None:
    """The largest batch is sent; an empty one, one more, and what is no array of objects are refused."""
    most = BY_NAME[name].operations or 0
    check(BY_NAME[name], complete(BY_NAME[name]), BODIES[name][:1] * most)
    for body in ([], BODIES[name][:1] * (most + 1), {}, [1], [[]], "[]", b"", b"{", b'[{"a":1,"a":2}]', 7):
        _refused(name, body, "is not JSON" if isinstance(body, bytes) else f"array of 1 to {most} operations")


@each_case("name", ["estimate_audience", "create_card", "update_card"])
def test_other_bodies_are_objects(name: str) -> None:
    """Anything else is refused."""
    for body in ([], "{}", 1, b"[]"):
        _refused(name, body, "JSON object")


@each_case("name, level", [
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


@each_case("entry, words", [
    ({}, "an entry of users of operation 1 is empty"),
    ({"email": []}, "email of operation 1 must be a JSON array of texts, at least 1, each"),
])  # fmt: skip
@each_case("name", ["add_custom_audience_users", "batch_do_not_reach_users"])
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


@each_case("name, times, words", [
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


@each_case("body", [
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


@each_case("body, words", [
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


@each_case("operation, params, words", [
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


NOW_COMPONENTS = datetime(2026, 11, 20, tzinfo=UTC)
CANARY_COMPONENTS = "canary@shop.example"

# --- Components of cards from both sides, by the shapes of the catalogue ---

GOOD: dict[str, dict[str, Any]] = {
    "MEDIA": {"type": "MEDIA", "media_key": "13_1"},
    "SWIPEABLE_MEDIA": {"type": "SWIPEABLE_MEDIA", "media_keys": ["13_1", "3_2"]},
    "DETAILS": {
        "type": "DETAILS",
        "title": "A shop",
        "destination": {"type": "WEBSITE", "url": "https://shop.example"},
    },
    "BUTTON": {
        "type": "BUTTON",
        "label": {"type": "ENUM", "value": "BOOK"},
        "destination": {
            "type": "APP",
            "country_code": "DE",
            "googleplay_app_id": "shop.example",
            "googleplay_deep_link": "shop://1",
            "ios_app_store_identifier": "1",
            "ios_deep_link": "shop://2",
        },
    },
}
BAD: dict[Type, list[Any]] = {
    Type.STRING: ["", 1, None, [], {}],
    Type.ENUM: ["", CANARY_COMPONENTS, 1, None, []],
    Type.URL: ["", CANARY_COMPONENTS, 1, None],
    Type.ARRAY: [[], ["13_1"], ["13_1"] * 7, ["13_1", ""], ["13_1", 1], {}, "13_1", None],
    Type.OBJECT: [[], "{}", 1, None],
}


def _send(*components: Any, slides: bool = False) -> None:
    """A card of these components, or with a slide for each of them."""
    content = {"slides": [[each] for each in components]} if slides else {"components": list(components)}
    check_call(BY_NAME["create_card"], {"account_id": "a"}, {"name": "n", **content}, now=NOW_COMPONENTS, wire_names={})


def _members(shape: Shape, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Parameter]]:
    for member in shape.members:
        yield path, member
    for name, inner in shape.inner.items():
        yield from _members(inner, (*path, name))


MEMBERS_COMPONENTS = [(kind, path, member) for kind, shape in COMPONENTS.items() for path, member in _members(shape)]


def _components_at(component: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for name in path:
        component = component[name]
    return component


def test_every_type_is_sent() -> None:
    """In components and in slides."""
    assert GOOD.keys() == COMPONENTS.keys()
    _send(*GOOD.values())
    _send(*GOOD.values(), slides=True)
    _send({**GOOD["SWIPEABLE_MEDIA"], "media_keys": ["13_1"] * 6})


@each_case("kind, path, member", MEMBERS_COMPONENTS)
def test_members_are_tried_from_both_sides(kind: str, path: tuple[str, ...], member: Parameter) -> None:
    """Each choice is good; a wrong one, and a missing one, is refused by its name and number, and never repeated."""
    for value in member.values if member.name != "type" else ():
        component = copy.deepcopy(GOOD[kind])
        _components_at(component, path)[member.name] = value
        _send(component)
    for value in BAD[member.type] + (["de", "DEU"] if member.pattern else []):
        component = copy.deepcopy(GOOD[kind])
        _components_at(component, path)[member.name] = value
        with pytest.raises(UsageError, match=f"{member.name} .*of component 2") as caught:
            _send(GOOD["MEDIA"], component)
        assert CANARY_COMPONENTS not in str(caught.value)
    component = copy.deepcopy(GOOD[kind])
    del _components_at(component, path)[member.name]
    if member.required is True:
        with pytest.raises(UsageError, match=f"{member.name} .*of component 1"):
            _send(component, slides=True)


@each_case("path", [(), ("label",), ("destination",)])
def test_an_unknown_member_is_refused(path: tuple[str, ...]) -> None:
    """Its name is not repeated: it may be a value."""
    component = copy.deepcopy(GOOD["BUTTON"])
    _components_at(component, path)[CANARY_COMPONENTS] = 1
    with pytest.raises(UsageError, match="is none of: type") as caught:
        _send(component)
    assert CANARY_COMPONENTS not in str(caught.value)


@each_case(
    "without, words",
    [
        (("googleplay_app_id",), "googleplay_app_id is required with googleplay_deep_link"),
        (("ios_app_store_identifier",), "ios_app_store_identifier is required with ios_deep_link"),
        (
            ("googleplay_app_id", "googleplay_deep_link", "ios_app_store_identifier", "ios_deep_link"),
            "googleplay_app_id is required without ios_app_store_identifier",
        ),
        (("googleplay_app_id", "googleplay_deep_link"), ""),
        (("ios_app_store_identifier", "ios_deep_link"), ""),
    ],
)
def test_an_app_has_a_store_and_a_link_its_app(without: tuple[str, ...], words: str) -> None:
    """One store is enough."""
    component = copy.deepcopy(GOOD["BUTTON"])
    for name in without:
        del component["destination"][name]
    if not words:
        _send(component)
        return
    with pytest.raises(UsageError, match=words):
        _send(component)


@each_case("component", [None, 1, "MEDIA", [], {}, {"type": CANARY_COMPONENTS}, {"type": ["MEDIA"]}])
def test_an_invalid_component_is_refused(component: Any) -> None:
    """In a slide, too."""
    with pytest.raises(UsageError, match=r"component[s 2]") as caught:
        _send(GOOD["MEDIA"], component)
    with pytest.raises(UsageError, match="component 2"):
        _send(GOOD["MEDIA"], component, slides=True)
    assert CANARY_COMPONENTS not in str(caught.value)


# --- Rules of parameters in path and query from both sides: the good is sent, the bad never is. The emulator's walk
# goes through all parameters of all endpoints (tests/emulator/test_parameter_rules.py); here each rule is tried once.

EACH_RULE = {
    (parameter.place, parameter.required, parameter.removable, expectation(parameter)): (endpoint, parameter)
    for endpoint in ENDPOINTS
    for parameter in outside(endpoint)
}.values()


def test_good_values_are_sent() -> None:
    """Each good value of a parameter stands in its place, as text."""
    for endpoint, parameter in EACH_RULE:
        for value in good_values(parameter):
            checked = check(endpoint, {**complete(endpoint, parameter.name), parameter.name: value})
            sent = {**checked.path, **dict(checked.query), **dict(checked.form), **dict(checked.oauth)}
            assert isinstance(sent[parameter.name], str), (endpoint.name, parameter.name)
            assert sent[parameter.name], (endpoint.name, parameter.name)


def test_bad_values_are_refused() -> None:
    """Each bad value is refused with the name of the parameter, and is not repeated."""
    for endpoint, parameter in EACH_RULE:
        assert list(bad_values(parameter)), (endpoint.name, parameter.name)
        for value in bad_values(parameter):
            with pytest.raises(UsageError, match=f"{endpoint.name}: {parameter.name} ") as caught:
                check(endpoint, {**complete(endpoint, parameter.name), parameter.name: value})
            assert CANARY not in str(caught.value) + caught.value.hint


def test_smallest_call_is_sent_and_each_of_its_parts_is_needed() -> None:
    """Without a required parameter the call is refused; a name that the row does not know is refused too."""
    for endpoint in ENDPOINTS:
        given = complete(endpoint)
        check(endpoint, given)
        _each_part_is_needed(endpoint, given)


def _each_part_is_needed(endpoint: Endpoint, given: dict[str, Any]) -> None:
    for parameter in outside(endpoint):
        if parameter.required is True:
            with pytest.raises(UsageError, match=f"{parameter.name} is required"):
                check(endpoint, {name: value for name, value in given.items() if name != parameter.name})
            with pytest.raises(UsageError, match=f"{parameter.name} is required"):
                check(endpoint, {**given, parameter.name: None})
    for name in ("no_such_name", "a@b.example", "4155550100"):
        with pytest.raises(UsageError, match="has no parameter") as caught:
            check(endpoint, {**given, name: "x"})
        assert (name in str(caught.value)) == (name == "no_such_name")


def test_a_parameter_that_the_client_makes_is_not_given() -> None:
    """A header is none of the caller's parameters."""
    made = [(endpoint, one.name) for endpoint in ENDPOINTS for one in endpoint.parameters if one.place == "header"]
    assert made
    for endpoint, name in made:
        with pytest.raises(UsageError, match="makes it itself"):
            check(endpoint, {**complete(endpoint), name: "x"})


def test_a_call_without_a_body_takes_none() -> None:
    """Not even an empty one."""
    for endpoint in (endpoint for endpoint in ENDPOINTS if endpoint.body is None):
        with pytest.raises(UsageError, match="takes no body"):
            check(endpoint, complete(endpoint), {})


def _breaking(rule: Rule, endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """Parameters that break `rule`, on top of a complete call; None takes one away."""
    match rule:
        case NotTogether(names=names) if set(names) == {"cursor", "with_total_count"}:
            yield {"cursor": "c-1", "with_total_count": True}
            yield {"cursor": "c-1", "with_total_count": "true"}
        case RequiredIf() | RequiredUnless():
            other = good_values(endpoint.parameter(rule.other))[0]
            yield {rule.name: None, rule.other: other if isinstance(rule, RequiredIf) else None}
        case OnlyIf():
            yield {rule.name: True, rule.other: "LINE_ITEM"}
        case NotAbove():
            yield {rule.name: 9_007_199_254_740_993, rule.other: "9007199254740992"}
        case ItemsTogether():
            yield {rule.names[0]: "a,b,c,d,e,f", rule.names[1]: "g,h,i,j,k"}
            yield {rule.names[0]: ["a"] * 11}
        case MediaTogether():
            yield {rule.name: "13_1,13_2"}
            yield {rule.name: ["3_1", "16_1"]}
            yield {rule.name: ["7_1", "7_1"]}
        case DaysBetween():
            yield {rule.start: "2026-11-01T00:00:00Z", rule.end: "2026-11-08T00:00:01Z"}
            yield {rule.start: "2026-11-02T00:00:00Z", rule.end: "2026-11-01T00:00:00Z"}
            yield {rule.start: "2026-11-01T00:00:00Z", rule.end: None}
            yield {rule.start: "0001-01-01", rule.end: "9999-12-31"}


def _keeping(rule: Rule, endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """Parameters that come close to `rule` and keep it."""
    match rule:
        case NotTogether(names=names) if set(names) == {"cursor", "with_total_count"}:
            yield {"cursor": "c-1", "with_total_count": False}
            yield {"with_total_count": True}
        case OnlyIf():
            yield {rule.name: True}
            yield {rule.name: True, rule.other: "CAMPAIGN"}
        case NotAbove():
            yield {rule.name: 9_007_199_254_740_993, rule.other: "9007199254740993"}
        case ItemsTogether():
            yield {rule.names[0]: "a,b,c,d,e,f", rule.names[1]: "g,h,i,j"}
        case MediaTogether():
            yield {rule.name: "3_1,3_2,3_3,3_4"}
            yield {rule.name: "13_1"}
        case DaysBetween():
            yield {rule.start: "2026-11-01T00:00:00Z", rule.end: "2026-11-08T00:00:00Z"}
            yield {rule.start: "2026-11-13T12:30:00Z", rule.end: None}


RULES = [(row, rule) for row in ENDPOINTS if not row.body for rule in row.rules]


@each_case("endpoint, rule", RULES)
def test_rules_between_parameters_are_tried_from_both_sides(endpoint: Endpoint, rule: Rule) -> None:
    """A call that breaks a rule is refused in the words of the rule; a call that comes close is sent."""
    breaking = list(_breaking(rule, endpoint))
    assert breaking
    for change in breaking:
        given = {**complete(endpoint), **change}
        with pytest.raises(UsageError) as caught:
            check(endpoint, given)
        # Of two rules that say the same about each other, the first one speaks.
        mirrored = isinstance(rule, RequiredUnless) and RequiredUnless(rule.other, rule.name).words in str(caught.value)
        assert rule.words in str(caught.value) or mirrored
    for change in _keeping(rule, endpoint):
        check(endpoint, {**complete(endpoint), **change})


def test_every_kind_of_rule_is_tried_here() -> None:
    """Every kind of rule has a case in this file."""
    used = {type(rule) for row in ENDPOINTS for rule in row.rules}
    tried = {NotTogether, ExactlyOneOf, RequiredIf, RequiredIn, RequiredUnless, OnlyIf, NotAbove, LaterThan,
             ItemsTogether, DaysBetween, UnderMonthsAhead, NotIn, Present, MediaTogether}  # fmt: skip
    assert used == tried
