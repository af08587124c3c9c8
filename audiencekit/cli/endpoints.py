"""The catalogue as text: the list, the help of one endpoint, and the reference page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final

from audiencekit.api.catalogue import ENDPOINTS, Endpoint, RateWindow
from audiencekit.api.catalogue.cards import COMPONENTS, Shape
from audiencekit.api.catalogue.endpoint import AMBIGUITIES, describe_permissions, expectation
from audiencekit.api.catalogue.parameters import Parameter

_PLACES: Final = {"oauth": "header", "top": "body", "item": "operation", "user": "users"}
_AUTH: Final = {
    "user": "OAuth 1.0a, with the token of a person",
    "app": "OAuth 1.0a, with the keys of the application",
    "basic": "the key pair of the application (HTTP Basic)",
    "bearer": "a bearer token, which the client fetches",
}
_ANSWERS: Final = {
    "v2": "data, includes and problems of the v2 data API",
    "pairs": "credentials, which are never shown",
    "credential": "credentials, which are never shown",
    "page": "a page for a browser: `audiencekit api` prints its address",
    "stream": "one JSON object a line, until the service ends it",
}
_PREFACE: Final = """\
# API reference

*Reference*

Every endpoint of the specification, as the client knows it: `audiencekit api NAME key=value …` and
`AdsClient.call("NAME", {"key": value})`. This page is made from the catalogue by `audiencekit api --markdown`; a test
says when it is out of date. What the specification leaves open is marked *open*, with what was chosen.

Parameters are checked before anything is sent. Times are written as `2026-12-31T00:00:00Z`; another offset is turned
into UTC, a time without one is UTC. Whole numbers keep all their digits. Lists are comma-separated on the command line,
and lists in Python. The client makes the headers.

