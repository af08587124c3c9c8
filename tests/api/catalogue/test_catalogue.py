"""The rows against the specification's own data, field by field; every intended difference has its reason here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.catalogue import BY_NAME, ENDPOINTS, Endpoint, RateWindow
from audiencekit.api.catalogue.endpoint import AMBIGUITIES, expectation
from audiencekit.api.catalogue.parameters import LISTS, Parameter, Type
from audiencekit.api.catalogue.rules import (
    DaysBetween,
    ExactlyOneOf,
    ItemsTogether,
    LaterThan,
    NotAbove,
    NotTogether,
    OnlyIf,
    RequiredIf,
    RequiredUnless,
    Rule,
)
from audiencekit.api.validation.values import write_value
from tests.cases import each_case

SPECIFICATION = Path(__file__).resolve().parents[3].parent / "shared" / "spec" / "endpoints.json"

SHOWN = [row for row in ENDPOINTS if row.shown]
# Part 0, section 6: rules of the filtered stream; part 1, section 4.6: line item endpoints (list, create, update,
# delete), section 4.11: creation and deletion of criteria; part 2, section 4.9: scheduled tweets.
NAMED_ONLY = {
    *("list_line_items", "get_line_item", "create_line_item", "update_line_item", "delete_line_item"),
    *("batch_line_items", "create_targeting_criterion", "batch_targeting_criteria", "delete_targeting_criterion"),
    *("list_stream_rules", "change_stream_rules"),
    *("list_scheduled_tweets", "get_scheduled_tweet", "create_scheduled_tweet"),
}
# (endpoint, parameter, field) -> why the row is not as the data has it. A star stands for any.
DIFFERENCES = {
    ("*", "*_id", "pattern"): "ids are base 36 in lower case, so that none can mean another path",
    ("*", "*_ids", "pattern"): "the same, for each entry of a list",
    ("*", "*card_uri*", "pattern"): "card:// and an id, which the data says in words",
    ("*", "country_codes", "pattern"): "two letters, which the data says in words",
    ("*", "sort_by", "type"): "several orders are taken, as the public service echoes a list",
    ("*", "sort_by", "pattern"): "ends in -asc or -desc, which the data says in words",
    ("*", "cursor", "min_length"): "an empty cursor would start from the first page again",
    ("*", "cursor", "max_length"): "ours: no token of a page is that long",
    ("*", "media_keys", "max_items"): "four images at most, which the data says in words",
    ("*users", "email", "pattern"): "a hash in lower-case hex, so that nothing in the clear is sent",
    ("*users", "phone_number", "pattern"): "the same",
    ("*users", "device_id", "pattern"): "the same",
    ("*users", "handle", "pattern"): "the same",
    ("*users", "platform_id", "pattern"): "the same",
    ("get_posts", "ids", "type"): "ids of posts are strings of digits",
    ("oauth2_token", "Content-Type", "type"): "a constant is a choice of one",
    ("oauth_request_token", "oauth_callback", "place"): "query or header: the header",
    ("oauth_request_token", "platform_auth_access_type", "place"): "query or header: the query",
    ("oauth_access_token", "oauth_token", "place"): "not stated: the header, where the signature has it",
    ("oauth_access_token", "oauth_verifier", "place"): "not stated: a form, as in a published vector",
    ("oauth_access_token", "oauth_verifier", "min_length"): "it is required, so it is not empty",
    ("create_activity_subscription", "direction", "place"): "not stated: the query",
    ("create_activity_subscription", "direction", "known"): "both, which the data says in words",
    ("create_activity_subscription", "direction", "min_length"): "an empty filter would be none",
    ("batch_flexible_audiences", "name", "required"): "of Create and Update: rules say so",
    ("batch_flexible_audiences", "custom_audience_id", "required"): "of Update, Delete and a leaf: rules say so",
    ("batch_flexible_audiences", "frequency", "minimum"): "every leaf counts visits, of which there is at least one",
    ("*tweet", "text", "max_length"): "part 0, section 8, states it of long posts",
    ("batch_flexible_audiences", "child_segments", "required"): "of Create only, or segments instead: a rule says so",
}
# (endpoint, parameter) -> why the row has a parameter that the data does not.
MORE_PARAMETERS = {
    ("create_activity_subscription", "event_type"): "named in words: by type",
    ("create_activity_subscription", "user_id"): "named in words: filtered by user ID",
    ("create_activity_subscription", "keyword"): "named in words: an optional keyword filter",
    ("open_activity_stream", "backfill_minutes"): "part 0, section 8, states it of streams",
    ("replay_webhook", "webhook_id"): "the public service's, without which nothing can be replayed",
    ("replay_webhook", "from_date"): "the same",
    ("replay_webhook", "to_date"): "the same",
    ("update_scheduled_tweet", "card_uri"): "further parameters that are cut off here",
    ("update_scheduled_tweet", "media_keys"): "the same",
    ("list_targeting_criteria", "targeting_criterion_ids"): "the usual list parameters: part 1, section 4.0, has ids",
    ("create_funding_instrument", "type"): "remaining parameters are not shown; campaigns depend on it",
}
# (endpoint, rule) -> why there is a rule that the data has in words, or not at all.
MORE_RULES = {
    ("batch_campaigns", "RequiredIn"): "Update and Delete must name their campaign",
    (
        "batch_flexible_audiences",
        "RequiredIn",
    ): "Delete needs no name, Create alone the tree; Update and Delete their audience",
    ("batch_flexible_audiences", "NotIn"): "flexible audiences are immutable; a new audience has no id yet",
    ("batch_flexible_audiences", "OnlyIf"): "a mobile audience has no tree",
    ("batch_flexible_audiences", "NotTogether"): "two trees would contradict each other",
    ("batch_flexible_audiences", "Present"): "child_segments is required, which an empty list is enough for",
    ("batch_flexible_audiences", "ExactlyOneOf"): "a segment is a leaf, or joins others",
    ("*tweet", "MediaTogether"): "words of the parameter, in the creation of tweets",
    ("batch_do_not_reach_users", "UnderMonthsAhead"): "words of the parameter",
}
LEVELS = {
    None: ((), ("top",)),
    "item": (("item",),),
    "item.params": (("params",),),
    "item.params.users[]": (("user",),),
    "segment": (("segment",), ("params", "segment")),
    "item.params, segments, segment": (("params", "segment"),),
    "unstated: body or each criterion": (("top", "criterion"),),
}
AUTH = {
    "ads_account_user": "user",
    "ads_user": "user",
    "oauth1_app": "app",
    "oauth1_user_token": "user",
    "oauth1_owner": "user",
    "basic_app": "basic",
    "bearer": "bearer",
    "not_shown": "bearer",
}
# Sections whose open points are about all endpoints (conventions), or stand with a row of another section.
GENERAL = {(1, "intro"), (1, "3"), (1, "4.0"), (1, "7, 8"), (1, "9"), (2, "intro"), (2, "8")}


def _document() -> dict[str, Any]:
    if not SPECIFICATION.exists():
        pytest.skip("no shared specification here")
    return _read()


@cache
def _read() -> dict[str, Any]:
    return dict(json.loads(SPECIFICATION.read_text()))


def _stated() -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in _document()["endpoints"]}


def _parameter_facts(stated: dict[str, Any]) -> dict[str, Any]:
    pattern = stated.get("pattern")
    return {
        "type": stated["type"],
        "place": stated["in"],
        "required": stated["required"],
        "values": tuple(stated.get("enum", [stated["const"]] if "const" in stated else [])),
        "known": tuple(stated.get("known_values", ())),
        "default": stated.get("default"),
        "minimum": stated.get("min"),
        "maximum": stated.get("max"),
        "min_length": stated.get("min_length"),
        "max_length": stated.get("max_length"),
        "max_items": stated.get("max_items"),
        "pattern": pattern and pattern.strip("^$"),
    }


def _stated_parameters(row: Endpoint) -> list[Parameter]:
    """Those that the data have. The fields of a user, which are the kinds in their own order, are sorted."""
    stated = [parameter for parameter in row.parameters if (row.name, parameter.name) not in MORE_PARAMETERS]
    return sorted(stated, key=lambda each: each.name if each.at == ("user",) else "")


def _given_parameters(stated: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(stated["params"], key=lambda each: each["name"] if LEVELS[each.get("at")] == (("user",),) else "")


def _differences() -> Iterator[tuple[str, str, str]]:
    for stated in _stated().values():
        row = BY_NAME[stated["name"]]
        for parameter, given in zip(_stated_parameters(row), _given_parameters(stated), strict=True):
            facts = _parameter_facts(given)
            yield from (
                (row.name, parameter.name, field)
                for field, value in facts.items()
                if getattr(parameter, field) != value
            )


def _fits(difference: tuple[str, str, str], entry: tuple[str, str, str]) -> bool:
    return all(fnmatchcase(part, pattern) for part, pattern in zip(difference, entry, strict=True))


def test_every_endpoint_has_its_row() -> None:
    """122 of 122, and no other but those that it names without showing them."""
    stated = _document()
    assert sorted(row.name for row in SHOWN) == sorted(row["name"] for row in stated["endpoints"])
    assert len(SHOWN) == stated["endpoint_count"] == 122
    assert {row.name for row in ENDPOINTS if not row.shown} == NAMED_ONLY


def test_parameters_are_as_specified_but_for_stated_differences() -> None:
    """Each field of each parameter is what the data states, or a difference with a reason."""
    assert [each for each in _differences() if not any(_fits(each, entry) for entry in DIFFERENCES)] == []


def test_every_parameter_beyond_the_data_is_there() -> None:
    """A reason that is needed no more is not kept."""
    there = {(row.name, name) for row in ENDPOINTS for name in row.parameter_names}
    assert there >= MORE_PARAMETERS.keys()


def test_every_stated_difference_is_one() -> None:
    """A reason that is needed no more is not kept."""
    found = list(_differences())
    assert [entry for entry in DIFFERENCES if not any(_fits(each, entry) for each in found)] == []


@each_case("endpoint", SHOWN)
def test_row_is_as_specified(endpoint: Endpoint) -> None:
    """A row agrees with the specification's data in all that it says beside its parameters."""
    stated = _stated()[endpoint.name]
    limits = stated["limits"]
    assert (endpoint.group, endpoint.method, endpoint.path) == (stated["group"], stated["method"], stated["path"])
    assert (endpoint.base, endpoint.sandbox_only) == (stated["base"], stated["sandbox_only"])
    assert (endpoint.part, endpoint.section) == (stated["source"]["doc"], stated["source"]["section"])
    assert endpoint.body == stated["body"]
    parameters, given = _stated_parameters(endpoint), _given_parameters(stated)
    assert [parameter.name for parameter in parameters] == [each["name"] for each in given]
    assert endpoint.window == _window(limits)
    assert endpoint.window_with_total_count == _window(limits.get("with_total_count", {}))
    assert endpoint.operations == limits.get("operations", limits.get("batch_items"))
    assert endpoint.body_bytes == limits.get("body_bytes")
    assert endpoint.leaves == limits.get("leaf_custom_audiences")
    for parameter, each in zip(parameters, given, strict=True):
        assert parameter.at in LEVELS[each.get("at")]


