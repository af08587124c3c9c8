"""Read the people of an erasure and make their keys; refuse the input, if necessary, before anything is sent."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import TypeVar

from audiencekit.audiences.erasure.forms import refuse_shared_in_any, to_records
from audiencekit.audiences.erasure.people import Asked, People
from audiencekit.errors import NotFinished
from audiencekit.personal import HashedRecords
from audiencekit.reporting.progress import Progress, Stoppable
from audiencekit.runs.first_pass import in_thread
from audiencekit.selection.erased_people import read_forgotten
from audiencekit.settings import Settings
from audiencekit.state.keys import find_state_key

T = TypeVar("T")


async def read_people(
    people: People, settings: Settings, progress: Progress, *, skip_rejected: bool
) -> tuple[Asked, HashedRecords]:
    """Return the people of an erasure, and their keys as records. Raises the errors of `forget_async`."""
    stoppable = Stoppable(progress)
    asked = await _in_thread(functools.partial(people.read, stoppable), stoppable)
    asked.check(what=people.noun, skip_rejected=skip_rejected)
    read_forgotten(settings.state_dir, settings.key)  # one that cannot be relied on is said before anything is sent
    records = to_records(asked.keys)
    ask_members = functools.partial(
        refuse_shared_in_any, records, people.shared_people,
        state_dir=settings.state_dir, account_id=settings.require_account(),
        key=find_state_key(settings.state_dir, settings.key),
    )  # fmt: skip
    await _in_thread(ask_members, stoppable)
    return asked, records


async def _in_thread(work: Callable[[], T], stoppable: Stoppable) -> T:
    """Return the result of `work`. Raises NotFinished for a cancellation."""
    try:
        return await in_thread(work, stoppable)
    except asyncio.CancelledError:
        raise NotFinished("interrupted while people were read: nothing was sent") from None
