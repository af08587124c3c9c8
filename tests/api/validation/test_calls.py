"""Every rule of every parameter of the catalogue from both sides: the good is sent, the bad never is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from audiencekit.api.catalogue import BY_NAME, ENDPOINTS, Endpoint
from audiencekit.api.catalogue.parameters import (
    CARD_ID,
    CARD_URI,
    IDENTIFIER,
    LISTS,
    SHA256,
    SORT_BY,
    Level,
    Parameter,
    Type,
)
from audiencekit.api.catalogue.rules import (
    DaysBetween,
    ExactlyOneOf,
    ItemsTogether,
    LaterThan,
    NotAbove,
    NotTogether,
    OnlyIf,
    RequiredIf,
    RequiredIn,
    RequiredUnless,
    Rule,
    UnderMonthsAhead,
)
from audiencekit.api.exchange import Body
from audiencekit.api.validation.calls import CheckedCall, check_call
from audiencekit.errors import UsageError

NOW = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
CANARY = "zebra-7391"  # stands in every bad text, and in no message
HASH = "ab" * 32

TEXT_OF_PATTERN = {
    IDENTIFIER: "18ce54d4x5t",
    CARD_ID: "1321554298900107264",
    CARD_URI: "card://1nmth",
    SHA256: HASH,
    SORT_BY.pattern: "created_at-desc",
    "[A-Z]{2}": "DE",
    "[0-9]{1,19}": "756201191646691328",
}
GOOD = {
    Type.BOOLEAN: [True, False, "true", "false"],
    Type.LONG: [0, 756201191646691328, "9223372036854775807"],
    Type.DATETIME: ["2026-11-20T12:00:00Z", "2026-11-20T14:00:00+02:00", datetime(2026, 11, 20, 12, tzinfo=UTC)],
    Type.URL: ["https://shop.example/a?b=c#d", "http://shop.example"],
    Type.CURRENCY: ["EUR"],
    Type.HASHTAG: ["#moon", "moon"],
    Type.CSV_LONG: ["1", "756201191646691328,2", [1, "2"]],
}
BAD: dict[Type, list[Any]] = {
    Type.STRING: [1.0, b"a", object()],
    Type.BOOLEAN: ["True", "yes", 1.5, f"{CANARY}"],
    Type.INT: [1.5, "1.0", "1e2", "+1", "01", " 1", CANARY, "٣"],
    Type.LONG: [7.56e17, "7.5e17", "-1", "9223372036854775808", CANARY, "٣"],
    Type.ENUM: ["", f"{CANARY} of two words"],
    Type.DATETIME: ["", CANARY, "2026-02-30", "1790000000", datetime(2026, 11, 20, 12), 1_790_000_000],  # noqa: DTZ001
    Type.URL: ["", CANARY, f"ftp://{CANARY}", f"https://a b {CANARY}"],
    Type.CURRENCY: ["", "eur", "EURO", CANARY],
    Type.HASHTAG: ["", "#", f"#two {CANARY}"],
    Type.CSV_STRING: [",", "a,,b", ["a,b"], [], [b"a"]],
    Type.CSV_ENUM: [CANARY, ",", []],
    Type.CSV_LONG: [CANARY, "1,x", [1.5], "1,,2"],
    Type.ARRAY: [None, "[]", {}, 1],
    Type.OBJECT: [None, "{}", [], 1],
}


def _good_values(parameter: Parameter) -> list[Any]:
    if parameter.pattern:
        good = TEXT_OF_PATTERN[parameter.pattern]
        most = parameter.max_items or 3
        return [good, ",".join([good] * most), [good] * most] if parameter.type in LISTS else [good]
    if parameter.values:
        every = list(parameter.values)
        return [*every, ",".join(map(str, every)), every] if parameter.type in LISTS else every
    if parameter.type is Type.INT:
        return [parameter.minimum or 1, parameter.maximum or 7, str(parameter.maximum or 7)]
    if parameter.type is Type.STRING:
        return ["a" * (parameter.min_length or 1), "ä" * (parameter.max_length or 30)]
    return GOOD.get(parameter.type, ["words"])


def _bad_values(parameter: Parameter) -> Iterator[Any]:
    yield from (value for value in BAD[parameter.type] if not _is_excused(parameter, value))
    if parameter.minimum is not None:
        yield parameter.minimum - 1
    if parameter.maximum is not None:
        yield parameter.maximum + 1
    if parameter.max_length is not None:
        yield "#" * (parameter.type is Type.HASHTAG) + "a" * (parameter.max_length + 1)
    if parameter.min_length is not None or parameter.required is True:
        yield ""
    if parameter.max_items is not None:
        yield ",".join([str(_good_values(parameter)[0])] * (parameter.max_items + 1))
    if parameter.values or parameter.pattern:
        yield CANARY if parameter.type is not Type.INT else 2
    if parameter.whole_hours:
        yield "2026-11-20T10:30:00Z"


def _is_excused(parameter: Parameter, value: Any) -> bool:
    return (parameter.removable and value in ("", [])) or (
        parameter.type is Type.ENUM and not parameter.values and value != ""
    )


def _complete(endpoint: Endpoint, *names: str) -> dict[str, Any]:
    """The smallest good call that has `names`."""
    given = {one.name: _good_values(one)[0] for one in _outside(endpoint) if one.required is True or one.name in names}
    for rule in endpoint.rules * 2:
        if isinstance(rule, RequiredUnless) and rule.other not in given:
            given.setdefault(rule.name, _good_values(endpoint.parameter(rule.name))[0])
        if isinstance(rule, RequiredIf) and rule.other in given:
            given.setdefault(rule.name, _good_values(endpoint.parameter(rule.name))[0])
    return given


def _outside(endpoint: Endpoint) -> list[Parameter]:
    return [parameter for parameter in endpoint.parameters if parameter.place not in ("body", "header")]


def _check(endpoint: Endpoint, given: dict[str, Any], body: Any = None) -> CheckedCall:
    if body is None and endpoint.body:
        body = BODIES[endpoint.name]
    return check_call(endpoint, given, body, now=NOW, wire_names={})


OUTSIDE = [
    pytest.param(row, parameter, id=f"{row.name}-{parameter.name}") for row in ENDPOINTS for parameter in _outside(row)
]


@pytest.mark.parametrize(("endpoint", "parameter"), OUTSIDE)
def test_good_values_are_sent(endpoint: Endpoint, parameter: Parameter) -> None:
    """Each good value of a parameter stands in its place, as text."""
    for value in _good_values(parameter):
        checked = _check(endpoint, {**_complete(endpoint, parameter.name), parameter.name: value})
        sent = {**checked.path, **dict(checked.query), **dict(checked.form), **dict(checked.oauth)}
        assert sent[parameter.name] not in (None, "")
        assert isinstance(sent[parameter.name], str)


@pytest.mark.parametrize(("endpoint", "parameter"), OUTSIDE)
def test_bad_values_are_refused(endpoint: Endpoint, parameter: Parameter) -> None:
    """Each bad value is refused with the name of the parameter, and is not repeated."""
    bad = list(_bad_values(parameter))
    assert bad
    for value in bad:
        with pytest.raises(UsageError) as caught:
            _check(endpoint, {**_complete(endpoint, parameter.name), parameter.name: value})
        assert f"{endpoint.name}: {parameter.name} " in str(caught.value), value
        assert CANARY not in str(caught.value) + caught.value.hint


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=[endpoint.name for endpoint in ENDPOINTS])
def test_smallest_call_is_sent_and_each_of_its_parts_is_needed(endpoint: Endpoint) -> None:
    """Without a required parameter the call is refused; a name that the row does not know is refused too."""
    given = _complete(endpoint)
    _check(endpoint, given)
    for parameter in _outside(endpoint):
        if parameter.required is True:
            with pytest.raises(UsageError, match=f"{parameter.name} is required"):
                _check(endpoint, {name: value for name, value in given.items() if name != parameter.name})
            with pytest.raises(UsageError, match=f"{parameter.name} is required"):
                _check(endpoint, {**given, parameter.name: None})
    for name in ("no_such_name", "a@b.example", "4155550100"):
        with pytest.raises(UsageError, match="has no parameter") as caught:
            _check(endpoint, {**given, name: "x"})
        assert (name in str(caught.value)) == (name == "no_such_name")


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=[endpoint.name for endpoint in ENDPOINTS])
def test_what_the_client_makes_is_not_given(endpoint: Endpoint) -> None:
    """A header is none of the caller's parameters, and a call without a body takes none."""
    for parameter in endpoint.parameters:
        if parameter.place == "header":
            with pytest.raises(UsageError, match="makes it itself"):
                _check(endpoint, {**_complete(endpoint), parameter.name: "x"})
    if endpoint.body is None:
        with pytest.raises(UsageError, match="takes no body"):
            _check(endpoint, _complete(endpoint), {})


