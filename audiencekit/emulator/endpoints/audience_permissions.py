"""Permissions on audiences: listed, granted, revoked by the owner (specification part 2, sections 4.2 and 4.5).

Tailored audiences are custom audiences under their older name: the same audiences and permissions, at other paths and
with other names of ids. A second grant to the same account changes its level, since there is no other way to do so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.account_records import SHARING_FEATURE
from audiencekit.emulator.endpoints.custom_audience_calls import find_own_audience
from audiencekit.emulator.endpoints.custom_audiences import Audience
from audiencekit.emulator.endpoints.permission_records import Permission
from audiencekit.emulator.paging import Listing, read_list_query
from audiencekit.emulator.parameters import Parameters

_LEVELS: Final = ("READ_ONLY", "READ_WRITE")
_LISTING: Final = Listing(takes_with_deleted=False)


@dataclass(frozen=True, slots=True)
class Permissions:
    """The endpoints of one of the two names of audiences: `custom_audience` or `tailored_audience`."""

    noun: str

    @property
    def audience_id(self) -> str:
        """The name of the field with the id of the audience."""
        return f"{self.noun}_id"

    @property
    def permission_id(self) -> str:
        """The name of the field with the id of a permission."""
        return f"{self.noun}_permission_id"

    def show(self, call: Call) -> Answer:
        """Answer `GET …/permissions`: a page of those that are not revoked."""
        parameters = Parameters(call)
        query = read_list_query(parameters, _LISTING)
        ids = parameters.words(f"{self.permission_id}s")
        accounts = parameters.words("granted_account_ids")
        parameters.finish()

        def wanted(permission: Permission) -> bool:
            asked = ids is None or permission.id in ids
            return asked and (accounts is None or permission.granted_account_id in accounts)

        page = query.page(parameters, list(find_own_audience(call).permissions.values()), wanted)
        shown = [permission.document(self.audience_id) for permission in page.records]
        return success(parameters.echo, shown, **page.members())

    def grant(self, call: Call) -> Answer:
        """Answer `POST …/permissions`."""
        parameters = Parameters(call)
        granted_id = parameters.required_text("granted_account_id")
        level = parameters.required_choice("permission_level", _LEVELS)
        parameters.finish()
        audience = find_own_audience(call)
        _check_grantee(call, parameters, granted_id)
        permission = audience.permission_of(granted_id)
        if permission is None:
            permission = _make_permission(call, audience, granted_id, level)
        permission.permission_level, permission.updated_at = level, call.now
        return success(parameters.echo, permission.document(self.audience_id))

    def revoke(self, call: Call) -> Answer:
        """Answer `DELETE …/permissions/:…_permission_id`: running campaigns with the audience go on."""
        parameters = Parameters(call)
        parameters.finish()
        permission_id = call.ids[self.permission_id]
        permission = find_own_audience(call).permissions.get(permission_id)
        if permission is None or permission.deleted:
            message = f"Permission {permission_id} was not found for Account {call.account.id}"
            raise call.refuse(404, "NOT_FOUND", message, self.permission_id)
        permission.deleted, permission.updated_at = True, call.now
        return success(parameters.echo, permission.document(self.audience_id))


def _make_permission(call: Call, audience: Audience, granted_id: str, level: str) -> Permission:
    permission = Permission(call.store.make_id(), audience.id, granted_id, level, call.now, call.now)
    audience.permissions[permission.id] = permission
    return permission


def _check_grantee(call: Call, parameters: Parameters, granted_id: str) -> None:
    granted = call.store.accounts.get(granted_id)
    if granted is None or granted.deleted:
        raise parameters.fault("granted_account_id", f"Account {granted_id} was not found")
    if granted is call.account:
        raise parameters.fault("granted_account_id", "The account owns the audience")
    if granted.business_id != call.account.business_id and SHARING_FEATURE not in call.account.features:
        message = f"Sharing outside of the business needs the feature {SHARING_FEATURE}"
        raise parameters.fault("granted_account_id", message, "FEATURE_NOT_AVAILABLE")


CUSTOM: Final = Permissions("custom_audience")
TAILORED: Final = Permissions("tailored_audience")
