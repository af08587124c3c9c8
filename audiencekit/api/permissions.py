"""Permissions of other accounts on custom and on tailored audiences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from audiencekit.api.answers import Answer, require_entity, require_list
from audiencekit.api.calls import Calls, list_or_none

PermissionLevel: TypeAlias = Literal["READ_ONLY", "READ_WRITE"]


class PermissionCalls(Calls):
    """Specification part 2, sections 4.2 and 4.5."""

    async def list_permissions(
        self, audience_id: str, *, granted_account_ids: Sequence[str] = (), cursor: str | None = None
    ) -> Answer:
        """One page of the permissions on a custom audience."""
        filters = {"granted_account_ids": list_or_none("granted_account_ids", granted_account_ids), "cursor": cursor}
        parameters = {"custom_audience_id": audience_id, **filters}
        return require_list(await self.call("list_custom_audience_permissions", parameters))

    async def grant_permission(self, audience_id: str, *, account_id: str, level: PermissionLevel) -> Answer:
        """The new permission of the account `account_id` on a custom audience of ours."""
        grant = {"granted_account_id": account_id, "permission_level": level}
        parameters = {"custom_audience_id": audience_id, **grant}
        return require_entity(await self.call("create_custom_audience_permission", parameters))

    async def revoke_permission(self, audience_id: str, permission_id: str) -> Answer:
        """The permission as deleted. Campaigns that run go on with the audience (section 3)."""
        parameters = {"custom_audience_id": audience_id, "custom_audience_permission_id": permission_id}
        return require_entity(await self.call("delete_custom_audience_permission", parameters))

    async def list_tailored_permissions(
        self, audience_id: str, *, granted_account_ids: Sequence[str] = (), cursor: str | None = None
    ) -> Answer:
        """One page of the permissions on a tailored audience."""
        filters = {"granted_account_ids": list_or_none("granted_account_ids", granted_account_ids), "cursor": cursor}
        parameters = {"tailored_audience_id": audience_id, **filters}
        return require_list(await self.call("list_tailored_audience_permissions", parameters))

    async def grant_tailored_permission(self, audience_id: str, *, account_id: str, level: PermissionLevel) -> Answer:
        """The new permission of the account `account_id` on a tailored audience of ours."""
        grant = {"granted_account_id": account_id, "permission_level": level}
        parameters = {"tailored_audience_id": audience_id, **grant}
        return require_entity(await self.call("create_tailored_audience_permission", parameters))

    async def revoke_tailored_permission(self, audience_id: str, permission_id: str) -> Answer:
        """The permission as deleted."""
        parameters = {"tailored_audience_id": audience_id, "tailored_audience_permission_id": permission_id}
        return require_entity(await self.call("delete_tailored_audience_permission", parameters))
