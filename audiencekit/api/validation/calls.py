"""Check parameters and body of a call against the rows of the catalogue, before it is sent. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from audiencekit.api.answers import find_break, read_json
from audiencekit.api.catalogue import BY_NAME
from audiencekit.api.catalogue.cards import COMPONENTS, Shape
from audiencekit.api.catalogue.endpoint import Endpoint, expectation
from audiencekit.api.catalogue.parameters import Level, Parameter, ParameterPlace
from audiencekit.api.exchange import Body
from audiencekit.api.validation.values import is_broken, is_json_value, write_value
from audiencekit.errors import UsageError
from audiencekit.limits import FLEXIBLE_MAX_DEPTH

# --- A whole call against its row of the catalogue: the request to send, or UsageError before. Pure ---

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z_.-]{0,63}", re.ASCII)  # anything else may be a value at the wrong place

_BODY_HINT: Final = "give it as `body=FILE`"

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCall:
    """A call as the wire writes it: method, path, parameters."""

    path: Mapping[str, str]
    query: Pairs = field(default=(), repr=False)
    form: Pairs = field(default=(), repr=False)
    oauth: Pairs = field(default=(), repr=False)
    body: Body | None = None


def check_call(
    endpoint: Endpoint,
    parameters: Mapping[str, Any],
    body: Any = None,
    *,
    ready_bytes: int | None = None,
    now: datetime,
    wire_names: Mapping[str, str],
) -> CheckedCall:
    """Return `parameters` and `body` as they are sent; None in `parameters` means: not given.

    `body` is a value that becomes JSON, or its bytes, which are checked and then sent unchanged. A body that was made
    by the rules is not given, only its size, `ready_bytes`. Raises UsageError, which names the parameter and the rule
    and shows no value.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    known = {parameter.name: parameter for parameter in endpoint.parameters}
    for name in given:
        _check_name(endpoint, known, name)
    members = {name: value for name, value in given.items() if known[name].place == "body"}
    _check_required(endpoint, given)
    written = {name: _write(endpoint, known[name], value) for name, value in given.items() if name not in members}
    for rule in endpoint.rules:
        if not endpoint.body and is_broken(rule, written, endpoint, now):
            raise UsageError(f"{endpoint.name}: {rule.words}")

    def part(place: ParameterPlace) -> Pairs:
        pairs = ((name, value) for name, value in written.items() if known[name].place == place)
        return tuple((wire_names.get(name, name), value) for name, value in pairs)

    written_body = None
    if _takes_body(endpoint, members, is_given=body is not None or ready_bytes is not None):
        if ready_bytes is None:
            written_body = _encode(endpoint, members if body is None else body, now, wire_names)
        _check_size(endpoint, ready_bytes if written_body is None else written_body.size)
    return CheckedCall(
        path=dict(part("path")), query=part("query"), form=part("form"), oauth=part("oauth"), body=written_body
    )


def _check_name(endpoint: Endpoint, known: Mapping[str, Parameter], name: str) -> None:
    if name not in known:
        shown = f"has no parameter {name}" if _NAME.fullmatch(name) else "has no parameter of a given name"
        takes = ", ".join(one.name for one in known.values() if one.place != "header") or "none"
        raise UsageError(f"{endpoint.name} {shown}", hint=f"it takes: {takes}")
    place = known[name].place
    if place == "header":
        raise UsageError(f"{endpoint.name}: {name} is not given: the client makes it itself")
    if place == "body" and endpoint.body == "json_array_of_operations":
        raise UsageError(f"{endpoint.name}: {name} stands in the operations of the body")


def _check_required(endpoint: Endpoint, given: Mapping[str, Any]) -> None:
    for parameter in endpoint.parameters:
        outside = parameter.place not in ("body", "header")
        if outside and parameter.required is True and parameter.name not in given:
            raise UsageError(f"{endpoint.name}: {parameter.name} is required")


def _write(endpoint: Endpoint, parameter: Parameter, value: Any) -> str:
    text = write_value(parameter, value)
    if text is None:
        raise UsageError(f"{endpoint.name}: {parameter.name} must be {expectation(parameter)}")
    return text


