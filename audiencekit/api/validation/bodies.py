"""A JSON body against the rows of the catalogue, level by level, before it is sent. Pure.

No message shows a value: it names the parameter, its rule, and the number of the operation, which counts from 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from audiencekit.api.catalogue import BY_NAME
from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import Level, Parameter
from audiencekit.api.catalogue.wording import expectation
from audiencekit.api.validation.breaches import is_broken
from audiencekit.api.validation.components import check_components
from audiencekit.api.validation.values import is_json_value
from audiencekit.errors import UsageError
from audiencekit.limits import FLEXIBLE_MAX_DEPTH

# Further keys on these levels are up to the service: the specification does not show them.
_OPEN: Final = frozenset({"criterion"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """One object of a body. `members` were not looked at yet; `operation` is the type of the one it stands in."""

    level: Level
    members: Mapping[str, Any]
    words: str = ""
    operation: str | None = None


def check_body(endpoint: Endpoint, body: Any, *, now: datetime, wire_names: Mapping[str, str]) -> None:
    """Raises UsageError for the first rule that `body` breaks. `wire_names` are those that a service changed."""
    if endpoint.body == "json_array_of_operations":
        _check_batch(endpoint, body)
    elif not isinstance(body, dict):
        raise UsageError(f"{endpoint.name}: the body is a JSON object")
    # A place is checked before the walk goes on below it.
    for place in _walk(endpoint, body):
        _check_place(endpoint, place, now, wire_names)
        if place.level == "params":
            _check_params(endpoint, place, now)
            _check_tree(endpoint, place)
    if "components" in endpoint.parameter_names:
        check_components(endpoint, body, now=now)


def _check_batch(endpoint: Endpoint, body: Any) -> None:
    most = endpoint.operations or 0
    if not isinstance(body, list) or not 1 <= len(body) <= most or not all(isinstance(item, dict) for item in body):
        raise UsageError(f"{endpoint.name}: the body is a JSON array of 1 to {most} operations")


def _walk(endpoint: Endpoint, body: Any) -> Iterator[_Place]:
    if isinstance(body, dict):
        yield _Place(level="top", members=body)
        for number, criterion in enumerate(body.get("targeting_criteria", ()), start=1):
            yield _Place(level="criterion", members=criterion, words=f" of criterion {number}")
        return
    for number, item in enumerate(body, start=1):
        words = f" of operation {number}"
        yield _Place(level="item", members=item, words=words)
        params, operation = item["params"], item["operation_type"]
        yield _Place(level="params", members=params, words=words, operation=operation)
        if "users" in endpoint.parameter_names:
            yield from (_Place(level="user", members=user, words=words) for user in params["users"])
        if "child_segments" in endpoint.parameter_names:
            yield from _walk_segments(params, words)


def _walk_segments(params: Mapping[str, Any], words: str) -> Iterator[_Place]:
    level = [params["segments"]] if "segments" in params else params.get("child_segments", [])
    for _ in range(FLEXIBLE_MAX_DEPTH + 1):
        for segment in level:
            yield _Place(level="segment", members=segment, words=words)
        level = [child for segment in level for child in segment.get("child_segments", [])]
        if not level:
            return
    raise UsageError(f"the segments{words} are more than {FLEXIBLE_MAX_DEPTH} levels deep")


def _check_place(endpoint: Endpoint, place: _Place, now: datetime, wire_names: Mapping[str, str]) -> None:
    known = {wire_names.get(one.name, one.name): one for one in endpoint.parameters if place.level in one.at}
    if not _is_open(endpoint, place) and not set(place.members) <= set(known):
        raise UsageError(
            f"{endpoint.name}: the {_title(place)}{place.words} has a member that is none of: {', '.join(known)}"
        )
    if place.level == "user" and not place.members:
        raise UsageError(f"{endpoint.name}: an entry of users{place.words} is empty")
    for name, parameter in known.items():
        _check_member(endpoint, parameter, name, place)
    for rule in endpoint.rules:
        if rule.at == place.level and is_broken(rule, _given(place), endpoint, now):
            raise UsageError(f"{endpoint.name}: {rule.words}{place.words and f' ({place.words.strip()})'}")


def _check_member(endpoint: Endpoint, parameter: Parameter, name: str, place: _Place) -> None:
    if name not in place.members:
        if parameter.required is True:
            raise UsageError(f"{endpoint.name}: {name}{place.words} is required")
        return
    value = place.members[name]
    if not is_json_value(parameter, value) or (parameter.required is True and value == []):
        raise UsageError(f"{endpoint.name}: {name}{place.words} must be {expectation(parameter)}")


def _check_params(endpoint: Endpoint, place: _Place, now: datetime) -> None:
    """The params of an operation, by the row of the endpoint that does the same for one."""
    row = dict(endpoint.params_of).get(place.operation or "")
    if row is None:
        return
    for parameter in BY_NAME[row].parameters:
        if parameter.place == "query":
            _check_member(endpoint, parameter, parameter.name, place)
    for rule in BY_NAME[row].rules:
        if is_broken(rule, place.members, BY_NAME[row], now):
            raise UsageError(f"{endpoint.name}: {rule.words} ({place.words.strip()})")


def _check_tree(endpoint: Endpoint, place: _Place) -> None:
    if endpoint.leaves is None:
        return
    makes_one = place.operation == "Create" and place.members["audience_type"] == "FLEXIBLE"
    if makes_one and not _children(place.members.get("segments", place.members)):
        raise UsageError(f"{endpoint.name}: child_segments{place.words} has no segment")
    # Depth and shape are checked by the walk, which follows: what is no segment has no leaf here.
    leaves = _count_leaves([place.members.get("segments"), *_children(place.members)])
    if leaves > endpoint.leaves:
        raise UsageError(f"{endpoint.name}: the tree{place.words} has more than {endpoint.leaves} custom audiences")


def _count_leaves(level: list[Any]) -> int:
    leaves = 0
    for _ in range(FLEXIBLE_MAX_DEPTH + 1):
        leaves += sum(isinstance(segment, dict) and "custom_audience_id" in segment for segment in level)
        level = [child for segment in level for child in _children(segment)]
    return leaves


def _children(segment: Any) -> list[Any]:
    children = segment.get("child_segments") if isinstance(segment, dict) else None
    return children if isinstance(children, list) else []


def _given(place: _Place) -> Mapping[str, Any]:
    return {**place.members, "operation_type": place.operation} if place.operation else place.members


def _is_open(endpoint: Endpoint, place: _Place) -> bool:
    return place.level in _OPEN or (
        place.level == "params" and not {"users", "child_segments"} & {*endpoint.parameter_names}
    )


def _title(place: _Place) -> str:
    return {"top": "body", "item": "envelope", "params": "params", "user": "entry of users"}.get(place.level, "segment")
