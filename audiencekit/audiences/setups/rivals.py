"""Two syncs of a setup that make one audience equal to two lists: each would take out the people of the other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from audiencekit.audiences.naming import audience_id_of
from audiencekit.audiences.setups.setup import AudienceSetup, Setup
from audiencekit.destinations.known_audiences import KnownAudiences
from audiencekit.errors import AudiencekitError, DefinitionRefused
from audiencekit.settings import Settings

Answers: TypeAlias = dict[str, str | AudiencekitError]  # the id of an audience, or why it has none, by its name here

_CHOOSE_PEOPLE: Final = ("sheet", "columns", "consent_column", "suppress")


def rivals(
    audiences: Iterable[AudienceSetup], target: Callable[[AudienceSetup], Hashable]
) -> Iterator[tuple[str, str]]:
    """The place of each sync whose `target` another one makes equal to another list, and what is wrong there."""
    known: dict[Hashable, AudienceSetup] = {}
    for one in audiences:
        other = known.setdefault(target(one), one) if one.command == "sync" else one
        if _people(other) != _people(one):
            why = f"audiences.{other.name} makes it equal to another list: put the people of both into one list"
            yield f"audiences.{one.name}.audience", why


def refuse_rivals(setup: Setup, settings: Settings, answers: Mapping[str, str | AudiencekitError]) -> None:
    """Raise DefinitionRefused where an id and a name, or two ways to say the account, stand for one audience.

    `answers` are those of the service; other names are what this machine knows of them.
    """

    def target(one: AudienceSetup) -> Hashable:
        own = one.settings(settings)
        answer = answers.get(one.name)
        if isinstance(answer, str):
            return own.account_id, answer
        try:
            return own.account_id, KnownAudiences(own.state_dir, own.account_id).find(one.audience)
        except AudiencekitError:  # its own turn says so
            return own.account_id, one.audience

    if problems := list(rivals(setup.audiences, target)):
        raise DefinitionRefused(str(setup.path), problems)


async def ask_for_rivals(setup: Setup, chosen: Iterable[AudienceSetup], settings: Settings) -> Answers:
    """The answers of the service for the names of `chosen` syncs whose account has another sync in the setup."""
    accounts = [one.settings(settings).account_id for one in setup.audiences if one.command == "sync"]
    answers: Answers = {}
    for one in chosen:
        own = one.settings(settings)
        if one.command == "sync" and accounts.count(own.account_id) > 1:
            try:
                answers[one.name] = await audience_id_of(one.audience, own)
            except AudiencekitError as error:
                answers[one.name] = error.bare()
    return answers


def _people(one: AudienceSetup) -> tuple[object, ...]:
    """All that says who is in its list."""
    return (one.sources, *map(one.keywords.get, _CHOOSE_PEOPLE))