def _window(stated: dict[str, Any]) -> RateWindow | None:
    if "requests_per_window" not in stated:
        return None
    return RateWindow(requests=stated["requests_per_window"], seconds=stated["window_seconds"])


@each_case("endpoint", SHOWN)
def test_credential_and_answer_are_as_specified(endpoint: Endpoint) -> None:
    """The signing party, the account in the path, and the form of the answer."""
    stated = _stated()[endpoint.name]
    kind = stated["auth"]["kind"]
    if kind != "oauth1_required":
        assert endpoint.auth == AUTH[kind]
    assert endpoint.needs_account == (kind == "ads_account_user")
    body = stated["response"]["body"]
    if body in ("pairs", "redirect"):
        assert endpoint.answer == {"pairs": "pairs", "redirect": "page"}[body]
    elif "access_token" in stated["response"].get("members", ()):
        assert endpoint.answer == "credential"
    else:
        assert endpoint.answer in (("json",) if endpoint.part else ("v2", "stream"))


def _rule(stated: dict[str, Any]) -> Rule:
    names = tuple(stated["params"])
    condition = stated.get("if") or stated.get("unless")
    match stated["kind"]:
        case "not_together" | "at_most_one_of":
            return NotTogether(names)
        case "exactly_one_of":
            return ExactlyOneOf(names)
        case "lte":
            return NotAbove(*names)
        case "later_than":
            return LaterThan(names[0], "effective_at")
        case "only_if":
            ((other, value),) = condition.items()
            return OnlyIf(names[0], other, value)
        case "combined_max_items":
            return ItemsTogether(names, stated["max_items"])
        case "max_range":
            return DaysBetween(*names, days=stated["days"])
        case "required_if":
            return RequiredIf(names[0], condition.split()[0])
        case "required_unless":
            return RequiredUnless(names[0], condition)
    raise AssertionError(stated)


