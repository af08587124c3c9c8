"""Good and bad values of every kind of parameter, and the smallest good calls and bodies."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from audiencekit.api.catalogue import Endpoint
from audiencekit.api.catalogue.parameters import (
    CARD_ID,
    CARD_URI,
    EVENT_TYPE,
    IDENTIFIER,
    LISTS,
    MINUTE,
    SHA256,
    SORT_BY,
    WEBHOOK_ID,
    Parameter,
    Type,
)
from audiencekit.api.catalogue.rules import RequiredIf, RequiredUnless
from audiencekit.api.validation.calls import CheckedCall, check_call

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
    WEBHOOK_ID: "756201191646691328",
    EVENT_TYPE: "profile.update.bio",
    MINUTE: "202611201200",
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
    Type.CURRENCY: ["", "eur", "EURO", "XXQ", CANARY],
    Type.HASHTAG: ["", "#", f"#two {CANARY}"],
    Type.CSV_STRING: [",", "a,,b", ["a,b"], [], [b"a"]],
    Type.CSV_ENUM: [CANARY, ",", []],
    Type.CSV_LONG: [CANARY, "1,x", [1.5], "1,,2"],
    Type.ARRAY: [None, "[]", {}, 1],
    Type.OBJECT: [None, "{}", [], 1],
}
LEAF = {"custom_audience_id": "1nmth", "lookback_window": 30, "frequency": 1, "frequency_comparator": "NUM_GTE",
        "negate": False, "child_segments": []}  # fmt: skip
BODIES: dict[str, Any] = {
    "estimate_audience": {
        "targeting_criteria": [{"targeting_type": "BROAD_KEYWORD", "targeting_value": "tea", "operator_type": "EQ"}],
        "operator_type": "EQ",
    },
    "change_stream_rules": {"add": [{"value": "spring", "tag": "season"}]},
    "batch_line_items": [
        {"operation_type": "Create", "params": {"campaign_id": "8wku2", "objective": "REACH", "product_type": "MEDIA"}},
    ],
    "batch_targeting_criteria": [
        {
            "operation_type": "Create",
            "params": {
                "line_item_id": "8wku2",
                "operator_type": "EQ",
                "targeting_type": "BROAD_KEYWORD",
                "targeting_value": "tea",
            },
        },
        {"operation_type": "Delete", "params": {"targeting_criterion_id": "8wku2"}},
    ],
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


def good_values(parameter: Parameter) -> list[Any]:
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


def bad_values(parameter: Parameter) -> Iterator[Any]:
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
        yield ",".join([str(good_values(parameter)[0])] * (parameter.max_items + 1))
    if parameter.values or parameter.pattern:
        yield CANARY if parameter.type is not Type.INT else 2
    if parameter.whole_hours:
        yield "2026-11-20T10:30:00Z"


def _is_excused(parameter: Parameter, value: Any) -> bool:
    return (parameter.removable and value in ("", [])) or (
        parameter.type is Type.ENUM and not parameter.values and value != ""
    )


def complete(endpoint: Endpoint, *names: str) -> dict[str, Any]:
    """The smallest good call that has `names`."""
    given = {one.name: good_values(one)[0] for one in outside(endpoint) if one.required is True or one.name in names}
    for rule in endpoint.rules * 2:
        if isinstance(rule, RequiredUnless) and rule.other not in given:
            given.setdefault(rule.name, good_values(endpoint.parameter(rule.name))[0])
        if isinstance(rule, RequiredIf) and rule.other in given:
            given.setdefault(rule.name, good_values(endpoint.parameter(rule.name))[0])
    return given


def outside(endpoint: Endpoint) -> list[Parameter]:
    return [parameter for parameter in endpoint.parameters if parameter.place not in ("body", "header")]


def check(endpoint: Endpoint, given: dict[str, Any], body: Any = None) -> CheckedCall:
    if body is None and endpoint.body:
        body = BODIES[endpoint.name]
    return check_call(endpoint, given, body, now=NOW, wire_names={})
