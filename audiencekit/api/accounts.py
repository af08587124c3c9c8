"""Accounts, what the caller may do with them, and how many people a targeting would reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from audiencekit.api.calls import Calls, list_or_none
from audiencekit.api.wire import Answer, require_entity, require_list


class AccountCalls(Calls):
    """Specification part 1, sections 4.1, 4.3, 4.9 and 4.12."""

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
        """The features in limited release that the account has, `data` a list of keys."""
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