@each_case("endpoint", SHOWN)
def test_rules_are_as_specified(endpoint: Endpoint) -> None:
    """The rules between parameters are those of the data, and those that it has in words."""
    stated = {_rule(each) for each in _stated()[endpoint.name]["param_rules"]}
    ours = {replace(rule, at="top") for rule in endpoint.rules}
    assert stated <= ours
    more = [(endpoint.name, type(rule).__name__) for rule in ours - stated]
    assert all(any(fnmatchcase(name, entry) and kind == other for entry, other in MORE_RULES) for name, kind in more)


@each_case("endpoint", ENDPOINTS)
def test_a_parameter_required_on_a_condition_has_a_rule_or_an_ambiguity(endpoint: Endpoint) -> None:
    """A condition that cannot be checked here is marked as open."""
    conditional = [parameter.name for parameter in endpoint.parameters if parameter.required == "conditional"]
    ruled = " ".join(rule.words for rule in endpoint.rules)
    assert all(name in ruled for name in conditional) or endpoint.ambiguities


def test_every_open_point_of_the_specification_is_decided() -> None:
    """A row of the section says how it is read; what is open for all stands in the conventions."""
    decided = {(row.part, row.section) for row in ENDPOINTS if row.ambiguities}
    for each in _document()["ambiguities"]:
        part, sections = each["source"]["doc"], each["source"]["section"]
        if (part, sections) not in GENERAL:
            assert any((part, section.strip()) in decided for section in sections.split(",")), each
    assert len(AMBIGUITIES) == len(set(AMBIGUITIES))


