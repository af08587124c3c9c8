"""Every endpoint that the emulator serves."""

from __future__ import annotations

from typing import Final

from audiencekit.emulator.endpoints import (
    account_history,
    accounts,
    activity,
    audience_estimate,
    audience_users,
    campaigns,
    cards,
    conversation_cards,
    curated_categories,
    custom_audiences,
    data_api,
    do_not_reach,
    flexible_audiences,
    keyword_insights,
    media,
    oauth,
    promotions,
    recommendations,
    reference,
    stream_rules,
    tracking_tags,
    tweets,
    users,
    webhooks,
)
from audiencekit.emulator.routing import Route

# The first route that fits is taken: conversation cards stand where other cards have their id.
ROUTES: Final[tuple[Route, ...]] = (
    *account_history.ROUTES,
    *accounts.ROUTES,
    *activity.ROUTES,
    *audience_estimate.ROUTES,
    *audience_users.ROUTES,
    *campaigns.ROUTES,
    *conversation_cards.ROUTES,
    *cards.ROUTES,
    *curated_categories.ROUTES,
    *custom_audiences.ROUTES,
    *data_api.ROUTES,
    *do_not_reach.ROUTES,
    *flexible_audiences.ROUTES,
    *keyword_insights.ROUTES,
    *media.ROUTES,
    *oauth.ROUTES,
    *promotions.ROUTES,
    *recommendations.ROUTES,
    *reference.ROUTES,
    *stream_rules.ROUTES,
    *tracking_tags.ROUTES,
    *tweets.ROUTES,
    *users.ROUTES,
    *webhooks.ROUTES,
)
