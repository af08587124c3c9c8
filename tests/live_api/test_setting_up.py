"""A campaign from nothing to a promoted tweet and a target, with the client alone."""

from __future__ import annotations

from audiencekit.api.opening import open_client
from audiencekit.emulator import Emulator
from audiencekit.settings import load_settings


async def test_a_draft_campaign_is_set_up_and_begun() -> None:
    """Funding, draft, line item, tweet, promotion, target; then both become active, and are shown as the target's."""
    async with Emulator() as emulator, open_client(load_settings(emulator.env)) as client:

        async def make(endpoint: str, **parameters: object) -> str:
            data = (await client.call(endpoint, parameters)).data
            return str((data[0] if isinstance(data, list) else data)["id"])

        user_id = emulator.store.origin.user_id
        funding = await make("create_funding_instrument", currency="EUR", start_time="2026-01-01T00:00:00Z")
        campaign = await make("create_campaign", funding_instrument_id=funding, name="Spring", entity_status="DRAFT",
                              daily_budget_amount_local_micro=5_000_000)  # fmt: skip
        item = await make("create_line_item", campaign_id=campaign, objective="ENGAGEMENTS",
                          product_type="PROMOTED_TWEETS", entity_status="DRAFT")  # fmt: skip
        tweet = await make("create_tweet", as_user_id=user_id, text="Spring is here")
        assert await make("create_promoted_tweets", line_item_id=item, tweet_ids=tweet)
        criterion = await make("create_targeting_criterion", line_item_id=item, targeting_type="KEYWORD",
                               targeting_value="tea", operator_type="EQ")  # fmt: skip
        assert (await client.call("list_line_items")).data == []
        await client.call("update_campaign", {"campaign_id": campaign, "entity_status": "ACTIVE"})
        batch = [{"operation_type": "Update", "params": {"line_item_id": item, "entity_status": "ACTIVE"}}]
        await client.call("batch_line_items", body=batch)
        (shown,) = (await client.call("list_line_items", {"campaign_ids": campaign})).data
        assert (shown["id"], shown["entity_status"]) == (item, "ACTIVE")
        (target,) = (await client.call("list_targeting_criteria", {"line_item_ids": item})).data
        assert target["id"] == criterion
