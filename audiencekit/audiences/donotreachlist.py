"""The do-not-reach list of the account: looked up, created when it is missing, deleted (spec 2, section 4.6).

An account has one list at most, and none of its people is targeted. It takes no one out of an audience.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from audiencekit.api.answers import Answer
from audiencekit.delivery.retry import Clock
from audiencekit.destinations.target import Target
from audiencekit.errors import ExchangeError, MalformedAnswer, NotFinished, Outcome, RequestRefused
from audiencekit.limits import CREATION_LOOKUP_SECONDS, CREATION_LOOKUPS
from audiencekit.serviceids import is_service_id

LIST_AGAIN: Final = "run the same again in a while: the list is looked up first, and an account is given one only"


class DoNotReachService(Protocol):
    """The methods of AdsClient that are needed here."""

    async def list_do_not_reach_lists(self, *, with_deleted: bool | None = None) -> Answer:
        """The list of the account: one, or none."""

    async def create_do_not_reach_list(self, *, description: str | None = None) -> Answer:
        """The new, empty list."""

    async def delete_do_not_reach_list(self, list_id: str) -> Answer:
        """The list as deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoNotReachList:
    """The list of the account as the service shows it; `created` the service just now, or it was `found` there."""

    id: str
    shown: dict[str, Any]
    state: Literal["created", "found"]

    @property
    def target(self) -> Target:
        """The values that a run on it is begun with."""
        return Target.do_not_reach_list(self.id)


async def find_list(service: DoNotReachService) -> DoNotReachList | None:
    """The list of the account, None when it has none. Raises MalformedAnswer for more than one."""
    answer = await service.list_do_not_reach_lists()
    alive = [shown for shown in answer.data if not shown.get("deleted")]
    if len(alive) > 1:
        raise MalformedAnswer("the service shows several do-not-reach lists of one account", status=answer.status)
    return _read_list(alive[0], answer, "found") if alive else None


async def ensure_list(service: DoNotReachService, *, clock: Clock, description: str | None = None) -> DoNotReachList:
    """The list of the account, created when there is none; it never creates a second one.

    Raises NotFinished when it is not known whether it was created, and an ExchangeError when it was not.
    """
    if (found := await find_list(service)) is not None:
        return found
    try:
        answer = await service.create_do_not_reach_list(description=description)
        return _read_list(answer.data, answer, "created")
    except ExchangeError as error:
        failure = error.bare()
    if failure.outcome is Outcome.UNKNOWN:
        return await _find_out(service, clock, failure)
    # Others may have created it since it was looked up.
    if isinstance(failure, RequestRefused) and (found := await find_list(service)) is not None:
        return found
    raise failure


async def _find_out(service: DoNotReachService, clock: Clock, failure: ExchangeError) -> DoNotReachList:
    """The list after a creation whose answer was lost. Raises NotFinished unless it is there."""
    for turn in range(CREATION_LOOKUPS):
        if turn:
            await clock.sleep(CREATION_LOOKUP_SECONDS)
        try:
            found = await find_list(service)
        except ExchangeError:
            continue
        if found is not None:
            return found
    raise NotFinished(f"whether the do-not-reach list was created is not known ({failure})", hint=LIST_AGAIN)


async def delete_list(service: DoNotReachService, list_id: str) -> None:
    """Returns when the list is gone: the people that it kept out can be targeted again.

    Raises NotFound when the account has no such list, NotFinished when it is not known whether it is gone.
    """
    try:
        await service.delete_do_not_reach_list(list_id)
        return
    except ExchangeError as error:
        failure = error.bare()
    if failure.outcome is not Outcome.UNKNOWN:
        raise failure
    try:
        found = await find_list(service)
    except ExchangeError as error:
        failure, found = error.bare(), None
    else:
        if found is None or found.id != list_id:
            return
    raise NotFinished(f"whether the do-not-reach list was deleted is not known ({failure})", hint="delete it again")


def _read_list(shown: Any, answer: Answer, state: Literal["created", "found"]) -> DoNotReachList:
    if not is_service_id(shown.get("id")):
        raise MalformedAnswer("the answer does not name the do-not-reach list", status=answer.status)
    return DoNotReachList(id=shown["id"], shown=dict(shown), state=state)
