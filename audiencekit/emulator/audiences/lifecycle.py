"""Custom audiences: made, listed, shown, changed, deleted (specification part 2, section 4.3)."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.paging import MAX_QUERY_LENGTH, read_list_query
from audiencekit.emulator.parameters import Parameters

from .records import Audience

_SORTABLE: Final = ("name", "created_at", "updated_at", "deleted")
_SCOPES: Final = ("OWNER", "SHARED")


def find_audience(call: Call, *, with_deleted: bool = False) -> Audience:
    """The audience of the path. Raises RefusalError (404) when there is none, or it was deleted."""
    audience_id = call.ids["custom_audience_id"]
    audience = call.account.audiences.get(audience_id)
    if audience is None or (audience.deleted and not with_deleted):
        message = f"Custom Audience {audience_id} was not found for Account {call.account.id}"
        raise call.refuse(404, "NOT_FOUND", message, "custom_audience_id")
    return audience


def create_audience(call: Call) -> Answer:
    """`POST …/custom_audiences`: an empty audience."""
    parameters = Parameters(call)
    name = parameters.required_text("name")
    description = parameters.text("description", empty=True)
    parameters.finish()
    _check_name(call, parameters, name)
    audience = call.store.make_audience(call.account, name, description or None, call.now)
    return success(parameters.echo, audience.document())


def list_audiences(call: Call) -> Answer:
    """`GET …/custom_audiences`: a page of them. No audience is shared with the account."""
    parameters = Parameters(call)
    query = read_list_query(parameters, _SORTABLE)
    owned = parameters.choice("permission_scope", _SCOPES, "OWNER") == "OWNER"
    prefix = (parameters.text("q", longest=MAX_QUERY_LENGTH) or "").casefold()
    ids = parameters.words("custom_audience_ids")
    parameters.finish()

    def wanted(audience: Audience) -> bool:
        named = audience.name.casefold().startswith(prefix)
        return owned and named and (ids is None or audience.id in ids)

    page = query.page(parameters, list(call.account.audiences.values()), wanted)
    return success(parameters.echo, [audience.document() for audience in page.records], **page.members())


def show_audience(call: Call) -> Answer:
    """`GET …/custom_audiences/:custom_audience_id`."""
    parameters = Parameters(call)
    with_deleted = parameters.boolean("with_deleted")
    parameters.finish()
    return success(parameters.echo, find_audience(call, with_deleted=with_deleted).document())


def change_audience(call: Call) -> Answer:
    """`PUT …/custom_audiences/:custom_audience_id`: an empty description takes the old one away."""
    parameters = Parameters(call)
    name = parameters.text("name")
    description = parameters.text("description", empty=True)
    parameters.finish()
    audience = find_audience(call)
    if name is not None and name != audience.name:
        _check_name(call, parameters, name)
        audience.name = name
    if description is not None:
        audience.description = description or None
    audience.updated_at = call.now
    return success(parameters.echo, audience.document())


def delete_audience(call: Call) -> Answer:
    """`DELETE …/custom_audiences/:custom_audience_id`: a second time it is not found."""
    parameters = Parameters(call)
    parameters.finish()
    audience = find_audience(call)
    audience.deleted = True
    audience.updated_at = call.now
    return success(parameters.echo, audience.document())


def _check_name(call: Call, parameters: Parameters, name: str) -> None:
    # The public service's code for this is documented nowhere.
    if call.account.has_name(name):
        raise parameters.fault("name", "A Custom Audience with this name exists, or existed, in the Account")
