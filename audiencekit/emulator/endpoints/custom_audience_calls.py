"""Custom audiences: created, listed, shown, changed, deleted (specification part 2, section 4.3)."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.account_records import Account
from audiencekit.emulator.endpoints.custom_audiences import Audience
from audiencekit.emulator.paging import MAX_QUERY_LENGTH, Listing, read_list_query
from audiencekit.emulator.parameters import Parameters

_LISTING: Final = Listing(sortable=("name", "created_at", "updated_at", "deleted"))
_SCOPES: Final = ("OWNER", "SHARED")


def find_audience(
    call: Call, *, audience_id: str | None = None, with_deleted: bool = False, to_write: bool = False
) -> Audience:
    """Return the audience of the path, or with `audience_id`, owned by the account or shared with it.

    Raises RefusalError: 404 when there is none, or it was deleted; 403 for writing to one that was shared for reading.
    """
    parameter = "tailored_audience_id" if "tailored_audience_id" in call.ids else "custom_audience_id"
    audience_id = audience_id or call.ids[parameter]
    audience = call.store.find_audience(audience_id)
    permission = audience.permission_of(call.account.id) if audience else None
    is_ours = audience is not None and audience.account_id == call.account.id
    if audience is None or (audience.deleted and not with_deleted) or not (is_ours or permission):
        message = f"Custom Audience {audience_id} was not found for Account {call.account.id}"
        raise call.refuse(404, "NOT_FOUND", message, parameter)
    if to_write and permission and permission.permission_level != "READ_WRITE":
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "The audience is shared with this account for reading only")
    call.store.catch_up(call.store.accounts[audience.account_id], call.now)
    return audience


def find_own_audience(call: Call) -> Audience:
    """Return the audience of the path. Raises RefusalError: 404 as above; 403 for another account's audience."""
    audience = find_audience(call)
    if audience.account_id != call.account.id:
        raise call.refuse(403, "ACTION_NOT_ALLOWED", "Only the account that owns the audience may do this")
    return audience


def create_audience(call: Call) -> Answer:
    """Answer `POST …/custom_audiences`: an empty audience."""
    parameters = Parameters(call)
    name = parameters.required_text("name")
    description = parameters.text("description", empty=True)
    parameters.finish()
    _check_name(call.account, parameters, name)
    audience = call.store.make_audience(call.account, name, description or None, call.now)
    return success(parameters.echo, audience.document())


def list_audiences(call: Call) -> Answer:
    """Answer `GET …/custom_audiences`: a page of the account's own audiences, or of those shared with it."""
    parameters = Parameters(call)
    query = read_list_query(parameters, _LISTING)
    shared = parameters.choice("permission_scope", _SCOPES, "OWNER") == "SHARED"
    prefix = (parameters.text("q", longest=MAX_QUERY_LENGTH) or "").casefold()
    ids = parameters.words("custom_audience_ids")
    parameters.finish()

    def wanted(audience: Audience) -> bool:
        named = audience.name.casefold().startswith(prefix)
        return named and (ids is None or audience.id in ids)

    audiences = list(call.store.shared_with(call.account) if shared else call.account.audiences.values())
    for owner_id in {call.account.id, *(audience.account_id for audience in audiences)}:
        call.store.catch_up(call.store.accounts[owner_id], call.now)
    page = query.page(parameters, audiences, wanted)
    return success(parameters.echo, [audience.document(call.account.id) for audience in page.records], **page.members())


def show_audience(call: Call) -> Answer:
    """Answer `GET …/custom_audiences/:custom_audience_id`."""
    parameters = Parameters(call)
    with_deleted = parameters.boolean("with_deleted")
    parameters.finish()
    return success(parameters.echo, find_audience(call, with_deleted=with_deleted).document(call.account.id))


def change_audience(call: Call) -> Answer:
    """Answer `PUT …/custom_audiences/:custom_audience_id`: an empty description removes the old one."""
    parameters = Parameters(call)
    name = parameters.text("name")
    description = parameters.text("description", empty=True)
    parameters.finish()
    audience = find_audience(call, to_write=True)
    if audience.segments is not None:
        raise call.refuse(400, "INVALID_PARAMETER", "A flexible audience cannot be changed", "custom_audience_id")
    if name is not None and name != audience.name:
        _check_name(call.store.accounts[audience.account_id], parameters, name)
        audience.name = name
    if description is not None:
        audience.description = description or None
    audience.updated_at = call.now
    return success(parameters.echo, audience.document(call.account.id))


def delete_audience(call: Call) -> Answer:
    """Answer `DELETE …/custom_audiences/:custom_audience_id`: the second time with 404."""
    parameters = Parameters(call)
    parameters.finish()
    audience = find_own_audience(call)
    audience.deleted = True
    audience.updated_at = call.now
    return success(parameters.echo, audience.document())


def _check_name(owner: Account, parameters: Parameters, name: str) -> None:
    # The public service's code for this is documented nowhere.
    if owner.has_name(name):
        raise parameters.fault("name", "A Custom Audience with this name exists, or existed, in the Account")
