"""An account with one of everything, made over the wire, and good values for the parameters that name a part of it."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import Any

import aiohttp

from audiencekit.api.catalogue import Endpoint
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.endpoints.accounts import Account
from tests.emulator.conftest import START, Caller
from tests.emulator.endpoints.campaigns_builder import make_campaign, make_instrument, make_line_item
from tests.emulator.endpoints.conversation_cards_builder import make_image_card, make_video_card
from tests.emulator.endpoints.media_builder import account_media, media_keys
from tests.emulator.endpoints.test_cards import make_card
from tests.emulator.endpoints.tweets_builder import write

HISTORY = {"start_time": "2027-01-15T08:00:00Z", "end_time": "2027-01-15T09:00:00Z"}
SEARCH = {"start_time": "2027-01-14T08:00:00Z", "end_time": "2027-01-15T07:00:00Z"}
WEBSITE = "https://shop.example/a?b=c"


class World:
    """`values` are good by the name of a parameter, `exceptions` by the names of an endpoint and a parameter."""

    def __init__(self, caller: Any) -> None:
        self.caller = caller
        self.values: dict[str, str] = {"account_id": caller.emulator.account_id, "location": "96683cc9126741d1"}
        self.exceptions: dict[tuple[str, str], str] = {}
        self._numbers = itertools.count()

    @classmethod
    async def make(cls, caller: Any) -> World:
        """A world that is complete."""
        world = cls(caller)
        for part in (world._campaigns, world._promotions, world._audiences, world._creatives):
            await part()
        return world

    def value(self, endpoint: Endpoint, name: str) -> str | None:
        """A good value; None when any would do."""
        for known in (name, name.removesuffix("s")):
            found = self.exceptions.get((endpoint.name, known)) or self.values.get(known)
            if found is not None:
                return found
        return None

    def text(self) -> str:
        """A text that nothing has been called yet."""
        return f"words {next(self._numbers)}"

    async def _post(self, path: str, **query: Any) -> Any:
        reply = await self.caller.call("POST", f"{self.caller.account}/{path}", query=query)
        assert reply.status == 200, reply.content
        return reply.body["data"]

    async def _first(self, path: str, account: str = "") -> Any:
        return (await self.caller.call("GET", f"{account or self.caller.account}/{path}")).body["data"][0]

    async def _campaigns(self) -> None:
        instrument = await make_instrument(self.caller)
        # Paused, so that it counts for no limit.
        campaign = (await make_campaign(self.caller, instrument=instrument, entity_status="PAUSED")).body["data"]["id"]
        item = await make_line_item(self.caller, campaign)
        query = {"line_item_id": item, "curated_category_id": "9ddrgesiap6o"}
        curated = await self._post("line_item_curated_categories", **query)
        tag = await self._post(
            "tracking_tags", line_item_id=item, tracking_tag_type="CLICK_TRACKER", tracking_tag_url=WEBSITE
        )
        await make_line_item(self.caller, campaign, entity_status="PAUSED")
        preroll = await make_line_item(self.caller, campaign, objective="PREROLL_VIEWS", categories="IAB7")
        tea = {"targeting_type": "KEYWORD", "targeting_value": "tea", "operator_type": "EQ"}
        criterion = await self._post("targeting_criteria", line_item_id=item, **tea)
        recommendation = await self._first("recommendations", self.caller.account.replace("/12/", "/5/"))
        self.values |= {
            "funding_instrument_id": instrument,
            "campaign_id": campaign,
            "line_item_id": item,
            "targeting_criterion_id": criterion["id"],
            "curated_category_id": "9ddrgesiap6o",
            "line_item_curated_category_id": curated["id"],
            "tracking_tag_id": tag["id"],
            "recommendation_id": recommendation["id"],
            "entity_id": campaign,
        }
        for row in ("create_line_item", "update_line_item"):
            self.exceptions |= {(row, "objective"): "PREROLL_VIEWS", (row, "categories"): "IAB7"}
        self.exceptions |= {("update_line_item", "line_item_id"): preroll}
        self.exceptions |= {("update_line_item", "start_time"): "2027-01-01T00:00:00Z"}
        row = "get_account_history"
        self.exceptions |= {(row, name): text for name, text in HISTORY.items()}
        self.exceptions |= {(row, "entity_type"): "CAMPAIGN", (row, "cursor"): f"c-{campaign}-0"}
        self.exceptions |= {("search_keyword_insights", name): text for name, text in SEARCH.items()}

    async def _promotions(self) -> None:
        user = await self._first("promotable_users")
        for_accounts = await make_line_item(self.caller, self.values["campaign_id"], product_type="PROMOTED_ACCOUNT")
        account = await self._post("promoted_accounts", line_item_id=for_accounts, user_id=user["user_id"])
        item = self.values["line_item_id"]
        published = (await write(self.caller, "tweet")).body["data"]["id_str"]
        draft, scheduled = [(await write(self.caller, kind)).body["data"]["id"] for kind in ("draft", "scheduled")]
        (tweet,) = await self._post("promoted_tweets", line_item_id=item, tweet_ids=published)
        later = await self._post("scheduled_promoted_tweets", line_item_id=item, scheduled_tweet_id=scheduled)
        self.values |= {
            "as_user_id": user["user_id"],
            "tweet_id": published,
            "draft_tweet_id": draft,
            "scheduled_tweet_id": scheduled,
            "scheduled_promoted_tweet_id": later["id"],
            "promotable_user_id": user["id"],
            "user_id": user["user_id"],
            "promoted_account_id": account["id"],
            "promoted_tweet_id": tweet["id"],
        }
        rows = ("list_promoted_accounts", "create_promoted_account")
        self.exceptions |= {(row, "line_item_id"): for_accounts for row in rows}
        rows = ("update_scheduled_tweet", "create_scheduled_tweet")
        self.exceptions |= {(row, "scheduled_at"): "2027-02-01T00:00:00Z" for row in rows}
        self.exceptions |= {(row, "tweet_type"): "PUBLISHED" for row in ("list_tweet_previews", "list_tweets")}

    async def _audiences(self) -> None:
        made = await self.caller.call("POST", "/12/accounts", base=self.caller.emulator.ads_sandbox_url)
        granted, audience = made.body["data"][0]["id"], self.caller.emulator.audience_id
        query = {"granted_account_id": granted, "permission_level": "READ_ONLY"}
        permission = await self._post(f"custom_audiences/{audience}/permissions", **query)
        await self._post("custom_audiences", name="another")
        dnr = await self._post("do_not_reach_lists")
        self.values |= {
            "granted_account_id": granted,
            "custom_audience_id": audience,
            "tailored_audience_id": audience,
            "custom_audience_permission_id": permission["id"],
            "tailored_audience_permission_id": permission["id"],
            "do_not_reach_list_id": dnr["id"],
        }

    async def _creatives(self) -> None:
        image, video = await media_keys(self.caller, "IMAGE"), await media_keys(self.caller, "VIDEO")
        banner, item = await account_media(self.caller, "BANNER"), self.values["line_item_id"]
        creative = await self._post("media_creatives", account_media_id=banner, line_item_id=item, landing_url=WEBSITE)
        card = (await make_card(self.caller)).body["data"]
        # With all tweets, so that each hashtag can be given by itself.
        tweets = {f"{ordinal}_cta_tweet": "words" for ordinal in ("second", "third", "fourth")}
        of_image, of_video = [
            (await make(self.caller, **tweets)).body["data"] for make in (make_image_card, make_video_card)
        ]
        self.values |= {
            "account_media_id": banner,
            "media_creative_id": creative["id"],
            "card_id": card["id"],
            "card_uri": card["card_uri"],
            "media_key": image[0],
        }
        for medium, media, shown in (("image", image[0], of_image), ("video", video[0], of_video)):
            for verb in ("list", "get", "create", "update", "delete"):
                row = f"{verb}_{medium}_conversation_card" + ("s" if verb == "list" else "")
                self.exceptions |= {(row, "card_id"): shown["id"], (row, "media_key"): media}
                self.exceptions |= {(row, "unlocked_image_media_key"): image[5], (row, "poster_media_key"): image[0]}
                self.exceptions |= {(row, "unlocked_video_media_key"): video[0]}


@asynccontextmanager
async def open_world() -> AsyncIterator[World]:
    """A world in an emulator of its own, whose clock stands still."""
    settings = EmulatorOptions(clock=lambda: START)
    async with Emulator(settings) as emulator, aiohttp.ClientSession() as session:
        yield await World.make(Caller(emulator, session))


def snapshot(caller: Any) -> bytes:
    """All that the accounts hold, and how many ids were given."""
    store = caller.emulator.store
    accounts = [
        {each.name: getattr(account, each.name) for each in fields(account)} for account in store.accounts.values()
    ]
    for account in accounts:
        account["records"] = {kind: records for kind, records in account["records"].items() if records}
    return pickle.dumps((store.ids_made, accounts))


def restore(caller: Any, taken: bytes) -> None:
    """Put back what a snapshot holds."""
    store = caller.emulator.store
    store.ids_made, accounts = pickle.loads(taken)
    store.accounts.clear()
    store.accounts |= {account["id"]: Account(**account) for account in accounts}


@asynccontextmanager
async def left_as_it_was(world: World) -> AsyncIterator[World]:
    """The same world, for a call that ends something or can be made once only."""
    before = snapshot(world.caller)
    try:
        yield world
    finally:
        restore(world.caller, before)
