"""`api`: any endpoint of the catalogue by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from audiencekit.api.catalogue import ENDPOINTS
from audiencekit.cli.audited import audited
from audiencekit.cli.client import unsent_told, with_words
from audiencekit.cli.command_help import Command
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import dry_run_option, json_option
from audiencekit.cli.output import leave_with, say, say_json, tell
from audiencekit.cli.settings import confirm, require_terminal
from audiencekit.errors import AudiencekitError, InputOutputFailed, RequestRefused, UsageError
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.api.answers import Answer
    from audiencekit.api.catalogue.endpoint import Endpoint
    from audiencekit.api.client import AdsClient
    from audiencekit.settings import Settings

_OF_PEOPLE: Final = re.compile("audience|do_not_reach")  # in paths of lists of people, whose changes are logged


@click.command(
    "api",
    cls=Command,
    add_help_option=False,
    examples=("api", "api get_custom_audience custom_audience_id=h1ab2"),
)
@click.argument("name", required=False)
@click.argument("parameters", metavar="[KEY=VALUE]…", nargs=-1)
@click.option("--body", metavar="FILE|-", help="JSON body of the call, from a file or from stdin.")
@click.option("--all", "every_page", is_flag=True, help="Follow the pages of a list to the end.")
@click.option("--yes", is_flag=True, help="Do not ask before what deletes or ends something.")
@dry_run_option
@click.option("--markdown", is_flag=True, help="Print the reference page of all endpoints.")
@click.option("-h", "--help", "help", is_flag=True, help="Show this message, or that of the endpoint NAME.")
@json_option
@click.pass_context
def api(
    context: click.Context,
    /,
    name: str | None,
    parameters: tuple[str, ...],
    body: str | None,
    every_page: bool,
    markdown: bool,
    help: bool,  # noqa: A002
    as_json: bool,
    **given: bool,
) -> None:
    """Call any endpoint of the API.

    Without NAME all are listed. Parameters are checked before anything is sent. stdout has the data, or with --json
    the whole answer.
    """
    if markdown:
        _print_reference()
    elif help and not name:
        click.echo(context.get_help())
    elif not name:
        _print_list(as_json)
    elif help:
        _print_help(name)
    else:
        try:
            _call(name, _read_parameters(name, parameters), _read_body(body), every_page, as_json, **given)
        except AudiencekitError as error:
            leave_with(with_words(error), as_json=as_json)


def _call(
    name: str,
    parameters: dict[str, Any],
    body: bytes | None,
    every_page: bool,
    as_json: bool,
    *,
    yes: bool,
    dry_run: bool,
) -> None:
    import asyncio

    from audiencekit.api.calls import find_endpoint
    from audiencekit.api.opening import open_calls

    settings = command_settings()
    client = open_calls(settings, dry_run=dry_run)
    endpoint = find_endpoint(name)
    if endpoint.answer == "page":
        if not (base := settings.base_url or settings.profile.base_url):
            raise UsageError("the base address is not known", hint="set AUDIENCEKIT_BASE_URL")
        _print({"url": base.rstrip("/") + client.link(endpoint, parameters)})
        return
    if not (yes or dry_run) and (endpoint.destroys or deletes_of(endpoint, body, parameters)):
        require_terminal()

        async def look() -> str:
            async with open_calls(settings) as looking:
                return await question_about(endpoint, parameters, body, looking, settings)

        confirm(asyncio.run(look()))

    async def ask() -> Any:
        async with client:
            if every_page:
                return [item async for item in client.items(endpoint, parameters)]
            answer = await client.call(endpoint, parameters, body)
            if as_json:
                return asdict(answer)
            _tell_problems(answer.problems)
            _tell_rest(answer)
            return answer.message if answer.data is None else answer.data

    changes_lists = endpoint.method != "GET" and _OF_PEOPLE.search(endpoint.path) is not None
    with unsent_told(as_json=as_json):
        with audited("api", dry_run=dry_run or not changes_lists, endpoint=endpoint.name):
            answer = asyncio.run(ask())
        _print(answer)


def _tell_rest(answer: Answer) -> None:
    """Print to stderr the total count, when it was requested, and a note when there are more pages."""
    if answer.total_count is not None:
        tell(f"total: {answer.total_count:,}")
    if answer.next_cursor is not None:
        more = f"`--all` shows all of them, the parameter cursor={shown(answer.next_cursor)} the next page"
        tell(f"note: the list has more entries: {more}")


def _tell_problems(problems: Any) -> None:
    """Print to stderr the problems that the service lists beside its data."""
    for problem in problems if isinstance(problems, list) else ():
        if isinstance(problem, dict):
            words = [str(problem[name]) for name in ("title", "detail") if problem.get(name)]
            tell(f"problem: {': '.join(map(shown, words))}")


def _read_parameters(name: str, given: tuple[str, ...]) -> dict[str, Any]:
    from audiencekit.api.calls import find_endpoint

    known = {parameter.name: parameter for parameter in find_endpoint(name).parameters}
    parameters: dict[str, Any] = {}
    for number, pair in enumerate(given, start=1):
        key, separator, value = pair.partition("=")
        if not separator or key in parameters:
            # The text is not shown: it may be a value.
            raise UsageError(f"parameter {number} is not KEY=VALUE, or its KEY was given before")
        if key in known and known[key].secret:
            raise UsageError(f"{key} is a secret, which is not taken from a command line", hint="call it from Python")
        parameters[key] = _read_value(known[key].type, key, value) if key in known else value
    return parameters


def _read_value(kind: str, key: str, text: str) -> Any:
    from audiencekit.api.answers import read_json

    if kind not in ("array", "object"):
        return text
    value = read_json(text.encode("utf-8", "replace"))
    if value is None:
        raise UsageError(f"{key} is not JSON")
    return value


def _read_body(source: str | None) -> bytes | None:
    import sys
    from pathlib import Path

    if source is None:
        return None
    try:
        return sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        reason = error.strerror or "unknown reason"
    raise InputOutputFailed(f"the body cannot be read: {reason}")


def _print_list(as_json: bool) -> None:
    from audiencekit.api.catalogue import ENDPOINTS
    from audiencekit.cli.endpoints import list_endpoints

    if as_json:
        names = ("name", "group", "method", "path", "base")
        _print([{name: getattr(row, name) for name in names} for row in ENDPOINTS])
    else:
        say("\n".join(list_endpoints()))


def _print_help(name: str) -> None:
    from audiencekit.api.calls import find_endpoint
    from audiencekit.cli.endpoints import explain_endpoint

    say("\n".join(explain_endpoint(find_endpoint(name))))


def _print_reference() -> None:
    from audiencekit.cli.endpoints import write_reference

    say(write_reference().rstrip("\n"))


def _print(document: Any) -> None:
    import json

    # Not by the library of other commands, which has no whole numbers beyond 64 bits.
    say_json(json.dumps(document, ensure_ascii=False, indent=2, default=_hide))


def _hide(value: Any) -> str:
    from audiencekit.personal import Personal

    if not isinstance(value, Personal):
        raise TypeError(f"{type(value).__name__} is no JSON")
    return repr(value)


_FOR_GOOD = "It cannot be undone."
_NAMES = ("name", "description", "screen_name")


def deletes_of(endpoint: Endpoint, body: bytes | None, parameters: Mapping[str, Any]) -> int:
    """Return the number of Deletes in a body. Deletes of people do not count: `upload` does not ask."""
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
    """Return the question to ask before the call, with the name of the object, which is requested from the service.

    Raises NotFound when the object does not exist, and the errors of that request.
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
    """Return what the service shows of name and size: `, 'Spring customers', size 1200`."""
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
