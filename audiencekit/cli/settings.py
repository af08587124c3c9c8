"""`--audience`, and audiences as arguments: an id, or a name that only one audience has."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from audiencekit.cli.command_help import plan_option
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.completion_words import audiences
from audiencekit.cli.output import insist, tell
from audiencekit.errors import UsageError
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.audiences.erasure.people import Lines
    from audiencekit.settings import Settings


F = TypeVar("F", bound=Callable[..., Any])
PLACE: Final = "ID|NAME"


class _Audience(click.ParamType[str]):
    """The id or the name of an audience."""

    name = "audience"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text, which is not empty."""
        if not value.strip():
            self.fail("the name is empty: is a variable of the shell not set?", param, ctx)
        return str(value)


audience_type: Final = _Audience()


def audience_option(help_text: str = "The custom audience.") -> Callable[[F], F]:
    """`--audience`, which is required."""
    return plan_option(
        "--audience", required=True, metavar=PLACE, type=audience_type, help=help_text, shell_complete=audiences
    )


audience_filter: Final = click.option(
    "--audience", metavar=PLACE, type=audience_type, shell_complete=audiences, help="Only those of this audience."
)
audience_choices: Final = click.option(
    "--audience",
    "audiences",
    metavar=PLACE,
    type=audience_type,
    multiple=True,
    shell_complete=audiences,
    help="An audience under sync; repeatable.",
)
audience_argument: Final = click.argument("audience", metavar=PLACE, type=audience_type, shell_complete=audiences)


async def audience_id_of(given: str, settings: Settings) -> str:
    """The id of the audience that `given` names; the service is asked for a name. Raises as `find_audience_id`."""
    from audiencekit.runs import start

    return await start.audience_id_of(given, settings, lambda message: tell(shown(message)))


def known_audience_id(given: str, account_id: str | None = None) -> str:
    """Return the id without a request: a name must be known on this machine. Raises UsageError."""
    from audiencekit.destinations.known_audiences import KnownAudiences

    settings = command_settings(account_id=account_id)
    return KnownAudiences(settings.state_dir, settings.account_id).find(given)


def note_audiences(found: list[dict[str, Any]]) -> None:
    """Store the names of audiences that the service has shown, without the deleted ones."""
    names = {str(each["id"]): str(each["name"]) for each in found if not each.get("deleted") and "name" in each}
    note_names(names, gone=[str(each["id"]) for each in found if each.get("deleted")])


def note_names(names: Mapping[str, str], *, gone: Iterable[str] = ()) -> None:
    """Store these names by id, and remove the audiences in `gone`."""
    from audiencekit.destinations.known_audiences import KnownAudiences

    settings = command_settings()
    KnownAudiences(settings.state_dir, settings.account_id).note(names, gone=gone)


def known_names() -> dict[str, str]:
    """The names of audiences that this machine has seen, by id."""
    from audiencekit.destinations.known_audiences import KnownAudiences

    settings = command_settings()
    return KnownAudiences(settings.state_dir, settings.account_id).names()


def confirm(question: str) -> None:
    """Ask for confirmation, and leave when the answer is no. Raises UsageError without a terminal."""
    require_terminal()
    if not click.confirm(shown(question), err=True):
        tell("nothing was changed")
        sys.exit(0)


def require_terminal() -> None:
    """Raises UsageError without a terminal to ask at."""
    if not sys.stdin.isatty():
        raise UsageError("cannot ask for confirmation: stdin is not a terminal", hint="give --yes")


_WITH_COUNTRY: Final = "end with Ctrl-C, and give `country='DE'`"


def typed_identifiers(country: str | None) -> Lines | None:
    """The identifiers of people that are typed at a terminal, until one is empty; None where stdin is none.

    Each is asked for twice, because it is not shown; one that would be refused is not taken. `country` is that of phone
    numbers which name none. Raises UsageError for an unknown country.
    """
    from audiencekit.audiences.erasure.people import Lines, read_identifier_lines, reason_in_words
    from audiencekit.identifiers.kinds import Reason
    from audiencekit.planning.options import read_keywords

    if not sys.stdin.isatty():
        return None
    country = read_keywords({"country": country}, command_settings().profile).source.country
    asked = partial(click.prompt, default="", show_default=False, hide_input=True, err=True)
    typed: list[str] = []
    while text := asked("Identifier of the person, not shown (an empty one ends)").strip():
        rejected = read_identifier_lines(Lines([text]), country=country).rejected
        if rejected and rejected[0].reason == Reason.NO_COUNTRY:
            insist(f"this number names no country: write it with + and its country code; or {_WITH_COUNTRY}")
        elif rejected:
            insist(f"not taken: {reason_in_words(rejected[0])}")
        elif asked("The same again").strip() == text:
            typed.append(text)
        else:
            insist("these are two: neither is taken")
    return Lines(typed)
