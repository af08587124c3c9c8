"""`GET …/account_history`: the changes of one entity (specification part 1, section 4.1).

It is a beta that needs allowlisting. Changes are shown as the values before and after them, since their form is not
documented. A time must be a whole hour in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from audiencekit.emulator.answers import Answer, format_time, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import ACCOUNT_HISTORY
from audiencekit.emulator.endpoints.campaigns import CAMPAIGNS, LINE_ITEMS, TARGETING_CRITERIA
from audiencekit.emulator.endpoints.promotions import PROMOTED_ACCOUNTS, PROMOTED_TWEETS
from audiencekit.emulator.paging import Listing, read_list_query
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Record, Resource

_HOUR: Final = 3_600
_LISTING: Final = Listing(takes_sort_by=False, takes_with_deleted=False, takes_with_total_count=False)
_ENTITIES: Final = {
    "CAMPAIGN": CAMPAIGNS,
    "LINE_ITEM": LINE_ITEMS,
    "PROMOTED_TWEET": PROMOTED_TWEETS,
    "TARGETING_CRITERIA": TARGETING_CRITERIA,
    "PROMOTED_ACCOUNT": PROMOTED_ACCOUNTS,
}


@dataclass(slots=True)
class _Change:
    """One change; `id` is its place in the history, to which cursors point."""

    id: str
    moment: float
    user_id: str
    document: dict[str, Any]
    deleted: bool = False

    def value(self, attribute: str) -> Any:
        return getattr(self, attribute)


def show_history(call: Call) -> Answer:
    """Return the changes of an entity between two whole hours, earliest first; of one user, if one is named."""
    call.require_feature(ACCOUNT_HISTORY)
    parameters = Parameters(call)
    query = read_list_query(parameters, _LISTING)
    entity_type = parameters.required_choice("entity_type", tuple(_ENTITIES))
    entity_id = parameters.required_text("entity_id")
    start, end = (_read_hour(parameters, name) for name in ("start_time", "end_time"))
    user_id = parameters.long("user_id")
    parameters.finish()
    if end <= start:
        raise parameters.fault("end_time", "end_time must be later than start_time", "INVALID_TIME_WINDOW")
    kind = replace(_ENTITIES[entity_type], id_name="entity_id")
    changes = [*_changes(call, entity_type, kind, kind.find(call, entity_id, with_deleted=True))]

    def wanted(change: _Change) -> bool:
        return user_id in (None, int(change.user_id)) and start <= change.moment < end

    page = query.page(parameters, changes, wanted)
    return success(parameters.echo, [change.document for change in page.records], **page.members())


def _read_hour(parameters: Parameters, name: str) -> int:
    moment = parameters.required_time(name)
    if moment % _HOUR:
        raise parameters.fault(name, f"Expected a whole hour for {name}")
    return moment


def _changes(call: Call, entity_type: str, kind: Resource, record: Record) -> Iterator[_Change]:
    before: dict[str, Any] = {}
    for place, state in enumerate(record.states()):
        differences = {
            name: {"before": before.get(name), "after": value}
            for name, value in state.fields.items()
            if place and before.get(name) != value
        }
        before = {**state.fields}
        # A request that changed nothing left a state all the same.
        if differences or state.deleted or not place:
            change_type = "DELETE" if state.deleted else "UPDATE" if place else "CREATE"
            user_id = state.changed_by or call.store.users.first.id
            document = {
                "change_by": {"user_id": user_id, "platform": "API_OTHER"},
                "changes": differences,
                "change_time": format_time(state.updated_at),
                "entity_id": record.id,
                "entity": entity_type,
                "entity_data": kind.show(state),
                "change_type": change_type,
            }
            yield _Change(f"{record.id}-{place}", state.updated_at, user_id, document)
