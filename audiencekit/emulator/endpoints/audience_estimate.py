"""`POST …/audience_estimate`: how many people some targeting criteria would reach (specification part 1, section 4.3).

The specification does not say which criteria are primary. Here a criterion is primary unless it only narrows the people
of others. A custom audience reaches as many people as its last count; the number for another value follows from the
seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from audiencekit.emulator.answers import Answer, Problem, problem, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.audience_users import missing, unknown
from audiencekit.emulator.parameters import read_document

_PEOPLE: Final = 400_000_000
_SPREAD: Final = 0.05  # of the size, to either side
_OPERATORS: Final = ("EQ", "NE")
_CUSTOM_AUDIENCE: Final = "CUSTOM_AUDIENCE"
_NARROWING: Final = frozenset(
    {
        "AGE",
        "APP_STORE_CATEGORY",
        "DEVICE",
        "GENDER",
        "LANGUAGE",
        "LOCATION",
        "NETWORK_ACTIVATION_DURATION_GTE",
        "NETWORK_ACTIVATION_DURATION_LT",
        "NETWORK_OPERATOR",
        "PLATFORM",
        "PLATFORM_VERSION",
        "WIFI_ONLY",
    }
)
_MEMBERS: Final = frozenset({"targeting_type", "targeting_value", "operator_type"})


def estimate_audience(call: Call) -> Answer:
    """Return the smallest and the largest number of people."""
    document = read_document(call)
    for found in _problems(call, document):
        raise call.refuse(400, found["code"], found["message"], found["parameter"])
    call.store.catch_up(call.account, call.now)
    reached = _count(call, document["targeting_criteria"])
    size = _PEOPLE - reached if document.get("operator_type") == "NE" else reached
    bounds = {"min": int(size * (1 - _SPREAD)), "max": int(size * (1 + _SPREAD))}
    # The criteria are not echoed (public documentation).
    return success({"targeting_criteria": None, **call.ids}, {"audience_size": bounds})


def _problems(call: Call, document: object) -> Iterator[Problem]:
    if not isinstance(document, dict):
        yield problem("INVALID_PARAMETER", "Expected a JSON object", "targeting_criteria")
        return
    yield from unknown(document, {"targeting_criteria", "operator_type"}, "body")
    yield from _operator_problems(document)
    criteria = document.get("targeting_criteria")
    if "targeting_criteria" not in document:
        yield missing("targeting_criteria")
    elif not isinstance(criteria, list) or not all(isinstance(criterion, dict) for criterion in criteria):
        yield problem("INVALID_PARAMETER", "Expected array of objects for targeting_criteria", "targeting_criteria")
    else:
        for criterion in criteria:
            yield from _criterion_problems(call, criterion)
        if all(criterion["targeting_type"] in _NARROWING for criterion in criteria):
            message = "At least one primary targeting criterion must be provided"
            yield problem("MISSING_PARAMETER", message, "targeting_criteria")


def _criterion_problems(call: Call, criterion: Mapping[str, Any]) -> Iterator[Problem]:
    yield from unknown(criterion, _MEMBERS, "targeting_criteria")
    yield from _operator_problems(criterion)
    for name in ("targeting_type", "targeting_value"):
        if name not in criterion:
            yield missing(name)
        elif not isinstance(criterion[name], str) or not criterion[name]:
            yield problem("INVALID_PARAMETER", f"Expected string for {name}", name)
    if criterion["targeting_type"] == _CUSTOM_AUDIENCE and criterion["targeting_value"] not in call.account.audiences:
        message = f"The Custom Audience was not found for Account {call.account.id}"
        yield problem("INVALID_PARAMETER", message, "targeting_value")


def _operator_problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    if document.get("operator_type", "EQ") not in _OPERATORS:
        yield problem("INVALID_PARAMETER", "Expected EQ or NE for operator_type", "operator_type")


def _count(call: Call, criteria: list[dict[str, str]]) -> int:
    """Add primary criteria, subtract negated ones, and halve the rest for each of the others."""
    reached = 0
    for criterion in criteria:
        if criterion["targeting_type"] not in _NARROWING:
            sign = -1 if criterion.get("operator_type") == "NE" else 1
            reached += sign * _people(call, criterion["targeting_type"], criterion["targeting_value"])
    narrowing = sum(criterion["targeting_type"] in _NARROWING for criterion in criteria)
    return min(max(reached, 0), _PEOPLE) >> narrowing


def _people(call: Call, targeting_type: str, targeting_value: str) -> int:
    if targeting_type == _CUSTOM_AUDIENCE:
        audience = call.account.audiences[targeting_value]
        return 0 if audience.deleted else audience.processing.size or 0
    return random.Random(f"{call.options.seed} {targeting_type} {targeting_value}").randrange(10_000, 50_000_000)
