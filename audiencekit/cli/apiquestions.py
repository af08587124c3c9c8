"""The question before a call that destroys something: it names what, as the service shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from audiencekit.api.catalogue import ENDPOINTS
from audiencekit.errors import RequestRefused, UsageError
from audiencekit.shown import shown

if TYPE_CHECKING:
    from audiencekit.api.catalogue.endpoint import Endpoint
    from audiencekit.api.client import AdsClient
    from audiencekit.settings import Settings

_FOR_GOOD = "It cannot be undone."
_NAMES = ("name", "description", "screen_name")


def deletes_of(endpoint: Endpoint, body: bytes | None, parameters: Mapping[str, Any]) -> int:
    """The number of Deletes in a body. To take people out of a list is none: `upload` does not ask."""
    from audiencekit.api.answers import read_json

    operations = parameters if body is None else read_json(body)
    if isinstance(operations, Mapping) and isinstance(rules := operations.get("delete"), dict):
        return sum(len(which) for which in rules.values() if isinstance(which, list))
    if endpoint.path.endswith("/users") or not isinstance(operations, list):
        return 0
    verbs = [str(each.get("operation_type")).casefold() for each in operations if isinstance(each, dict)]
    return verbs.count("delete")


async def question_about(
    endpoint: Endpoint, parameters: Mapping[str, Any], body: bytes | None, client: AdsClient, settings: Settings
) -> str:
    """The question to ask before the call. The service is asked for the name of what is deleted, where it shows it.

    Raises NotFound for what is not there, and what else that look raises.
    """
    if endpoint.ends_token:
        return f"{endpoint.name}: end the {_token_of(endpoint, settings)}? All programs that use it lose access."
    if endpoint.method != "DELETE":
        return f"{endpoint.name}: send a batch with {deletes_of(endpoint, body, parameters)} Deletes? {_FOR_GOOD}"
    named = ", ".join(f"{name}={shown(value)}" for name, value in parameters.items())
    return f"{endpoint.name}: delete {named or 'it'}{await _called(endpoint, parameters, client)}? {_FOR_GOOD}"


def _token_of(endpoint: Endpoint, settings: Settings) -> str:
    if endpoint.auth != "user":
        return "bearer token of the application"
    found = settings.find_credentials()
    owner = f" of {shown(found.screen_name)} ({shown(found.user_id)})" if found.user_id else ""
    return f"token{owner} from the {found.origins.get('token', 'settings')}"


async def _called(endpoint: Endpoint, parameters: Mapping[str, Any], client: AdsClient) -> str:
    """`, 'Spring customers', size 1200`, as far as the service shows it."""
    look = next((row for row in ENDPOINTS if (row.method, row.path) == ("GET", endpoint.path)), None)
    if look is None:
        return ""
    known = set(look.parameter_names)
    try:
        answer = await client.call(look, {name: value for name, value in parameters.items() if name in known})
    except (RequestRefused, UsageError):
        return ""
    found = answer.data if isinstance(answer.data, dict) else {}
    name = next((f", {found[key]!r}" for key in _NAMES if found.get(key)), "")
    size = f", size {shown(found['audience_size'])}" if found.get("audience_size") is not None else ""
    return name + size