def _takes_body(endpoint: Endpoint, members: Mapping[str, Any], *, is_given: bool) -> bool:
    if endpoint.body is None:
        if is_given:
            raise UsageError(f"{endpoint.name} takes no body")
        return False
    if not is_given and endpoint.body == "json_array_of_operations":
        raise UsageError(f"{endpoint.name} needs a body: a JSON array of operations", hint=_BODY_HINT)
    if is_given and members:
        raise UsageError(f"{endpoint.name}: {', '.join(members)} and a body do not go together")
    return True


def _check_size(endpoint: Endpoint, body_bytes: int | None) -> None:
    if endpoint.body_bytes is not None and body_bytes is not None and body_bytes > endpoint.body_bytes:
        raise UsageError(f"{endpoint.name}: the body is longer than {endpoint.body_bytes} bytes")


def _encode(endpoint: Endpoint, body: Any, now: datetime, wire_names: Mapping[str, str]) -> Body:
    if isinstance(body, bytes):
        document = read_json(body)
        if document is None:
            place = find_break(body) or "a key is repeated, or it is null or has a number that JSON does not know"
            raise UsageError(f"{endpoint.name}: the body is not JSON: {place}", hint=_BODY_HINT)
        check_body(endpoint, document, now=now, wire_names=wire_names)
        return Body([body])
    check_body(endpoint, body, now=now, wire_names=wire_names)
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Body([text.encode()])
    except (TypeError, ValueError, RecursionError):
        # The exception quotes what it stumbled over.
        raise UsageError(f"{endpoint.name}: the body cannot be written as JSON") from None


# --- A JSON body against the rows of the catalogue, level by level, before it is sent. Pure ---
#
# No message shows a value: it names the parameter, its rule, and the number of the operation, which counts from 1.

# Further keys on these levels are up to the service: the specification does not show them.
_OPEN: Final = frozenset({"criterion"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """One object of a body. `members` are not checked yet; `operation` is the type of the operation around it."""

    level: Level
    members: Mapping[str, Any]
    words: str = ""
    operation: str | None = None


def check_body(endpoint: Endpoint, body: Any, *, now: datetime, wire_names: Mapping[str, str]) -> None:
    """Raise UsageError for the first rule that `body` breaks. `wire_names` are the names that a service changed."""
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
    """Check the params of an operation by the row of the endpoint that does the same for one record."""
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


# --- The components of a card against the catalogue, before they are sent. Pure ---
#
# No message shows a value: it names the component by its number, which counts from 1 over all slides, and the member.


def check_components(endpoint: Endpoint, body: Mapping[str, Any], *, now: datetime) -> None:
    """Raise UsageError for the first invalid component. The types at the top of `body` were checked before."""
    for number, component in enumerate(_components(body), start=1):
        words = f"of component {number}"
        kind = component.get("type") if isinstance(component, dict) else None
        shape = COMPONENTS.get(kind) if isinstance(kind, str) else None
        if shape is None:
            raise UsageError(f"{endpoint.name}: the type {words} must be one of {', '.join(COMPONENTS)}")
        _check_shape(endpoint, shape, component, words, now)


def _components(body: Mapping[str, Any]) -> Iterator[Any]:
    yield from body.get("components", ())
    for slide in body.get("slides", ()):
        yield from slide


def _check_shape(endpoint: Endpoint, shape: Shape, given: Mapping[str, Any], words: str, now: datetime) -> None:
    known = [member.name for member in shape.members]
    if not set(given) <= set(known):
        raise UsageError(f"{endpoint.name}: a member {words} is none of: {', '.join(known)}")
    for member in shape.members:
        if member.required is True and member.name not in given:
            raise UsageError(f"{endpoint.name}: {member.name} {words} is required")
        if member.name in given and not is_json_value(member, given[member.name]):
            raise UsageError(f"{endpoint.name}: {member.name} {words} must be {expectation(member)}")
    for name, inner in shape.inner.items():
        _check_shape(endpoint, inner, given[name], f"in {name} {words}", now)
    for rule in shape.rules:
        if is_broken(rule, given, endpoint, now):
            raise UsageError(f"{endpoint.name}: {rule.words} ({words})")
