"""The dry run of an erasure: who is named, and which audiences would be asked. No one is remembered."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Unpack

from audiencekit.api.opening import open_client
from audiencekit.audiences.erasure.access import check_access
from audiencekit.audiences.erasure.erasableaudiences import list_account
from audiencekit.audiences.erasure.keys import count_by_kind, to_records
from audiencekit.audiences.erasure.people import People
from audiencekit.audiences.erasure.preview import Preview
from audiencekit.audiences.erasure.sharedkeys import refuse_shared_in_any
from audiencekit.delivery.retry import RetryPolicy, SystemClock
from audiencekit.machine.keys import existing_state_key
from audiencekit.planning.options import SourceKeywords
from audiencekit.reporting.progress import Progress, Stoppable
from audiencekit.runs.inthread import in_thread
from audiencekit.settings import Settings
from audiencekit.sources.files import AnySource


async def dry_forget_async(
    identifiers: Iterable[str] | None = None,
    *,
    source: AnySource | None = None,
    skip_rejected: bool = False,
    settings: Settings,
    progress: Progress,
    **keywords: Unpack[SourceKeywords],
) -> Preview:
    """The preview of `forget`, which reads the people and asks the service as it would. Raises what refuses that."""
    people = People.given(identifiers, source, keywords, settings.profile)
    del identifiers, source  # no traceback of what follows is to show them
    client, stoppable = open_client(settings), Stoppable(progress)
    asked = await in_thread(functools.partial(people.read, stoppable), stoppable)
    asked.check(what=people.noun, skip_rejected=skip_rejected)
    records, account_id = to_records(asked.keys), settings.require_account()
    if (key := existing_state_key(settings.state_dir, settings.key)) is not None:
        refuse_shared_in_any(
            records, people.shared_people, state_dir=settings.state_dir, account_id=account_id, key=key
        )
    policy = RetryPolicy.seeded(SystemClock())
    async with client:
        await check_access(client, account_id)
        account = await list_account(client, account_id, policy)
    return Preview(
        asked=asked.rows,
        identifiers=dict(asked.identifiers),
        forms=count_by_kind(records),
        audiences=[(one.id, one.name) for one in account.owned],
        skipped=[(one.id, one.name) for one in account.skipped],
    )
