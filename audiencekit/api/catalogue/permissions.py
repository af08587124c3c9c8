"""Which permissions on the account an endpoint takes (specification part 1, section 4.9), read from its one sentence
for each: a user needs any of them. None where every permission does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from audiencekit.api.catalogue.endpoint import Endpoint

_ADMIN: Final = ("ACCOUNT_ADMIN",)
_MANAGERS: Final = ("ACCOUNT_ADMIN", "AD_MANAGER")
_VIEWERS: Final = (*_MANAGERS, "CAMPAIGN_ANALYST")
_CREATORS: Final = (*_MANAGERS, "CREATIVE_MANAGER")

_CAMPAIGNS: Final = (_VIEWERS, _MANAGERS)
_CREATIVES: Final = ((*_CREATORS, "CAMPAIGN_ANALYST"), _CREATORS)
_AUDIENCES: Final = ((*_VIEWERS, "PARTNER_AUDIENCE_MANAGER"), (*_MANAGERS, "PARTNER_AUDIENCE_MANAGER"))
_SETTINGS: Final = ((), _ADMIN)
# By group: to look, and to change.
_OF_GROUP: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "accounts": _SETTINGS,
    "tax": _SETTINGS,
    "features": _SETTINGS,
    "audience_estimate": ((), (*_VIEWERS, "ANALYST")),
    **dict.fromkeys(
        (
            "campaigns",
            "funding_instruments",
            "line_items",
            "promoted",
            "recommendations",
            "targeting",
            "tracking_tags",
            "do_not_reach",
        ),
        _CAMPAIGNS,
    ),
    **dict.fromkeys(
        (
            "account_media",
            "cards",
            "conversation_cards",
            "draft_tweets",
            "media_creatives",
            "scheduled_tweets",
            "tweet_previews",
            "tweets",
        ),
        _CREATIVES,
    ),
    **dict.fromkeys(
        (
            "custom_audiences",
            "custom_audience_users",
            "custom_audience_permissions",
            "tailored_audience_permissions",
        ),
        _AUDIENCES,
    ),
}
# Of another area than the rest of their group.
_OF_NAME: Final[Mapping[str, tuple[str, ...]]] = {
    "create_account": (),
    "list_account_apps": (),
    "get_account_history": _VIEWERS,
    "list_custom_audience_targeted": _VIEWERS,
    "create_line_item_curated_category": _MANAGERS,
    "update_line_item_curated_category": _MANAGERS,
    "delete_line_item_curated_category": _MANAGERS,
}
# A tweet in the name of a user who is not the caller (specification part 2, section 4.9).
COMPOSED: Final = frozenset({"create_tweet", "create_scheduled_tweet"})


def permissions_for(endpoint: Endpoint) -> tuple[str, ...]:
    """The permissions of which one is enough; none are needed where it is empty."""
    if endpoint.name in _OF_NAME:
        return _OF_NAME[endpoint.name]
    looking, changing = _OF_GROUP.get(endpoint.group, ((), ()))
    return looking if endpoint.method == "GET" else changing


def describe_permissions(endpoint: Endpoint) -> str:
    """The same in words; empty where none is needed."""
    needed = " or ".join(permissions_for(endpoint))
    composed = ", and TWEET_COMPOSER for another user than the caller" if endpoint.name in COMPOSED else ""
    return needed + composed if needed else ""
