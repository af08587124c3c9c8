"""The do-not-reach list of an account: it is found, created and deleted, and people are put on it and taken off."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, Unpack

from audiencekit.api.answers import Answer
from audiencekit.api.opening import open_client
from audiencekit.delivery.retry import Clock, SystemClock
from audiencekit.destinations.ads import DO_NOT_REACH_LIST
from audiencekit.destinations.target import Target
from audiencekit.errors import (
    AudiencekitError,
    ExchangeError,
    MalformedAnswer,
    NotFinished,
    Outcome,
    Refused,
    RequestRefused,
)
from audiencekit.limits import CREATION_LOOKUP_SECONDS, CREATION_LOOKUPS
from audiencekit.pipeline import check
from audiencekit.planning.options import Keywords, plain_keywords, read_keywords, with_keywords
from audiencekit.process.cancellation import cancellable
from audiencekit.process.event_loop import blocking
from audiencekit.reporting.progress import Progress, Stoppable
from audiencekit.reporting.report import Report
from audiencekit.runs.first_pass import in_thread
from audiencekit.runs.keywords import RUN_DEFAULTS, RunOptions, UploadKeywords
from audiencekit.runs.uploads import check_upload, upload_with
from audiencekit.service_words import is_service_id
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource, comes_once, items_of

# --- The do-not-reach list of the account: looked up, created when it is missing, deleted (spec 2, section 4.6) ---
#
# An account has one list at most, and none of its people is targeted. It takes no one out of an audience.

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
    """The list of the account as the service shows it; `state` says whether it was `created` now, or `found`."""

    id: str
    shown: dict[str, Any]
    state: Literal["created", "found"]

    @property
    def target(self) -> Target:
        """Return the target for a run on it."""
        return Target.do_not_reach_list(self.id)


async def find_list(service: DoNotReachService) -> DoNotReachList | None:
    """Return the list of the account, None when it has none. Raises MalformedAnswer for more than one."""
    answer = await service.list_do_not_reach_lists()
    alive = [shown for shown in answer.data if not shown.get("deleted")]
    if len(alive) > 1:
        raise MalformedAnswer("the service shows several do-not-reach lists of one account", status=answer.status)
    return _read_list(alive[0], answer, "found") if alive else None


async def ensure_list(service: DoNotReachService, *, clock: Clock, description: str | None = None) -> DoNotReachList:
    """Return the list of the account; create it when there is none, but never a second one.

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
    """Return the list after a creation whose answer was lost. Raises NotFinished unless it is there."""
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
    """Delete the list: its people can be targeted again.

    Raises NotFound when the account has no such list, NotFinished when it is not known whether it is deleted.
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


# --- People put on the do-not-reach list of the account, or taken off it; the list is created when it is missing ---


@cancellable
@with_keywords(UploadKeywords, RUN_DEFAULTS)
async def do_not_reach_upload_async(source: AnySource, **keywords: Unpack[UploadKeywords]) -> Report:
    """Put the people of the source on the do-not-reach list of the account, or take them off; return the report.

    The list takes emails and phone numbers only. If the account has none, it is created, but not for settings or a
    source that are refused, except for standard input and readers, since they cannot be read twice: then the error
    says that the list was created. `limiter`, `run_id`, `keep_spool` and the errors are those of `upload_async`. Raises
    Refused for Deletes when the account has no list.
    """
    source = items_of(source)
    options, about_source = RunOptions.split(keywords)
    check_upload(options, source, about_source)
    found = await _prepared_list(source, options.settings, options.progress, about_source)
    failure: AudiencekitError
    try:
        return await upload_with(options, found.target, source, about_source)
    except AudiencekitError as error:
        failure = error
    if found.state == "created" and (failure.document is None or failure.state == "refused"):
        failure.args = (f"{failure}; before that, the do-not-reach list {found.id} was created",)
        failure.hint = "; ".join(filter(None, (failure.hint, "the list can stay: the next upload finds it")))
    raise failure


do_not_reach_upload = blocking(do_not_reach_upload_async)


async def _prepared_list(
    source: AnySource, settings: Settings, progress: Progress, keywords: Keywords
) -> DoNotReachList:
    """Return the list of the account.

    If it has none, raise what refuses the source, and NotFinished for a cancellation.
    """
    try:
        async with open_client(settings) as client:
            if (found := await find_list(client)) is not None:
                return found
            await _check_first(source, settings, progress, keywords)
            made = await ensure_list(client, clock=SystemClock())
        progress.tell(f"the do-not-reach list {made.id} was created: the account had none")
        return made
    except asyncio.CancelledError:
        interrupted = NotFinished("interrupted before people were put on the do-not-reach list", hint=LIST_AGAIN)
    interrupted.document = {"state": "incomplete"}
    raise interrupted


async def _check_first(source: AnySource, settings: Settings, progress: Progress, keywords: Keywords) -> None:
    """Check that a list may be created for the source. Raises what refuses it."""
    options = read_keywords(plain_keywords(keywords), settings.profile)
    if options.operation == "delete":
        raise Refused("the account has no do-not-reach list: there is no one to take off it")
    if any(map(comes_once, items_of(source))):
        return
    stoppable = Stoppable(progress)
    looking = functools.partial(
        check, source, settings=settings, progress=stoppable, destination=DO_NOT_REACH_LIST, **keywords
    )
    plan = await in_thread(looking, stoppable)
    if plan.refusals:
        raise plan.refusals[0]
