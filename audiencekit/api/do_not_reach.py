"""The do-not-reach list of an account, and its people."""

from __future__ import annotations

from audiencekit.api.audiences import check_upload
from audiencekit.api.calls import Calls
from audiencekit.api.exchange import Body
from audiencekit.api.wire import Answer, Counts, confirm_counts, require_entity, require_list


class DoNotReachCalls(Calls):
    """Specification part 2, section 4.6."""

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
        """The counts of one upload, summed over its operations, which are both equal to `records`.

        Raises CountMismatch when they are not: the same bytes are to be sent again.
        """
        check_upload(body, records)
        parameters = {"do_not_reach_list_id": list_id}
        return confirm_counts(await self.call("batch_do_not_reach_users", parameters, body), sent=records)
