"""The components of a card against the catalogue, before they are sent. Pure.

No message shows a value: it names the component by its number, which counts from 1 over all slides, and the member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from audiencekit.api.catalogue.components import COMPONENTS, Shape
from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.catalogue.wording import expectation
from audiencekit.api.validation.breaches import is_broken
from audiencekit.api.validation.values import is_json_value
from audiencekit.errors import UsageError


def check_components(endpoint: Endpoint, body: Mapping[str, Any], *, now: datetime) -> None:
    """Raises UsageError for the first component that is none. `body` has right types at its top."""
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
