"""A whole call against its row of the catalogue: what is sent where, or UsageError before anything is. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.parameters import Parameter, ParameterPlace
from audiencekit.api.catalogue.wording import expectation
from audiencekit.api.documents import find_break, read_json
from audiencekit.api.exchange import Body
from audiencekit.api.validation.bodies import check_body
from audiencekit.api.validation.breaches import is_broken
from audiencekit.api.validation.values import write_value
from audiencekit.errors import UsageError

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
    """`parameters` and `body` as they go out; None in `parameters` means: not given.

    `body` is what JSON makes of it, or its bytes, which are checked and then sent as they are. A body that was made by
    the rules is not given, only its size, `ready_bytes`. Raises UsageError, which names the parameter and the rule and
    shows no value.
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