def _breaking(rule: Rule, endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """Parameters that break `rule`, on top of a complete call; None takes one away."""
    match rule:
        case NotTogether(names=names) if set(names) == {"cursor", "with_total_count"}:
            yield {"cursor": "c-1", "with_total_count": True}
            yield {"cursor": "c-1", "with_total_count": "true"}
        case RequiredIf() | RequiredUnless():
            other = _good_values(endpoint.parameter(rule.other))[0]
            yield {rule.name: None, rule.other: other if isinstance(rule, RequiredIf) else None}
        case OnlyIf():
            yield {rule.name: True, rule.other: "LINE_ITEM"}
        case NotAbove():
            yield {rule.name: 9_007_199_254_740_993, rule.other: "9007199254740992"}
        case ItemsTogether():
            yield {rule.names[0]: "a,b,c,d,e,f", rule.names[1]: "g,h,i,j,k"}
            yield {rule.names[0]: ["a"] * 11}
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
        case DaysBetween():
            yield {rule.start: "2026-11-01T00:00:00Z", rule.end: "2026-11-08T00:00:00Z"}
            yield {rule.start: "2026-11-13T12:30:00Z", rule.end: None}


RULES = [
    pytest.param(row, rule, id=f"{row.name}-{rule.words.replace(' ', '_')}")
    for row in ENDPOINTS
    if not row.body
    for rule in row.rules
]


@pytest.mark.parametrize(("endpoint", "rule"), RULES)
def test_rules_between_parameters_are_tried_from_both_sides(endpoint: Endpoint, rule: Rule) -> None:
    """What breaks a rule is refused in the words of the rule; what only comes close is sent."""
    breaking = list(_breaking(rule, endpoint))
    assert breaking
    for change in breaking:
        given = {**_complete(endpoint), **change}
        with pytest.raises(UsageError) as caught:
            _check(endpoint, given)
        # Of two rules that say the same about each other, the first one speaks.
        mirrored = isinstance(rule, RequiredUnless) and RequiredUnless(rule.other, rule.name).words in str(caught.value)
        assert rule.words in str(caught.value) or mirrored
    for change in _keeping(rule, endpoint):
        _check(endpoint, {**_complete(endpoint), **change})


# --- JSON bodies ---
LEAF = {"custom_audience_id": "1nmth", "lookback_window": 30, "frequency": 1, "frequency_comparator": "NUM_GTE",
        "negate": False, "child_segments": []}  # fmt: skip
BODIES: dict[str, Any] = {
    "estimate_audience": {
        "targeting_criteria": [{"targeting_type": "BROAD_KEYWORD", "targeting_value": "tea", "operator_type": "EQ"}],
        "operator_type": "EQ",
    },
    "batch_campaigns": [
        {"operation_type": "Create", "params": {"funding_instrument_id": "lygyi", "name": "Spring"}},
        {
            "operation_type": "Update",
            "params": {"funding_instrument_id": "lygyi", "name": "Spring", "campaign_id": "8"},
        },
        {"operation_type": "Delete", "params": {"campaign_id": "8wku2"}},
    ],
    "batch_flexible_audiences": [
        {
            "operation_type": "Create",
            "params": {
                "audience_type": "FLEXIBLE",
                "name": "Spring",
                "segments": {"boolean_operator": "AND", "child_segments": [LEAF, LEAF]},
            },
        }
    ],
    "add_custom_audience_users": [
        {
            "operation_type": "Update",
            "params": {
                "users": [{"email": [HASH], "partner_user_id": ["a-1"]}, {"phone_number": [HASH]}],
                "effective_at": "2026-11-20T00:00:00Z",
                "expires_at": "2027-11-20T00:00:00Z",
            },
        }
    ],
    "batch_do_not_reach_users": [
        {
            "operation_type": "Delete",
            "params": {"users": [{"email": [HASH], "phone_number": [HASH]}], "expires_at": "2027-12-20T12:29:59Z"},
        }
    ],
    "create_card": {"name": "Spring", "components": [{"type": "MEDIA", "media_key": "13_1"}]},
    "update_card": {"name": "Spring", "slides": [[{"type": "MEDIA", "media_key": "13_1"}]]},
}


BODIES["batch_campaigns"][1]["params"].pop("funding_instrument_id")


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
        checked = _check(BY_NAME[name], _complete(BY_NAME[name]), body)
        assert checked.body is not None
        sent = b"".join(checked.body.unwrap())
        assert json.loads(sent) == body
        again = _check(BY_NAME[name], _complete(BY_NAME[name]), sent)
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
            _check(endpoint, _complete(endpoint), body)
        assert parameter.name in str(caught.value), value
        assert CANARY not in str(caught.value)
    body = copy.deepcopy(BODIES[endpoint.name])
    if _at(body, level).pop(parameter.name, None) is not None and parameter.required is True:
        with pytest.raises(UsageError, match=f"{parameter.name}.* is required"):
            _check(endpoint, _complete(endpoint), body)


def _refused(name: str, body: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        _check(BY_NAME[name], _complete(BY_NAME[name]), body)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("name", [row.name for row in ENDPOINTS if row.operations])
def test_batches_have_one_to_so_many_operations(name: str) -> None:
    """The largest batch is sent; an empty one, one more, and what is no array of objects are refused."""
    most = BY_NAME[name].operations or 0
    _check(BY_NAME[name], _complete(BY_NAME[name]), BODIES[name][:1] * most)
    for body in ([], BODIES[name][:1] * (most + 1), {}, [1], [[]], "[]", b"", b"{", b'[{"a":1,"a":2}]', 7):
        _refused(name, body, f"array of 1 to {most} operations")


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


def _deep(levels: int) -> dict[str, Any]:
    tree = dict(LEAF)
    for _ in range(levels - 1):
        tree = {"boolean_operator": "OR", "child_segments": [tree]}
    return tree


@pytest.mark.parametrize("body", [_create(segments=_tree(10)), _create(**_tree(10)), _create(segments=_deep(20))])
def test_trees_are_sent(body: Any) -> None:
    """Ten leaves, in segments or in the params themselves; twenty levels."""
    _check(BY_NAME["batch_flexible_audiences"], _complete(BY_NAME["batch_flexible_audiences"]), body)


@pytest.mark.parametrize(("body", "words"), [
    (_create(segments=_tree(11)), "more than 10 custom audiences"),
    (_create(**_tree(11)), "more than 10 custom audiences"),
    (_create(segments=_deep(22)), "levels deep"),
    (_create(), "segments or child_segments is required in Create"),
    (_create(segments=_tree(1), name=None), "name"),
    (_create(child_segments=[LEAF]), "boolean_operator is required with child_segments"),
    (_create(segments={"child_segments": [LEAF]}), "boolean_operator is required with child_segments"),
    ([{"operation_type": "Create", "params": {"name": "n", "segments": _tree(1)}}], "audience_type is required"),
    ([{"operation_type": "Create", "params": {"audience_type": "FLEXIBLE", "segments": _tree(1)}}], "name is required"),
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
    ("Update", {"name": "n"}, "campaign_id is required in Update"),
    ("Update", {"campaign_id": "8", "entity_status": "DRAFT"}, "entity_status of operation 1 must be"),
    ("Delete", {}, "campaign_id is required in Delete"),
])  # fmt: skip
def test_params_of_a_campaign_follow_the_rows_of_one(operation: str, params: dict[str, Any], words: str) -> None:
    """What a single call would refuse, a batch refuses too."""
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
    """Nobody could say which of them holds."""
    with pytest.raises(UsageError, match="do not go together"):
        _check(BY_NAME["create_card"], {"account_id": "a", "name": "n"}, BODIES["create_card"])
    with pytest.raises(UsageError, match="stands in the operations"):
        _check(BY_NAME["batch_campaigns"], {"account_id": "a", "operation_type": "Create"})


def test_bodies_that_json_cannot_say_are_refused_unseen() -> None:
    """Infinity, objects of Python, and a tree without end, where the catalogue leaves the shape open."""
    loop: dict[str, Any] = {}
    loop["loop"] = loop
    for criterion in ({"a": float("inf")}, {"a": object()}, {"a": b"x"}, loop):
        _refused("estimate_audience", {"targeting_criteria": [criterion]}, "nothing that JSON can say")


def test_size_of_an_upload_is_bounded() -> None:
    """5,000,000 bytes are sent, one more is refused (specification part 2, section 8)."""
    row = BY_NAME["add_custom_audience_users"]
    assert _check(row, _complete(row), Body([bytes(5_000_000)])).body is not None
    with pytest.raises(UsageError, match="longer than 5000000 bytes"):
        _check(row, _complete(row), Body([bytes(5_000_001)]))


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
            check_call(row, _complete(row), body, now=NOW, wire_names=names)
            continue
        with pytest.raises(UsageError):
            check_call(row, _complete(row), body, now=NOW, wire_names=names)
    renamed = {"platform_auth_access_type": "x_auth_access_type"}
    given = {"oauth_callback": "oob", "platform_auth_access_type": "read"}
    checked = check_call(BY_NAME["oauth_request_token"], given, now=NOW, wire_names=renamed)
    assert (checked.query, checked.oauth) == ((("x_auth_access_type", "read"),), (("oauth_callback", "oob"),))


def test_every_kind_of_rule_is_tried_here() -> None:
    """A rule that nobody tries would be no rule."""
    used = {type(rule) for row in ENDPOINTS for rule in row.rules}
    tried = {NotTogether, ExactlyOneOf, RequiredIf, RequiredIn, RequiredUnless, OnlyIf, NotAbove, LaterThan,
             ItemsTogether, DaysBetween, UnderMonthsAhead}  # fmt: skip
    assert used == tried
