"""The ads API as methods: arguments are checked, one request is sent, its answer is read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from audiencekit.api.activity import ActivityCalls
from audiencekit.api.answers import Answer, Counts, confirm_counts, require_entity, require_list
from audiencekit.api.calls import list_or_none
from audiencekit.api.exchange import Body
from audiencekit.errors import UsageError
from audiencekit.limits import MAX_BODY_BYTES

if TYPE_CHECKING:
    from audiencekit.api.endpointcalls import CallByName, ItemsByName, LinkByName, PagesByName

PermissionScope: TypeAlias = Literal["OWNER", "SHARED"]
PermissionLevel: TypeAlias = Literal["READ_ONLY", "READ_WRITE"]


class AudienceCalls(ActivityCalls):
    """The endpoints around audiences as methods."""

    # --- Accounts, the permissions of the caller, estimates: specification part 1, sections 4.1, 4.3, 4.9 and 4.12 ---

    async def list_accounts(
        self,
        *,
        q: str | None = None,
        account_ids: Sequence[str] = (),
        count: int | None = None,
        cursor: str | None = None,
        with_deleted: bool | None = None,
    ) -> Answer:
        """One page of the accounts that the caller may use."""
        parameters = {"q": q, "count": count, "cursor": cursor, "with_deleted": with_deleted}
        ids = list_or_none("account_ids", account_ids)
        return require_list(await self.call("list_accounts", {**parameters, "account_ids": ids}), named=True)

    async def get_account(self, *, with_deleted: bool | None = None) -> Answer:
        """The account of this client."""
        return require_entity(await self.call("get_account", {"with_deleted": with_deleted}))

    async def get_authenticated_user_access(self) -> Answer:
        """Return the calling user, with the permissions on the account."""
        return require_entity(await self.call("get_authenticated_user_access"))

    async def list_features(self, *, feature_keys: Sequence[str] = ()) -> Answer:
        """Return the features in limited release that the account has, `data` a list of keys."""
        return await self.call("list_features", {"feature_keys": list_or_none("feature_keys", feature_keys)})

    async def estimate_audience(
        self,
        targeting_criteria: Sequence[Mapping[str, Any]],
        *,
        operator_type: Literal["EQ", "NE"] | None = None,
    ) -> Answer:
        """About how many people the criteria describe."""
        criteria = [dict(criterion) for criterion in targeting_criteria]
        parameters = {"targeting_criteria": criteria, "operator_type": operator_type}
        return require_entity(await self.call("estimate_audience", parameters))

    # --- Custom audiences, their people, the campaigns that target them: specification part 2, sections 4.3 and 4.4 ---

    async def list_custom_audiences(
        self,
        *,
        q: str | None = None,
        permission_scope: PermissionScope | None = None,
        count: int | None = None,
        cursor: str | None = None,
        custom_audience_ids: Sequence[str] = (),
        with_deleted: bool | None = None,
        with_total_count: bool | None = None,
        sort_by: Sequence[str] = (),
    ) -> Answer:
        """One page of audiences, `data` a list of objects."""
        parameters = _filters(q, permission_scope, count, custom_audience_ids, with_deleted, sort_by)
        paging = {"cursor": cursor, "with_total_count": with_total_count}
        return require_list(await self.call("list_custom_audiences", {**parameters, **paging}), named=True)

    async def iterate_custom_audiences(
        self,
        *,
        q: str | None = None,
        permission_scope: PermissionScope | None = None,
        count: int | None = None,
        custom_audience_ids: Sequence[str] = (),
        with_deleted: bool | None = None,
        sort_by: Sequence[str] = (),
    ) -> AsyncIterator[Answer]:
        """Yield every page in order. Raises EndlessList and MalformedAnswer as `pages`."""
        parameters = _filters(q, permission_scope, count, custom_audience_ids, with_deleted, sort_by)
        async for page in self.pages("list_custom_audiences", parameters):
            yield require_list(page, named=True)

    async def create_custom_audience(self, *, name: str, description: str | None = None) -> Answer:
        """Return the new, empty audience.

        Do not repeat this blindly when the outcome is unknown: look the name up first.
        """
        parameters = {"name": name, "description": description}
        return require_entity(await self.call("create_custom_audience", parameters), named=True)

    async def get_custom_audience(self, audience_id: str, *, with_deleted: bool | None = None) -> Answer:
        """One audience. Raises NotFound, for a deleted one too unless `with_deleted`."""
        parameters = {"custom_audience_id": audience_id, "with_deleted": with_deleted}
        return require_entity(await self.call("get_custom_audience", parameters), named=True, asked=audience_id)

    async def update_custom_audience(
        self, audience_id: str, *, name: str | None = None, description: str | None = None
    ) -> Answer:
        """The audience with its new name or description. Raises UsageError when neither is given."""
        if name is None and description is None:
            raise UsageError("a change of an audience needs a name or a description")
        parameters = {"custom_audience_id": audience_id, "name": name, "description": description}
        return require_entity(await self.call("update_custom_audience", parameters), asked=audience_id)

    async def delete_custom_audience(self, audience_id: str) -> Answer:
        """The audience as deleted. There is no way back."""
        parameters = {"custom_audience_id": audience_id}
        return require_entity(await self.call("delete_custom_audience", parameters), asked=audience_id)

    async def list_targeted(
        self, audience_id: str, *, with_active: bool | None = None, cursor: str | None = None
    ) -> Answer:
        """One page of the campaigns and line items that target the audience."""
        parameters = {"custom_audience_id": audience_id, "with_active": with_active, "cursor": cursor}
        return require_list(await self.call("list_custom_audience_targeted", parameters))

    async def create_flexible_audiences(self, operations: Sequence[Mapping[str, Any]]) -> Answer:
        """The new audiences in the order of `operations`, of up to FLEXIBLE_BATCH_ITEMS: all of them or none.

        Raises RequestRefused, whose `operation_errors` say which operation was refused with which codes.
        """
        answer = await self.call("batch_flexible_audiences", body=[dict(operation) for operation in operations])
        # One object is what an example of the public service shows, a list what its rule for batches says.
        data = [answer.data] if isinstance(answer.data, dict) else answer.data
        return require_list(replace(answer, data=data), named=True)

    async def send_users(self, audience_id: str, body: Body, *, records: int) -> Counts:
        """Return the counts of one upload, which both equal `records` (specification part 2, section 4.4).

        Raises CountMismatch when they differ: then send the same bytes again.
        """
        check_upload(body, records)
        parameters = {"custom_audience_id": audience_id}
        return confirm_counts(await self.call("add_custom_audience_users", parameters, body), sent=records)

    # --- Permissions of other accounts on custom and on tailored audiences: part 2, sections 4.2 and 4.5 ---

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

    # --- The do-not-reach list of the account, and its people: part 2, section 4.6 ---

    async def list_do_not_reach_lists(self, *, with_deleted: bool | None = None) -> Answer:
        """The list of the account: one, or none."""
        return require_list(await self.call("list_do_not_reach_lists", {"with_deleted": with_deleted}), named=True)

    async def create_do_not_reach_list(self, *, description: str | None = None) -> Answer:
        """The new, empty list."""
        return require_entity(await self.call("create_do_not_reach_list", {"description": description}), named=True)

    async def delete_do_not_reach_list(self, list_id: str) -> Answer:
        """The list as deleted: the people on it can be targeted again."""
        return require_entity(await self.call("delete_do_not_reach_list", {"do_not_reach_list_id": list_id}))

    async def send_do_not_reach_users(self, list_id: str, body: Body, *, records: int) -> Counts:
        """Return the counts of one upload, summed over its operations, which both equal `records`.

        Raises CountMismatch when they differ: then send the same bytes again.
        """
        check_upload(body, records)
        parameters = {"do_not_reach_list_id": list_id}
        return confirm_counts(await self.call("batch_do_not_reach_users", parameters, body), sent=records)


class AdsClient(AudienceCalls):
    """The endpoints of one account, each through `call`, and those around audiences through separate methods.

    Type checkers know the names and the parameters of all endpoints. For a name that is known only at run time use
    `find_endpoint`. Every method raises UsageError before anything is sent, and an ExchangeError for a request that is
    not confirmed.
    """

    if TYPE_CHECKING:
        # An overload for each endpoint. What is narrower than in `Calls` are names and parameters, on purpose.
        call: CallByName  # type: ignore[assignment]
        pages: PagesByName  # type: ignore[assignment]
        items: ItemsByName  # type: ignore[assignment]
        link: LinkByName  # type: ignore[assignment]


def check_upload(body: Body, records: int) -> None:
    """Raise UsageError for an upload that is empty or too large."""
    if records < 1 or not 0 < body.size <= MAX_BODY_BYTES:
        raise UsageError(f"a body holds at least one record and at most {MAX_BODY_BYTES} bytes")


def _filters(
    q: str | None,
    permission_scope: PermissionScope | None,
    count: int | None,
    custom_audience_ids: Sequence[str],
    with_deleted: bool | None,
    sort_by: Sequence[str],
) -> dict[str, Any]:
    return {
        "q": q,
        "permission_scope": permission_scope,
        "count": count,
        "custom_audience_ids": list_or_none("custom_audience_ids", custom_audience_ids),
        "with_deleted": with_deleted,
        "sort_by": list_or_none("sort_by", sort_by),
    }
