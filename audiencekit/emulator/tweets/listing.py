"""Pages of drafts, scheduled tweets and tweets: of one user, oldest first."""

from __future__ import annotations

from collections.abc import Callable

from audiencekit.emulator.calls import Call
from audiencekit.emulator.paging import Page, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.records import Record
from audiencekit.emulator.resources.resource import Resource


def read_page(
    call: Call, kind: Resource, parameters: Parameters, wanted: Callable[[Record], bool] = lambda record: True
) -> Page[Record]:
    """Return the records that are wanted, of the user who is named, else of the account's own one."""
    query = read_list_query(parameters, kind.listing)
    named = parameters.long("user_id")
    parameters.finish()
    user_id = call.store.origin.user_id if named is None else str(named)
    records = sorted(kind.all(call).values(), key=lambda record: record.created_at)
    return query.page(parameters, records, lambda record: record.fields["user_id"] == user_id and wanted(record))