"""


def list_endpoints() -> Iterator[str]:
    """Yield a line for each group and each of its endpoints."""
    width = max(len(endpoint.name) for endpoint in ENDPOINTS)
    for group, rows in _groups():
        yield f"{group}:"
        yield from (f"  {row.name:<{width}}  {row.method:<6} {row.path}" for row in rows)


def explain_endpoint(endpoint: Endpoint) -> Iterator[str]:
    """The help of one endpoint, as text."""
    yield f"{endpoint.name}: {endpoint.method} {endpoint.path}"
    yield from (f"  {words}" for words in _facts(endpoint))
    for parameter in endpoint.parameters:
        yield f"  {parameter.name} ({_where(parameter)}): {_describe(parameter)}"
    yield from (f"  rule: {words}" for words in _rules(endpoint))
    yield from (f"  note: {note}" for note in endpoint.notes)
    yield from (f"  open: {ambiguity}" for ambiguity in endpoint.ambiguities)


def write_reference() -> str:
    """The page `docs/api-reference.md`."""
    return _PREFACE + "\n".join(_reference_lines()) + "\n"


def _groups() -> Iterator[tuple[str, list[Endpoint]]]:
    order = {row.group: place for place, row in reversed(list(enumerate(ENDPOINTS)))}
    for group, rows in groupby(sorted(ENDPOINTS, key=lambda row: order[row.group]), key=lambda row: row.group):
        yield group, list(rows)


def _reference_lines() -> Iterator[str]:
    yield from _table()
    yield "## Open for all of them"
    yield ""
    yield from (f"- {ambiguity}" for ambiguity in AMBIGUITIES)
    for group, rows in _groups():
        yield ""
        yield f"## {group.replace('_', ' ').capitalize()}"
        for row in rows:
            yield from _section(row)
        if group == "cards":
            yield from _components()


def _table() -> Iterator[str]:
    served = _served()
    yield from ("## All endpoints", "")
    yield f"The [emulator](emulator.md) serves {sum(map(served, ENDPOINTS))} of {len(ENDPOINTS)}, each at its address."
    yield from ("", "| name | method | path | emulator |", "|---|---|---|---|")
    for row in ENDPOINTS:
        there = "served" if served(row) else "not served"
        yield f"| [`{row.name}`](#{row.name}) | {row.method} | `{row.path}` | {there} |"
    yield ""


def _served() -> Callable[[Endpoint], bool]:
    """Whether the emulator has a route for an endpoint, at its address."""
    from audiencekit.emulator.calls import Address
    from audiencekit.emulator.routes import ROUTES

    addresses = {"ads_url": Address.ADS, "ads_sandbox_url": Address.SANDBOX, "base_url": Address.BASE}
    routes = {(route.method, _shape(route.path)): route.addresses for route in ROUTES}
    return lambda row: addresses[row.base] in routes.get((row.method, _shape(row.path)), ())


def _shape(path: str) -> str:
    """The path without the names of its parameters."""
    return re.sub(r"\{\w+\}", "{}", path)


def _section(endpoint: Endpoint) -> Iterator[str]:
    yield from ("", f"### {endpoint.name}", "", f"`{endpoint.method} {endpoint.path}`", "")
    yield from (f"- {words}" for words in _facts(endpoint))
    yield from (f"- rule: {words}" for words in _rules(endpoint))
    yield from (f"- note: {note}" for note in endpoint.notes)
    yield from (f"- *open*: {ambiguity}" for ambiguity in endpoint.ambiguities)
    if endpoint.parameters:
        yield from ("", "| parameter | in | must be |", "|---|---|---|")
        yield from (f"| `{one.name}` | {_where(one)} | {_describe(one)} |" for one in endpoint.parameters)


def _components() -> Iterator[str]:
    yield from ("", "### Components of a card", "", "| component | member | must be |", "|---|---|---|")
    for kind, shape in COMPONENTS.items():
        yield from (f"| `{kind}` | `{path}` | {_describe(member)} |" for path, member in _members(shape))
    rules = [(kind, inner) for kind, shape in COMPONENTS.items() for inner in shape.inner.values()]
    yield ""
    yield from (f"- rule of `{kind}`: {rule.words}" for kind, inner in rules for rule in inner.rules)


def _members(shape: Shape, above: str = "") -> Iterator[tuple[str, Parameter]]:
    for member in shape.members:
        yield above + member.name, member
        if member.name in shape.inner:
            yield from _members(shape.inner[member.name], f"{above}{member.name}.")


def _rules(endpoint: Endpoint) -> Iterable[str]:
    """Return the rules in words, each once, also where it applies to two levels of a body."""
    return dict.fromkeys(rule.words for rule in endpoint.rules)


def _facts(endpoint: Endpoint) -> Iterator[str]:
    yield f"source: specification part {endpoint.part}, section {endpoint.section}"
    yield f"address: {endpoint.base}" + (", the sandbox only" if endpoint.sandbox_only else "")
    yield f"credential: {_AUTH[endpoint.auth]}"
    if needed := describe_permissions(endpoint):
        yield f"permission: {needed}"
    if endpoint.answer in _ANSWERS:
        yield f"answer: {_ANSWERS[endpoint.answer]}"
    if endpoint.is_paged:
        yield "answer: in pages; `--all` follows them"
    yield from _limits(endpoint)


def _limits(endpoint: Endpoint) -> Iterator[str]:
    if endpoint.operations is not None:
        yield f"body: a JSON array of 1 to {endpoint.operations} operations"
    elif endpoint.body:
        yield "body: a JSON object"
    if endpoint.body_bytes is not None:
        yield f"body: at most {endpoint.body_bytes} bytes"
    if endpoint.leaves is not None:
        yield f"body: at most {endpoint.leaves} custom audiences in one tree"
    if endpoint.window:
        yield f"limit: {_rate(endpoint.window)}"
    if endpoint.window_with_total_count:
        yield f"limit: {_rate(endpoint.window_with_total_count)} with with_total_count"


def _rate(window: RateWindow) -> str:
    return f"{window.requests} requests in {window.seconds:.0f} seconds"


def _where(parameter: Parameter) -> str:
    places = parameter.at or (parameter.place,)
    return ", ".join(_PLACES.get(place, place) for place in places)


def _describe(parameter: Parameter) -> str:
    parts = [expectation(parameter)]
    if parameter.required is True:
        parts.append("required")
    elif parameter.required == "conditional":
        parts.append("required on a condition")
    if parameter.default is not None:
        parts.append(f"default {_shown(parameter.default)}")
    if parameter.removable:
        parts.append("sent empty, it removes what is stored")
    if parameter.known:
        parts.append(f"for example {', '.join(parameter.known)}")
    return "; ".join([*parts, *([parameter.note] if parameter.note else [])])


def _shown(default: str | int | bool) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)
