"""The public service's own client works against an emulator with profile `x`, unchanged.

It calls an earlier version, signs in its own way, blocks, and knows nothing of us but the two addresses.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.emulator.conftest import Opener
from tests.emulator.endpoints.media_builder import media_keys

pytest.importorskip("twitter_ads")

from twitter_ads.account import Account
from twitter_ads.audience import CustomAudience
from twitter_ads.campaign import Campaign, FundingInstrument, LineItem, TargetingCriteria, Tweet
from twitter_ads.client import Client
from twitter_ads.creative import (
    Card,
    CardsFetch,
    DraftTweet,
    ImageConversationCard,
    MediaCreative,
    MediaLibrary,
    PromotedTweet,
    ScheduledTweet,
    TweetPreview,
    Tweets,
)
from twitter_ads.error import BadRequest, NotAuthorized, NotFound, RateLimit
from twitter_ads.http import Request
from twitter_ads.targeting import AudienceEstimate

pytestmark = pytest.mark.integrations
HASH = "ab" * 32


class Stranger:
    """The client of one emulator, and its account."""

    def __init__(self, caller: Any) -> None:
        self.caller, self.env = caller, caller.emulator.env
        names = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
        self.client = Client(*(self.env[f"AUDIENCEKIT_{name}"] for name in names))
        self.account: Any = None

    async def load(self) -> Stranger:
        """With its account, which it asks for."""
        self.account = await asyncio.to_thread(self.client.accounts, self.env["AUDIENCEKIT_ACCOUNT_ID"])
        return self

    async def make_instrument(self) -> Any:
        """A funding instrument of the sandbox."""
        self.client.sandbox = True
        query = {"currency": "EUR", "start_time": "2026-01-01T00:00:00Z", "type": "CREDIT_CARD"}
        made = await asyncio.to_thread(FundingInstrument.create, self.account, **query)
        self.client.sandbox = False
        return made

    async def make_campaign(self) -> Any:
        """A campaign, saved."""
        campaign = Campaign(self.account)
        campaign.funding_instrument_id = (await self.make_instrument()).id
        campaign.daily_budget_amount_local_micro = 1_000_000
        campaign.name, campaign.entity_status = "Spring", "PAUSED"
        return await asyncio.to_thread(campaign.save)


@pytest.fixture
async def stranger(open_emulator: Opener, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stranger]:
    """The client, led to a fresh emulator whose clock is the real one, by which the client signs."""
    async with open_emulator(profile="x", clock=time.time) as caller:
        monkeypatch.setattr(Request, "_DEFAULT_DOMAIN", caller.emulator.ads_url)
        monkeypatch.setattr(Request, "_SANDBOX_DOMAIN", caller.emulator.ads_sandbox_url)
        yield await Stranger(caller).load()


async def test_it_finds_its_accounts(stranger: Stranger) -> None:
    """One by its id, all of them, and who may be promoted for it."""
    assert stranger.account.id == stranger.caller.emulator.account_id
    everything = await asyncio.to_thread(lambda: list(Account.all(stranger.client)))
    assert [account.id for account in everything] == [stranger.account.id]
    users = await asyncio.to_thread(lambda: list(stranger.account.promotable_users()))
    assert users[0].promotable_user_type == "FULL"
    assert await asyncio.to_thread(stranger.account.features) == []


async def test_it_fills_an_audience(stranger: Stranger) -> None:
    """Made, uploaded to, with the field names of the public service, and deleted."""
    audience = await asyncio.to_thread(CustomAudience.create, stranger.account, "people")
    assert audience.reasons_not_targetable == ["PROCESSING", "TOO_SMALL"]
    users = [{"email": [HASH]}, {"twitter_id": [HASH]}]
    operations = [{"operation_type": "Update", "params": {"users": users}}]
    assert await asyncio.to_thread(audience.users, operations) == (2, 2)
    assert [member["keys"] for member in await stranger.caller.members(audience.id)] == users
    permissions = await asyncio.to_thread(lambda: list(audience.permissions()))
    assert permissions == []
    assert (await asyncio.to_thread(audience.delete)).deleted is True
    with pytest.raises(NotFound):
        await asyncio.to_thread(CustomAudience.load, stranger.account, audience.id)


async def test_it_runs_a_campaign(stranger: Stranger) -> None:
    """It sends the whole record back when it changes one, which is taken; a line item with media stands below."""
    campaign = await stranger.make_campaign()
    campaign.name = "Summer"
    assert (await asyncio.to_thread(campaign.save)).name == "Summer"
    listed = await asyncio.to_thread(lambda: list(stranger.account.campaigns()))
    assert [found.id for found in listed] == [campaign.id]
    item = LineItem(stranger.account)
    item.campaign_id, item.objective, item.product_type = campaign.id, "REACH", "PROMOTED_TWEETS"
    item.placements, item.entity_status = ["ALL_ON_TWITTER"], "PAUSED"
    await asyncio.to_thread(item.save)
    media = await asyncio.to_thread(lambda: list(stranger.account.account_media()))
    creative = MediaCreative(stranger.account)
    creative.line_item_id, creative.account_media_id = item.id, media[-1].id
    assert (await asyncio.to_thread(creative.save)).approval_status == "ACCEPTED"
    await asyncio.to_thread(campaign.delete)
    with pytest.raises(NotFound):
        await asyncio.to_thread(campaign.delete)


async def test_it_saves_in_batches(stranger: Stranger) -> None:
    """Whole records come back in the update, with their lists; the first funding instrument is there from the start."""
    funding = await asyncio.to_thread(lambda: stranger.account.funding_instruments().first.id)
    campaigns = [Campaign(stranger.account) for _ in range(2)]
    for number, campaign in enumerate(campaigns):
        campaign.funding_instrument_id, campaign.name = funding, f"Spring {number}"
        campaign.daily_budget_amount_local_micro, campaign.entity_status = 1_000_000, "PAUSED"
    await asyncio.to_thread(Campaign.batch_save, stranger.account, campaigns)
    campaigns[0].name = "Summer"
    await asyncio.to_thread(Campaign.batch_save, stranger.account, campaigns)
    listed = await asyncio.to_thread(lambda: list(stranger.account.campaigns()))
    assert sorted(each.name for each in listed) == ["Spring 1", "Summer"]
    items = [LineItem(stranger.account) for _ in range(2)]
    for item in items:
        item.campaign_id, item.objective, item.product_type = campaigns[0].id, "REACH", "PROMOTED_TWEETS"
        item.placements, item.entity_status, item.name = ["ALL_ON_TWITTER"], "PAUSED", "First"
    await asyncio.to_thread(LineItem.batch_save, stranger.account, items)
    items[1].name = "Second"
    await asyncio.to_thread(LineItem.batch_save, stranger.account, items)
    assert [(item.name, item.placements) for item in items] == [
        ("First", ["ALL_ON_TWITTER"]),
        ("Second", ["ALL_ON_TWITTER"]),
    ]
    criteria = [TargetingCriteria(stranger.account) for _ in range(2)]
    for criterion, word in zip(criteria, ("tea", "milk"), strict=True):
        criterion.line_item_id, criterion.targeting_type = items[0].id, "PHRASE_KEYWORD"
        criterion.targeting_value = word
    await asyncio.to_thread(TargetingCriteria.batch_save, stranger.account, criteria)
    assert all(criterion.id for criterion in criteria)
    for kind, records in ((TargetingCriteria, criteria), (LineItem, items), (Campaign, campaigns)):
        for record in records:
            record.to_delete = True
        await asyncio.to_thread(kind.batch_save, stranger.account, records)
    assert await asyncio.to_thread(lambda: list(stranger.account.campaigns())) == []


async def test_it_targets_and_estimates(stranger: Stranger) -> None:
    """A place, without an operator, which this client never sends; and the reach of criteria."""
    item = LineItem(stranger.account)
    item.campaign_id, item.objective = (await stranger.make_campaign()).id, "REACH"
    item.product_type, item.placements, item.entity_status = "PROMOTED_TWEETS", ["ALL_ON_TWITTER"], "PAUSED"
    await asyncio.to_thread(item.save)
    criterion = TargetingCriteria(stranger.account)
    criterion.line_item_id, criterion.targeting_type = item.id, "LOCATION"
    criterion.targeting_value = "00a8b25e420adc94"
    assert (await asyncio.to_thread(criterion.save)).operator_type == "EQ"
    place = {"targeting_type": "LOCATION", "targeting_value": "00a8b25e420adc94"}
    wanted = {"targeting_criteria": [place, {"targeting_type": "BROAD_KEYWORD", "targeting_value": "sea"}]}
    found = await asyncio.to_thread(AudienceEstimate.load, stranger.account, params=wanted)
    assert 0 < found.audience_size["min"] < found.audience_size["max"]


async def test_it_promotes_tweets(stranger: Stranger) -> None:
    """With `attach`; its `save` of a promoted tweet fails before it calls: its own warning is at fault."""
    item = LineItem(stranger.account)
    item.campaign_id, item.objective = (await stranger.make_campaign()).id, "REACH"
    item.product_type, item.placements, item.entity_status = "PROMOTED_TWEETS", ["ALL_ON_TWITTER"], "PAUSED"
    await asyncio.to_thread(item.save)
    user_id = stranger.caller.emulator.store.origin.user_id
    ids = [
        (await asyncio.to_thread(Tweet.create, stranger.account, text=text, as_user_id=user_id))["id"]
        for text in ("Spring", "Summer")
    ]
    query = {"line_item_id": item.id, "tweet_ids": ids}
    made = await asyncio.to_thread(lambda: list(PromotedTweet.attach(stranger.account, **query)))
    assert [promoted.tweet_id for promoted in made] == [str(each) for each in ids]
    await asyncio.to_thread(made[0].delete)
    left = await asyncio.to_thread(lambda: list(stranger.account.promoted_tweets()))
    assert [promoted.id for promoted in left] == [made[1].id]
    with pytest.raises(AttributeError, match="__name__"):
        await asyncio.to_thread(left[0].save)


async def test_it_writes_booleans_as_python_does(stranger: Stranger) -> None:
    """In requests that are put together by hand."""
    path = f"/12/accounts/{stranger.account.id}/campaigns"
    query = {"with_total_count": True, "with_deleted": False}
    request = Request(stranger.client, "get", path, params=query)
    assert (await asyncio.to_thread(request.perform)).body["total_count"] == 0


async def test_it_pages(stranger: Stranger) -> None:
    """With a cursor, as long as there is more."""
    for number in range(5):
        await asyncio.to_thread(CustomAudience.create, stranger.account, f"people {number}")
    cursor = await asyncio.to_thread(lambda: CustomAudience.all(stranger.account, count=2))
    assert (cursor.fetched, cursor.exhausted) == (2, False)
    assert len(await asyncio.to_thread(lambda: list(cursor))) == 6


async def test_it_writes_tweets(stranger: Stranger) -> None:
    """A draft, a scheduled tweet and a tweet, with its preview, and its place in the list."""
    user_id, image = stranger.caller.emulator.store.origin.user_id, (await media_keys(stranger.caller, "IMAGE"))[0]
    query = {"text": "Spring", "as_user_id": user_id, "media_keys": [image]}
    draft = await asyncio.to_thread(DraftTweet.create, stranger.account, **query)
    assert (draft.text, draft.media_keys) == ("Spring", [image])
    moment = time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(time.time() + 86_400))
    waiting = await asyncio.to_thread(ScheduledTweet.create, stranger.account, scheduled_at=moment, **query)
    assert waiting.scheduled_status == "SCHEDULED"
    tweet = await asyncio.to_thread(Tweet.create, stranger.account, **query)
    preview = {"tweet_ids": [tweet["id"]], "tweet_type": "PUBLISHED"}
    shown = await asyncio.to_thread(lambda: list(TweetPreview.load(stranger.account, **preview)))
    assert shown[0].preview.startswith("<iframe")
    listed = await asyncio.to_thread(lambda: list(Tweets.all(stranger.account, tweet_type="PUBLISHED")))
    assert [found["tweet_id"] for found in listed] == [tweet["id_str"]]
    library = MediaLibrary(stranger.account)
    library.media_key = image
    assert (await asyncio.to_thread(library.reload)).tweeted is True


async def test_it_makes_cards(stranger: Stranger) -> None:
    """A conversation card, found again among cards of every kind."""
    images = await media_keys(stranger.caller, "IMAGE")
    card = ImageConversationCard(stranger.account)
    card.name, card.media_key, card.title, card.thank_you_text = "Which", images[0], "Where to", "Thank you"
    card.first_cta, card.first_cta_tweet = "#sea", "Down there"
    saved = await asyncio.to_thread(card.save)
    found = await asyncio.to_thread(lambda: list(CardsFetch.load(stranger.account, card_uris=[saved.card_uri])))
    assert [each.name for each in found] == ["Which"]
    await asyncio.to_thread(saved.delete)


async def test_it_edits_a_card(stranger: Stranger) -> None:
    """Made of components, found by its id, and changed."""
    key = (await media_keys(stranger.caller, "VIDEO"))[0]
    details = {"type": "DETAILS", "title": "Sea", "destination": {"type": "WEBSITE", "url": "https://example.com/"}}
    card = Card(account=stranger.account)
    card.name, card.components = "By the sea", [{"type": "MEDIA", "media_key": key}, details]
    made = await asyncio.to_thread(card.save)
    made.components = [{"type": "MEDIA", "media_key": key}, {**details, "title": "Lake"}]
    await asyncio.to_thread(made.save)
    found = await asyncio.to_thread(Card.load, stranger.account, made.id)
    assert (found.name, found.components[1]["title"]) == ("By the sea", "Lake")


async def test_it_understands_refusals(stranger: Stranger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each status becomes its own error, with the details of the body."""
    with pytest.raises(BadRequest) as caught:
        await asyncio.to_thread(lambda: list(CustomAudience.all(stranger.account, count=0)))
    assert caught.value.details[0]["parameter"] == "count"
    with pytest.raises(NotFound):
        await asyncio.to_thread(Campaign.load, stranger.account, "nothing")
    for _ in range(450):
        reply = await stranger.caller.call("POST", stranger.caller.audiences, query={"name": ""})
    assert reply.status == 400
    with pytest.raises(RateLimit):
        await asyncio.to_thread(CustomAudience.create, stranger.account, "one more")
    monkeypatch.setattr(stranger.client, "_access_token_secret", "wrong")
    with pytest.raises(NotAuthorized):
        await asyncio.to_thread(stranger.client.accounts)


async def test_versions_are_answered_alike(stranger: Stranger) -> None:
    """From the fifth on; what is younger than today's is not, nor are the older ones without the profile."""
    path = stranger.caller.account.replace("/12/", "/{}/")
    for version in range(5, 13):
        reply = await stranger.caller.call("GET", path.format(version))
        assert (reply.status, reply.headers["x-current-api-version"]) == (200, "12")
    for version in (1, 4, 13):
        reply = await stranger.caller.call("GET", path.format(version))
        assert json.loads(reply.content)["errors"][0]["message"] == f"Version {version}.0 is not available."