@each_case("endpoint", ENDPOINTS)
def test_row_is_consistent(endpoint: Endpoint) -> None:
    """Path and parameters agree, names are unique, rules are about known names, and a body has its members."""
    in_path = [parameter.name for parameter in endpoint.parameters if parameter.place == "path"]
    assert all(f"{{{name}}}" in endpoint.path for name in in_path)
    assert endpoint.path.count("{") == len(in_path)
    assert len(set(endpoint.parameter_names)) == len(endpoint.parameters)
    assert any(parameter.place == "body" for parameter in endpoint.parameters) == (endpoint.body is not None)
    assert all((parameter.place == "body") == bool(parameter.at) for parameter in endpoint.parameters)
    assert not (endpoint.is_paged and endpoint.method != "GET")
    assert endpoint.parameter_names == tuple(endpoint.parameter(name).name for name in endpoint.parameter_names)
    with pytest.raises(KeyError):
        endpoint.parameter("no such name")


def test_no_id_means_another_path() -> None:
    """A word that stands where another path has an id is no id."""
    for row in ENDPOINTS:
        for other in ENDPOINTS:
            parts, words = row.path.split("/"), other.path.split("/")
            pairs = [(part, word) for part, word in zip(parts, words, strict=False) if part != word]
            if len(parts) == len(words) and all(part.startswith("{") for part, _ in pairs):
                assert any(not write_value(row.parameter(part.strip("{}")), word) for part, word in pairs) or not pairs


def test_names_are_unique() -> None:
    """Every row is found by its name."""
    assert [BY_NAME[endpoint.name] for endpoint in ENDPOINTS] == list(ENDPOINTS)


PARAMETERS = {(parameter.type, expectation(parameter)): parameter for row in ENDPOINTS for parameter in row.parameters}


@each_case("parameter", PARAMETERS.values())
def test_every_bound_is_in_the_words(parameter: Parameter) -> None:
    """The words on a parameter name each of its bounds and each of its choices."""
    words = expectation(parameter)
    bounds = (parameter.minimum, parameter.maximum, parameter.max_length, parameter.max_items)
    assert all(str(bound) in words for bound in bounds if bound is not None)
    assert all(str(value) in words for value in parameter.values)
    assert ("list" in words) == (parameter.type in LISTS)
    assert ("JSON" in words) == (parameter.type in (Type.ARRAY, Type.OBJECT))
